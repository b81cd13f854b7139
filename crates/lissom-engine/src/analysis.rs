//! Linear analyses of a mechanism in either formulation.

use lissom_core::study::{
    self, AnalysisError, Deviation, DrivenJoints, Ending, LinearizeError, Linearized, LinearizedAt,
    OperatingPoint, OutputOrder, PerturbOptions, PerturbedRun, SimulateOptions,
};
use lissom_core::{Axis, Recording, RunError, State, effort_label};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{self, Frozen, Terms, TrackedModes};
use lissom_numerics::statics::NoEquilibrium;
use lissom_spec::ModelSpec;
use lissom_spec::spec::InitialSpec;

use crate::formulation::LinearAnalysis;
use crate::mechanism::Mechanism;

/// What is asked of [modes](Mechanism::modes).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModesOptions {
    /// What joints do on which inputs or controllers act.
    pub joints: DrivenJoints,
    /// Parts of the stiffness.
    pub terms: Terms,
    /// How many modes, the lowest at the first instant.
    pub count: usize,
}

impl Mechanism {
    /// Linearises the mechanism in a study that begins at a state, for operating points along a motion at `times`, which rise. `watch` is
    /// told the instant after every state, and during a simulation.
    ///
    /// # Errors
    /// When the model has no such state.
    pub fn linearize(
        &self,
        from: &State,
        at: OperatingPoint,
        times: &[f64],
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Linearized, AnalysisError> {
        self.linearize_to(from, at, times, OutputOrder::First, watch)
    }

    /// The same with markers expanded to an order in the deviations.
    ///
    /// # Errors
    /// When the model has no such state.
    pub fn linearize_to(
        &self,
        from: &State,
        at: OperatingPoint,
        times: &[f64],
        order: OutputOrder,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Linearized, AnalysisError> {
        let states = self.states_at(from, at, times, watch)?;
        let mut linearizer = self.linearizer()?;
        let mut found = linearizer.linearized(from, &states, order, watch)?;
        let with_motors = inputs_of_motors(self.spec(), &found);
        found.driven_inputs.extend(with_motors);
        found.driven_inputs.sort_unstable();
        found.driven_inputs.dedup();
        Ok(found)
    }

    /// The same equations with the controllers of the model in the loop, see [`with_controllers`](study::with_controllers).
    ///
    /// # Errors
    /// When a controller is sampled.
    pub fn with_controllers(&self, linearized: &Linearized) -> Result<Linearized, AnalysisError> {
        study::with_controllers(self.formulation().actions(), linearized)
    }

    /// Runs the linear system of the mechanism linearised along its nominal motion, see [`perturb`](lissom_core::study::perturb).
    ///
    /// # Errors
    /// When the linear system has no solution, holds no more or the integrator gives up.
    pub fn perturb(
        &self,
        linearized: &Linearized,
        samples: &[f64],
        options: PerturbOptions,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<PerturbedRun, AnalysisError> {
        let mut linearizer = self.linearizer()?;
        linearizer.perturbed(&self.spec().simulation, linearized, samples, options, watch)
    }

    /// The state at a deviation from the nominal motion at an instant, in the coordinates that a linearisation there chooses.
    ///
    /// # Errors
    /// When there is no such motion, or the mechanism cannot be there.
    pub fn deviated_state(
        &self,
        time_s: f64,
        deviation: &Deviation<'_>,
    ) -> Result<State, AnalysisError> {
        self.linearizer()?.deviated_state(time_s, deviation)
    }

    /// The state in which a simulation starts that begins quasi-statically, see [`quasi_static`](lissom_core::study::quasi_static).
    pub(crate) fn quasi_static(&self) -> Result<State, AnalysisError> {
        self.linearizer()?
            .quasi_static(self.spec().simulation.start_s)
    }

    /// The equations of the mechanism frozen at the states of an operating point, for modes, in a study that begins at a state. Every state
    /// has coordinates of its own, so that mechanisms may move in any way; with controllers in the loop one set is taken for all.
    ///
    /// # Errors
    /// When the model has no such state.
    pub fn frozen(
        &self,
        from: &State,
        at: OperatingPoint,
        times: &[f64],
        joints: DrivenJoints,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Frozen, AnalysisError> {
        let states = self.states_at(from, at, times, watch)?;
        let mut linearizer = self.linearizer()?;
        linearizer.frozen(&states, joints, None, watch)
    }

    /// The same where no more than the `count` lowest modes are asked for, with all parts of the stiffness: at one state of a mechanism with many
    /// degrees of freedom, in a space that contains these modes, which takes a fraction of the time.
    ///
    /// # Errors
    /// When the model has no such state.
    pub fn frozen_lowest(
        &self,
        from: &State,
        at: OperatingPoint,
        times: &[f64],
        joints: DrivenJoints,
        count: usize,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Frozen, AnalysisError> {
        let states = self.states_at(from, at, times, watch)?;
        let mut linearizer = self.linearizer()?;
        linearizer.frozen(&states, joints, Some(count), watch)
    }

    /// The `count` lowest modes of the equations [frozen](Self::frozen) at the states of an operating point, followed along a motion; of
    /// one state with many degrees of freedom [the lowest alone](Self::frozen_lowest) where all parts of the stiffness are asked for. `watch` is
    /// told the instant after every state and after the modes of every state, and during a simulation.
    ///
    /// # Errors
    /// When the model has no such state, or its equations no modes.
    pub fn modes(
        &self,
        from: &State,
        at: OperatingPoint,
        times: &[f64],
        options: ModesOptions,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<(Frozen, TrackedModes), AnalysisError> {
        let ModesOptions {
            joints,
            terms,
            count,
        } = options;
        let frozen = if terms == Terms::CASES[0] {
            self.frozen_lowest(from, at, times, joints, count, watch)?
        } else {
            self.frozen(from, at, times, joints, watch)?
        };
        let modes = TrackedModes::watched(&frozen, terms, count, watch)?;
        Ok((frozen, modes))
    }

    /// Instants with those added at which inputs and motions of the model are not smooth, see [`linear::with_breaks`].
    ///
    /// # Errors
    /// When the mechanism cannot be where its model has it start.
    pub fn with_breaks(&self, times: &[f64]) -> Result<Vec<f64>, AnalysisError> {
        Ok(linear::with_breaks(
            times,
            &self.linearizer()?.breakpoints(),
        ))
    }

    /// Natural frequencies along a recorded motion of the mechanism at up to `instants` of its samples, driven joints held: one
    /// curve per mode at the samples taken, with their numbers. `None` where the recording or the model does not allow it.
    pub fn recorded_frequencies(
        &self,
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
        let states = self.sampled_states(recording, samples.iter().copied());
        let states = LinearizedAt::Moving(states.ok()?);
        let (joints, watch) = (DrivenJoints::default(), &mut |_: f64| Flow::Continue);
        let mut linearizer = self.linearizer().ok()?;
        let frozen = linearizer.frozen(&states, joints, None, watch);
        let modes = TrackedModes::undamped(&frozen.ok()?, Terms::CASES[0], count).ok()?;
        (!modes.modes.is_empty()).then_some((samples, modes))
    }

    fn linearizer(&self) -> Result<Box<dyn LinearAnalysis + '_>, AnalysisError> {
        self.formulation().linearizer().map_err(start)
    }

    /// The states of an operating point of a study that begins at a state.
    fn states_at<'t>(
        &self,
        from: &State,
        at: OperatingPoint,
        times: &'t [f64],
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<LinearizedAt<'t>, AnalysisError> {
        self.accept(from).map_err(start)?;
        Ok(match at {
            OperatingPoint::Start => LinearizedAt::Moving(vec![from.clone()]),
            OperatingPoint::Equilibrium => {
                let found = self.equilibrium_under(&InitialSpec::Equilibrium, from, watch);
                LinearizedAt::Equilibrium(Box::new(found.map_err(start)?.state))
            }
            OperatingPoint::Nominal => LinearizedAt::Nominal(times),
            OperatingPoint::Run => LinearizedAt::Moving(self.states_of_run(from, times, watch)?),
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
        let channels = recording.by_name();
        let state = |sample: usize| {
            let time_s = recording.time_s[sample];
            let value = |name: &str| Some(channels.get(name)?.samples[sample]);
            Ok(dynamics.recorded_state(time_s, &value)?)
        };
        samples.into_iter().map(state).collect()
    }
}

fn start(error: RunError) -> AnalysisError {
    match error {
        RunError::NoEquilibrium {
            source: NoEquilibrium::Stopped,
            time_s,
        } => AnalysisError::Stopped { at_s: time_s },
        error => AnalysisError::Start(Box::new(error)),
    }
}

/// Numbers of inputs on joints that have a motor.
fn inputs_of_motors(spec: &ModelSpec, found: &Linearized) -> Vec<usize> {
    let axes = spec.joint.iter().flat_map(Axis::of);
    let efforts: Vec<String> = (axes.filter(|axis| axis.motor.is_some()))
        .map(|axis| effort_label(&axis.name).name)
        .collect();
    let inputs = found.trajectory.labels().inputs.iter().enumerate();
    let with_motors = inputs.filter(|(_, label)| efforts.contains(&label.name));
    with_motors.map(|(input, _)| input).collect()
}
