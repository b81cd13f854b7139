//! [`Sensor`]: what a sensor reads of an evaluated state.
//!
//! A reading is the true value with bias and noise, rounded to the steps of an encoder. Noise is a function of seed, sensor, channel and
//! number of the period that an instant lies in: nothing remembers it, so that runs that are repeated or go on have the same.

use std::f64::consts::TAU;

use lissom_numerics::{Random, normal_quantile};
use lissom_spatial::{Force, Real, Vector};
use lissom_spec::spec::{EncoderSide, JointKind, ModelSpec, SensorKind, SensorSpec};

use crate::axis::AxisName;
use crate::signal::{JointForces, Parts, Readout, Stage};
use crate::view::{AxisId, GaugeId, MarkerId, MarkerMotion, View};

/// Instants that are nearer than this part of a period to its beginning belong to it: they are sums of rounded numbers.
const SAME: f64 = 1e-9;

/// A sensor of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    /// Name, unique among sensors.
    pub name: String,
    /// What it measures.
    pub measures: Measured,
    /// Bias of every channel.
    bias: Vec<f64>,
    /// Step of the readings.
    resolution: Option<f64>,
    noise: Option<Noise>,
}

/// What a sensor measures.
#[derive(Clone, Debug, PartialEq)]
pub enum Measured {
    /// Position of an axis.
    Axis(AxisId, AxisName),
    /// Strain at a gauge.
    Strain(GaugeId),
    /// Specific force of a marker, in its axes.
    SpecificForce(MarkerId),
    /// Angular velocity of a marker, in its axes.
    AngularVelocity(MarkerId),
    /// What the joint of this name exerts on the body written as its child.
    JointForce(String),
}

#[derive(Clone, Debug, PartialEq)]
struct Noise {
    /// A stream per channel, a place per period.
    random: Random,
    period: f64,
    rms: Vec<f64>,
}

impl Sensor {
    /// The sensors of a model that was checked.
    pub fn all(
        spec: &ModelSpec,
        axis: impl Fn(&str, EncoderSide) -> Option<(AxisId, AxisName)>,
    ) -> Vec<Self> {
        let mut gauges = (0..).map(GaugeId);
        (spec.sensor.iter())
            .filter_map(|own| Self::of(spec, own, &axis, &mut gauges))
            .collect()
    }

    fn of(
        model: &ModelSpec,
        spec: &SensorSpec,
        axis: &impl Fn(&str, EncoderSide) -> Option<(AxisId, AxisName)>,
        gauges: &mut impl Iterator<Item = GaugeId>,
    ) -> Option<Self> {
        let marker = |name: &str| {
            let mut all = model.marker.iter();
            Some(MarkerId(all.position(|marker| marker.name == name)?))
        };
        let kind = spec.kind()?;
        let measures = match kind {
            SensorKind::Encoder(encoder) => {
                let (id, name) = axis(&encoder.joint, encoder.side)?;
                Measured::Axis(id, name)
            }
            SensorKind::Strain(_) => Measured::Strain(gauges.next()?),
            SensorKind::Accelerometer(at) => Measured::SpecificForce(marker(&at.marker)?),
            SensorKind::Gyroscope(at) => Measured::AngularVelocity(marker(&at.marker)?),
            SensorKind::ForceTorque(at) => Measured::JointForce(at.joint.clone()),
        };
        let channels = kind.channels().len();
        let mut bias = spec.bias.clone();
        bias.resize(channels, 0.0);
        Some(Self {
            name: spec.name.clone(),
            measures,
            bias,
            resolution: resolution(model, kind),
            noise: spec.noise.as_ref().map(|noise| Noise {
                random: Random::new(named(&spec.name) ^ u64::from(noise.seed)),
                period: noise.period_s,
                rms: noise.rms.clone(),
            }),
        })
    }

    /// Takes noise and steps away; its bias stays.
    pub fn make_ideal(&mut self) {
        self.noise = None;
        self.resolution = None;
    }

    /// How many channels it has.
    pub(crate) fn channel_count(&self) -> usize {
        self.bias.len()
    }

    /// Names and units of its channels.
    pub fn channels(&self) -> Vec<(String, &'static str)> {
        let of_vector = |what: &str, unit: &'static str| {
            ["x", "y", "z"].map(|axis| (format!("{}{what}.{axis}", self.name), unit))
        };
        match &self.measures {
            Measured::Axis(_, axis) => {
                let [unit, ..] = axis.units();
                vec![(self.name.clone(), unit)]
            }
            Measured::Strain(_) => vec![(self.name.clone(), "1")],
            Measured::SpecificForce(_) => of_vector("", "m/s^2").to_vec(),
            Measured::AngularVelocity(_) => of_vector("", "rad/s").to_vec(),
            Measured::JointForce(_) => {
                [of_vector(".force", "N"), of_vector(".moment", "N m")].concat()
            }
        }
    }

    /// How far a state must be evaluated to know its readings.
    pub(crate) fn stage(&self) -> Stage {
        match self.measures {
            Measured::Axis(..) | Measured::Strain(_) => Stage::Position,
            Measured::AngularVelocity(_) => Stage::Velocity,
            Measured::SpecificForce(_) => Stage::Acceleration,
            Measured::JointForce(_) => Stage::Reaction,
        }
    }

    /// Whether its readings are known without forces of constraint, and so are outputs of linear models.
    pub(crate) fn is_output(&self) -> bool {
        self.stage() <= Stage::Acceleration
    }

    /// Whether they change with accelerations.
    pub fn measures_accelerations(&self) -> bool {
        self.stage() >= Stage::Acceleration
    }

    /// Appends what it reads without noise and rounding; nothing where the state does not tell.
    pub(crate) fn see<T: Real>(&self, state: &mut impl View<T>, values: &mut Vec<T>) {
        let first = values.len();
        self.measure(state, values);
        for (value, &bias) in values[first..].iter_mut().zip(&self.bias) {
            *value += T::constant(bias);
        }
    }

    /// Appends what there is to be read.
    fn measure<T: Real>(&self, state: &mut impl Sensed<T>, values: &mut Vec<T>) {
        match &self.measures {
            Measured::Axis(axis, _) => values.push(state.position(*axis)),
            Measured::Strain(gauge) => values.push(Sensed::strain(state, *gauge)),
            Measured::AngularVelocity(marker) => {
                let MarkerMotion { pose, twist, .. } = state.motion(*marker);
                values.extend(pose.rotation.transpose_mul(twist.angular).0);
            }
            Measured::SpecificForce(marker) => {
                if let Some(force) = Sensed::specific_force(state, *marker) {
                    let axes = state.motion(*marker).pose.rotation;
                    values.extend(axes.transpose_mul(force).0);
                }
            }
            Measured::JointForce(joint) => {
                if let Some(Force { moment, force }) = state.joint_force(joint) {
                    values.extend(force.0.into_iter().chain(moment.0));
                }
            }
        }
    }

    /// Makes readings of true values.
    fn blur(&self, time_s: f64, values: &mut [f64]) {
        for (channel, (value, bias)) in values.iter_mut().zip(&self.bias).enumerate() {
            *value += bias;
            if let Some(noise) = &self.noise {
                *value += noise.at(time_s, channel);
            }
            if let Some(step) = self.resolution {
                *value = (*value / step).round() * step;
            }
        }
    }
}

/// A state of motion over a scalar, as sensors see it.
trait Sensed<T> {
    fn position(&self, axis: AxisId) -> T;
    fn strain(&mut self, gauge: GaugeId) -> T;
    fn motion(&mut self, marker: MarkerId) -> MarkerMotion<T>;
    fn specific_force(&mut self, marker: MarkerId) -> Option<Vector<T>>;
    fn joint_force(&self, joint: &str) -> Option<Force<T>>;
}

/// What acts on a mechanism sees as much of its state.
impl<T: Real, V: View<T>> Sensed<T> for V {
    fn position(&self, axis: AxisId) -> T {
        self.axis(axis)[0]
    }

    fn strain(&mut self, gauge: GaugeId) -> T {
        View::strain(self, gauge)
    }

    fn motion(&mut self, marker: MarkerId) -> MarkerMotion<T> {
        self.marker(marker)
    }

    fn specific_force(&mut self, marker: MarkerId) -> Option<Vector<T>> {
        View::specific_force(self, marker)
    }

    fn joint_force(&self, _: &str) -> Option<Force<T>> {
        None
    }
}

/// An evaluated state with all forces in it.
struct Evaluated<'a> {
    readout: &'a mut dyn Readout,
    forces: Option<JointForces>,
}

impl Sensed<f64> for Evaluated<'_> {
    fn position(&self, axis: AxisId) -> f64 {
        self.readout.axis(axis)[0]
    }

    fn strain(&mut self, gauge: GaugeId) -> f64 {
        self.readout.strain(gauge)
    }

    fn motion(&mut self, marker: MarkerId) -> MarkerMotion<f64> {
        self.readout.marker(marker)
    }

    fn specific_force(&mut self, marker: MarkerId) -> Option<Vector<f64>> {
        self.readout.specific_force(marker)
    }

    fn joint_force(&self, joint: &str) -> Option<Force<f64>> {
        let force = self.forces.as_ref().and_then(|forces| forces.on(joint));
        // a joint that is not there has no force
        let unknown = Force::new(Vector([f64::NAN; 3]), Vector([f64::NAN; 3]));
        Some(force.unwrap_or(unknown))
    }
}

/// Appends the readings of sensors in the evaluated state.
pub(crate) fn read_sensors(
    sensors: &[Sensor],
    parts: &Parts,
    readout: &mut dyn Readout,
    row: &mut Vec<f64>,
) {
    let latest = sensors.iter().map(Sensor::stage).max();
    if latest >= Some(Stage::Acceleration) {
        readout.find_reactions();
    }
    let forces = (latest == Some(Stage::Reaction)).then(|| JointForces::of(parts, readout));
    let time_s = readout.efforts().time_s;
    let mut state = Evaluated { readout, forces };
    for sensor in sensors {
        let first = row.len();
        sensor.measure(&mut state, row);
        sensor.blur(time_s, &mut row[first..]);
    }
}

/// Appends what sensors that are outputs of linear models read of a state, without noise and rounding.
pub fn read_outputs<T: Real>(sensors: &[Sensor], state: &mut impl View<T>, readings: &mut Vec<T>) {
    for sensor in sensors.iter().filter(|sensor| sensor.is_output()) {
        sensor.see(state, readings);
    }
}

/// Step of an encoder in the units of its joint.
fn resolution(model: &ModelSpec, kind: SensorKind<'_>) -> Option<f64> {
    let SensorKind::Encoder(encoder) = kind else {
        return None;
    };
    let turn = encoder.counts_per_revolution.map(|counts| TAU / counts);
    let ratio = match (encoder.side, model.find_joint(&encoder.joint)?.kind()?) {
        (EncoderSide::Joint, _) => return turn.or(encoder.resolution_m),
        (EncoderSide::Motor, JointKind::Revolute(joint)) => joint.motor?.gear_ratio,
        (EncoderSide::Motor, JointKind::Prismatic(joint)) => joint.motor?.gear_ratio_rad_per_m,
        _ => return None,
    };
    Some(turn? / ratio.abs())
}

impl Noise {
    /// The number that holds at an instant.
    fn at(&self, time_s: f64, channel: usize) -> f64 {
        let period = (time_s / self.period + SAME).floor();
        let stream = u32::try_from(channel).unwrap_or(u32::MAX);
        self.rms[channel] * normal_quantile(self.random.unit(stream, period.to_bits()))
    }
}

/// A key of a name, by the FNV-1a hash.
fn named(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Statistics: mean, variance and correlation of neighbours of a long sequence are those of independent normal numbers, within five
    /// standard deviations of their estimates.
    #[test]
    fn noise_is_white_and_normal() {
        const COUNT: usize = 100_000;
        let noise = Noise {
            random: Random::new(named("gauge") ^ 7),
            period: 1e-3,
            rms: vec![2.0, 1.0],
        };
        let at = |tick: usize, channel| noise.at(tick as f64 * 1e-3, channel);
        let samples: Vec<f64> = (0..COUNT).map(|tick| at(tick, 0) / 2.0).collect();
        let mean_of = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / COUNT as f64;
        let spread = 5.0 / (COUNT as f64).sqrt();
        assert!(mean_of(&mut samples.iter().copied()).abs() < spread);
        let variance = mean_of(&mut samples.iter().map(|x| x * x));
        assert!((variance - 1.0).abs() < spread * 2.0_f64.sqrt());
        let fourth = mean_of(&mut samples.iter().map(|x| x.powi(4)));
        assert!((fourth - 3.0).abs() < spread * 96.0_f64.sqrt());
        let neighbours = mean_of(&mut samples.windows(2).map(|pair| pair[0] * pair[1]));
        assert!(neighbours.abs() < spread);
        let across = mean_of(&mut (0..COUNT).map(|tick| samples[tick] * at(tick, 1)));
        assert!(across.abs() < spread);
    }

    /// By construction: a number holds for its period, whichever way its instants were summed up.
    #[test]
    fn noise_is_held_for_its_period() {
        let noise = Noise {
            random: Random::new(1),
            period: 0.1,
            rms: vec![1.0],
        };
        let (summed, product) = (0.1 + 0.2, 3.0 * 0.1);
        assert_eq!(
            noise.at(summed, 0).to_bits(),
            noise.at(product, 0).to_bits()
        );
        assert_eq!(noise.at(0.3, 0).to_bits(), noise.at(0.39, 0).to_bits());
        assert_ne!(noise.at(0.3, 0), noise.at(0.41, 0));
        assert_ne!(noise.at(-0.05, 0), noise.at(0.05, 0));
    }
}
