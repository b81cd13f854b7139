//! Which channels a run records, and how a row of them is read off the equations.

use crate::model::spec::LoadQuantity;
use crate::model::{CoordinateKind, LoadTarget, Model};
use crate::simulate::audit::Balance;
use crate::simulate::equations::Equations;
use crate::spatial::{Motion, Quaternion, Vector};
use crate::tree::{marker_motion, momentum};

/// Reads rows of channel values off evaluated equations.
#[derive(Clone, Debug)]
pub(super) struct Sampler {
    /// Which of the possible channels are kept.
    kept: Vec<usize>,
    row: Vec<f64>,
    kept_row: Vec<f64>,
    influence: Vec<Motion<f64>>,
}

/// Name and unit of every channel that a model can record.
fn all_channels(model: &Model) -> Vec<(String, String)> {
    let mut channels: Vec<(String, String)> = Vec::new();
    let mut add = |name: String, unit: &str| channels.push((name, unit.to_owned()));
    for coordinate in model.positions.iter().chain(&model.velocities) {
        add(coordinate.name.clone(), coordinate.unit);
    }
    for gear in &model.transmissions {
        let (unit, rate) = if gear.translates {
            ("m", "m/s")
        } else {
            ("rad", "rad/s")
        };
        add(gear.name.clone(), unit);
        add(format!("{}.rate", gear.name), rate);
    }
    for load in &model.loads {
        let (what, unit) = match load.quantity {
            LoadQuantity::Torque => ("torque", "N m"),
            LoadQuantity::Force | LoadQuantity::Either => ("force", "N"),
        };
        let at_marker = matches!(load.target, LoadTarget::Marker { .. });
        let name = if at_marker {
            format!("{}.applied_{what}", load.name)
        } else {
            format!("{}.{what}", load.name)
        };
        add(name, unit);
    }
    for controller in &model.controllers {
        for joint in &controller.joints {
            let (what, unit) = if joint.translates {
                ("force", "N")
            } else {
                ("torque", "N m")
            };
            add(format!("{}.{}.{what}", controller.name, joint.name), unit);
        }
    }
    for motion in &model.motions {
        let coordinate = &model.positions[motion.position];
        let (what, unit) = if coordinate.unit == "m" {
            ("force", "N")
        } else {
            ("torque", "N m")
        };
        let joint = coordinate
            .name
            .rsplit_once('.')
            .map_or("", |(joint, _)| joint);
        add(format!("{joint}.driving_{what}"), unit);
    }
    for closure in &model.closures {
        for (what, unit) in [("force", "N"), ("moment", "N m")] {
            for axis in ["x", "y", "z"] {
                add(format!("{}.{what}.{axis}", closure.name), unit);
            }
        }
    }
    for marker in &model.markers {
        for (what, unit) in [("position", "m"), ("velocity", "m/s"), ("deflection", "m")] {
            for axis in ["x", "y", "z"] {
                add(format!("{}.{what}.{axis}", marker.name), unit);
            }
        }
        for axis in ["w", "x", "y", "z"] {
            add(format!("{}.quaternion.{axis}", marker.name), "1");
        }
    }
    for part in [
        "kinetic", "strain", "gravity", "total", "work", "lost", "drift",
    ] {
        add(format!("energy.{part}"), "J");
    }
    for (what, unit) in [("linear", "kg m/s"), ("angular", "kg m^2/s")] {
        for axis in ["x", "y", "z"] {
            add(format!("momentum.{what}.{axis}"), unit);
        }
    }
    unique_names(&mut channels);
    channels
}

/// Two inputs on one joint would share a name: number all but the first.
fn unique_names(channels: &mut [(String, String)]) {
    for i in 1..channels.len() {
        let mut count = 1;
        while channels[..i].iter().any(|(name, _)| *name == channels[i].0) {
            count += 1;
            let base = channels[i]
                .0
                .trim_end_matches(|c: char| c.is_ascii_digit() || c == '#');
            channels[i].0 = format!("{base}#{count}");
        }
    }
}

impl Sampler {
    /// Channels of `model` whose names begin with one of `prefixes`, or all.
    pub(super) fn new(model: &Model, prefixes: Option<&[String]>) -> (Self, Vec<(String, String)>) {
        let channels = all_channels(model);
        let kept: Vec<usize> = (0..channels.len())
            .filter(|&i| {
                prefixes
                    .is_none_or(|prefixes| prefixes.iter().any(|p| channels[i].0.starts_with(p)))
            })
            .collect();
        let names = kept.iter().map(|&i| channels[i].clone()).collect();
        let most = model
            .system
            .bodies()
            .iter()
            .map(crate::model::Body::modes)
            .max()
            .unwrap_or(0);
        let sampler = Self {
            row: Vec::with_capacity(channels.len()),
            kept_row: vec![0.0; kept.len()],
            kept,
            influence: vec![Motion::zero(); most],
        };
        (sampler, names)
    }

    /// The row of the evaluated state, and its energy balance.
    pub(super) fn row(
        &mut self,
        equations: &mut Equations<'_>,
        work: f64,
        lost: f64,
        initial_energy: Option<f64>,
    ) -> (&[f64], Balance) {
        let model = equations.model();
        let energy = equations.energy();
        let row = &mut self.row;
        row.clear();
        row.extend_from_slice(&equations.position);
        normalize_quaternions(model, row);
        row.extend_from_slice(&equations.velocity);
        for i in 0..model.transmissions.len() {
            row.push(equations.motor_position[i]);
            row.push(equations.motor_rate[i]);
        }
        row.extend_from_slice(&equations.load_values);
        row.extend_from_slice(equations.control_efforts());
        for motion in &model.motions {
            row.push(equations.reaction(motion.velocity));
        }
        for wrench in equations.closure_forces() {
            row.extend_from_slice(&wrench.force.0);
            row.extend_from_slice(&wrench.moment.0);
        }
        for marker in &model.markers {
            let (pose, velocity, deflection) = match marker.body {
                Some(body) => {
                    let motion = marker_motion(
                        &model.system,
                        &equations.kinematics,
                        body,
                        &marker.place,
                        &equations.position,
                        &equations.velocity,
                        &mut self.influence,
                    );
                    (motion.pose, motion.twist.linear, motion.deflection)
                }
                None => (*marker.place.offset(), Vector::zero(), Vector::zero()),
            };
            row.extend_from_slice(&pose.translation.0);
            row.extend_from_slice(&velocity.0);
            row.extend_from_slice(&deflection.0);
            row.extend_from_slice(&Quaternion::of_matrix(&pose.rotation).0);
        }
        let total = energy.total();
        let momentum = momentum(&model.system, &equations.kinematics, &equations.velocity);
        let balance = Balance {
            stored: energy.kinetic + energy.strain,
            drift: total - initial_energy.unwrap_or(total) - work + lost,
            total,
            momentum,
        };
        row.extend_from_slice(&[
            energy.kinetic,
            energy.strain,
            energy.gravity,
            total,
            work,
            lost,
            balance.drift,
        ]);
        row.extend_from_slice(&momentum.force.0);
        row.extend_from_slice(&momentum.moment.0);
        for (kept, &i) in self.kept_row.iter_mut().zip(&self.kept) {
            *kept = row[i];
        }
        (&self.kept_row, balance)
    }
}

/// A recording shows unit quaternions; the integrated ones may be off by the tolerance.
fn normalize_quaternions(model: &Model, row: &mut [f64]) {
    let mut i = 0;
    while i < model.positions.len() {
        if model.positions[i].kind == CoordinateKind::Quaternion {
            let length = row[i..i + 4].iter().map(|x| x * x).sum::<f64>().sqrt();
            row[i..i + 4].iter_mut().for_each(|x| *x /= length);
            i += 4;
        } else {
            i += 1;
        }
    }
}
