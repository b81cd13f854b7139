//! The tree's equations as a run sees them: channels, limits, and the end of loops.

use super::Equations;
use crate::model::AxisPlace;
use crate::simulate::balance::{conserves_momentum, non_conservative};
use crate::simulate::extent;
use lissom_core::{
    Audit, AxisId, Commanded, Dynamics, EnergyAndMomentum, FlexibleLink, Impulse, LimitedQuantity,
    PlaceError, Power, Repartitioning, RunError,
};
use lissom_numerics::integrate::{IntegrateError, Outcome};
use lissom_numerics::{Coordinate, Memory};
use lissom_tree::closure::{Repartition, Singularity, Trouble};
use lissom_tree::tree::momentum;

impl Dynamics for Equations<'_> {
    fn state_layout(&self) -> Vec<Coordinate> {
        Equations::state_layout(self)
    }

    fn commands_mut(&mut self) -> &mut dyn Commanded {
        &mut self.commands
    }

    fn evaluate(&mut self, time: f64, positions: &[f64], velocities: &[f64]) -> Power {
        Equations::evaluate(self, time, positions, velocities)
    }

    fn first_tick(&self) -> f64 {
        self.model.start_s
    }

    fn energy_and_momentum(&mut self) -> EnergyAndMomentum {
        let energy = self.energy();
        EnergyAndMomentum {
            kinetic: energy.kinetic,
            strain: energy.strain,
            gravity: energy.gravity,
            momentum: momentum(&self.model.linkage.system, &self.kinematics, &self.velocity),
        }
    }

    fn limited(&mut self, quantity: LimitedQuantity) -> f64 {
        let efforts = std::mem::take(self.commands.efforts_mut());
        let model = self.model;
        let reactions = std::mem::take(&mut self.reaction);
        let driving = |AxisId(axis)| {
            let AxisPlace::Joint { velocity, .. } = model.places.axes[axis].place else {
                return None;
            };
            let prescribed = model.motions.iter().any(|m| m.velocity == velocity);
            prescribed.then(|| reactions[velocity])
        };
        let value = (model.actions).limited(quantity, &efforts, &self.view(), driving);
        self.reaction = reactions;
        *self.commands.efforts_mut() = efforts;
        value
    }

    fn conserves_momentum(&self) -> bool {
        conserves_momentum(self.model)
    }

    fn non_conservative(&self) -> Vec<String> {
        non_conservative(self.model)
    }

    fn flexible_links(&self) -> Vec<FlexibleLink> {
        let links = extent::flexible_links(self.model).into_iter();
        links.map(|(_, link)| link).collect()
    }

    fn bending(&self, link: usize) -> [f64; 2] {
        extent::bending(self.model, self.flexible[link], &self.position)
    }

    fn rotation_rate(&self, link: usize) -> f64 {
        let twist = self.kinematics.twist(self.flexible[link]);
        twist.angular.dot(twist.angular).sqrt()
    }

    fn leading_coordinate(&self, link: usize) -> String {
        extent::leading_coordinate(self.model, self.flexible[link], &self.position)
    }

    fn enter_piece(&mut self, time: f64, state: &[f64]) {
        let (n_q, n_v) = (self.state_positions(), self.state_velocities());
        self.enter_contacts(time, &state[..n_q], &state[n_q..n_q + n_v]);
    }

    fn observe(&mut self) {
        self.leave_contacts();
        if let Ok(Some(loops)) = &mut self.loops {
            loops.release_elements();
        }
    }

    fn project_sample(&mut self, time: f64, state: &mut [f64]) {
        Equations::project_sample(self, time, state);
    }

    fn violation(&mut self, time: f64, state: &[f64]) -> Option<[f64; 2]> {
        Equations::violation(self, time, state)
    }

    fn impulse(&mut self, time: f64, positions: &[f64], before: &[f64], after: &[f64]) -> Impulse {
        self.impulse_at(time, positions, before, after)
    }

    fn failure(&self, result: &Result<Outcome, IntegrateError>) -> Option<RunError> {
        closure_trouble(self, result)
    }

    fn memory(&self) -> Memory {
        let mut memory = match &self.loops {
            Ok(Some(loops)) => loops.memory(),
            _ => Memory::default(),
        };
        self.commands.remember(&mut memory);
        memory
    }

    fn recall(&mut self, memory: &Memory) -> Result<(), PlaceError> {
        self.commands.recall(memory)?;
        match &mut self.loops {
            Ok(Some(loops)) if !memory.is_empty() => {
                let recalled = loops.recall(&self.model.linkage, memory);
                recalled.map_err(|error| PlaceError {
                    reason: error.to_string(),
                    part: "the closures",
                })
            }
            _ => Ok(()),
        }
    }

    fn finish(&self, audit: &mut Audit) {
        if let (Some(closures), Ok(Some(loops))) = (&mut audit.closures, self.loops()) {
            closures.redundant = loops.redundant(&self.model.linkage);
            closures.repartitions = loops.repartitions().iter().map(repartitioning).collect();
        }
    }
}

fn repartitioning(change: &Repartition) -> Repartitioning {
    Repartitioning {
        time_s: change.time_s,
        before: change.before.clone(),
        after: change.after.clone(),
        condition_before: change.condition_before,
        condition_after: change.condition_after,
    }
}

/// What the loops have to do with the end of a run: what stopped it, or a configuration close to a singular
/// one in which the integrator gave up.
fn closure_trouble(
    equations: &Equations<'_>,
    result: &Result<Outcome, IntegrateError>,
) -> Option<RunError> {
    match (result, equations.trouble()) {
        (Ok(outcome), Some(trouble)) => {
            let time_s = outcome.stopped_at.unwrap_or(f64::NAN);
            Some(match trouble {
                Trouble::Unclosed {
                    equation,
                    violation,
                } => singular_near(equations, time_s).unwrap_or_else(|| RunError::Unclosed {
                    equation: equation.clone(),
                    violation: *violation,
                    time_s,
                }),
                Trouble::Singular {
                    time_s,
                    singularity,
                } => singular(*time_s, singularity),
                Trouble::LeftBeam {
                    support,
                    beam,
                    place,
                    length,
                } => RunError::LeftBeam {
                    support: support.clone(),
                    beam: beam.clone(),
                    place: *place,
                    length: *length,
                    time_s,
                },
                Trouble::NoLongerRedundant {
                    equation,
                    violation,
                } => RunError::NoLongerRedundant {
                    equation: equation.clone(),
                    violation: *violation,
                    time_s,
                },
            })
        }
        (Err(source), _) => singular_near(equations, source.time()),
        (Ok(_), None) => None,
    }
}

/// The singular configuration that a run was at, or heading for, when it could not go on.
fn singular_near(equations: &Equations<'_>, time_s: f64) -> Option<RunError> {
    let loops = equations.loops().ok()??;
    if let Some(at) = loops.nearly_singular() {
        return Some(singular(time_s, at));
    }
    let (time_s, at) = loops.heading_for(&equations.model().linkage)?;
    Some(singular(time_s, &at))
}

fn singular(time_s: f64, at: &Singularity) -> RunError {
    RunError::Singular {
        time_s,
        condition: at.condition,
        coordinates: at.coordinates.clone(),
    }
}
