//! One state of a mechanism, looked at closely: [`Mechanism::evaluate`].
//!
//! Evaluations are of the mechanism by itself, with every joint free: inputs, controllers, prescribed motions and
//! motors behind elastic gears are left out, joint springs and friction are part of the bias.
//! [`Mechanism::released`] is the mechanism like that. What is asked of either formulation is the trait `Evaluate`.

use lissom_core::{Axis, Dynamics, RunError, State, StateError, snapshot};
use lissom_numerics::{Coordinate, Memory};
use lissom_spatial::{Motion, Transform};
use lissom_spec::spec::{JointSpec, PrismaticMotorSpec, RevoluteMotorSpec, TwistComponent};
use lissom_spec::{ModelSpec, spanning_tree};
use nalgebra::{DMatrix, DVector};

use crate::build_error::BuildError;
use crate::formulation::Formulation as _;
use crate::mechanism::{Mechanism, by_name, unplaced};
use crate::simulate;

pub use crate::simulate::{ClosedEvaluation, Evaluation};
pub use lissom_tree::closure::ClosureError;

/// What is asked of a state, one number per velocity of the [released](Mechanism::released) mechanism.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvaluateOptions {
    /// Generalised force for the accelerations; zero where it is empty.
    pub force: Vec<f64>,
    /// Accelerations for the inverse dynamics.
    pub acceleration: Option<Vec<f64>>,
}

/// What is given of a configuration; the rest follows from the loops.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Targets {
    /// Names of joints that stay where they are.
    pub held: Vec<String>,
    /// Components of markers.
    pub markers: Vec<MarkerTarget>,
}

/// A component of a marker's pose and of its velocity.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkerTarget {
    /// Name of the marker.
    pub marker: String,
    /// Which component: of the position, or of the rotation vector, in ground axes.
    pub component: TwistComponent,
    /// Its value.
    pub position: f64,
    /// The same component of the twist in ground axes.
    pub rate: f64,
}

/// A state with its loops closed.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// The state.
    pub state: State,
    /// Largest violation that rounding leaves, m or rad.
    pub violation: f64,
}

/// Where a marker is, and how it moves.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkerPose {
    /// Its name.
    pub name: String,
    /// Its frame in the ground's.
    pub pose: Transform<f64>,
    /// Angular velocity and velocity in ground axes.
    pub twist: Motion<f64>,
}

/// Why there is no evaluation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluateError {
    /// The mechanism cannot be made with all its joints free.
    #[error("with every joint free: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Release(Vec<BuildError>),
    /// The mechanism cannot be in this state.
    #[error(transparent)]
    Run(#[from] RunError),
    /// There is no such state.
    #[error(transparent)]
    State(#[from] StateError),
}

/// What is asked of a formulation at a state of a mechanism that nothing drives.
pub(crate) trait Evaluate {
    /// Mass matrix, bias, accelerations.
    fn evaluate(&self, state: &State, options: &EvaluateOptions) -> Result<Evaluation, RunError>;

    /// Where the markers on bodies are.
    fn marker_poses(&self, state: &State) -> Result<Vec<MarkerPose>, RunError>;
}

impl Mechanism {
    /// The same mechanism with every joint free and nothing that drives it, as evaluations have it.
    ///
    /// # Errors
    /// When it cannot be made in its formulation.
    pub fn released(&self) -> Result<Self, EvaluateError> {
        if self.is_released() {
            return Ok(self.clone());
        }
        let spec = released_spec(self.spec());
        let released = self.rebuilt(spec);
        released.map_err(EvaluateError::Release)
    }

    /// What the equations say of a state of this mechanism, with every joint free. Vectors of the answer are in the
    /// order of [`coordinates`](Self::coordinates) of the [released](Self::released) mechanism.
    ///
    /// ```
    /// use lissom::evaluate::EvaluateOptions;
    /// use lissom::{Mechanism, ModelSpec, TEMPLATE};
    ///
    /// let spec = ModelSpec::parse(TEMPLATE, &[]).unwrap();
    /// let mechanism = Mechanism::build(&spec).unwrap();
    /// let start = mechanism.written();
    /// let found = mechanism.evaluate(&start, &EvaluateOptions::default()).unwrap();
    /// assert_eq!(found.acceleration.len(), start.velocity.len());
    /// ```
    ///
    /// # Errors
    /// When the mechanism cannot be there.
    pub fn evaluate(
        &self,
        state: &State,
        options: &EvaluateOptions,
    ) -> Result<Evaluation, EvaluateError> {
        if self.is_released() {
            self.accept(state)?;
            return Ok(self.formulation().evaluate(state, options)?);
        }
        let free = self.released()?;
        let state = self.released_state(state, &free)?;
        Ok(free.formulation().evaluate(&state, options)?)
    }

    /// Name, unit and kind of the positions and of the velocities of its states.
    ///
    /// # Errors
    /// When it cannot be where its model has it start.
    pub fn coordinates(&self) -> Result<[Vec<Coordinate>; 2], StateError> {
        self.coordinates_at(&self.written())
    }

    /// The same of a state, in which other joints of loops may lead than where the model starts.
    ///
    /// # Errors
    /// When it is no state of this mechanism.
    pub fn coordinates_at(&self, state: &State) -> Result<[Vec<Coordinate>; 2], StateError> {
        let start = self.written();
        let mut positions = self.layout_of(&state.memory)?;
        let mut velocities = positions.split_off(start.position.len());
        velocities.truncate(start.velocity.len());
        Ok([positions, velocities])
    }

    /// A state in which what was not given follows what was, as where a model starts: the orientation of an exact tip the
    /// deformation of its beam, a motor behind an elastic gear its joint.
    ///
    /// # Errors
    /// When the mechanism cannot be where its model has it start.
    pub fn followed(
        &self,
        state: State,
        is_given: &dyn Fn(&str) -> bool,
    ) -> Result<State, StateError> {
        let simulation = &self.spec().simulation;
        let state = (self.formulation()).followed_state(simulation, state, is_given)?;
        self.with_motors_moved(&self.written(), state, &|joint, motor| {
            is_given(joint) && !is_given(motor)
        })
    }

    /// A state in which motors behind elastic gears have moved as their joints have since `before`, so that gears stay as they were deformed, where
    /// `follows` says so of the names of joint and motor.
    pub(crate) fn with_motors_moved(
        &self,
        before: &State,
        mut state: State,
        follows: &dyn Fn(&str, &str) -> bool,
    ) -> Result<State, StateError> {
        let axes = self.spec().joint.iter().flat_map(Axis::of);
        let is_geared = |axis: &Axis| axis.motor.is_some_and(|motor| motor.gear.is_some());
        let geared: Vec<Axis> = axes.filter(is_geared).collect();
        if geared.is_empty() {
            return Ok(state);
        }
        let [positions, velocities] = self.coordinates_at(&state)?;
        for Axis { name, .. } in geared {
            let [joint, motor] = [name.coordinate(), name.motor().coordinate()];
            let rates = [&joint, &motor].map(|name| format!("{name}.rate"));
            if follows(&joint, &motor) {
                let values = (&before.position[..], &mut state.position[..]);
                move_along(&positions, [&joint, &motor], values);
            }
            if follows(&rates[0], &rates[1]) {
                let values = (&before.velocity[..], &mut state.velocity[..]);
                move_along(&velocities, [&rates[0], &rates[1]], values);
            }
        }
        Ok(state)
    }

    /// The configuration nearest to a state at which the loops are closed and targets are met; `None` where there is
    /// nothing to solve for. Joints are moved, deformations stay as they are.
    ///
    /// # Errors
    /// What stays open, or a name that is not there.
    pub fn configured(
        &self,
        state: &State,
        targets: &Targets,
    ) -> Result<Option<Configuration>, StateError> {
        let asks = !targets.held.is_empty() || !targets.markers.is_empty();
        if !asks && self.tree().linkage.closures.is_empty() {
            return Ok(None);
        }
        self.configure(state, targets).map(Some)
    }

    /// The configuration nearest to a state at which loops are closed and targets are met. Joints are moved, and have the same
    /// names in both formulations; deformations stay as they are.
    fn configure(&self, state: &State, targets: &Targets) -> Result<Configuration, StateError> {
        let [positions, velocities] = self.coordinates_at(state)?;
        let (tree, simulation) = (self.tree(), &self.spec().simulation);
        let mut joints = tree.written_state(state.time_s);
        let layout = tree.state_layout(simulation, &Memory::default())?;
        let (joint_positions, rest) = layout.split_at(joints.position.len());
        let joint_velocities = &rest[..joints.velocity.len()];
        copy_by_name(
            (&positions, &state.position),
            (joint_positions, &mut joints.position),
        );
        copy_by_name(
            (&velocities, &state.velocity),
            (joint_velocities, &mut joints.velocity),
        );
        if !state.memory.is_empty() {
            // such a state knows where joints are that follow from others
            let mut dynamics = self.dynamics(state).map_err(|error| unplaced(&error))?;
            let (time_s, position) = (state.time_s, &state.position);
            let now = snapshot(&mut *dynamics, time_s, position, &state.rates());
            let known = |name: &str| now.channel(name)?.samples.first().copied();
            let positions = joint_positions.iter().zip(&mut joints.position);
            let velocities = joint_velocities.iter().zip(&mut joints.velocity);
            for (coordinate, value) in positions.chain(velocities) {
                *value = known(&coordinate.name).unwrap_or(*value);
            }
        }
        let found = simulate::configured(tree, joints, targets)?;
        let before = state;
        let mut state = before.clone();
        copy_by_name(
            (joint_positions, &found.state.position),
            (&positions, &mut state.position),
        );
        copy_by_name(
            (joint_velocities, &found.state.velocity),
            (&velocities, &mut state.velocity),
        );
        let state = self.with_motors_moved(before, state, &|_, _| true)?;
        Ok(Configuration { state, ..found })
    }

    /// Where the markers on bodies are in a state.
    ///
    /// # Errors
    /// When the mechanism cannot be there.
    pub fn marker_poses(&self, state: &State) -> Result<Vec<MarkerPose>, RunError> {
        self.accept(state)?;
        self.formulation().marker_poses(state)
    }

    /// A state of this mechanism as one of the [released](Self::released) one, in which all is free that is prescribed here.
    ///
    /// # Errors
    /// When the mechanism cannot be there.
    pub fn released_state(&self, state: &State, released: &Self) -> Result<State, EvaluateError> {
        let mut dynamics = self.dynamics(state)?;
        let (position, rates) = (&state.position, state.rates());
        let now = snapshot(&mut *dynamics, state.time_s, position, &rates);
        let value = |name: &str| now.channel(name)?.samples.first().copied();
        let mut dynamics = released.dynamics(&released.written())?;
        Ok(dynamics.recorded_state(state.time_s, &value)?)
    }
}

/// Copies the values of coordinates that both have.
/// Moves what is called `follower` as far as what is called `leader` has moved since `before`. Coordinates that are not there are left alone.
fn move_along(
    coordinates: &[Coordinate],
    [leader, follower]: [&str; 2],
    (before, now): (&[f64], &mut [f64]),
) {
    let place = |name: &str| (coordinates.iter()).position(|coordinate| coordinate.name == name);
    if let (Some(leader), Some(follower)) = (place(leader), place(follower))
        && now[leader] != before[leader]
    {
        // without a detour by the difference, which would round
        now[follower] = if before[follower] == before[leader] {
            now[leader]
        } else {
            before[follower] + (now[leader] - before[leader])
        };
    }
}

fn copy_by_name(from: (&[Coordinate], &[f64]), to: (&[Coordinate], &mut [f64])) {
    let known = by_name(from.0, from.1);
    for (coordinate, value) in to.0.iter().zip(to.1) {
        if let Some(&found) = known.get(coordinate.name.as_str()) {
            *value = found;
        }
    }
}

/// A model without what drives it. Joints that are cut stay cut: which ones are depends on what drives them.
fn released_spec(spec: &ModelSpec) -> ModelSpec {
    let mut released = ModelSpec {
        input: Vec::new(),
        actuator: Vec::new(),
        controller: Vec::new(),
        sensor: Vec::new(),
        nominal_motion: None,
        ..spec.clone()
    };
    // deformations of elements that are prescribed have no equations of their own
    if !spec.is_of_nodes() {
        released.motion.clear();
        for cut in spanning_tree(spec).cuts {
            released.joint[cut].cut = true;
        }
        released.joint.iter_mut().for_each(release_motors);
    }
    released
}

/// Takes motors behind elastic gears away; others are part of what they drive.
fn release_motors(joint: &mut JointSpec) {
    let universal = joint.universal.iter_mut();
    let axes = universal.flat_map(|universal| [&mut universal.first, &mut universal.second]);
    for revolute in axes.chain(&mut joint.revolute) {
        let elastic = |motor: &RevoluteMotorSpec| motor.stiffness_n_m_per_rad;
        if revolute.motor.as_ref().and_then(elastic).is_some() {
            revolute.motor = None;
        }
    }
    if let Some(prismatic) = &mut joint.prismatic {
        let elastic = |motor: &PrismaticMotorSpec| motor.stiffness_n_per_m;
        if prismatic.motor.as_ref().and_then(elastic).is_some() {
            prismatic.motor = None;
        }
    }
}

/// What equations of any formulation say of a state. They are those of a mechanism that nothing drives.
pub(crate) fn by_equations(
    dynamics: &mut dyn Dynamics,
    state: &State,
    options: &EvaluateOptions,
) -> Evaluation {
    let n = state.velocity.len();
    let (time, position, velocity) = (state.time_s, &state.position, &state.velocity);
    let mut mass_matrix = vec![0.0; n * n];
    dynamics.mass_matrix(time, position, &mut mass_matrix);
    let mut needed = |acceleration: &[f64]| {
        let mut force = vec![0.0; n];
        dynamics.residual(time, position, velocity, acceleration, &mut force);
        force
    };
    let bias = needed(&vec![0.0; n]);
    let inverse_dynamics = options.acceleration.as_deref().map(needed);
    let state = state.packed();
    let mut rate = vec![0.0; state.len()];
    dynamics.derivative(time, &state, &mut rate);
    let unforced = &rate[position.len()..][..n];
    let force = |at: usize| options.force.get(at).copied().unwrap_or(0.0);
    let factor = DMatrix::from_row_slice(n, n, &mass_matrix).cholesky();
    let solved = |right: &dyn Fn(usize) -> f64| {
        let right = DVector::from_fn(n, |at, _| right(at));
        Some(factor.as_ref()?.solve(&right).as_slice().to_vec())
    };
    let forced = solved(&force).unwrap_or_else(|| vec![f64::NAN; n]);
    Evaluation {
        acceleration: unforced.iter().zip(forced).map(|(a, b)| a + b).collect(),
        acceleration_by_composite_bodies: solved(&|at| force(at) - bias[at]),
        mass_matrix,
        bias,
        inverse_dynamics,
        closed: None,
    }
}
