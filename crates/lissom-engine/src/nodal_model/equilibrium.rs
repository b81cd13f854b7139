//! Equilibrium of a nodal model under its loads.

use lissom_core::State;
use lissom_core::study::{self, Found, StaticLoads};
use lissom_nodal::{Equations, Excitation, Motion, NodalError, StaticBalance};
use lissom_numerics::integrate::Flow;
use lissom_numerics::statics::{Failure, NoEquilibrium};
use lissom_spec::spec::InitialSpec;

use super::charts::Chart;
use super::{NodalActions, NodalModel};

/// Charts in which an equilibrium is looked for: at a dead point of the first one the second is regular, and nothing is gained
/// by many more.
const MOST_CHARTS: usize = 4;

/// The equilibrium of a nodal model near a state under its loads at that instant and further ones. What inputs or controllers drive along an axis
/// stays where it is, as if brakes held it. Other axes may be independent there than at the state.
///
/// # Errors
///
/// When there is no equilibrium.
pub(crate) fn equilibrium(
    nodal: &NodalModel,
    initial: &InitialSpec,
    from: &State,
    watch: &mut dyn FnMut() -> Flow,
) -> Result<Found, NodalError> {
    let time = from.time_s;
    let loads = StaticLoads::of(initial, |name| nodal.find_station(name));
    let gravity = loads.gravity;
    let acts = NodalActions::under(nodal, loads);
    let mut drives = nodal.mechanism.assembled_drives();
    acts.clone().drive(time, &mut drives);
    let held: Vec<_> = nodal.actions.driven().collect();
    let still = vec![0.0; nodal.mechanism.dof_count()];
    let recalled = (!from.memory.is_empty()).then(|| nodal.recalled(&from.memory));
    let (mut chart, mut equations) = match recalled {
        Some(Ok(recalled)) => recalled,
        _ => (nodal.first_chart(), Equations::new(&nodal.mechanism)?),
    };
    let mut position = from.position.clone();
    let mut attempts = 0;
    loop {
        attempts += 1;
        let mut balance = StaticBalance::new(equations, acts.clone(), time);
        if let Some(gravity) = gravity {
            balance.set_gravity(gravity.0);
        }
        balance.hold(&nodal.driven_dofs(chart.mechanism));
        let at_rest = |_: &mut StaticBalance<'_, _>, place| State::new(time, place, still.clone());
        let found = study::equilibrium(&mut balance, &position, at_rest, watch);
        let found = found.map_err(Failure::merged);
        if let Err(NodalError::NoEquilibrium(NoEquilibrium::Stopped)) = found {
            return found;
        }
        let mut there = balance.equations().clone();
        let motion = Motion {
            position: match &found {
                Ok(found) => found.state.position.clone(),
                Err(_) => balance.placed().to_vec(),
            },
            velocity: still.clone(),
        };
        let placed = there.place(&motion.position, &drives).is_ok();
        let stays = found.is_ok() && !nodal.is_ill_conditioned(chart, &mut there);
        if !placed || stays || nodal.charts.is_none() || attempts == MOST_CHARTS {
            return found.map(|found| remembered(nodal, chart, &there, found, from));
        }
        match nodal.in_best_chart(&mut there, &motion, &drives, &held) {
            Ok((better, placed, motion)) if better.dependent != chart.dependent => {
                (chart, equations, position) = (better, placed, motion.position);
            }
            _ => return found.map(|found| remembered(nodal, chart, &there, found, from)),
        }
    }
}

/// An equilibrium with the chart that it is in, and where its nodes are if the state that it was sought from remembers that.
fn remembered(
    nodal: &NodalModel,
    chart: Chart<'_>,
    there: &Equations<'_>,
    mut found: Found,
    from: &State,
) -> Found {
    if !from.memory.is_empty() || chart.dependent != nodal.first_chart().dependent {
        found.state.memory = there.memory();
        chart.remember(nodal, &mut found.state.memory);
    }
    found
}
