//! Where a nodal model rests under its loads.

use lissom_core::State;
use lissom_core::study::{self, Found, StaticLoads};
use lissom_nodal::{Equations, NodalError, Resting};
use lissom_numerics::statics::Failure;
use lissom_spec::spec::InitialSpec;

use super::{NodalActions, NodalModel};

/// Where a nodal model rests near a state under its loads at that instant and further ones. What inputs or controllers drive along an axis
/// stays where it is, as if brakes held it.
///
/// # Errors
///
/// When there is no equilibrium.
pub(crate) fn equilibrium(
    nodal: &NodalModel,
    initial: &InitialSpec,
    from: &State,
) -> Result<Found, NodalError> {
    let time = from.time_s;
    let loads = StaticLoads::of(initial, |name| nodal.find_station(name));
    let gravity = loads.gravity;
    let acts = NodalActions::under(nodal, loads);
    let mut resting = Resting::new(Equations::new(&nodal.mechanism)?, acts, time);
    if let Some(gravity) = gravity {
        resting.set_gravity(gravity.0);
    }
    resting.hold(&nodal.driven_dofs());
    let still = vec![0.0; nodal.mechanism.dof_count()];
    let found = study::equilibrium(&mut resting, &from.position, |_, position| {
        State::new(time, position, still)
    });
    found.map_err(Failure::merged)
}
