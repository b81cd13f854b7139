//! Where a mesh rests under its loads.

use crate::model::spec::{InitialSpec, SimulationSpec};
use crate::simulate::Rest;
use lissom_core::snapshot;
use lissom_nodal::{Equations, NodalError, Resting};
use lissom_numerics::statics::Equilibrium;
use lissom_spatial::Vector;

use super::run::MeshEquations;
use super::{Acts, Mesh};

/// Every channel of a mesh at rest in equilibrium, under the loads of the start or those before it.
///
/// # Errors
///
/// When there is no equilibrium.
pub fn rest(mesh: &Mesh, simulation: &SimulationSpec) -> Result<Rest, NodalError> {
    let mut resting = resting(mesh, simulation)?;
    let found = resting.equilibrium(&mesh.initial_position)?;
    let stability = resting.stability(&found.place)?;
    let mut equations = MeshEquations::new(mesh)?;
    let still = vec![0.0; mesh.mechanism.dof_count()];
    let (time_s, Equilibrium { place, parts, .. }) = (simulation.start_s, found);
    equations.dynamics.set_state(time_s, &place, &still)?;
    Ok(Rest {
        recording: snapshot(&mut equations, time_s, &place, &still),
        stability,
        parts,
    })
}

/// Positions of the degrees of freedom at rest in equilibrium.
///
/// # Errors
///
/// When there is no equilibrium.
pub fn positions_at_rest(mesh: &Mesh, simulation: &SimulationSpec) -> Result<Vec<f64>, NodalError> {
    let found = resting(mesh, simulation)?.equilibrium(&mesh.initial_position)?;
    Ok(found.place)
}

/// The mesh at rest. What inputs or controllers drive along an axis stays where it starts, as if brakes held it.
fn resting<'m>(
    mesh: &'m Mesh,
    simulation: &SimulationSpec,
) -> Result<Resting<'m, Acts<'m>>, NodalError> {
    let mechanism = &mesh.mechanism;
    let equations = Equations::new(mechanism)?;
    let mut resting = Resting::new(equations, Acts::new(mesh), simulation.start_s);
    resting.hold(&mesh.driven_dofs());
    if let InitialSpec::StaticLoad(case) = &simulation.initial {
        if let Some(gravity) = case.gravity_m_per_s2 {
            resting.set_gravity(gravity);
        }
        for force in &case.force {
            let marker = mesh
                .find_marker(&force.marker)
                .map(|marker| marker.end.point);
            let mut nodes = mesh.nodes.iter().copied();
            let node = nodes.find(|&node| mechanism.node_name(node) == force.marker);
            if let Some(node) = marker.or(node) {
                resting.add_load(node.index(), Vector(force.force_n));
            }
        }
    }
    Ok(resting)
}
