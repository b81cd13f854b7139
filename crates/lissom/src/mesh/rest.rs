//! Where a mesh rests under its loads.

use crate::model::spec::{InitialSpec, SimulationSpec};
use crate::nodal::{NodalError, StaticLoad};
use crate::simulate::{Recording, snapshot};
use crate::spatial::Vector;

use super::Mesh;
use super::run::MeshEquations;

/// Change of a force, as a part of the largest, below which it follows the configuration no more.
const FOLLOWED: f64 = 1e-12;
/// How often forces that turn with the mechanism are brought up to date; each time the error falls by the ratio of
/// their own stiffness to that of the structure.
const MOST_ROUNDS: usize = 100;

/// Every channel of a mesh at rest in equilibrium, under the loads of the start or those before it.
///
/// # Errors
///
/// When there is no equilibrium.
pub fn rest(mesh: &Mesh, simulation: &SimulationSpec) -> Result<Recording, NodalError> {
    let position = positions_at_rest(mesh, simulation)?;
    let mut equations = MeshEquations::new(mesh)?;
    let still = vec![0.0; mesh.mechanism.dof_count()];
    let time_s = simulation.start_s;
    equations.dynamics.set_state(time_s, &position, &still)?;
    Ok(snapshot(&mut equations, time_s, &position, &still))
}

/// Positions of the degrees of freedom at rest. What inputs or controllers drive along an axis stays where it starts, as if brakes
/// held it.
pub(super) fn positions_at_rest(
    mesh: &Mesh,
    simulation: &SimulationSpec,
) -> Result<Vec<f64>, NodalError> {
    let mut equations = MeshEquations::new(mesh)?;
    let mechanism = &mesh.mechanism;
    let still = vec![0.0; mechanism.dof_count()];
    let held = mesh.driven_dofs();
    let mut before = vec![Vector([0.0; 3]); mechanism.node_count()];
    let mut gravity = None;
    if let InitialSpec::StaticLoad(case) = &simulation.initial {
        gravity = case.gravity_m_per_s2;
        for force in &case.force {
            let marker = mesh
                .find_marker(&force.marker)
                .map(|marker| marker.end.point);
            let mut nodes = mesh.nodes.iter().copied();
            let node = nodes.find(|&node| mechanism.node_name(node) == force.marker);
            if let Some(node) = marker.or(node) {
                before[node.index()] += Vector(force.force_n);
            }
        }
    }
    let mut position = mesh.initial_position.clone();
    let mut statics = equations.dynamics.equations().clone();
    if let Some(gravity) = gravity {
        statics.set_gravity(gravity);
    }
    let mut known: Option<Vec<Vector<f64>>> = None;
    for _ in 0..MOST_ROUNDS {
        let time_s = simulation.start_s;
        equations.dynamics.set_state(time_s, &position, &still)?;
        let (efforts, loads) = equations.dynamics.actions();
        let loads: Vec<Vector<f64>> = (loads.iter().zip(&before)).map(|(&a, &b)| a + b).collect();
        let largest = loads
            .iter()
            .flat_map(|load| load.0)
            .fold(0.0, |m: f64, x| m.max(x.abs()));
        let same = known.as_ref().is_some_and(|known| {
            let apart = known.iter().zip(&loads).flat_map(|(&a, &b)| (a - b).0);
            apart.fold(0.0, |m: f64, x| m.max(x.abs())) <= FOLLOWED * largest
        });
        if same {
            break;
        }
        let load = StaticLoad {
            drives: equations.dynamics.drives(),
            efforts,
            loads: &loads,
            held: &held,
            first_part: 1.0,
        };
        position = statics.equilibrium(&mesh.initial_position, &load)?.position;
        known = Some(loads);
    }
    Ok(position)
}
