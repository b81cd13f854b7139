//! One state, looked at closely: mass matrix, bias, accelerations, inverse dynamics.

use crate::model::Model;
use crate::simulate::equations::Equations;
use crate::tree::{ArticulatedBody, CompositeBody, InverseDynamics, inverse_dynamics, mass_matrix};

/// A state with what is asked of it. Vectors are in the order of [`Model::positions`] and
/// [`Model::velocities`].
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

/// What the equations say of a state.
#[derive(Clone, Debug, PartialEq)]
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
}

/// Evaluates the mechanism of `model` at a state, every joint free: inputs, prescribed motions and motors
/// behind elastic gears are left out, joint springs and friction are part of the bias.
pub fn evaluate(model: &Model, input: &StateInput) -> Evaluation {
    let free = release_prescribed(model);
    let system = &free.system;
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
    }
}

/// The same model with every joint free to move.
fn release_prescribed(model: &Model) -> Model {
    let mut free = model.clone();
    free.motions.clear();
    free.system = model.system.released();
    free
}
