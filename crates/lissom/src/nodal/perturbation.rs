//! A nodal mechanism along a nominal rigid motion: Jonker & Aarts (23), (30), (36).
//!
//! The rigidified mechanism follows the nominal motion with all elastic degrees of freedom at zero. That
//! gives the nominal inputs $`u_0`$ and the stress resultants $`\sigma_0`$ of the rigid links, eq (23); what
//! becomes of them is [`crate::linear`]'s to say.

use nalgebra::DMatrix;

use crate::linear::{Along, Feedback, Label, Labels, Output, Point};
use crate::spatial::Vector;

use super::dynamics::{Acting, Actions, Excitation};
use super::equations::Equations;
use super::error::NodalError;
use super::linear::State;
use super::mechanism::Mechanism;
use super::node::NodeId;
use super::role::Drive;

/// A nominal rigid motion.
pub trait Nominal {
    /// Writes the motion of the actuated degrees of freedom, in their order.
    fn rigid(&mut self, time: f64, motion: &mut [Drive]);

    /// Writes what is prescribed.
    fn drive(&mut self, time: f64, drives: &mut [Drive]);

    /// Writes loads at nodes, which hold zeros.
    fn load(&mut self, time: f64, loads: &mut [Vector<f64>]);
}

/// Linearises at `times`, which rise, with the positions of `outputs` as outputs.
///
/// # Errors
///
/// When the nominal motion meets a singular configuration.
pub fn linearize_along(
    equations: &mut Equations<'_>,
    nominal: &mut dyn Nominal,
    times: &[f64],
    outputs: &[NodeId],
) -> Result<Along, NodalError> {
    let mechanism = equations.mechanism();
    let actuated = mechanism.actuated_dofs();
    let mut points = Vec::with_capacity(times.len());
    for &time in times {
        points.push(linearize_at(equations, nominal, time, &actuated, outputs)?);
    }
    Ok(Along::new(labels(mechanism, outputs), points, actuated))
}

/// Names of the degrees of freedom, of the inputs on the actuated ones, and of output nodes.
pub(crate) fn labels(mechanism: &Mechanism, outputs: &[NodeId]) -> Labels {
    // an orientation deviates by a rotation vector
    let coordinate = |dof: usize| match mechanism.dof_unit(dof) {
        "m" => Label::coordinate(mechanism.dof_name(dof), "m", "m/s"),
        _ => Label::coordinate(mechanism.dof_name(dof), "rad", "rad/s"),
    };
    Labels {
        coordinates: (0..mechanism.dof_count()).map(coordinate).collect(),
        inputs: mechanism
            .actuated_dofs()
            .into_iter()
            .map(|dof| Label::effort(&mechanism.dof_name(dof), mechanism.dof_unit(dof)))
            .collect(),
        markers: outputs
            .iter()
            .map(|&node| mechanism.node_name(node).to_owned())
            .collect(),
    }
}

fn linearize_at(
    equations: &mut Equations<'_>,
    nominal: &mut dyn Nominal,
    time: f64,
    actuated: &[usize],
    output_nodes: &[NodeId],
) -> Result<Point, NodalError> {
    let mechanism = equations.mechanism();
    let dofs = mechanism.dof_count();
    let mut rigid = vec![Drive::default(); actuated.len()];
    let mut drives = mechanism.assembled_drives();
    let mut loads = vec![Vector([0.0; 3]); mechanism.node_count()];
    nominal.rigid(time, &mut rigid);
    nominal.drive(time, &mut drives);
    nominal.load(time, &mut loads);
    let mut position = mechanism.assembled_position();
    let (mut velocity, mut acceleration) = (vec![0.0; dofs], vec![0.0; dofs]);
    for (&dof, motion) in actuated.iter().zip(&rigid) {
        position[mechanism.dofs[dof].position] = motion.value;
        velocity[dof] = motion.rate;
        acceleration[dof] = motion.acceleration;
    }
    let state = State {
        position: &position,
        velocity: &velocity,
        acceleration: &acceleration,
        drives: &drives,
        loads: &loads,
    };
    linearize_state(equations, time, &state, output_nodes)
}

/// Linearises at one state with the positions of `outputs` as outputs. Efforts on actuated degrees of freedom are those
/// that the motion needs.
///
/// # Errors
///
/// When there is no such configuration.
pub fn linearize_state(
    equations: &mut Equations<'_>,
    time: f64,
    state: &State<'_>,
    outputs: &[NodeId],
) -> Result<Point, NodalError> {
    let actuated = equations.mechanism().actuated_dofs();
    let dofs = equations.mechanism().dof_count();
    let linear = equations.linearize(state)?;
    equations.set_velocity(state.velocity, state.drives);
    equations.set_acceleration(state.acceleration, state.drives);
    let mut residual = vec![0.0; dofs];
    equations.residual(&vec![0.0; dofs], state.loads, &mut residual);
    let mut excitation: Vec<f64> = residual.iter().map(|x| -x).collect();
    let mut input = Vec::with_capacity(actuated.len());
    for &dof in &actuated {
        input.push(residual[dof]);
        excitation[dof] = 0.0;
    }
    Ok(Point {
        time,
        position: state.position.to_vec(),
        velocity: state.velocity.to_vec(),
        linear,
        input,
        excitation,
        outputs: outputs_at(equations, outputs),
    })
}

fn outputs_at(equations: &mut Equations<'_>, nodes: &[NodeId]) -> Vec<Output> {
    let dofs = equations.mechanism().dof_count();
    if nodes.is_empty() {
        return Vec::new();
    }
    let transfer = equations.first_order_transfer().to_vec();
    let mut outputs: Vec<Output> = nodes
        .iter()
        .map(|&node| Output {
            position: equations.node(node).position,
            first: DMatrix::from_fn(3, dofs, |i, j| transfer[node.index() * dofs + j][i]),
            second: std::array::from_fn(|_| DMatrix::zeros(dofs, dofs)),
        })
        .collect();
    let mut second = vec![Vector([0.0; 3]); equations.mechanism().node_count()];
    let (mut a, mut b) = (vec![0.0; dofs], vec![0.0; dofs]);
    for i in 0..dofs {
        a[i] = 1.0;
        for j in 0..=i {
            b[j] = 1.0;
            equations.second_order_transfer(&a, &b, &mut second);
            b[j] = 0.0;
            for (output, node) in outputs.iter_mut().zip(nodes) {
                for component in 0..3 {
                    let value = second[node.index()][component];
                    output.second[component][(i, j)] = value;
                    output.second[component][(j, i)] = value;
                }
            }
        }
        a[i] = 0.0;
    }
    outputs
}

/// A nonlinear mechanism steered along the nominal motion: nominal inputs and feedback act on the
/// actuated degrees of freedom.
#[derive(Debug)]
pub struct Steered<'a, N, F> {
    along: &'a Along,
    nominal: N,
    feedback: F,
    positions: Vec<usize>,
    motion: Vec<Drive>,
    deviation: Vec<f64>,
    rate: Vec<f64>,
    effort: Vec<f64>,
    input: Vec<f64>,
}

impl<'a, N: Nominal, F: Feedback> Steered<'a, N, F> {
    /// For a mechanism linearised along the same nominal motion.
    pub fn new(mechanism: &Mechanism, along: &'a Along, nominal: N, feedback: F) -> Self {
        let count = along.actuated().len();
        Self {
            along,
            nominal,
            feedback,
            positions: along
                .actuated()
                .iter()
                .map(|&dof| mechanism.dofs[dof].position)
                .collect(),
            motion: vec![Drive::default(); count],
            deviation: vec![0.0; count],
            rate: vec![0.0; count],
            effort: vec![0.0; count],
            input: vec![0.0; count],
        }
    }
}

impl<N: Nominal, F: Feedback> Excitation for Steered<'_, N, F> {
    fn drive(&mut self, time: f64, drives: &mut [Drive]) {
        self.nominal.drive(time, drives);
    }

    fn act(&mut self, time: f64, state: &Acting<'_>, on: &mut Actions<'_>) {
        self.nominal.load(time, on.loads);
        self.nominal.rigid(time, &mut self.motion);
        for (i, &dof) in self.along.actuated().iter().enumerate() {
            self.deviation[i] = state.position[self.positions[i]] - self.motion[i].value;
            self.rate[i] = state.velocity[dof] - self.motion[i].rate;
        }
        self.feedback
            .effort(time, &self.deviation, &self.rate, &mut self.effort);
        self.along.input(time, &mut self.input);
        for (i, &dof) in self.along.actuated().iter().enumerate() {
            on.efforts[dof] += self.input[i] + self.effort[i];
        }
    }
}
