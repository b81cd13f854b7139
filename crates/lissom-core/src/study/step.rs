//! Stepping: a mechanism that somebody else brings forward, a stretch at a time.

use lissom_numerics::integrate::{Flow, Observer, Outcome, Statistics, Target};
use lissom_spec::spec::IntegratorSpec;

use super::simulate::{failed, projected};
use crate::dynamics::Dynamics;
use crate::error::RunError;
use crate::state::State;
use crate::stepper::Stepper;
use crate::study::work::{WorkSum, integrated};

/// An integration of a mechanism under way: it owns its solution, and borrows the dynamics for one call at a time.
pub struct Stepping {
    stepper: Stepper,
    positions: usize,
    velocities: usize,
    /// For methods that do not integrate the work themselves.
    work: Option<WorkSum>,
    /// Total energy that works account for, less these.
    reference_j: f64,
}

impl Stepping {
    /// Begins at a state, or goes on where a run of the same integrator has left it. `observer` are dynamics of the same
    /// mechanism, which tell the energy there.
    ///
    /// # Errors
    /// When an option of the integrator is out of range, or nothing can begin there.
    pub fn new(
        dynamics: &mut dyn Dynamics,
        observer: &mut dyn Dynamics,
        integrator: &IntegratorSpec,
        start: &State,
    ) -> Result<Self, RunError> {
        let stepper = if let Some(stepper) = Stepper::resumed(integrator, start) {
            dynamics.enter_piece(start.time_s, &start.packed());
            observer.enter_piece(start.time_s, &start.packed());
            stepper
        } else {
            let (begin, startable) = projected(dynamics, start);
            let stopped = Ok(Outcome {
                statistics: Statistics::default(),
                stopped_at: Some(start.time_s),
            });
            if let Some(error) = dynamics.failure(&stopped).filter(|_| !startable) {
                return Err(error);
            }
            Stepper::new(integrator, &begin).map_err(|source| failed(dynamics, 0, source))?
        };
        let sums = !stepper.integrates_work();
        let mut this = Self {
            stepper,
            positions: start.position.len(),
            velocities: start.velocity.len() + start.control.len(),
            work: sums.then(|| WorkSum::new(start, Vec::new())),
            reference_j: 0.0,
        };
        this.reference_j = this.drift_j(observer) - start.drift_j;
        Ok(this)
    }

    /// Energy that no work accounts for, since the run began that led here.
    fn drift_j(&self, observer: &mut dyn Dynamics) -> f64 {
        let ([position, velocity], [work_j, dissipated_j]) = self.motion();
        observer.evaluate(self.stepper.time(), position, velocity);
        let total = observer.energy_and_momentum().total();
        total - work_j + dissipated_j - self.reference_j
    }

    /// Total energy that works account for, less these: what is left of the total without them is drift.
    pub(crate) fn reference_j(&self) -> f64 {
        self.reference_j
    }

    /// Refuses an instant that lies behind.
    ///
    /// # Errors
    /// When it does, or is no number.
    pub fn refuse_past(&self, dynamics: &dyn Dynamics, to_s: f64) -> Result<(), RunError> {
        let checked = Target::landing(to_s).check(self.stepper.time(), None);
        checked.map_err(|source| failed(dynamics, 0, source))
    }

    /// Brings the mechanism to an instant, on which the last step lands. Where inputs have jumped since the last call,
    /// `jumped` makes the method start afresh. `observer` are dynamics of the same mechanism under the same inputs, so that
    /// looking at a step does not disturb the next. `watch` is called after every step with the time reached and may stop it
    /// there, before the instant, which is told.
    ///
    /// # Errors
    /// Why it could not go on.
    pub fn advance(
        &mut self,
        dynamics: &mut dyn Dynamics,
        observer: &mut dyn Dynamics,
        (to_s, jumped): (f64, bool),
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Flow, RunError> {
        if jumped {
            self.stepper.restart();
        }
        // what breaks at either end counts too: inputs of the model may jump there
        let breakpoints = dynamics.breakpoints(self.stepper.time().next_down(), to_s.next_up());
        let target = Target {
            breakpoints: &breakpoints,
            ..Target::landing(to_s)
        };
        if let Some(work) = &mut self.work {
            let (time, state) = (self.stepper.time(), self.stepper.state());
            work.restart(observer, time, state, breakpoints.clone());
        }
        let mut looking = Looking {
            work: self.work.as_mut(),
            observer,
            watch,
        };
        let result = self.stepper.advance(dynamics, &target, &mut looking);
        match (dynamics.failure(&result), result) {
            (Some(error), _) => Err(error),
            (None, Err(source)) => {
                let first = self.stepper.first_component(dynamics);
                Err(failed(dynamics, first, source))
            }
            (None, Ok(outcome)) if outcome.stopped_at.is_some_and(|at| at < to_s) => Ok(Flow::Stop),
            (None, Ok(_)) => Ok(Flow::Continue),
        }
    }

    /// Instant that has been reached.
    pub fn time_s(&self) -> f64 {
        self.stepper.time()
    }

    /// What the integrator has done since it began.
    pub fn statistics(&self) -> Statistics {
        self.stepper.statistics()
    }

    /// Positions and velocities there, states of controllers and actuators behind them, and the work of inputs and the energy dissipated until then.
    pub fn motion(&self) -> ([&[f64]; 2], [f64; 2]) {
        let (state, motion) = (self.stepper.state(), self.positions + self.velocities);
        let works = match &self.work {
            None => integrated(state, motion),
            Some(work) => work.sums(),
        };
        let (positions, rest) = state.split_at(self.positions);
        ([positions, &rest[..self.velocities]], works)
    }

    /// The state there, memory included.
    pub fn state(&self, dynamics: &dyn Dynamics, observer: &mut dyn Dynamics) -> State {
        let (motion, [work_j, dissipated_j]) = self.motion();
        State {
            work_j,
            dissipated_j,
            drift_j: self.drift_j(observer),
            memory: dynamics.memory(),
            integrator: Some(self.stepper.memory()),
            ..State::of_motion(self.stepper.time(), motion, dynamics.control_count())
        }
    }
}

/// Keeps the coordinates of those who look, and sums up works step by step.
struct Looking<'a> {
    work: Option<&'a mut WorkSum>,
    observer: &'a mut dyn Dynamics,
    watch: &'a mut dyn FnMut(f64) -> Flow,
}

impl Observer for Looking<'_> {
    fn sample(&mut self, _: f64, _: &[f64]) -> Flow {
        Flow::Continue
    }

    fn step(&mut self, time: f64, state: &[f64]) -> Flow {
        if let Some(work) = &mut self.work {
            work.add(self.observer, time, state);
        }
        (self.watch)(time)
    }

    fn begin(&mut self, time: f64, arriving: &[f64], leaving: &[f64], chart: &[usize]) {
        if let Some(work) = &mut self.work {
            work.begin(self.observer, time, [arriving, leaving], chart);
        }
        self.observer.change_chart(time, arriving, chart);
        self.observer.enter_piece(time, leaving);
        if let Some(work) = &mut self.work {
            work.go_on(self.observer, time, leaving);
        }
    }
}
