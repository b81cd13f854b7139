//! Integrations as values: they own their solution and their memory, and borrow the system for one call at a time.

use super::adams::Adams;
use super::auto::Auto;
use super::dop853::DOP853;
use super::dopri5::DOPRI5;
use super::driver::{self, Stepper};
use super::equations::{Allowance, Equations};
use super::esdirk::Esdirk;
use super::memory::{IntegratorMemory, MethodMemory, Phase, Progress, StepEnding};
use super::radau::Radau;
use super::runge_kutta::RungeKutta;
use super::schedule::Target;
use super::second_order::{self, Structural};
use super::step_control;
use super::{
    Control, FirstOrder, FixedStep, IntegrateError, Method, Observer, Outcome, Scheme, SecondOrder,
    Statistics,
};

/// An integration of $`\dot y = f(t, y)`$ that can be advanced again and again.
///
/// ```
/// use lissom_numerics::integrate::{Control, FirstOrder, Integration, IntegrateError, Method, Target};
///
/// /// A mass that a sampled controller pushes.
/// struct Plant {
///     force: f64,
/// }
///
/// impl FirstOrder for Plant {
///     fn derivative(&mut self, _time: f64, state: &[f64], rate: &mut [f64]) {
///         rate[0] = state[1];
///         rate[1] = self.force;
///     }
/// }
///
/// let control = Control {
///     rtol: 1e-9,
///     atol: vec![1e-9],
///     initial_step: None,
///     max_step: None,
///     max_steps: 1000,
/// };
/// let mut plant = Plant { force: 0.0 };
/// let mut integration = Integration::new(Method::Dop853, &control, 0.0, &[1.0, 0.0])?;
/// for period in 1..=100 {
///     let state = integration.state();
///     plant.force = -10.0 * state[0] - 6.0 * state[1];
///     integration.restart();
///     integration.advance(&mut plant, &Target::landing(0.05 * f64::from(period)), &mut ())?;
/// }
/// assert!(integration.state()[0].abs() < 1e-5);
///
/// let memory = integration.memory();
/// let resumed = Integration::resume(Method::Dop853, &control, &memory)?;
/// assert_eq!(resumed.memory(), memory);
/// # Ok::<(), IntegrateError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Integration {
    solver: Solver,
    max_steps: u64,
    progress: Progress,
    /// Of a call that was stopped.
    left: Option<Allowance>,
}

#[derive(Clone, Debug)]
enum Solver {
    RungeKutta(Box<RungeKutta>),
    Adams(Box<Adams>),
    Radau(Box<Radau>),
    Esdirk(Box<Esdirk>),
    Auto(Box<Auto>),
}

impl From<RungeKutta> for Solver {
    fn from(method: RungeKutta) -> Self {
        Self::RungeKutta(Box::new(method))
    }
}

impl From<Adams> for Solver {
    fn from(method: Adams) -> Self {
        Self::Adams(Box::new(method))
    }
}

impl From<Radau> for Solver {
    fn from(method: Radau) -> Self {
        Self::Radau(Box::new(method))
    }
}

impl From<Esdirk> for Solver {
    fn from(method: Esdirk) -> Self {
        Self::Esdirk(Box::new(method))
    }
}

impl From<Auto> for Solver {
    fn from(method: Auto) -> Self {
        Self::Auto(Box::new(method))
    }
}

impl Solver {
    fn stepper<'s>(&mut self) -> &mut dyn Stepper<dyn FirstOrder + 's> {
        match self {
            Self::RungeKutta(method) => method.as_mut(),
            Self::Adams(method) => method.as_mut(),
            Self::Radau(method) => method.as_mut(),
            Self::Esdirk(method) => method.as_mut(),
            Self::Auto(method) => method.as_mut(),
        }
    }
}

impl Integration {
    /// An integration that begins at `time` with `state`.
    ///
    /// # Errors
    ///
    /// When tolerances or limits are out of range.
    pub fn new(
        method: Method,
        control: &Control,
        time: f64,
        state: &[f64],
    ) -> Result<Self, IntegrateError> {
        check_start(time)?;
        step_control::check_control(control, state.len(), time)?;
        Ok(Self {
            solver: match method {
                Method::Dop853 => Solver::from(RungeKutta::new(&DOP853, control, time, state)),
                Method::Dopri5 => Solver::from(RungeKutta::new(&DOPRI5, control, time, state)),
                Method::Adams => Solver::from(Adams::new(control, time, state)),
                Method::Radau => Solver::from(Radau::new(control, time, state)),
                Method::Esdirk => Solver::from(Esdirk::new(control, time, state)),
                Method::Auto => Solver::from(Auto::new(control, time, state)),
            },
            max_steps: control.max_steps,
            progress: Progress::start(time, state.to_vec()),
            left: None,
        })
    }

    /// The integration that `memory` was taken from. With the same method and settings and with a system in the same state it
    /// goes on as that one does, to the last bit.
    ///
    /// # Errors
    ///
    /// When tolerances or limits are out of range, or the memory is that of another method.
    pub fn resume(
        method: Method,
        control: &Control,
        memory: &IntegratorMemory,
    ) -> Result<Self, IntegrateError> {
        let size = memory.check()?;
        step_control::check_control(control, size, memory.progress.time)?;
        let solver = match (method, &memory.method) {
            (Method::Dop853, MethodMemory::RungeKutta(memory)) => {
                RungeKutta::resume(&DOP853, control, memory).map(Solver::from)
            }
            (Method::Dopri5, MethodMemory::RungeKutta(memory)) => {
                RungeKutta::resume(&DOPRI5, control, memory).map(Solver::from)
            }
            (Method::Adams, MethodMemory::Adams(memory)) => {
                Some(Solver::from(Adams::resume(control, memory.clone())))
            }
            (Method::Radau, MethodMemory::Radau(memory)) => {
                Some(Solver::from(Radau::resume(control, memory.clone())))
            }
            (Method::Esdirk, MethodMemory::Esdirk(memory)) => {
                Some(Solver::from(Esdirk::resume(control, memory.clone())))
            }
            (Method::Auto, MethodMemory::Auto(memory)) => {
                Auto::resume(control, memory).map(Solver::from)
            }
            _ => None,
        };
        Ok(Self {
            solver: solver.ok_or_else(|| memory.unfit("method"))?,
            max_steps: control.max_steps,
            progress: memory.progress.clone(),
            left: None,
        })
    }

    /// Brings the solution to the time of `target`, step by step from where the last call left it, or to where `observer` or
    /// the system stops it. The cost in the outcome is that of all calls; [`Control::max_steps`] are allowed to each, and a call that goes
    /// on where the observer stopped the one before has what that one left.
    ///
    /// # Errors
    ///
    /// When the target is out of range, a step cannot be made, or too many would be needed. The integration then stands at
    /// the last state reached and starts afresh from there, should it be advanced again.
    pub fn advance(
        &mut self,
        system: &mut dyn FirstOrder,
        target: &Target<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, IntegrateError> {
        let (progress, left) = (&mut self.progress, &mut self.left);
        let equations = Equations::new(system, self.max_steps, progress.statistics, *left);
        let stepper = self.solver.stepper();
        driver::advance(progress, stepper, equations, target, observer, left)
    }

    /// Instant that has been reached.
    pub fn time(&self) -> f64 {
        self.progress.time
    }

    /// The solution there.
    pub fn state(&self) -> &[f64] {
        &self.progress.state
    }

    /// What has been spent so far.
    pub fn statistics(&self) -> Statistics {
        self.progress.statistics
    }

    /// Goes on from another state, at the same instant or another one.
    ///
    /// # Errors
    ///
    /// When the time is not finite or the number of components is not what it was.
    pub fn set_state(&mut self, time: f64, state: &[f64]) -> Result<(), IntegrateError> {
        check_start(time)?;
        check_count("number of components", state, self.state().len(), time)?;
        self.progress.state.copy_from_slice(state);
        self.progress.replaced(time);
        self.left = None;
        self.solver.stepper().place(time, state);
        Ok(())
    }

    /// Starts afresh at the present instant, as behind a breakpoint: what the system is from here on has little to do with
    /// what it was.
    pub fn restart(&mut self) {
        self.progress.restart();
        self.left = None;
    }

    /// All that is needed to go on later.
    pub fn memory(&self) -> IntegratorMemory {
        IntegratorMemory {
            progress: self.progress.clone(),
            method: match &self.solver {
                Solver::RungeKutta(method) => MethodMemory::RungeKutta(method.memory().clone()),
                Solver::Adams(method) => MethodMemory::Adams(method.memory().clone()),
                Solver::Radau(method) => MethodMemory::Radau(method.memory().clone()),
                Solver::Esdirk(method) => MethodMemory::Esdirk(method.memory().clone()),
                Solver::Auto(method) => MethodMemory::Auto(method.memory()),
            },
        }
    }
}

/// An integration of $`r(t, q, v, \dot v) = 0`$ with a fixed step that can be advanced again and again.
///
/// Steps end at multiples of the step behind the start, as long as targets to land on do. Behind the first one that does
/// not, where a step is cut, equal steps, none longer than the step, divide the way from target to target: at equal
/// intervals the tangent serves on, and the order of the scheme is kept.
#[derive(Clone, Debug)]
pub struct StructuralIntegration {
    solver: Structural,
    progress: Progress,
    /// Of a call that was stopped.
    left: Option<Allowance>,
}

impl StructuralIntegration {
    /// An integration that begins at `time`.
    ///
    /// # Errors
    ///
    /// When an option is out of range.
    pub fn new(
        scheme: Scheme,
        options: &FixedStep,
        time: f64,
        position: &[f64],
        velocity: &[f64],
    ) -> Result<Self, IntegrateError> {
        check_start(time)?;
        second_order::check_options(scheme, options, time)?;
        let solver = Structural::new(scheme, options, time, position, velocity);
        let progress = Progress::start(time, solver.memory().state.clone());
        Ok(Self {
            solver,
            progress,
            left: None,
        })
    }

    /// As [`Integration::resume`].
    ///
    /// # Errors
    ///
    /// When an option is out of range, or the memory is that of another method.
    pub fn resume(
        scheme: Scheme,
        options: &FixedStep,
        memory: &IntegratorMemory,
    ) -> Result<Self, IntegrateError> {
        memory.check()?;
        second_order::check_options(scheme, options, memory.progress.time)?;
        let MethodMemory::Structural(method) = &memory.method else {
            return Err(memory.unfit("method"));
        };
        Ok(Self {
            solver: Structural::resume(scheme, options, method.clone()),
            progress: memory.progress.clone(),
            left: None,
        })
    }

    /// As [`Integration::advance`].
    ///
    /// # Errors
    ///
    /// When the target is out of range, the system has another size or a step cannot be solved.
    pub fn advance(
        &mut self,
        system: &mut dyn SecondOrder,
        target: &Target<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, IntegrateError> {
        self.solver.check(system)?;
        let (progress, left) = (&mut self.progress, &mut self.left);
        let equations = Equations::new(system, u64::MAX, progress.statistics, *left);
        let solver = &mut self.solver;
        driver::advance(progress, solver, equations, target, observer, left)
    }

    /// Instant that has been reached.
    pub fn time(&self) -> f64 {
        self.progress.time
    }

    /// The solution there: positions, velocities and accelerations, which are zero until the method has started.
    pub fn state(&self) -> &[f64] {
        &self.progress.state
    }

    /// What has been spent so far.
    pub fn statistics(&self) -> Statistics {
        self.progress.statistics
    }

    /// As [`Integration::set_state`].
    ///
    /// # Errors
    ///
    /// When the time is not finite or a number of components is not what it was.
    pub fn set_state(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
    ) -> Result<(), IntegrateError> {
        let (positions, velocities) = self.solver.counts();
        check_start(time)?;
        check_count("number of positions", position, positions, time)?;
        check_count("number of velocities", velocity, velocities, time)?;
        let (old_position, motion) = self.progress.state.split_at_mut(positions);
        let (old_velocity, acceleration) = motion.split_at_mut(velocities);
        old_position.copy_from_slice(position);
        old_velocity.copy_from_slice(velocity);
        acceleration.fill(0.0);
        self.progress.replaced(time);
        self.left = None;
        self.solver.place(time, &self.progress.state);
        Ok(())
    }

    /// As [`Integration::restart`].
    pub fn restart(&mut self) {
        self.progress.restart();
        self.left = None;
    }

    /// As [`Integration::memory`].
    pub fn memory(&self) -> IntegratorMemory {
        IntegratorMemory {
            progress: self.progress.clone(),
            method: MethodMemory::Structural(self.solver.memory().clone()),
        }
    }
}

impl IntegratorMemory {
    /// Has whoever goes on from it start afresh, as [`Integration::restart`] does: for a system that has become another one.
    pub fn restart(&mut self) {
        self.progress.restart();
    }
}

impl Progress {
    fn start(time: f64, state: Vec<f64>) -> Self {
        Self {
            time,
            state,
            piece_start: time,
            phase: Phase::StartDue,
            sampled: None,
            statistics: Statistics::default(),
        }
    }

    /// Notes that the state is another one, of this instant.
    fn replaced(&mut self, time: f64) {
        self.time = time;
        self.phase = Phase::StartDue;
        self.sampled = None;
    }

    fn restart(&mut self) {
        self.phase = match self.phase {
            Phase::StartDue | Phase::BetweenSteps => Phase::StartDue,
            Phase::WithinStep { .. } => Phase::WithinStep {
                end: self.time,
                ending: StepEnding::Cut,
                refused: false,
            },
            Phase::Refused => Phase::Refused,
        };
    }
}

fn check_start(time: f64) -> Result<(), IntegrateError> {
    if time.is_finite() {
        return Ok(());
    }
    Err(IntegrateError::invalid(
        "start",
        time,
        "it must be finite",
        time,
    ))
}

fn check_count(
    quantity: &'static str,
    given: &[f64],
    wanted: usize,
    time: f64,
) -> Result<(), IntegrateError> {
    if given.len() == wanted {
        return Ok(());
    }
    let remedy = "it must be that of the integration";
    let count = given.len() as f64;
    Err(IntegrateError::invalid(quantity, count, remedy, time))
}
