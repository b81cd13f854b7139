//! A nodal mechanism at a state of its nominal rigid motion: Jonker & Aarts (23), (30).
//!
//! With all elastic degrees of freedom at zero this gives the nominal inputs $`u_0`$ and the stress resultants
//! $`\sigma_0`$ of the rigid links, eq (23); what becomes of them is [`lissom_numerics::linear`]'s to say.

use nalgebra::DMatrix;

use lissom_numerics::linear::{
    Actuation, GoOn, Label, Labels, LinearError, Output, Point, SensorRows,
};
use lissom_spatial::Vector;

use super::equations::Equations;
use super::error::NodalError;
use super::forces::{AppliedForces, Forces};
use super::linear::State;
use super::mechanism::Mechanism;
use super::node::NodeId;

/// Names of the degrees of freedom, of the actuated ones and the inputs on them, and of output nodes.
pub fn labels(mechanism: &Mechanism, outputs: &[NodeId]) -> Labels {
    // an orientation deviates by a rotation vector
    let coordinate = |dof: usize| match mechanism.dof_unit(dof) {
        "m" => Label::coordinate(mechanism.dof_name(dof), "m", "m/s"),
        _ => Label::coordinate(mechanism.dof_name(dof), "rad", "rad/s"),
    };
    Labels {
        coordinates: (0..mechanism.dof_count()).map(coordinate).collect(),
        joints: (mechanism.actuated_dofs().into_iter())
            .map(coordinate)
            .collect(),
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
        sensors: Vec::new(),
        loop_states: Vec::new(),
    }
}

/// Linearises at one state with the positions of `outputs` as outputs, to first or second order. Inputs are the efforts that act on actuated degrees
/// of freedom; what they and the loads leave of what the motion needs is excitation.
///
/// # Errors
///
/// When there is no such configuration, or it is stopped.
pub fn linearize_state<F: AppliedForces>(
    equations: &mut Equations<'_>,
    time: f64,
    state: &State<'_, F>,
    (outputs, second_order): (&[NodeId], bool),
    go_on: &mut GoOn<'_>,
) -> Result<Point, NodalError> {
    let mechanism = equations.mechanism();
    let dofs = mechanism.dof_count();
    let linear = equations.linearize(state, go_on)?;
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
        outputs: outputs_at(equations, outputs, second_order, go_on)?,
        sensors: SensorRows::constant(Vec::new(), dofs),
        joints: Vec::new(),
        actuation: Actuation::default(),
        dependence: None,
    })
}

fn outputs_at(
    equations: &mut Equations<'_>,
    nodes: &[NodeId],
    second_order: bool,
    go_on: &mut GoOn<'_>,
) -> Result<Vec<Output>, LinearError> {
    let dofs = equations.mechanism().dof_count();
    if nodes.is_empty() {
        return Ok(Vec::new());
    }
    let transfer = equations.first_order_transfer().to_vec();
    let mut outputs: Vec<Output> = nodes
        .iter()
        .map(|&node| Output {
            position: equations.node(node).position,
            first: DMatrix::from_fn(3, dofs, |i, j| transfer[node.index() * dofs + j][i]),
            second: second_order.then(|| std::array::from_fn(|_| DMatrix::zeros(dofs, dofs))),
        })
        .collect();
    if !second_order {
        return Ok(outputs);
    }
    let mut second = vec![Vector([0.0; 3]); equations.mechanism().node_count()];
    let (mut a, mut b) = (vec![0.0; dofs], vec![0.0; dofs]);
    for i in 0..dofs {
        go_on()?;
        a[i] = 1.0;
        for j in 0..=i {
            b[j] = 1.0;
            equations.second_order_transfer(&a, &b, &mut second);
            b[j] = 0.0;
            for (output, node) in outputs.iter_mut().zip(nodes) {
                for (component, matrix) in output.second.iter_mut().flatten().enumerate() {
                    let value = second[node.index()][component];
                    matrix[(i, j)] = value;
                    matrix[(j, i)] = value;
                }
            }
        }
        a[i] = 0.0;
    }
    Ok(outputs)
}

/// Nominal positions of nodes where a mechanism was placed last, and their displacements at a deviation of the degrees of freedom.
pub fn displaced_nodes(
    equations: &mut Equations<'_>,
    nodes: &[NodeId],
    deviation: &[f64],
    second_order: bool,
) -> Vec<[Vector<f64>; 2]> {
    let dofs = deviation.len();
    let transfer = equations.first_order_transfer();
    let mut moved: Vec<Vector<f64>> = (nodes.iter())
        .map(|node| {
            let rows = &transfer[node.index() * dofs..(node.index() + 1) * dofs];
            let terms = rows.iter().zip(deviation);
            terms.fold(Vector([0.0; 3]), |sum, (row, &x)| sum + row.scale(x))
        })
        .collect();
    if second_order {
        let mut second = vec![Vector([0.0; 3]); equations.mechanism().node_count()];
        equations.second_order_transfer(deviation, deviation, &mut second);
        for (moved, node) in moved.iter_mut().zip(nodes) {
            *moved += second[node.index()].scale(0.5);
        }
    }
    let pair = |(&node, moved): (&NodeId, Vector<f64>)| [equations.node(node).position, moved];
    nodes.iter().zip(moved).map(pair).collect()
}
