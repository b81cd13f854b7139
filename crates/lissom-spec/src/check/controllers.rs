//! `[[controller]]`.

use super::Checker;
use crate::error::ErrorKind;
use crate::path::Path;
use crate::spec::{
    ControllerSpec, ElementSpec, JointKind, RoleSpec, SampledSpec, SensorSpec, StateSpaceSpec,
};

/// Ticks of a run, whose instants are listed before it begins.
const MOST_TICKS: f64 = 1e7;

impl Checker<'_> {
    pub(super) fn controllers(&mut self) {
        let spec = self.spec;
        let names = spec.controller.iter().map(|c| c.name.as_str());
        self.names("controller", &Path::root().key("controller"), names);
        for (index, controller) in spec.controller.iter().enumerate() {
            let path = Path::root().key("controller").index(index);
            self.controller(&path, controller);
        }
    }

    fn controller(&mut self, path: &Path, controller: &ControllerSpec) {
        let choices = [
            ("joint_pd", controller.joint_pd.is_some()),
            ("computed_pd", controller.computed_pd.is_some()),
            ("pid", controller.pid.is_some()),
            ("state_space", controller.state_space.is_some()),
        ];
        self.exactly_one(path, &choices);
        if let Some(law) = &controller.state_space {
            self.state_space(path, controller, law);
            return;
        }
        for (key, names) in [
            ("measures", &controller.measures),
            ("drives", &controller.drives),
        ] {
            if !names.is_empty() {
                let reason =
                    "only state_space measures sensors; other laws measure and drive their joints";
                self.no_effect(path.key(key), reason);
            }
        }
        if controller.joints.is_empty() {
            let key = "joints".to_owned();
            self.error(path.clone(), ErrorKind::MissingKey { key });
        }
        for (index, name) in controller.joints.iter().enumerate() {
            self.driven_joint(path.key("joints").index(index), name);
        }
        if let Some(law) = &controller.joint_pd {
            let path = path.key("joint_pd");
            for (key, gains) in [
                ("position_gain", &law.position_gain),
                ("rate_gain", &law.rate_gain),
            ] {
                self.length(path.key(key), gains.len(), controller.joints.len());
            }
        }
        if let Some(law) = &controller.pid {
            let path = path.key("pid");
            for (key, gains) in [
                ("position_gain", &law.position_gain),
                ("integral_gain", &law.integral_gain),
                ("rate_gain", &law.rate_gain),
            ] {
                self.length(path.key(key), gains.len(), controller.joints.len());
            }
            self.winds_up(&path, controller);
        }
        if let Some(sampled) = &controller.sampled {
            self.sampled(path, controller, *sampled);
        }
        if let Some(law) = &controller.computed_pd {
            let path = path.key("computed_pd").key("frequency_rad_per_s");
            self.frequency(path, law.frequency_rad_per_s);
        }
    }

    /// Ticks that a run can count, answers that act before the next but one, and filters that are not faster than ticks.
    fn sampled(&mut self, path: &Path, controller: &ControllerSpec, sampled: SampledSpec) {
        let SampledSpec { period_s, delay_s } = sampled;
        let at = path.key("sampled");
        let fewest = self.spec.simulation.duration_s / MOST_TICKS;
        if period_s > 0.0 {
            let expected = format!("at least {fewest} s: a run has at most {MOST_TICKS:e} ticks");
            self.in_range(at.key("period_s"), period_s, period_s >= fewest, &expected);
        }
        let expected = "at most the period";
        self.in_range(at.key("delay_s"), delay_s, delay_s <= period_s, expected);
        let filter = controller.pid.as_ref().and_then(|law| law.rate_filter_s);
        if let Some(filter_s) = filter {
            let path = path.key("pid").key("rate_filter_s");
            let expected = "at least the period of the ticks at which it goes on";
            self.in_range(path, filter_s, filter_s >= period_s, expected);
        }
    }

    /// Sensors and drives that are there, and matrices that fit them.
    fn state_space(&mut self, path: &Path, controller: &ControllerSpec, law: &StateSpaceSpec) {
        let spec = self.spec;
        if !controller.joints.is_empty() {
            let reason = "state_space measures sensors and drives actuators or joints: write `measures` and `drives`";
            self.no_effect(path.key("joints"), reason);
        }
        for (key, names) in [
            ("measures", &controller.measures),
            ("drives", &controller.drives),
        ] {
            if names.is_empty() {
                let key = key.to_owned();
                self.error(path.clone(), ErrorKind::MissingKey { key });
            }
        }
        for (index, name) in controller.measures.iter().enumerate() {
            let at = path.key("measures").index(index);
            let mut sensors = spec.sensor.iter();
            let own = |sensor: &&SensorSpec| sensor.name == *name || sensor.has_channel(name);
            match sensors.find(own) {
                None => {
                    let known = spec.sensor.iter().map(|sensor| sensor.name.as_str());
                    self.unknown(at, "sensor", name, known);
                }
                Some(sensor) if controller.sampled.is_none() => {
                    if let Some(reason) = sensor.only_sampled() {
                        let sensor = name.clone();
                        self.error(at, ErrorKind::OnlySampled { sensor, reason });
                    }
                }
                Some(_) => {}
            }
        }
        for (index, name) in controller.drives.iter().enumerate() {
            if spec.actuator.iter().any(|actuator| actuator.name == *name) {
                continue;
            }
            self.driven_joint(path.key("drives").index(index), name);
        }
        if let Some(sampled) = &controller.sampled {
            self.sampled(path, controller, *sampled);
        }
        let path = path.key("state_space");
        let given = [&law.a, &law.b, &law.c, &law.d];
        if law.file.is_some() {
            if given.iter().any(|matrix| !matrix.is_empty()) {
                let choices = [("file", true), ("a", true)];
                self.exactly_one(&path, &choices);
            }
            return;
        }
        if given.iter().all(|matrix| matrix.is_empty()) {
            self.exactly_one(&path, &[("file", false), ("d", false)]);
            return;
        }
        let (states, drives) = (law.a.len(), controller.drives.len());
        let measured = spec.measured_by(controller).count();
        let shapes = [
            ("a", &law.a, states, states),
            ("b", &law.b, states, measured),
            ("c", &law.c, if states == 0 { 0 } else { drives }, states),
            (
                "d",
                &law.d,
                if law.d.is_empty() { 0 } else { drives },
                measured,
            ),
        ];
        for (key, matrix, rows, columns) in shapes {
            self.length(path.key(key), matrix.len(), rows);
            for (index, row) in matrix.iter().enumerate() {
                self.length(path.key(key).index(index), row.len(), columns);
            }
        }
        if !law.reference.is_empty() {
            self.length(path.key("reference"), law.reference.len(), measured);
        }
    }

    /// Whether there is something to clip that would let an integral be brought back.
    fn winds_up(&mut self, path: &Path, controller: &ControllerSpec) {
        let clips = |joint: &String| {
            let mut actuators = self.spec.actuator.iter();
            actuators.any(|actuator| actuator.joint == *joint && actuator.limit().is_some())
        };
        let asks = (controller.pid.as_ref()).is_some_and(|law| law.anti_windup_s.is_some());
        if asks && !controller.joints.iter().any(clips) {
            let reason = "no [[actuator]] limits the torque or force of its joints";
            self.no_effect(path.key("anti_windup_s"), reason);
        }
    }

    /// Asks for a joint with one degree of freedom that no motion is prescribed for, or for an actuated element of a model of nodes.
    pub(super) fn driven_joint(&mut self, at: Path, name: &str) {
        let spec = self.spec;
        if spec.is_of_nodes() {
            self.controlled_element(at, name);
            return;
        }
        let Some(joint) = spec.find_joint(name) else {
            let known = spec.joint.iter().map(|joint| joint.name.as_str());
            self.unknown(at, "joint", name, known);
            return;
        };
        let joint_name = name.to_owned();
        match joint.kind() {
            None | Some(JointKind::Revolute(_) | JointKind::Prismatic(_)) => {}
            Some(JointKind::Fixed) => {
                self.error(at, ErrorKind::NoFreedom { joint: joint_name });
                return;
            }
            Some(kind) => {
                let kind = ErrorKind::NoSingleAngle {
                    joint: joint_name,
                    kind: kind.key(),
                };
                self.error(at, kind);
                return;
            }
        }
        if spec.motion.iter().any(|motion| motion.joint == name) {
            let kind = ErrorKind::DrivenAndPrescribed {
                joint: joint_name,
                component: 1,
            };
            self.error(at, kind);
        }
    }

    /// Asks for an element with an actuator.
    fn controlled_element(&mut self, at: Path, name: &str) {
        let spec = self.spec;
        let actuated = |element: &&ElementSpec| {
            let main = spec.addressed(element, None);
            matches!(main, Some((.., RoleSpec::Actuated)))
        };
        let mut known = spec.element.iter().filter(actuated);
        if !known.any(|element| element.name == name) {
            let known = spec.element.iter().filter(actuated);
            let known = known.map(|element| element.name.as_str());
            self.unknown(at, "actuated hinge, slider or truss", name, known);
        }
    }
}
