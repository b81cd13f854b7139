//! One state, looked at closely: mass matrix, bias, accelerations, inverse dynamics.

use crate::evaluate::{Evaluate, EvaluateOptions, MarkerPose};
use crate::model::Model;
use crate::simulate::equations::Equations;
use lissom_core::{Limit, LimitedQuantity, RunError, State};
use lissom_spatial::{Force, Motion};
use lissom_tree::closure::{self, ClosureError, Loops, ReducedEquations};
use lissom_tree::tree::{
    ArticulatedBody, CompositeBody, InverseDynamics, Kinematics, inverse_dynamics, marker_motion,
    mass_matrix,
};
use lissom_tree::{Body, ClosureMethod, Marker};

/// A state with what is asked of it. Vectors are in the order of [`Linkage::positions`](lissom_tree::Linkage::positions) and
/// [`Linkage::velocities`](lissom_tree::Linkage::velocities).
#[derive(Clone, Debug, PartialEq)]
pub struct StateInput {
    /// Position vector.
    pub position: Vec<f64>,
    /// Velocity vector.
    pub velocity: Vec<f64>,
    /// Generalised force for the accelerations.
    pub force: Vec<f64>,
    /// Accelerations for the inverse dynamics.
    pub acceleration: Option<Vec<f64>>,
}

impl StateInput {
    /// A state of motion without forces.
    pub fn at(model: &Model, state: &State) -> Self {
        let (position, velocity) = Equations::new(model).unpacked(state);
        Self {
            force: vec![0.0; velocity.len()],
            position,
            velocity,
            acceleration: None,
        }
    }
}

/// What the equations say of a state.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// Mass matrix, n × n by rows.
    pub mass_matrix: Vec<f64>,
    /// Generalised force that holds all accelerations at zero.
    pub bias: Vec<f64>,
    /// Accelerations under the given force, by articulated bodies.
    pub acceleration: Vec<f64>,
    /// The same by factoring the mass matrix; `None` when it is not positive definite.
    pub acceleration_by_composite_bodies: Option<Vec<f64>>,
    /// Generalised force of the given accelerations.
    pub inverse_dynamics: Option<Vec<f64>>,
    /// What is above is of the tree, its loops cut; this is of the mechanism with its loops closed, or why there is
    /// nothing to say of it. Absent without loops.
    pub closed: Option<Result<ClosedEvaluation, ClosureError>>,
}

/// What the equations say of a mechanism with closed loops, in its independent speeds $`u`$:
/// $`\bar M\dot u + \bar b = \bar\tau`$ with $`v = N u`$, $`\bar M = N^T M N`$ and $`\bar\tau = N^T\tau`$.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ClosedEvaluation {
    /// The method by which accelerations and forces of the closures were formed.
    pub method: &'static str,
    /// Name and unit of every independent speed: those that the method chooses, or the automatic choice for multipliers.
    pub independent: Vec<(String, &'static str)>,
    /// $`N`$ by rows, one row per velocity of the tree.
    pub complement: Vec<f64>,
    /// $`\bar M`$ by rows.
    pub mass_matrix: Vec<f64>,
    /// $`\bar b`$.
    pub bias: Vec<f64>,
    /// $`\bar\tau`$ of the given force.
    pub force: Vec<f64>,
    /// Accelerations of all velocities of the tree under the given force.
    pub acceleration: Vec<f64>,
    /// Force and moment of every closure on its end `to`, at the frame of that end and in its axes.
    pub closure_forces: Vec<Force<f64>>,
}

/// Evaluates the mechanism of `model` at a state, every joint free: inputs, prescribed motions and motors
/// behind elastic gears are left out, joint springs and friction are part of the bias.
pub fn evaluate(model: &Model, input: &StateInput) -> Evaluation {
    let free = release_prescribed(model);
    let system = &free.linkage.system;
    let n = system.velocity_count();
    let mut equations = Equations::new(&free);
    let resistance = equations
        .prepare_bare(&input.position, &input.velocity)
        .to_vec();
    let kinematics = &equations.kinematics;

    let mut matrix = vec![0.0; n * n];
    mass_matrix(
        system,
        kinematics,
        &mut CompositeBody::new(system),
        &mut matrix,
    );
    let mut workspace = InverseDynamics::new(system);
    let mut needed = |acceleration: &[f64]| {
        let mut force = vec![0.0; n];
        inverse_dynamics(system, kinematics, acceleration, &mut workspace, &mut force);
        force
            .iter()
            .zip(&resistance)
            .map(|(f, r)| f - r)
            .collect::<Vec<f64>>()
    };
    let bias = needed(&vec![0.0; n]);
    let by_inverse = input.acceleration.as_deref().map(needed);

    let driving: Vec<f64> = input
        .force
        .iter()
        .zip(&resistance)
        .map(|(f, r)| f + r)
        .collect();
    let mut articulated = ArticulatedBody::new(system);
    let mut acceleration = vec![0.0; n];
    articulated.factor(system, kinematics);
    articulated.forward_dynamics(system, kinematics, &driving, &mut acceleration);

    let right =
        nalgebra::DVector::from_iterator(n, input.force.iter().zip(&bias).map(|(f, b)| f - b));
    let by_composite = nalgebra::DMatrix::from_row_slice(n, n, &matrix)
        .cholesky()
        .map(|factor| factor.solve(&right).as_slice().to_vec());
    Evaluation {
        mass_matrix: matrix,
        bias,
        acceleration,
        acceleration_by_composite_bodies: by_composite,
        inverse_dynamics: by_inverse,
        closed: (!free.linkage.closures.is_empty()).then(|| closed(model, free.clone(), input)),
    }
}

/// The same with the loops of `free`, which `model` is without its prescribed motions, closed.
fn closed(
    model: &Model,
    mut free: Model,
    input: &StateInput,
) -> Result<ClosedEvaluation, ClosureError> {
    free.initial_position.clone_from(&input.position);
    if let ClosureMethod::JointSpace { independent } = &mut free.linkage.closure_method {
        independent.extend(model.motions.iter().map(|motion| motion.velocity));
    }
    let method = free.linkage.closure_method.name();
    let Some(loops) = Loops::new(&free.linkage, &input.position)? else {
        return Ok(ClosedEvaluation::default());
    };
    let mut formed = Formed::new(&free, loops, input);
    let closures = 0..free.linkage.closures.len();
    let closure_forces = closures.map(|at| formed.loops.force_on_to(at)).collect();
    let (independent, reduced) = if let Some(reduced) = formed.reduced(&free) {
        (names(&free, &reduced), reduced)
    } else {
        // multipliers have no independent speeds of their own
        let mut automatic = free.clone();
        automatic.linkage.closure_method = ClosureMethod::Automatic;
        let loops = Loops::new(&automatic.linkage, &input.position)?;
        let formed = loops.map(|loops| Formed::new(&automatic, loops, input));
        let reduced = formed.and_then(|mut formed| formed.reduced(&automatic));
        let reduced = reduced.unwrap_or_default();
        (names(&automatic, &reduced), reduced)
    };
    let speeds = reduced.bias.len();
    let along = |force: &[f64], speed: usize| -> f64 {
        let column = reduced.complement.iter().skip(speed).step_by(speeds);
        column.zip(force).map(|(n, f)| n * f).sum()
    };
    let bias = reduced.bias.iter().enumerate();
    Ok(ClosedEvaluation {
        method,
        independent,
        bias: (bias.map(|(i, b)| b - along(&formed.resistance, i))).collect(),
        force: (0..speeds).map(|i| along(&input.force, i)).collect(),
        complement: reduced.complement,
        mass_matrix: reduced.mass_matrix,
        acceleration: formed.acceleration,
        closure_forces,
    })
}

/// Accelerations and forces of the closures of a mechanism at a state, as its method forms them.
struct Formed<'m> {
    equations: Equations<'m>,
    loops: Loops,
    position: Vec<f64>,
    velocity: Vec<f64>,
    /// Of joint springs, dampers and friction.
    resistance: Vec<f64>,
    acceleration: Vec<f64>,
}

impl<'m> Formed<'m> {
    fn new(free: &'m Model, mut loops: Loops, input: &StateInput) -> Self {
        let linkage = &free.linkage;
        let (mut position, mut velocity) = (input.position.clone(), input.velocity.clone());
        if loops.projects() {
            // closed before, so that this removes what rounding left
            let _ = loops.project(linkage, &mut position, &mut velocity);
        }
        let mut equations = Equations::new(free);
        let resistance = equations.prepare_bare(&position, &velocity).to_vec();
        let force: Vec<f64> = (input.force.iter().zip(&resistance))
            .map(|(f, r)| f + r)
            .collect();
        let mut acceleration = vec![0.0; linkage.system.velocity_count()];
        loops.accelerate(
            linkage,
            &mut equations.kinematics,
            &mut closure::articulated_body(linkage),
            None,
            &position,
            &velocity,
            &force,
            &mut acceleration,
        );
        loops.multipliers(linkage, &equations.kinematics, &force, &acceleration);
        Self {
            equations,
            loops,
            position,
            velocity,
            resistance,
            acceleration,
        }
    }

    /// The equations in independent speeds, if the method has some.
    fn reduced(&mut self, free: &Model) -> Option<ReducedEquations> {
        let (position, velocity) = (&self.position, &self.velocity);
        let kinematics = &self.equations.kinematics;
        (self.loops).reduced(&free.linkage, kinematics, position, velocity)
    }
}

/// Names and units of the independent speeds.
fn names(model: &Model, reduced: &ReducedEquations) -> Vec<(String, &'static str)> {
    const TWIST: [(&str, &str); 6] = [
        ("angular_velocity.x", "rad/s"),
        ("angular_velocity.y", "rad/s"),
        ("angular_velocity.z", "rad/s"),
        ("velocity.x", "m/s"),
        ("velocity.y", "m/s"),
        ("velocity.z", "m/s"),
    ];
    let marker = match &model.linkage.closure_method {
        ClosureMethod::CartesianSpace { marker, .. } => {
            model.linkage.markers[*marker].name.as_str()
        }
        _ => "",
    };
    let twist = reduced.components.iter().map(|&component| {
        let (what, unit) = TWIST[component];
        (format!("{marker}.{what}"), unit)
    });
    let held = reduced.independent.iter().map(|&at| {
        let coordinate = &model.linkage.velocities[at];
        (coordinate.name.clone(), coordinate.unit)
    });
    twist.chain(held).collect()
}

/// The same model with every joint free to move.
fn release_prescribed(model: &Model) -> Model {
    let mut free = model.clone();
    free.motions.clear();
    free.linkage.prescribed.clear();
    free.linkage.system = model.linkage.system.released();
    free
}

impl Evaluate for Model {
    fn evaluate(&self, state: &State, options: &EvaluateOptions) -> Result<Evaluation, RunError> {
        let (position, velocity) = Equations::starting_at(self, state).unpacked(state);
        let mut force = options.force.clone();
        force.resize(velocity.len(), 0.0);
        let input = StateInput {
            position,
            velocity,
            force,
            acceleration: options.acceleration.clone(),
        };
        Ok(evaluate(self, &input))
    }

    fn marker_poses(&self, state: &State) -> Result<Vec<MarkerPose>, RunError> {
        let (position, velocity) = Equations::starting_at(self, state).unpacked(state);
        let system = &self.linkage.system;
        let mut kinematics = Kinematics::new(system);
        kinematics.update(system, &position, &velocity);
        kinematics.update_poses(system);
        let most = system.bodies().iter().map(Body::modes).max();
        let mut influence = vec![Motion::zero(); most.unwrap_or(0)];
        let mut pose = |marker: &Marker| {
            let motion = marker_motion(
                system,
                &kinematics,
                marker.body?,
                &marker.place,
                &position,
                &velocity,
                &mut influence,
            );
            Some(MarkerPose {
                name: marker.name.clone(),
                pose: motion.pose,
                twist: motion.twist,
            })
        };
        Ok(self.linkage.markers.iter().filter_map(&mut pose).collect())
    }
}

/// The same model with every joint free to move and nothing that drives it, where it was.
pub(crate) fn released(model: &Model) -> Model {
    let mut free = release_prescribed(model);
    match &mut free.linkage.closure_method {
        ClosureMethod::JointSpace { independent } => {
            independent.extend(model.motions.iter().map(|motion| motion.velocity));
        }
        // more joints are free, and more components of the marker's twist are needed
        ClosureMethod::CartesianSpace { components, .. } if !model.motions.is_empty() => {
            components.clear();
            let (position, velocity) = (&model.initial_position, &model.initial_velocity);
            // a marker that does not determine the motion is reported where the loops are made
            let _ = closure::choose_components(&mut free.linkage, position, velocity);
        }
        _ => {}
    }
    free.transmissions.clear();
    free.nominal_motion = None;
    free.actions.gears.clear();
    free.actions.loads.clear();
    free.actions.controllers.clear();
    free.actions.actuators.clear();
    free.actions.sensors.clear();
    // inverse kinematics keeps to them; rates and efforts have nothing that they could limit
    let is_of_position = |limit: &Limit| matches!(limit.quantity, LimitedQuantity::Position(_));
    free.actions.limits.retain(is_of_position);
    free
}
