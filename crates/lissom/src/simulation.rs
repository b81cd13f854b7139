//! [`Simulation`]: a mechanism that is brought forward from outside, for control loops and co-simulation.

use std::sync::Arc;

use lissom_core::study::Stepping;
use lissom_core::{
    Dynamics, External, Recording, RunError, Selection, Signals, State, StateError, snapshot,
};
use lissom_numerics::integrate::Flow;
use lissom_spec::spec::IntegratorSpec;
use self_cell::self_cell;

use lissom_engine::Mechanism;

/// Equations that are integrated, and the same to look at what they reach.
struct Workspace<'m> {
    dynamics: Box<dyn Dynamics + 'm>,
    observer: Box<dyn Dynamics + 'm>,
}

self_cell!(
    /// A mechanism with a workspace that reads it: both live as long as the simulation does.
    struct Owned {
        owner: Arc<Mechanism>,
        #[covariant]
        dependent: Workspace,
    }
);

/// What the inputs of a mechanism are while it is brought forward, by their names in recordings.
#[derive(Clone, Copy, Debug)]
pub enum Inputs<'a> {
    /// What the model says.
    OfModel,
    /// These values from here on; other inputs stay as they are.
    Held(&'a [(&'a str, f64)]),
    /// These values at the end of the stretch, and straight lines from the present ones until then.
    Interpolated(&'a [(&'a str, f64)]),
}

/// A mechanism under way that borrows nothing: it can be kept, sent to another thread and stepped from anywhere.
///
/// ```
/// use std::sync::Arc;
///
/// use lissom::{ModelSpec, TEMPLATE};
/// use lissom::{Inputs, Mechanism, Simulation};
///
/// let spec = ModelSpec::parse(TEMPLATE, &[]).expect("the template has no error");
/// let mechanism = Arc::new(Mechanism::build(&spec).expect("its beams can be reduced to modes"));
/// let start = mechanism.start().expect("it is written down");
/// let mut simulation = Simulation::new(mechanism, &start, &spec.simulation.integrator)?;
/// for tick in 1..=10 {
///     let angle = simulation.value("shoulder.angle").expect("the arm has a shoulder");
///     let torque = -4.0 * (angle - 0.1);
///     simulation.advance(0.01 * f64::from(tick), Inputs::Held(&[("shoulder.torque", torque)]))?;
/// }
/// assert_eq!(simulation.time_s(), 0.1);
/// let saved = simulation.state();
/// simulation.set_state(&saved)?;
/// # Ok::<(), lissom::RunError>(())
/// ```
pub struct Simulation {
    owned: Owned,
    stepping: Stepping,
    integrator: IntegratorSpec,
    /// Names of the inputs, and who says them.
    inputs: Vec<(String, Option<External>)>,
    /// What is read after each stretch.
    outputs: Option<Selection>,
    /// Whether inputs have jumped since the last stretch.
    jumped: bool,
}

impl Simulation {
    /// A simulation that begins at a state.
    ///
    /// # Errors
    /// When the mechanism cannot be there, or an option of the integrator is out of range.
    pub fn new(
        mechanism: Arc<Mechanism>,
        start: &State,
        integrator: &IntegratorSpec,
    ) -> Result<Self, RunError> {
        let mut owned = Owned::try_new(mechanism, |mechanism| {
            Ok(Workspace {
                dynamics: mechanism.dynamics(start)?,
                observer: mechanism.observer(start)?,
            })
        })?;
        let stepping = owned.with_dependent_mut(|_, work| {
            Stepping::new(&mut *work.dynamics, &mut *work.observer, integrator, start)
        })?;
        let signals = Signals::of(&*owned.borrow_dependent().dynamics);
        let inputs = signals.inputs();
        let inputs = inputs.map(|signal| (signal.name.clone(), None)).collect();
        Ok(Self {
            owned,
            stepping,
            integrator: *integrator,
            inputs,
            outputs: None,
            jumped: false,
        })
    }

    /// The mechanism.
    pub fn mechanism(&self) -> &Arc<Mechanism> {
        self.owned.borrow_owner()
    }

    /// Instant that has been reached.
    pub fn time_s(&self) -> f64 {
        self.stepping.time_s()
    }

    /// Names of the inputs that may be given.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        self.inputs.iter().map(|(name, _)| name.as_str())
    }

    /// Brings the mechanism to an instant.
    ///
    /// # Errors
    /// When there is no input of a name, or why it could not go on.
    pub fn advance(&mut self, to_s: f64, inputs: Inputs<'_>) -> Result<(), RunError> {
        self.advance_watched(to_s, inputs, &mut |_| Flow::Continue)
            .map(drop)
    }

    /// The same while somebody looks on: `watch` is called after every step of the integrator with the time reached, and may stop
    /// there. [`Flow::Stop`] tells that the instant was not reached.
    ///
    /// # Errors
    /// As [`advance`](Self::advance).
    pub fn advance_watched(
        &mut self,
        to_s: f64,
        inputs: Inputs<'_>,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Flow, RunError> {
        let time_s = self.time_s();
        // before inputs change: a stretch that is refused leaves everything as it was
        (self.stepping).refuse_past(&*self.owned.borrow_dependent().dynamics, to_s)?;
        let jumped = match inputs {
            Inputs::OfModel => {
                let taken = self.inputs.iter_mut().filter_map(|(_, says)| says.take());
                taken.count() > 0
            }
            Inputs::Held(values) => {
                self.hold(values)?;
                false
            }
            Inputs::Interpolated(values) => {
                let places = self.places(values)?;
                let is_of_model = |place: &usize| self.inputs[*place].1.is_none();
                let of_model = if places.iter().any(is_of_model) {
                    self.present_inputs()
                } else {
                    Vec::new()
                };
                for (place, &(_, until)) in places.into_iter().zip(values) {
                    let says = &mut self.inputs[place].1;
                    *says = Some(External {
                        from_s: time_s,
                        from: says.map_or_else(|| of_model[place], |before| before.at(time_s)),
                        until_s: to_s,
                        until,
                    });
                }
                false
            }
        };
        self.hand_over_inputs();
        let jumped = jumped | std::mem::take(&mut self.jumped);
        let stepping = &mut self.stepping;
        self.owned.with_dependent_mut(|_, work| {
            let Workspace { dynamics, observer } = work;
            stepping.advance(&mut **dynamics, &mut **observer, (to_s, jumped), watch)
        })
    }

    fn hand_over_inputs(&mut self) {
        let inputs = &self.inputs;
        self.owned.with_dependent_mut(|_, work| {
            for (input, (_, external)) in inputs.iter().enumerate() {
                work.dynamics.set_input(input, *external);
                work.observer.set_input(input, *external);
            }
        });
    }

    /// Where inputs stand that are given by their names; all of them are there, or none is changed.
    fn places(&self, values: &[(&str, f64)]) -> Result<Vec<usize>, RunError> {
        let place = |&(name, _): &(&str, f64)| {
            let mut names = self.inputs();
            names.position(|input| input == name).ok_or_else(|| {
                let source = StateError::Unknown {
                    name: name.to_owned(),
                    nearest: lissom_spec::nearest(name, self.inputs()).map(str::to_owned),
                };
                let time_s = self.time_s();
                RunError::NoInput { source, time_s }
            })
        };
        values.iter().map(place).collect()
    }

    /// Values of all inputs now.
    fn present_inputs(&mut self) -> Vec<f64> {
        let (time_s, ([position, velocity], _)) = (self.stepping.time_s(), self.stepping.motion());
        self.owned.with_dependent_mut(|_, work| {
            work.observer.evaluate(time_s, position, velocity);
            work.observer.efforts().inputs.clone()
        })
    }

    /// Rates of positions and velocities at an instant and a motion of one's own, under the inputs as they are held; not a
    /// number where the mechanism cannot be. States of controllers and actuators are as they are now. For callers with an integrator of
    /// their own.
    ///
    /// # Panics
    /// If a vector has another length than the state's.
    pub fn rates(&mut self, time_s: f64, motion: [&[f64]; 2], rates: &mut [f64]) {
        let works = [0.0; 2];
        let [_, own] = self.stepping.motion().0;
        let control = &own[own.len() - self.control_count()..];
        let packed = [motion[0], motion[1], control, &works].concat();
        let mut all = vec![0.0; packed.len()];
        self.owned.with_dependent_mut(|_, work| {
            work.observer.derivative(time_s, &packed, &mut all);
        });
        rates.copy_from_slice(&all[..rates.len()]);
    }

    /// Holds inputs from here on without going anywhere, as [`Inputs::Held`] does.
    ///
    /// # Errors
    /// When there is no input of a name.
    pub fn hold(&mut self, values: &[(&str, f64)]) -> Result<(), RunError> {
        for (place, &(_, value)) in self.places(values)?.into_iter().zip(values) {
            self.inputs[place].1 = Some(External::held(value));
        }
        self.jumped |= !values.is_empty();
        self.hand_over_inputs();
        Ok(())
    }

    /// Chooses the signals that [`outputs`](Self::outputs) reads.
    ///
    /// # Errors
    /// When there is no signal of a name.
    pub fn set_outputs(&mut self, names: &[impl AsRef<str>]) -> Result<(), StateError> {
        let dynamics = &*self.owned.borrow_dependent().observer;
        self.outputs = Some(Selection::new(dynamics, names)?);
        Ok(())
    }

    /// Values of the signals that were chosen, now, in the order of their names. The drift of the energy counts on from that of
    /// the state that was set.
    pub fn outputs(&mut self) -> &[f64] {
        let Some(outputs) = &mut self.outputs else {
            return &[];
        };
        let stepping = &self.stepping;
        self.owned
            .with_dependent_mut(|_, work| outputs.read(&mut *work.observer, stepping))
    }

    /// Positions and velocities now.
    pub(crate) fn motion(&self) -> [&[f64]; 2] {
        let [positions, rates] = self.stepping.motion().0;
        [positions, &rates[..rates.len() - self.control_count()]]
    }

    fn control_count(&self) -> usize {
        self.owned.borrow_dependent().dynamics.control_count()
    }

    /// Where the mechanism is now, memory included.
    pub fn state(&mut self) -> State {
        let stepping = &self.stepping;
        let mut state = self.owned.with_dependent_mut(|_, work| {
            let Workspace { dynamics, observer } = work;
            stepping.state(&**dynamics, &mut **observer)
        });
        if let (Some(memory), true) = (&mut state.integrator, self.is_taken_over()) {
            // whoever goes on does not know these inputs
            memory.restart();
        }
        state
    }

    /// Whether an input is not the model's.
    fn is_taken_over(&self) -> bool {
        self.inputs.iter().any(|(_, says)| says.is_some())
    }

    /// Goes on from another state.
    ///
    /// # Errors
    /// When the mechanism cannot be there.
    pub fn set_state(&mut self, state: &State) -> Result<(), RunError> {
        let mechanism = Arc::clone(self.mechanism());
        let restored = Self::new(mechanism, state, &self.integrator)?;
        let (inputs, outputs) = (std::mem::take(&mut self.inputs), self.outputs.take());
        *self = Self {
            inputs,
            outputs,
            ..restored
        };
        // the state may remember an integrator under other inputs
        self.jumped = self.is_taken_over();
        self.hand_over_inputs();
        Ok(())
    }

    /// Everything that can be recorded, now.
    pub fn signals(&mut self) -> Recording {
        let (time_s, ([position, velocity], _)) = (self.stepping.time_s(), self.stepping.motion());
        self.owned
            .with_dependent_mut(|_, work| snapshot(&mut *work.observer, time_s, position, velocity))
    }

    /// One of these signals by its name.
    pub fn value(&mut self, name: &str) -> Option<f64> {
        self.signals().channel(name)?.samples.first().copied()
    }
}
