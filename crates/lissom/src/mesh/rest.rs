//! Where a mesh rests under its loads.

use crate::model::spec::InitialSpec;
use lissom_core::study::{self, Found, StaticLoads};
use lissom_core::{MarkerId, State};
use lissom_nodal::{Equations, NodalError, Resting};
use lissom_numerics::statics::Failure;

use super::{Acts, Mesh};

/// Where a mesh rests at `time` under its loads and further ones. What inputs or controllers drive along an axis stays where it
/// starts, as if brakes held it.
///
/// # Errors
///
/// When there is no equilibrium.
pub(crate) fn equilibrium(
    mesh: &Mesh,
    initial: &InitialSpec,
    time: f64,
) -> Result<Found, NodalError> {
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
    let found = study::equilibrium(&mut resting, &mesh.initial_position, |_, position| {
        State::new(time, position, still)
    });
    found.map_err(Failure::merged)
}
