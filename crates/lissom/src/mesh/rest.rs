//! Where a mesh rests under its loads.

use crate::model::spec::InitialSpec;
use lissom_core::study::{self, Found, StaticLoads};
use lissom_core::{MarkerId, State};
use lissom_nodal::{Equations, NodalError, Resting};
use lissom_numerics::statics::Failure;

use super::{Acts, Mesh};

/// Where a mesh rests near a state under its loads at that instant and further ones. What inputs or controllers drive along an axis
/// stays where it is, as if brakes held it.
///
/// # Errors
///
/// When there is no equilibrium.
pub(crate) fn equilibrium(
    mesh: &Mesh,
    initial: &InitialSpec,
    from: &State,
) -> Result<Found, NodalError> {
    let time = from.time_s;
    let loads = StaticLoads::of(initial, |name| {
        let found = mesh.markers.iter().position(|marker| marker.name == name);
        found.map(MarkerId)
    });
    let gravity = loads.gravity;
    let acts = Acts::under(mesh, loads);
    let mut resting = Resting::new(Equations::new(&mesh.mechanism)?, acts, time);
    if let Some(gravity) = gravity {
        resting.set_gravity(gravity.0);
    }
    resting.hold(&mesh.driven_dofs());
    let still = vec![0.0; mesh.mechanism.dof_count()];
    let found = study::equilibrium(&mut resting, &from.position, |_, position| {
        State::new(time, position, still)
    });
    found.map_err(Failure::merged)
}
