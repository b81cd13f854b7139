//! The other formulation beside the user's: how far the finest runs of both are apart, and how much of that is left of their time
//! steps and bodies.
//!
//! The other formulation is run with coarse and with finer bodies, and with coarse ones once more with finer time steps: its own two
//! errors are estimated from these.

use lissom_core::Recording;
use lissom_spec::{Discretization, ModelSpec, Refined};

use super::estimate::Estimate;
use super::findings::{CrossCheck, Gap, Refinement};
use super::refine;
use super::{Done, Study};

/// The finest run of the user's formulation.
pub(super) struct Finest<'a> {
    /// The run, if one reached its end.
    pub(super) run: Option<&'a Done>,
    /// Time steps refined, and with which of these levels it was run.
    pub(super) time: (&'a Refinement, usize),
    /// Bodies refined, of which it has the finest.
    pub(super) bodies: &'a Refinement,
}

impl Finest<'_> {
    /// What is left of both errors in a quantity.
    fn left(&self, at: usize) -> Option<f64> {
        let (time, level) = self.time;
        let time = known(&time.estimates, at)?.errors.get(level)?;
        let bodies = known(&self.bodies.estimates, at)?.errors.last()?;
        Some(time + bodies)
    }
}

/// What is known of a quantity.
fn known(estimates: &[Option<Estimate>], at: usize) -> Option<&Estimate> {
    estimates.get(at)?.as_ref()
}

impl Study<'_> {
    /// Runs the other formulation and sets it beside the finest run of the user's.
    pub(super) fn cross_check(&mut self, finest: &Finest<'_>) -> CrossCheck {
        let spec = self.mechanism.spec().clone();
        let mut check = CrossCheck::default();
        if let Some(why) = self.unchecked(&spec, finest) {
            check.notes.push(why.to_owned());
            return check;
        }
        let others = [0, 1].map(|level| spec.in_other_formulation(level));
        let [Some(coarse), Some(fine)] = others else {
            return check;
        };
        let integrator = coarse.item.simulation.integrator;
        let (finer_steps, orders) = refine::integrator(integrator, 1);
        let mut runs: Vec<Done> = Vec::new();
        for (bodies, steps) in [
            (&coarse, None),
            (&fine, None),
            (&coarse, Some(&finer_steps)),
        ] {
            let bodies_and_steps = match steps {
                None => bodies.name(),
                Some(steps) => format!("{}, {}", bodies.name(), steps.name()),
            };
            let name = format!("the other formulation, {bodies_and_steps}");
            let integrator = steps.map_or(integrator, |steps| steps.item);
            match self.run_changed(bodies, &name, integrator) {
                Err(why) => {
                    check.notes.push(format!("{name}: {why}"));
                    break;
                }
                Ok(mut done) => {
                    done.level.name = bodies_and_steps;
                    (done.level.settings).extend(steps.into_iter().flat_map(Refined::settings));
                    let failure = done.level.failure.clone();
                    runs.push(done);
                    if let Some(why) = failure {
                        check.notes.push(format!("with {name} the run {why}"));
                        break;
                    }
                }
            }
        }
        let recording = |at: usize| runs.get(at).and_then(|done: &Done| done.recording.as_ref());
        let estimates = |resolutions: [f64; 2], runs: [usize; 2], orders| {
            let known = resolutions.into_iter().zip(runs.map(recording));
            let known: Vec<(f64, &Recording)> =
                known.filter_map(|(n, run)| Some((n, run?))).collect();
            self.estimates(&known, orders)
        };
        let of_bodies = estimates(
            [coarse.resolution, fine.resolution],
            [0, 1],
            refine::OF_MESHES,
        );
        let of_time = estimates([1.0, finer_steps.resolution], [0, 2], orders);
        let their_left = |at: usize| {
            let bodies = known(&of_bodies, at)?.errors.last()?;
            Some(known(&of_time, at)?.of_user() + bodies)
        };
        let own = finest.run.and_then(|done| done.recording.as_ref());
        for (at, measure) in self.measures.iter().enumerate() {
            let both = own.zip(recording(1));
            let apart = both.and_then(|(own, other)| measure.distance(own, other));
            check.gaps.extend(apart.map(|difference| Gap {
                quantity: measure.quantity.clone(),
                unit: measure.unit.clone(),
                difference,
                explained: (finest.left(at).zip(their_left(at))).map(|(own, theirs)| own + theirs),
            }));
        }
        check.levels = runs.into_iter().map(|done| done.level).collect();
        check
    }

    /// Why the other formulation cannot be set beside the user's.
    fn unchecked(&self, spec: &ModelSpec, finest: &Finest<'_>) -> Option<&'static str> {
        if self.interrupted {
            Some("interrupted before the other formulation was run")
        } else if finest.run.is_none_or(|done| done.recording.is_none()) {
            Some("the run of the model as it is did not reach its end")
        } else if self.from.is_some() {
            Some("a state, as --from gives one, is not one of the other formulation")
        } else if spec.is_of_nodes() {
            Some("a model of nodes and elements has no other formulation")
        } else if spec.discretization() == Discretization::None {
            Some("nothing deforms, so that both formulations have the same equations")
        } else {
            None
        }
    }
}
