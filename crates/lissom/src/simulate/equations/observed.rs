//! The tree's equations as a run sees them: channels, limits, and the end of loops.

use super::Equations;
use crate::model::spec::LoadQuantity;
use crate::model::{CoordinateKind, LimitedQuantity, LoadTarget, Model};
use crate::simulate::balance::{conserves_momentum, unbalanced_by};
use crate::simulate::equations::rotation_vector;
use crate::simulate::extent;
use lissom_core::{
    Audit, Dynamics, EnergyAndMomentum, External, FlexibleLink, Kind, Limit, PlaceError, Power,
    Repartitioning, RunError, Signal, Stage, marker_signals,
};
use lissom_numerics::integrate::{IntegrateError, Outcome};
use lissom_numerics::{Coordinate, Memory};
use lissom_spatial::{Quaternion, Vector};
use lissom_tree::closure::{Rechoice, Singularity, Trouble};
use lissom_tree::tree::{marker_motion, momentum};

/// What the two kinds of equations of a closure are about.
const VIOLATIONS: [(&str, &str); 2] = [("offset", "m"), ("turn", "rad")];

impl Dynamics for Equations<'_> {
    fn state_layout(&self) -> Vec<Coordinate> {
        Equations::state_layout(self)
    }

    fn breakpoints(&self, start: f64, end: f64) -> Vec<f64> {
        Equations::breakpoints(self, start, end)
    }

    fn evaluate(&mut self, time: f64, positions: &[f64], velocities: &[f64]) -> Power {
        Equations::evaluate(self, time, positions, velocities)
    }

    fn signals(&self) -> Vec<Signal> {
        let model = self.model;
        let mut signals: Vec<Signal> = Vec::new();
        let positions = model.linkage.positions.iter();
        signals.extend(positions.map(|c| Signal::position(c.name.clone(), c.unit)));
        let velocities = model.linkage.velocities.iter();
        signals.extend(velocities.map(|c| Signal::rate(c.name.clone(), c.unit)));
        for gear in &model.transmissions {
            let (unit, rate) = if gear.translates {
                ("m", "m/s")
            } else {
                ("rad", "rad/s")
            };
            signals.push(Signal::position(gear.name.clone(), unit));
            signals.push(Signal::rate(format!("{}.rate", gear.name), rate));
        }
        signals.extend(self.inputs());
        for controller in &model.controllers {
            for joint in &controller.joints {
                let (what, unit) = if joint.translates {
                    ("force", "N")
                } else {
                    ("torque", "N m")
                };
                let name = format!("{}.{}.{what}", controller.name, joint.name);
                signals.push(Signal::input(name, unit));
            }
        }
        for motion in &model.motions {
            if let Some(axis) = model.axis_at(motion.velocity) {
                let [.., unit] = axis.name.units();
                signals.push(Signal::reaction(axis.name.driving_effort(), unit));
            }
        }
        for closure in &model.linkage.closures {
            for (what, unit) in [("force", "N"), ("moment", "N m")] {
                for axis in ["x", "y", "z"] {
                    let name = format!("{}.{what}.{axis}", closure.name);
                    signals.push(Signal::reaction(name, unit));
                }
            }
        }
        for closure in &model.linkage.closures {
            for ((what, unit), holds) in VIOLATIONS.into_iter().zip(closure.kind.holds()) {
                if holds {
                    let name = format!("{}.violation.{what}", closure.name);
                    signals.push(Signal::new(name, unit, Kind::Audit, Stage::Position));
                }
            }
        }
        for marker in &model.linkage.markers {
            signals.extend(marker_signals(&marker.name));
        }
        signals
    }

    fn read(&mut self, row: &mut Vec<f64>) {
        let model = self.model;
        row.extend_from_slice(&self.position);
        normalize_quaternions(model, row);
        row.extend_from_slice(&self.velocity);
        for i in 0..model.transmissions.len() {
            row.push(self.motor_position[i]);
            row.push(self.motor_rate[i]);
        }
        row.extend_from_slice(&self.load_values);
        row.extend_from_slice(self.control_efforts());
        for motion in &model.motions {
            row.push(self.reaction(motion.velocity));
        }
        for wrench in self.closure_forces() {
            row.extend_from_slice(&wrench.force.0);
            row.extend_from_slice(&wrench.moment.0);
        }
        for (closure, violation) in model.linkage.closures.iter().zip(self.closure_violations()) {
            let held = violation.into_iter().zip(closure.kind.holds());
            row.extend(held.filter(|(_, holds)| *holds).map(|(x, _)| x));
        }
        for marker in &model.linkage.markers {
            let (pose, velocity, deflection) = match marker.body {
                Some(body) => {
                    let motion = marker_motion(
                        &model.linkage.system,
                        &self.kinematics,
                        body,
                        &marker.place,
                        &self.position,
                        &self.velocity,
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
    }

    fn inputs(&self) -> Vec<Signal> {
        let mut signals = Vec::new();
        for load in &self.model.loads {
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
            signals.push(Signal::input(name, unit));
        }
        signals
    }

    fn set_input(&mut self, input: usize, external: Option<External>) {
        self.externals[input] = external;
    }

    fn energy_and_momentum(&mut self) -> EnergyAndMomentum {
        let energy = self.energy();
        EnergyAndMomentum {
            kinetic: energy.kinetic,
            strain: energy.strain,
            gravity: energy.gravity,
            momentum: momentum(&self.model.linkage.system, &self.kinematics, &self.velocity),
        }
    }

    fn limits(&self) -> &[Limit] {
        &self.model.limits
    }

    fn limited(&self, quantity: LimitedQuantity) -> f64 {
        match quantity {
            LimitedQuantity::Position(at) => self.position[at],
            LimitedQuantity::QuaternionAngle(at) => {
                let q = &self.position[at..];
                let turn = rotation_vector([q[0], q[1], q[2], q[3]]);
                turn.dot(turn).sqrt()
            }
            LimitedQuantity::Rate(at) => self.velocity[at],
            LimitedQuantity::Effort(at) => effort(self, at),
        }
    }

    fn conserves_momentum(&self) -> bool {
        conserves_momentum(self.model)
    }

    fn unbalanced_by(&self) -> Vec<String> {
        unbalanced_by(self.model)
    }

    fn flexible_links(&self) -> Vec<FlexibleLink> {
        let links = extent::flexible_links(self.model).into_iter();
        links.map(|(_, link)| link).collect()
    }

    fn bending(&self, link: usize) -> [f64; 2] {
        extent::bending(self.model, self.flexible[link], &self.position)
    }

    fn leading_coordinate(&self, link: usize) -> String {
        extent::leading_coordinate(self.model, self.flexible[link], &self.position)
    }

    fn project_sample(&mut self, time: f64, state: &mut [f64]) {
        Equations::settle_sample(self, time, state);
    }

    fn violation(&mut self, time: f64, state: &[f64]) -> Option<[f64; 2]> {
        Equations::violation(self, time, state)
    }

    fn failure(&self, result: &Result<Outcome, IntegrateError>) -> Option<RunError> {
        closure_trouble(self, result)
    }

    fn memory(&self) -> Memory {
        match &self.loops {
            Ok(Some(loops)) => loops.memory(),
            _ => Memory::default(),
        }
    }

    fn recall(&mut self, memory: &Memory) -> Result<(), PlaceError> {
        match &mut self.loops {
            Ok(Some(loops)) if !memory.is_empty() => {
                let recalled = loops.recall(&self.model.linkage, memory);
                recalled.map_err(|error| PlaceError {
                    reason: error.to_string(),
                    part: "the closures",
                })
            }
            _ => Ok(()),
        }
    }

    fn finish(&self, audit: &mut Audit) {
        if let (Some(closures), Ok(Some(loops))) = (&mut audit.closures, self.loops()) {
            closures.redundant = loops.redundant(&self.model.linkage);
            closures.rechoices = loops.rechoices().iter().map(repartitioning).collect();
        }
    }
}

fn repartitioning(change: &Rechoice) -> Repartitioning {
    Repartitioning {
        time_s: change.time_s,
        before: change.before.clone(),
        after: change.after.clone(),
        condition_before: change.condition_before,
        condition_after: change.condition_after,
    }
}

/// A recording shows unit quaternions; the integrated ones may be off by the tolerance.
fn normalize_quaternions(model: &Model, row: &mut [f64]) {
    let mut i = 0;
    while i < model.linkage.positions.len() {
        if model.linkage.positions[i].kind == CoordinateKind::Quaternion {
            let length = row[i..i + 4].iter().map(|x| x * x).sum::<f64>().sqrt();
            row[i..i + 4].iter_mut().for_each(|x| *x /= length);
            i += 4;
        } else {
            i += 1;
        }
    }
}

/// What drives a joint: the sum of its inputs and of feedback, through its gear if it has one, or what its prescribed
/// motion needs.
fn effort(equations: &Equations<'_>, at: usize) -> f64 {
    let model = equations.model();
    if model.motions.iter().any(|motion| motion.velocity == at) {
        return equations.reaction(at);
    }
    let acts = |target: &LoadTarget| match *target {
        LoadTarget::Joint(entry) => entry == at,
        LoadTarget::Motor(index) => model.transmissions[index].velocity == at,
        LoadTarget::Marker { .. } => false,
    };
    let inputs = (model.loads.iter().zip(&equations.load_values))
        .filter(|(load, _)| acts(&load.target))
        .map(|(_, value)| value);
    let joints = model.controllers.iter().flat_map(|c| &c.joints);
    let controls = (joints.zip(equations.control_efforts()))
        .filter(|(joint, _)| joint.velocity == at)
        .map(|(_, effort)| effort);
    inputs.chain(controls).sum()
}

/// What the loops have to do with the end of a run: what stopped it, or a configuration close to a singular
/// one in which the integrator gave up.
fn closure_trouble(
    equations: &Equations<'_>,
    result: &Result<Outcome, IntegrateError>,
) -> Option<RunError> {
    let singular = |time_s: f64, at: &Singularity| RunError::Singular {
        time_s,
        condition: at.condition,
        coordinates: at.coordinates.clone(),
    };
    match (result, equations.trouble()) {
        (Ok(outcome), Some(trouble)) => {
            let time_s = outcome.stopped_at.unwrap_or(f64::NAN);
            Some(match trouble {
                Trouble::Singular {
                    time_s,
                    singularity,
                } => singular(*time_s, singularity),
                Trouble::LeftBeam {
                    support,
                    beam,
                    place,
                    length,
                } => RunError::LeftBeam {
                    support: support.clone(),
                    beam: beam.clone(),
                    place: *place,
                    length: *length,
                    time_s,
                },
                Trouble::NoLongerRedundant {
                    equation,
                    violation,
                } => RunError::NoLongerRedundant {
                    equation: equation.clone(),
                    violation: *violation,
                    time_s,
                },
            })
        }
        (Err(source), _) => {
            let loops = equations.loops().ok()??;
            let near = loops.nearly_singular();
            near.map(|at| singular(source.time(), at)).or_else(|| {
                let (time_s, at) = loops.heading_for(&equations.model().linkage)?;
                Some(singular(time_s, &at))
            })
        }
        (Ok(_), None) => None,
    }
}
