//! `[[sensor]]`.

use super::Checker;
use crate::error::ErrorKind;
use crate::path::Path;
use crate::spec::{
    BodyKind, BodySpec, EncoderSide, EncoderSpec, JointKind, SensorKind, SensorSpec, StrainSpec,
};

impl Checker<'_> {
    pub(super) fn sensors(&mut self) {
        let spec = self.spec;
        let list = Path::root().key("sensor");
        let names = spec.sensor.iter().map(|sensor| sensor.name.as_str());
        self.names("sensor", &list, names);
        for (index, sensor) in spec.sensor.iter().enumerate() {
            let path = list.index(index);
            let joints = spec.joint.iter().map(|joint| joint.name.as_str());
            let loops = spec.loops.iter().map(|own| own.name.as_str());
            let supports = spec.support.iter().map(|own| own.name.as_str());
            // recordings call forces of a sensor and of a closure alike
            if joints
                .chain(loops)
                .chain(supports)
                .any(|name| name == sensor.name)
            {
                let (what, name) = ("sensor", sensor.name.clone());
                self.error(path.key("name"), ErrorKind::ReservedName { what, name });
            }
            self.sensor(&path, sensor);
        }
    }

    fn sensor(&mut self, path: &Path, sensor: &SensorSpec) {
        let choices = [
            ("encoder", sensor.encoder.is_some()),
            ("strain", sensor.strain.is_some()),
            ("accelerometer", sensor.accelerometer.is_some()),
            ("gyroscope", sensor.gyroscope.is_some()),
            ("force_torque", sensor.force_torque.is_some()),
        ];
        self.exactly_one(path, &choices);
        let Some(kind) = sensor.kind() else { return };
        match kind {
            SensorKind::Encoder(encoder) => self.encoder(&path.key("encoder"), encoder),
            SensorKind::Strain(strain) => self.strain(&path.key("strain"), strain),
            SensorKind::Accelerometer(at) => {
                self.sensor_marker(path.key("accelerometer").key("marker"), &at.marker);
            }
            SensorKind::Gyroscope(at) => {
                self.sensor_marker(path.key("gyroscope").key("marker"), &at.marker);
            }
            SensorKind::ForceTorque(at) => {
                if self.spec.find_joint(&at.joint).is_none() {
                    let known = self.spec.joint.iter().map(|joint| joint.name.as_str());
                    let path = path.key("force_torque").key("joint");
                    self.unknown(path, "joint", &at.joint, known);
                }
            }
        }
        let channels = kind.channels().len();
        if !sensor.bias.is_empty() {
            self.length(path.key("bias"), sensor.bias.len(), channels);
        }
        if let Some(noise) = &sensor.noise {
            let path = path.key("noise").key("rms");
            self.length(path, noise.rms.len(), channels);
        }
    }

    fn sensor_marker(&mut self, path: Path, name: &str) {
        let spec = self.spec;
        if spec.find_marker(name).is_none() {
            let known = spec.marker.iter().map(|marker| marker.name.as_str());
            self.unknown(path, "marker", name, known);
        }
    }

    /// A joint with one degree of freedom, and steps of the kind that it takes.
    fn encoder(&mut self, path: &Path, encoder: &EncoderSpec) {
        let spec = self.spec;
        let Some(joint) = spec.find_joint(&encoder.joint) else {
            let known = spec.joint.iter().map(|joint| joint.name.as_str());
            self.unknown(path.key("joint"), "joint", &encoder.joint, known);
            return;
        };
        let (slides, has_motor) = match joint.kind() {
            Some(JointKind::Revolute(revolute)) => (false, revolute.motor.is_some()),
            Some(JointKind::Prismatic(prismatic)) => (true, prismatic.motor.is_some()),
            Some(kind) => {
                let joint = joint.name.clone();
                let kind = kind.key();
                self.error(path.key("joint"), ErrorKind::NoSingleAngle { joint, kind });
                return;
            }
            None => return,
        };
        let at_motor = encoder.side == EncoderSide::Motor;
        if at_motor && !has_motor {
            let property = "motor".to_owned();
            let needed_by = "an encoder at the motor of a joint".to_owned();
            let kind = ErrorKind::MissingProperty {
                property,
                needed_by,
            };
            self.error(path.key("side"), kind);
        }
        let turns = at_motor || !slides;
        if turns && encoder.resolution_m.is_some() {
            let reason = "what turns is divided by counts_per_revolution";
            self.no_effect(path.key("resolution_m"), reason);
        }
        if !turns && encoder.counts_per_revolution.is_some() {
            let reason = "the joint slides: write resolution_m, or side = \"motor\"";
            self.no_effect(path.key("counts_per_revolution"), reason);
        }
    }

    /// A place on a beam.
    fn strain(&mut self, path: &Path, strain: &StrainSpec) {
        let Some(body) = self.bodies.get(strain.body.as_str()).copied() else {
            self.body_called(path.key("body"), &strain.body, false);
            return;
        };
        let Some(BodyKind::Beam(beam)) = BodySpec::kind(body) else {
            let body = strain.body.clone();
            self.error(path.key("body"), ErrorKind::NoStrain { body });
            return;
        };
        let (x_m, length_m) = (strain.at_m, beam.total_length_m());
        if !(0.0..=length_m).contains(&x_m) {
            self.error(path.key("at_m"), ErrorKind::OutsideBeam { x_m, length_m });
        }
    }
}
