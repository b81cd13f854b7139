//! Linear analyses of a mechanism in either formulation.

use crate::mechanism::Mechanism;
use crate::nodal_model::{NodalLinearizer, unplaced};
use crate::simulate::Linearizer;
use lissom_core::study::{
    AnalysisError, DrivenJoints, Ending, Linearize, LinearizeError, Linearized, LinearizedAt,
    Place, SimulateOptions, closed_loop, linearize,
};
use lissom_core::{Recording, RunError, State};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{self, Frozen, Terms, TrackedModes};
use lissom_spec::ModelSpec;

/// What is asked of the linearised equations of a mechanism, whatever formulation they come from.
trait Question {
    type Answer;

    fn ask<L: Linearize>(self, of: &mut L) -> Result<Self::Answer, AnalysisError>;
}

impl Mechanism {
    fn ask<Q: Question>(&self, question: Q) -> Result<Q::Answer, AnalysisError> {
        match self.nodal() {
            None => question.ask(&mut Linearizer::new(self.tree())),
            Some(nodal) => {
                let start_s = self.spec().simulation.start_s;
                let made = NodalLinearizer::new(nodal);
                let made = made.map_err(|error| start(unplaced(&error, start_s)));
                question.ask(&mut made?)
            }
        }
    }

    /// The states of a place of a study that begins at a state.
    fn states_at<'t>(
        &self,
        from: &State,
        place: Place,
        times: &'t [f64],
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<LinearizedAt<'t>, AnalysisError> {
        Ok(match place {
            Place::Start => LinearizedAt::Moving(vec![from.clone()]),
            Place::Equilibrium => {
                LinearizedAt::Resting(Box::new(self.resting(from).map_err(start)?))
            }
            Place::Nominal => LinearizedAt::Nominal(times),
            Place::Run => LinearizedAt::Moving(self.states_of_run(from, times, watch)?),
        })
    }

    /// States at instants of its run from a state.
    fn states_of_run(
        &self,
        from: &State,
        times: &[f64],
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Vec<State>, AnalysisError> {
        let options = SimulateOptions {
            samples: times,
            channels: None,
            most_lengths: f64::INFINITY,
        };
        let run = self.simulate(from, &self.spec().simulation, &options, watch);
        match run.ending {
            Ending::Completed => {}
            Ending::Stopped { at_s } => return Err(AnalysisError::Stopped { at_s }),
            Ending::Failed(error) => return Err(AnalysisError::Run(Box::new(error))),
        }
        let samples = 0..run.recording.len();
        Ok(self.sampled_states(&run.recording, samples)?)
    }

    /// States at samples of a recording of it.
    fn sampled_states(
        &self,
        recording: &Recording,
        samples: impl IntoIterator<Item = usize>,
    ) -> Result<Vec<State>, LinearizeError> {
        let unplaced = |error: RunError| LinearizeError::Unplaced(Box::new(error));
        let mut dynamics = self.dynamics(&self.written()).map_err(unplaced)?;
        let state = |sample: usize| {
            let time_s = recording.time_s[sample];
            let value = |name: &str| Some(recording.channel(name)?.samples[sample]);
            Ok(dynamics.recorded_state(time_s, &value)?)
        };
        samples.into_iter().map(state).collect()
    }
}

fn start(error: RunError) -> AnalysisError {
    AnalysisError::Start(Box::new(error))
}

/// Linearises a mechanism in a study that begins at a state, for places with a motion at `times`, which rise. `watch` is told the
/// instant after every state, and during a simulation.
///
/// # Errors
/// When the model has no such state.
pub fn linearized(
    mechanism: &Mechanism,
    from: &State,
    place: Place,
    times: &[f64],
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Result<Linearized, AnalysisError> {
    struct All<'a, 'w> {
        from: &'a State,
        states: LinearizedAt<'a>,
        watch: &'w mut dyn FnMut(f64) -> Flow,
    }
    impl Question for All<'_, '_> {
        type Answer = Linearized;

        fn ask<L: Linearize>(self, of: &mut L) -> Result<Linearized, AnalysisError> {
            let motions = self.states.motions(of)?;
            let mut found = linearize(of, &motions, self.watch)?;
            if let Some(first) = motions.first() {
                found.begin_at(&of.deviation(self.from, first));
            }
            Ok(found)
        }
    }
    let states = mechanism.states_at(from, place, times, watch)?;
    mechanism.ask(All {
        from,
        states,
        watch,
    })
}

/// Instants with those added at which inputs and motions of a model are not smooth, see [`linear::with_breaks`].
///
/// # Errors
/// When the mechanism cannot be where its model has it start.
pub fn with_breaks(mechanism: &Mechanism, times: &[f64]) -> Result<Vec<f64>, AnalysisError> {
    struct Breakpoints;
    impl Question for Breakpoints {
        type Answer = Vec<f64>;

        fn ask<L: Linearize>(self, of: &mut L) -> Result<Vec<f64>, AnalysisError> {
            Ok(of.breakpoints())
        }
    }
    Ok(linear::with_breaks(times, &mechanism.ask(Breakpoints)?))
}

/// The equations of a mechanism frozen at the states of a place, for modes.
struct Steady<'a, 'w> {
    spec: &'a ModelSpec,
    states: LinearizedAt<'a>,
    joints: DrivenJoints,
    watch: &'w mut dyn FnMut(f64) -> Flow,
}

impl Question for Steady<'_, '_> {
    type Answer = Frozen;

    fn ask<L: Linearize>(self, of: &mut L) -> Result<Frozen, AnalysisError> {
        let motions = self.states.steady_motions(of)?;
        if self.joints.closed_loop {
            let found = linearize(of, &motions, self.watch)?;
            return closed_loop(self.spec, &found, self.joints.free);
        }
        Ok(of.frozen(&motions, self.joints.free, self.watch)?)
    }
}

/// The equations of a model frozen at the states of a place, for modes, in a study that begins at a state. Every state has
/// coordinates of its own, so that mechanisms may move in any way; with controllers in the loop one set is taken for all.
///
/// # Errors
/// When the model has no such state.
pub fn frozen(
    mechanism: &Mechanism,
    from: &State,
    place: Place,
    times: &[f64],
    joints: DrivenJoints,
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Result<Frozen, AnalysisError> {
    let states = mechanism.states_at(from, place, times, watch)?;
    mechanism.ask(Steady {
        spec: mechanism.spec(),
        states,
        joints,
        watch,
    })
}

/// Natural frequencies along a recorded motion of a mechanism at up to `instants` of its samples, driven joints held: one
/// curve per mode at the samples taken, with their numbers. `None` where the recording or the model does not allow it.
pub fn recorded_frequencies(
    mechanism: &Mechanism,
    recording: &Recording,
    instants: usize,
    count: usize,
) -> Option<(Vec<usize>, TrackedModes)> {
    let last = recording.len().checked_sub(1)?;
    let taken = instants.min(last + 1);
    if taken < 2 {
        return None;
    }
    let samples: Vec<usize> = (0..taken).map(|i| i * last / (taken - 1)).collect();
    let states = mechanism.sampled_states(recording, samples.iter().copied());
    let frozen = mechanism.ask(Steady {
        spec: mechanism.spec(),
        states: LinearizedAt::Moving(states.ok()?),
        joints: DrivenJoints::default(),
        watch: &mut |_| Flow::Continue,
    });
    let modes = TrackedModes::undamped(&frozen.ok()?, Terms::CASES[0], count).ok()?;
    (!modes.modes.is_empty()).then_some((samples, modes))
}
