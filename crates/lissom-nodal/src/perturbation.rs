//! A nodal mechanism at a state of its nominal rigid motion: Jonker & Aarts (23), (30).
//!
//! With all elastic degrees of freedom at zero this gives the nominal inputs $`u_0`$ and the stress resultants
//! $`\sigma_0`$ of the rigid links, eq (23); what becomes of them is [`lissom_numerics::linear`]'s to say.

use nalgebra::DMatrix;

use lissom_numerics::linear::{Label, Labels, Output, Point};
use lissom_spatial::Vector;

use super::equations::Equations;
use super::error::NodalError;
use super::forces::{AppliedForces, Forces};
use super::linear::State;
use super::mechanism::Mechanism;
use super::node::NodeId;

/// Names of the degrees of freedom, of the inputs on the actuated ones, and of output nodes.
pub fn labels(mechanism: &Mechanism, outputs: &[NodeId]) -> Labels {
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
            .map(|dof| {
                let name = format!("{}.effort", mechanism.dof_name(dof));
                match mechanism.dof_unit(dof) {
                    "m" => Label::coordinate(name, "N", "N/s"),
                    _ => Label::coordinate(name, "N m", "N m/s"),
                }
            })
            .collect(),
        markers: outputs
            .iter()
            .map(|&node| mechanism.node_name(node).to_owned())
            .collect(),
    }
}

/// Linearises at one state with the positions of `outputs` as outputs. Inputs are the efforts that act on actuated degrees
/// of freedom; what they and the loads leave of what the motion needs is excitation.
///
/// # Errors
///
/// When there is no such configuration.
pub fn linearize_state<F: AppliedForces>(
    equations: &mut Equations<'_>,
    time: f64,
    state: &State<'_, F>,
    outputs: &[NodeId],
) -> Result<Point, NodalError> {
    let mechanism = equations.mechanism();
    let dofs = mechanism.dof_count();
    let linear = equations.linearize(state)?;
    equations.set_velocity(state.velocity, state.drives);
    equations.set_acceleration(state.acceleration, state.drives);
    let mut forces = Forces::new(mechanism);
    state.loads.apply(1.0, &mut equations.view(&mut forces));
    let mut residual = vec![0.0; dofs];
    equations.residual(&forces.efforts, &forces.loads, &mut residual);
    let actuated = mechanism.actuated_dofs().into_iter();
    Ok(Point {
        time,
        position: state.position.to_vec(),
        velocity: state.velocity.to_vec(),
        linear,
        input: actuated.map(|dof| forces.efforts[dof]).collect(),
        excitation: residual.iter().map(|x| -x).collect(),
        outputs: outputs_at(equations, outputs),
        dependence: None,
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
