//! The nominal trajectory: how a mechanism would move if every body were rigid, and what would move it so.
//!
//! Joints move along the nominal motion of their inputs, as prescribed, as a marker on its path takes them, or stay where the
//! model has them start. In a tree whose joints say their own motions the feedforward is inverse dynamics. In loops, and
//! where a marker says the motion, the joints follow by kinematics (`path.rs`), and of the forces $`\tau`$ along that
//! motion the drives give what the closures do not: with $`N`$ spanning the motions that the closures allow and $`S`$ the
//! rates of the drives,
//!
//! ```math
//! N^T S^T \tau_a = N^T \tau ,
//! ```
//!
//! the shortest $`\tau_a`$ if there are more drives than degrees of freedom \[Fattah 1995, section 4.5\].
//!
//! A mechanism that nothing leads, as an arm under given torques, moves as its rigid bodies would under its loads
//! (`forward.rs`).
//!
//! It is written over [`RigidMechanism`], which either formulation implements; [`Nominal`] says how a mechanism comes to it, and [`Commands`] holds
//! what goes by it.

mod commands;
mod efforts;
mod error;
mod forward;
mod nominal;
mod orientation;
mod path;
mod projection;
mod rigid;
mod space_curve;
#[cfg(test)]
mod tests;

use lissom_numerics::{Memory, RecallError};

use crate::action::{Actions, ControlLaw, Feedback, Gear, Load, LoadTarget, Sampling};
use crate::profile::MotionCurve;
use crate::view::{AxisId, View};

pub use commands::{Commanded, Commands};
pub use efforts::NominalDrives;
pub use error::NominalError;
use forward::ForwardDynamics;
pub use nominal::{Nominal, Purpose};
pub use path::MarkerPath;
use path::{Blocked, Path};
use projection::Projection;
pub use rigid::{ClosureEquations, Order, RigidMechanism, RigidState};

/// An axis and its motion.
pub type AxisCurve = (AxisId, MotionCurve);

/// What says how the joints of a rigid mechanism move.
#[derive(Clone, Debug)]
pub struct NominalMotions<'a> {
    /// What acts, with the nominal motions of the inputs.
    pub actions: &'a Actions,
    /// Axes that are coordinates, with the motions that are prescribed for them.
    pub axes: Vec<(AxisId, Option<MotionCurve>)>,
    /// The path of a marker.
    pub path: Option<&'a MarkerPath>,
    /// Whether motions are prescribed, wherever that is done.
    pub prescribes: bool,
    /// Instant at which all of them begin.
    pub start_s: f64,
}

impl NominalMotions<'_> {
    /// Whether an input, a prescribed motion, a path or feedback says how the mechanism should move.
    pub fn are_given(&self) -> bool {
        let actions = self.actions;
        let given = asks(actions) || self.prescribes || self.path.is_some();
        given || !actions.controllers.is_empty()
    }
}

/// The nominal trajectory of a mechanism at an instant.
#[derive(Clone, Debug)]
pub struct Trajectory<R> {
    mechanism: R,
    start_s: f64,
    state: RigidState,
    /// Instant of the state; none before the first.
    reached: Option<f64>,
    /// Where a way led nowhere: an integrator that asks for instants beyond it, with ever shorter steps, is told at once.
    blocked: Option<Blocked>,
    /// Instant of everything else.
    time: Option<f64>,
    motion: Motion,
    gears: Vec<Gear>,
    /// What inverse dynamics gives efforts for; none where no input asks.
    drives: Vec<LoadTarget>,
    /// Where drives are not coordinates or closures bear a part.
    projection: Option<Projection>,
    force: Vec<f64>,
    efforts: Vec<f64>,
    row: Vec<f64>,
    /// Mass matrix, and that of the axes under feedback, if a controller asks for it.
    mass: Vec<f64>,
    controlled: Vec<AxisId>,
    controlled_mass: Vec<f64>,
    feedback: Feedback,
}

/// How the joints move.
#[derive(Clone, Debug)]
enum Motion {
    /// Each by itself.
    Axes(Vec<AxisCurve>),
    /// All together.
    Together(Box<Path>),
    /// As rigid bodies do under the loads that act.
    Forward(Box<ForwardDynamics>),
}

impl<R: RigidMechanism> Trajectory<R> {
    /// Of a mechanism; `None` where neither an input nor a controller goes by it.
    ///
    /// # Errors
    /// When the mechanism cannot be where the model has it start.
    pub fn for_actions(
        mechanism: impl FnOnce() -> Result<R, NominalError>,
        motions: &NominalMotions<'_>,
    ) -> Result<Option<Self>, NominalError> {
        let actions = motions.actions;
        if actions.controllers.is_empty() && !asks(actions) {
            return Ok(None);
        }
        Self::new(mechanism()?, motions).map(Some)
    }

    /// Of a mechanism.
    ///
    /// # Errors
    /// When it cannot be where the model has it start.
    pub fn new(mechanism: R, motions: &NominalMotions<'_>) -> Result<Self, NominalError> {
        let moves = asks(motions.actions) || motions.prescribes;
        Self::moving(mechanism, motions, moves)
    }

    /// Of a mechanism; the joints of loops that nothing moves follow if `moves` says so, or else stay.
    ///
    /// # Errors
    /// When it cannot be where the model has it start.
    pub fn moving(
        mut mechanism: R,
        motions: &NominalMotions<'_>,
        moves: bool,
    ) -> Result<Self, NominalError> {
        let NominalMotions {
            actions, start_s, ..
        } = *motions;
        let together = moves && (mechanism.has_loops() || motions.path.is_some());
        let state = mechanism.start();
        mechanism.place(start_s, &state)?;
        let asked = asks(actions);
        let curves = curves(&mechanism, motions, &state, together);
        let drives = if asked {
            drives(motions, together)
        } else {
            Vec::new()
        };
        let n = state.velocity.len();
        let by_rows = asked && together;
        let projection = by_rows.then(|| Projection::new(n, mechanism.closures(), drives.len()));
        let motion = if together {
            let path = Path::new(&mechanism, curves, motions.path, &state)?;
            Motion::Together(Box::new(path))
        } else {
            Motion::Axes(curves)
        };
        let weighs = (actions.controllers.iter())
            .any(|controller| matches!(controller.law, ControlLaw::Computed { .. }));
        let controlled: Vec<AxisId> = actions.controlled().map(|axis| axis.joint).collect();
        let squared = |count: usize| vec![0.0; if weighs { count * count } else { 0 }];
        Ok(Self {
            start_s,
            reached: None,
            blocked: None,
            time: None,
            motion,
            gears: actions.gears.clone(),
            projection,
            force: vec![0.0; n],
            efforts: vec![0.0; drives.len()],
            drives,
            row: vec![0.0; n],
            mass: squared(n),
            controlled_mass: squared(controlled.len()),
            controlled,
            feedback: Feedback::new(&actions.controllers),
            state,
            mechanism,
        })
    }

    /// Of a mechanism that nothing leads, from the rates with which its model has it start.
    ///
    /// # Errors
    /// When it cannot be where the model has it start.
    pub fn forward(mechanism: R, motions: &NominalMotions<'_>) -> Result<Self, NominalError> {
        let breakpoints = mechanism.breakpoints();
        let mut trajectory = Self::moving(mechanism, motions, false)?;
        trajectory.state.velocity = trajectory.mechanism.start_velocity();
        let forward = ForwardDynamics::new(trajectory.force.len(), breakpoints);
        trajectory.motion = Motion::Forward(Box::new(forward));
        Ok(trajectory)
    }

    /// Instants at which the motion is not smooth.
    pub fn breakpoints(&self) -> Vec<f64> {
        match &self.motion {
            Motion::Forward(forward) => forward.breakpoints().to_vec(),
            Motion::Axes(curves) => (curves.iter())
                .flat_map(|(_, curve)| curve.breakpoints())
                .collect(),
            Motion::Together(path) => path.breakpoints().collect(),
        }
    }

    /// The rigid mechanism, where it was brought last.
    pub fn mechanism(&self) -> &R {
        &self.mechanism
    }

    /// The motion of the rigid mechanism at the instant that it was brought to last.
    pub fn state(&self) -> &RigidState {
        &self.state
    }

    /// Degrees of freedom of the rigid mechanism, where joints do not say their own motions.
    fn freedom(&self) -> Option<usize> {
        match (&self.motion, &self.projection) {
            (Motion::Together(_), Some(projection)) => Some(projection.freedom()),
            _ => None,
        }
    }

    /// Moves the rigid mechanism to an instant.
    ///
    /// # Errors
    /// When no motion of the joints leads there.
    pub fn follow(&mut self, time: f64) -> Result<(), NominalError> {
        if self.reached == Some(time) {
            return Ok(());
        }
        let (mechanism, state) = (&mut self.mechanism, &mut self.state);
        match &mut self.motion {
            Motion::Axes(curves) => {
                for (axis, curve) in curves {
                    mechanism.set_axis(*axis, curve.at(time), state);
                }
                self.reached = None;
                mechanism.move_to(time, state)?;
                self.reached = Some(time);
                Ok(())
            }
            Motion::Forward(forward) => {
                let from = match self.reached {
                    Some(from) if from < time => from,
                    // it goes forward only
                    _ => {
                        let start = mechanism.start();
                        state.position.copy_from_slice(&start.position);
                        state.velocity = mechanism.start_velocity();
                        forward.accelerate(mechanism, state, self.start_s)?;
                        self.start_s
                    }
                };
                self.reached = None;
                forward.follow(mechanism, state, [from, time])?;
                self.reached = Some(time);
                Ok(())
            }
            Motion::Together(path) => {
                let from = if let Some(from) = self.reached {
                    from
                } else {
                    path.begin(mechanism, state, self.start_s)?;
                    *self.reached.insert(self.start_s)
                };
                if from == time {
                    return Ok(());
                }
                if let Some(Blocked { at, part, error }) = &self.blocked
                    && ((from < *at && *at <= time) || (time <= *at && *at < from))
                    && (time - from).abs() >= *part
                {
                    return Err(error.clone());
                }
                match path.follow(mechanism, state, [from, time]) {
                    Ok(()) => {
                        self.reached = Some(time);
                        Ok(())
                    }
                    Err(blocked) => Err(self.blocked.insert(blocked).error.clone()),
                }
            }
        }
    }

    /// Moves to an instant with all that drives and controllers ask for, unless it is what was last asked for: stages and
    /// iterations of an integrator share instants.
    ///
    /// # Errors
    /// When the motion cannot be followed or driven.
    pub fn update(&mut self, time: f64) -> Result<(), NominalError> {
        if self.time == Some(time) {
            return Ok(());
        }
        self.time = None;
        self.follow(time)?;
        if !self.drives.is_empty() {
            self.drive(time)?;
        }
        if !self.mass.is_empty() {
            self.mechanism.mass(&mut self.mass);
            self.weigh();
        }
        self.time = Some(time);
        Ok(())
    }

    /// Rigid inverse dynamics.
    fn drive(&mut self, time: f64) -> Result<(), NominalError> {
        let (mechanism, n) = (&mut self.mechanism, self.force.len());
        mechanism.force(time, &self.state, &mut self.force);
        let Some(projection) = &mut self.projection else {
            for (target, effort) in self.drives.iter().zip(&mut self.efforts) {
                write_row(mechanism, target, &mut self.row);
                *effort = dot(&self.row, &self.force);
            }
            return Ok(());
        };
        let rows = projection.rows.chunks_exact_mut(n.max(1));
        for (target, row) in self.drives.iter().zip(rows) {
            write_row(mechanism, target, row);
        }
        let jacobian = mechanism.closure_equations().jacobian;
        projection.apply(jacobian, &self.force, &mut self.efforts)
    }

    /// The mass matrix between axes under feedback.
    fn weigh(&mut self) {
        let (n, count) = (self.force.len(), self.controlled.len());
        for column in 0..count {
            let axis = LoadTarget::Axis(self.controlled[column]);
            write_row(&mut self.mechanism, &axis, &mut self.row);
            for (felt, mass) in self.force.iter_mut().zip(self.mass.chunks_exact(n.max(1))) {
                *felt = dot(mass, &self.row);
            }
            for row in 0..count {
                let axis = LoadTarget::Axis(self.controlled[row]);
                write_row(&mut self.mechanism, &axis, &mut self.row);
                self.controlled_mass[row * count + column] = dot(&self.row, &self.force);
            }
        }
    }

    /// Torque or force that moves what a load acts on along the trajectory, as of the last update.
    pub fn feedforward(&self, target: &LoadTarget) -> f64 {
        let joint = joint_of(&self.gears, target);
        let found = self.drives.iter().position(|drive| *drive == joint);
        found.map_or(0.0, |found| self.efforts[found])
    }

    /// Rate of what a load acts on along the trajectory.
    fn rate(&mut self, target: &LoadTarget) -> f64 {
        match joint_of(&self.gears, target) {
            LoadTarget::Axis(axis) => self.mechanism.axis_rate(axis, &self.state),
            joint => {
                write_row(&mut self.mechanism, &joint, &mut self.row);
                dot(&self.row, &self.state.velocity)
            }
        }
    }

    /// Position and rate of an axis on the trajectory.
    pub fn axis(&self, axis: AxisId) -> [f64; 2] {
        let (mechanism, state) = (&self.mechanism, &self.state);
        [
            mechanism.axis(axis, state),
            mechanism.axis_rate(axis, state),
        ]
    }

    /// Torques and forces of the controllers as of the last update; `view` is the state, `states` are those of the controllers.
    pub fn feed_back(
        &mut self,
        actions: &Actions,
        view: &mut impl View<f64>,
        states: &[f64],
        efforts: &mut [f64],
    ) {
        let (mechanism, state) = (&self.mechanism, &self.state);
        let (mass, count) = (&self.controlled_mass, self.controlled.len());
        self.feedback.look(actions, view);
        self.feedback.evaluate(
            &actions.controllers,
            |axis| view.axis(axis),
            |axis| {
                let rate = mechanism.axis_rate(axis, state);
                [mechanism.axis(axis, state), rate]
            },
            |row, column| mass[row * count + column],
            states,
            efforts,
        );
    }

    /// The laws of the controllers, where they were evaluated last.
    pub(crate) fn feedback(&mut self) -> &mut Feedback {
        &mut self.feedback
    }

    /// What sampled controllers do at an instant at whose state they were evaluated last; `readings` are those of all sensors there, `states` those of controllers and actuators.
    pub fn tick(&self, actions: &Actions, time_s: f64, readings: &[f64], states: &mut [f64]) {
        let due = |sampling: &Sampling| sampling.due(self.start_s, time_s);
        (self.feedback).tick(&actions.controllers, due, readings, states);
    }

    /// $`\bar M`$ between all axes under feedback by rows, as of the last update; empty where no law asks for it.
    pub(crate) fn controlled_masses(&self) -> &[f64] {
        &self.controlled_mass
    }

    /// Entry of the diagonal of $`\bar M`$ for an axis under feedback, by its place among these, as of the last update.
    pub fn controlled_mass(&self, place: usize) -> f64 {
        self.controlled_mass[place * (self.controlled.len() + 1)]
    }

    /// Adds what it takes to go on from here exactly: where a path is on its branch.
    pub fn remember(&self, memory: &mut Memory) {
        if let (Motion::Together(_), Some(reached)) = (&self.motion, self.reached) {
            memory.set(REACHED, [reached]);
            memory.set(POSITION, self.state.position.iter().copied());
            memory.set(VELOCITY, self.state.velocity.iter().copied());
            memory.set(ACCELERATION, self.state.acceleration.iter().copied());
        }
    }

    /// Goes on from where another trajectory of the same mechanism was; without memory, from the start.
    ///
    /// # Errors
    /// When the memory is not one of such a mechanism.
    pub fn recall(&mut self, memory: &Memory) -> Result<(), RecallError> {
        if !matches!(self.motion, Motion::Together(_)) || memory.get(REACHED).is_none() {
            return Ok(());
        }
        let state = &mut self.state;
        for (name, vector) in [
            (POSITION, &mut state.position),
            (VELOCITY, &mut state.velocity),
            (ACCELERATION, &mut state.acceleration),
        ] {
            let length = vector.len();
            vector.copy_from_slice(memory.numbers(name, length)?);
        }
        self.reached = memory.number(REACHED)?;
        self.blocked = None;
        self.time = None;
        Ok(())
    }
}

const REACHED: &str = "nominal.time_s";
const POSITION: &str = "nominal.position";
const VELOCITY: &str = "nominal.velocity";
const ACCELERATION: &str = "nominal.acceleration";

/// Whether an input asks for inverse dynamics.
fn asks(actions: &Actions) -> bool {
    (actions.loads.iter()).any(|load| load.nominal_motion().is_some())
}

/// What a load acts on; of a motor, its joint: along the trajectory they move as one.
pub fn joint_of(gears: &[Gear], target: &LoadTarget) -> LoadTarget {
    let motor = target.axis();
    let gear = gears.iter().find(|gear| Some(gear.motor) == motor);
    gear.map_or_else(|| target.clone(), |gear| LoadTarget::Axis(gear.joint))
}

/// Motion of every axis that says its own. Those without one follow what is prescribed for them, or the others; where
/// there is nothing to follow they stay.
fn curves(
    mechanism: &impl RigidMechanism,
    motions: &NominalMotions<'_>,
    start: &RigidState,
    together: bool,
) -> Vec<AxisCurve> {
    let actions = motions.actions;
    let own = |axis: AxisId| {
        let drives =
            |load: &&Load| joint_of(&actions.gears, &load.target) == LoadTarget::Axis(axis);
        let mut profiles = actions.loads.iter().filter(drives);
        profiles.find_map(|load| load.nominal_motion()?)
    };
    let curve = |(axis, prescribed): &(AxisId, Option<MotionCurve>)| {
        let initial = mechanism.axis(*axis, start);
        let curve = match (own(*axis), prescribed) {
            (Some(profile), _) => MotionCurve::new(profile, initial),
            (None, Some(curve)) => curve.clone(),
            (None, None) if together => return None,
            (None, None) => MotionCurve::held(initial),
        };
        Some((*axis, curve))
    };
    motions.axes.iter().filter_map(curve).collect()
}

/// What inverse dynamics gives efforts for: the inputs that ask for it. In loops and
/// along paths, what prescribed joints need is given to them without being asked for.
fn drives(motions: &NominalMotions<'_>, together: bool) -> Vec<LoadTarget> {
    let actions = motions.actions;
    let loads = actions.loads.iter();
    let asking = loads.filter(|load| load.nominal_motion().is_some());
    let mut drives: Vec<LoadTarget> = asking
        .map(|load| joint_of(&actions.gears, &load.target))
        .collect();
    if together {
        let prescribed = motions.axes.iter().filter(|(_, curve)| curve.is_some());
        drives.extend(prescribed.map(|(axis, _)| LoadTarget::Axis(*axis)));
    }
    let place = |target: &LoadTarget| match target {
        LoadTarget::Axis(AxisId(axis)) => (0, *axis, 0),
        LoadTarget::Component(joint, component) => (1, joint.0, *component),
        LoadTarget::Marker(marker, _) => (2, marker.0, 0),
    };
    drives.sort_by_key(place);
    drives.dedup();
    drives
}

/// The rate of what a load acts on by the velocities.
fn write_row(mechanism: &mut impl RigidMechanism, target: &LoadTarget, row: &mut [f64]) {
    row.fill(0.0);
    match target {
        LoadTarget::Axis(axis) => mechanism.write_axis_row(*axis, row),
        LoadTarget::Component(joint, component) => {
            mechanism.write_component_row(*joint, *component, row);
        }
        LoadTarget::Marker(..) => {}
    }
}

/// The largest size of numbers; not a number if one of them is none.
fn largest(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let larger = |most: f64, x: f64| {
        if x.is_nan() || x.abs() > most {
            x.abs()
        } else {
            most
        }
    };
    numbers.into_iter().fold(0.0, larger)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b)
}
