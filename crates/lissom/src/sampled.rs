//! [`SampledSimulation`]: a mechanism that is brought forward tick by tick, for control loops and batches.

use std::sync::Arc;

use lissom_core::{RunError, State, StateError};
use lissom_numerics::integrate::Flow;
use lissom_spec::spec::IntegratorSpec;

use crate::simulation::{Inputs, Simulation};
use lissom_engine::Mechanism;

/// How a mechanism is stepped, what drives it meanwhile and what is read of it.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledOptions {
    /// From tick to tick; positive.
    pub period_s: f64,
    /// Names of the inputs that are held from tick to tick; others are the model's.
    pub inputs: Vec<String>,
    /// Names of the signals that are read.
    pub outputs: Vec<String>,
}

/// Why a mechanism does not get under way.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SampledError {
    /// It cannot be where it should begin.
    #[error(transparent)]
    Start(RunError),
    /// There is no such input.
    #[error("there is no input {name:?}; the inputs of the model are {}", known.join(", "))]
    Input {
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// There is no such output.
    #[error("no such output: {0}")]
    Output(StateError),
}

/// A [`Simulation`] whose inputs are held from tick to tick. After k steps it stands at k periods from its start, without a sum
/// that rounding could carry away.
pub struct SampledSimulation {
    simulation: Simulation,
    options: Arc<SampledOptions>,
    /// Where ticks count from.
    from_s: f64,
    ticks: u64,
}

/// An integrator that tries a whole step from tick to tick first, unless its model says how long the first one is: inputs jump at
/// every tick, and a cautious start behind each would take several times as many evaluations.
fn whole_steps_first(mut integrator: IntegratorSpec, period_s: f64) -> IntegratorSpec {
    if let Some(own) = integrator.adaptive_mut() {
        let longest = own.max_step_s.unwrap_or(f64::INFINITY);
        own.initial_step_s = own.initial_step_s.or(Some(period_s.min(longest)));
    }
    integrator
}

impl SampledSimulation {
    /// A mechanism at a state, with the integrator of its model.
    ///
    /// # Errors
    /// When it cannot be there, or there is no input or output of a name.
    pub fn new(
        mechanism: &Arc<Mechanism>,
        start: &State,
        options: &Arc<SampledOptions>,
    ) -> Result<Self, SampledError> {
        let own = mechanism.spec().simulation.integrator;
        let integrator = whole_steps_first(own, options.period_s);
        let simulation = Simulation::new(Arc::clone(mechanism), start, &integrator);
        let mut simulation = simulation.map_err(SampledError::Start)?;
        let chosen = simulation.set_outputs(&options.outputs);
        chosen.map_err(SampledError::Output)?;
        let is_unknown = |name: &&String| simulation.inputs().all(|known| known != *name);
        if let Some(name) = options.inputs.iter().find(is_unknown) {
            return Err(SampledError::Input {
                name: name.clone(),
                known: simulation.inputs().map(str::to_owned).collect(),
            });
        }
        Ok(Self {
            simulation,
            options: Arc::clone(options),
            from_s: start.time_s,
            ticks: 0,
        })
    }

    /// Instant that has been reached.
    pub fn time_s(&self) -> f64 {
        self.simulation.time_s()
    }

    /// Steps that have been finished since it began, or since it was brought elsewhere.
    pub fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Values of the outputs now.
    pub fn outputs(&mut self) -> &[f64] {
        self.simulation.outputs()
    }

    /// Where the mechanism is now, memory included.
    pub fn state(&mut self) -> State {
        self.simulation.state()
    }

    /// Goes on from a state; ticks count from there.
    ///
    /// # Errors
    /// When the mechanism cannot be there.
    pub fn set_state(&mut self, state: &State) -> Result<(), RunError> {
        self.simulation.set_state(state)?;
        self.count_from(state.time_s);
        Ok(())
    }

    /// Holds values of the inputs until the next tick. `watch` is called after every step of the integrator with the time reached;
    /// where it stops, that is told, and the next step goes on to the same tick.
    ///
    /// # Errors
    /// Why it could not go on.
    pub fn step(
        &mut self,
        inputs: &[f64],
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Flow, RunError> {
        let to_s = self.from_s + (self.ticks + 1) as f64 * self.options.period_s;
        let flow = self.held_to(to_s, inputs, watch)?;
        if flow == Flow::Continue {
            self.ticks += 1;
        }
        Ok(flow)
    }

    /// Holds values of the inputs until an instant, from which ticks count.
    ///
    /// # Errors
    /// Why it could not go on.
    pub fn advance(
        &mut self,
        to_s: f64,
        inputs: &[f64],
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Flow, RunError> {
        let flow = self.held_to(to_s, inputs, watch)?;
        self.count_from(self.time_s());
        Ok(flow)
    }

    /// Holds values of the inputs from here on, without going anywhere.
    ///
    /// # Errors
    /// Never for inputs that the options name.
    pub fn hold(&mut self, inputs: &[f64]) -> Result<(), RunError> {
        self.simulation.hold(&held(&self.options, inputs))
    }

    /// [`Simulation::rates`] under the inputs as they are held.
    pub fn rates(&mut self, time_s: f64, motion: [&[f64]; 2], rates: &mut [f64]) {
        self.simulation.rates(time_s, motion, rates);
    }

    /// Steps with one row of `inputs` after the other; `watch` is asked before each too. Writes positions and velocities, and
    /// outputs: a row of each before the first step, and one after every step. Rows that are not reached stay as they are.
    ///
    /// # Errors
    /// Why it could not go on.
    pub fn roll(
        &mut self,
        inputs: &[f64],
        states: &mut [f64],
        outputs: &mut [f64],
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Flow, RunError> {
        let options = Arc::clone(&self.options);
        let (n_u, n_y) = (options.inputs.len(), options.outputs.len());
        let n_x: usize = self.simulation.motion().map(<[f64]>::len).iter().sum();
        for (row, state) in states.chunks_exact_mut(n_x).enumerate() {
            if row > 0 {
                let held = &inputs[(row - 1) * n_u..][..n_u];
                // a step may be one step of the integrator, and stopped where it ends anyway
                if watch(self.time_s()) == Flow::Stop || self.step(held, watch)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
            let [position, velocity] = self.simulation.motion();
            state[..position.len()].copy_from_slice(position);
            state[position.len()..].copy_from_slice(velocity);
            outputs[row * n_y..][..n_y].copy_from_slice(self.simulation.outputs());
        }
        Ok(Flow::Continue)
    }

    fn held_to(
        &mut self,
        to_s: f64,
        inputs: &[f64],
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Flow, RunError> {
        let held = held(&self.options, inputs);
        let inputs = if held.is_empty() {
            Inputs::OfModel
        } else {
            Inputs::Held(&held)
        };
        self.simulation.advance_watched(to_s, inputs, watch)
    }

    fn count_from(&mut self, time_s: f64) {
        (self.from_s, self.ticks) = (time_s, 0);
    }
}

/// Values of the inputs by name.
fn held<'a>(options: &'a SampledOptions, values: &[f64]) -> Vec<(&'a str, f64)> {
    let names = options.inputs.iter().map(String::as_str);
    names.zip(values.iter().copied()).collect()
}
