//! A method that chooses between an explicit and an implicit one, and changes over while it runs.
//!
//! A run begins with [`DOP853`](super::dop853), and as long as nothing is stiff it is that method to the last bit. Its two error estimates tell when modes
//! faster than the solution keep its steps short (see `runge_kutta.rs`); an implicit method is then tried, by steps that nobody hears of, and takes over if it passes
//! enough more time per evaluation. If not, the run remains that of the explicit method to the last bit: steps of the implicit one damp vibrations that it
//! does not resolve. While the implicit method is in force the explicit one is tried now and then, ever more rarely as long as it loses, and
//! takes over at once where the implicit method has become slower than it was: there vibrations have to be resolved. Since paces are
//! compared, the choice is right whatever makes steps short, and what trials cost is bounded.
//!
//! ```text
//!             fast modes keep steps short        faster by a factor of three
//!   explicit ───────────────────────────► trial ────────────────────────────► implicit
//!      ▲  ▲───────────── else ──────────────┘                                 │   │ ▲
//!      │  └────────────────── slower than the explicit one was ───────────────┘   │ │ else
//!      └──────────────── about as fast ──────────────── trial ◄───────────────────┘ │
//!                                                         └─────────────────────────┘
//! ```
//!
//! A change takes place between two steps: the method that takes over gets time, state and derivative and goes on with the step that it had when it
//! was left. It is made then, the only time that memory is allocated. It is no start: the system hears of no event, and no sample moves. The step made last is interpolated by
//! the method that made it.
//!
//! The implicit method is ESDIRK where the system solves for its stages and the tolerance is not below what that method is for, else Radau.

mod pace;

use super::dop853::DOP853;
use super::driver::Stepper;
use super::equations::FirstOrderEquations;
use super::esdirk::Esdirk;
use super::memory::{AutoMemory, ChosenMemory, Pace, Stretch};
use super::radau::Radau;
use super::runge_kutta::RungeKutta;
use super::schedule::Piece;
use super::{Control, FirstOrder, IntegrateError, Projection};
use pace::{FirstStep, TRIAL_STEPS, Verdict};

/// Below this relative tolerance the order of ESDIRK on stiff forces, which is that of its stages, costs more than the Jacobians of Radau.
const SMALLEST_RTOL_OF_ESDIRK: f64 = 1e-6;

/// Share of the step that was wanted which the last one before a breakpoint must have to tell what keeps steps short.
const TELLING_SHARE: f64 = 0.5;

/// The method in force. The others are made when they take over.
#[derive(Clone, Debug)]
enum Chosen {
    Dop853(Box<RungeKutta>),
    Esdirk(Box<Esdirk>),
    Radau(Box<Radau>),
}

impl Chosen {
    fn stepper<'s>(&mut self) -> &mut dyn Stepper<dyn FirstOrder + 's> {
        match self {
            Self::Dop853(method) => method.as_mut(),
            Self::Esdirk(method) => method.as_mut(),
            Self::Radau(method) => method.as_mut(),
        }
    }

    fn time(&self) -> f64 {
        match self {
            Self::Dop853(method) => method.memory().time,
            Self::Esdirk(method) => method.memory().time,
            Self::Radau(method) => method.memory().time,
        }
    }

    fn state(&self) -> &[f64] {
        match self {
            Self::Dop853(method) => &method.memory().state,
            Self::Esdirk(method) => &method.memory().state,
            Self::Radau(method) => &method.memory().state,
        }
    }

    fn is_implicit(&self) -> bool {
        match self {
            Self::Dop853(_) => false,
            Self::Esdirk(_) | Self::Radau(_) => true,
        }
    }
}

/// The choice: settings, the method in force, and how fast it gets on.
#[derive(Clone, Debug)]
pub(super) struct Auto {
    control: Control,
    chosen: Chosen,
    pace: Pace,
}

impl Auto {
    pub(super) fn new(control: &Control, time: f64, state: &[f64]) -> Self {
        let explicit = RungeKutta::new(&DOP853, control, time, state);
        Self {
            control: control.clone(),
            chosen: Chosen::Dop853(Box::new(explicit)),
            pace: Pace::NEW,
        }
    }

    /// The method as it was when `memory` was taken, which fits itself; absent if it is that of another tableau.
    pub(super) fn resume(control: &Control, memory: &AutoMemory) -> Option<Self> {
        let chosen = match &memory.method {
            ChosenMemory::Dop853(memory) => {
                Chosen::Dop853(Box::new(RungeKutta::resume(&DOP853, control, memory)?))
            }
            ChosenMemory::Esdirk(memory) => {
                Chosen::Esdirk(Box::new(Esdirk::resume(control, memory.clone())))
            }
            ChosenMemory::Radau(memory) => {
                Chosen::Radau(Box::new(Radau::resume(control, memory.clone())))
            }
        };
        Some(Self {
            control: control.clone(),
            chosen,
            pace: memory.pace,
        })
    }

    pub(super) fn memory(&self) -> AutoMemory {
        AutoMemory {
            method: match &self.chosen {
                Chosen::Dop853(method) => ChosenMemory::Dop853(method.memory().clone()),
                Chosen::Esdirk(method) => ChosenMemory::Esdirk(method.memory().clone()),
                Chosen::Radau(method) => ChosenMemory::Radau(method.memory().clone()),
            },
            pace: self.pace,
        }
    }

    /// The explicit or the implicit method, ready to go on from where the one in force stands.
    fn made(
        &self,
        equations: &mut FirstOrderEquations<'_, '_>,
        implicit: bool,
        step: f64,
    ) -> Result<Chosen, IntegrateError> {
        let (control, time, state) = (&self.control, self.chosen.time(), self.chosen.state());
        // what an iteration left of its equation is small in the state, but not in the derivative
        let mut opening = vec![0.0; state.len()];
        equations.opening(time, state, &mut opening)?;
        if !implicit {
            let mut method = RungeKutta::new(&DOP853, control, time, state);
            method.take_over(&opening, step);
            return Ok(Chosen::Dop853(Box::new(method)));
        }
        let solves_itself = control.rtol >= SMALLEST_RTOL_OF_ESDIRK
            && equations.prepare_stages(time, state, &opening, step, &mut vec![1.0; state.len()]);
        Ok(if solves_itself {
            let mut method = Esdirk::new(control, time, state);
            method.take_over(&opening, step);
            Chosen::Esdirk(Box::new(method))
        } else {
            let mut method = Radau::new(control, time, state);
            method.take_over(&opening, step);
            Chosen::Radau(Box::new(method))
        })
    }

    /// Lets the other method go on from where this one stands.
    fn change_over(
        &mut self,
        equations: &mut FirstOrderEquations<'_, '_>,
        FirstStep(step): FirstStep,
    ) -> Result<(), IntegrateError> {
        self.chosen = self.made(equations, !self.chosen.is_implicit(), step)?;
        equations.statistics.changes += 1;
        Ok(())
    }

    /// What the implicit method does from here, by steps that nobody hears of. They cost evaluations, but are none of the run.
    fn try_implicit(
        &self,
        equations: &mut FirstOrderEquations<'_, '_>,
        piece: &Piece,
        step: f64,
    ) -> Result<Stretch, IntegrateError> {
        const STEPS: usize = 2 * TRIAL_STEPS;
        let run = equations.statistics;
        let mut tried = self.made(equations, true, step)?;
        let mut reached = [(tried.time(), equations.statistics.evaluations); STEPS + 1];
        let mut made = 0;
        while made < STEPS
            && tried.time() < piece.end
            && tried.stepper().step(equations, piece).is_ok()
        {
            made += 1;
            reached[made] = (tried.time(), equations.statistics.evaluations);
        }
        equations.statistics.steps = run.steps;
        equations.statistics.rejected = run.rejected;
        // the first steps grow to the length that the method can do with
        let (grown, end) = (reached[made / 2], reached[made]);
        Ok(Stretch {
            steps: (made - made / 2) as u64,
            advanced: end.0 - grown.0,
            evaluations: end.1 - grown.1,
            stiff_steps: 0,
        })
    }

    /// One step of the method in force, counted.
    fn counted_step(
        &mut self,
        equations: &mut FirstOrderEquations<'_, '_>,
        piece: &Piece,
    ) -> Result<(), IntegrateError> {
        let (before, begun) = (self.chosen.time(), equations.statistics);
        let proposed = match &self.chosen {
            Chosen::Dop853(method) => method.memory().proposed,
            Chosen::Esdirk(_) | Chosen::Radau(_) => f64::INFINITY,
        };
        self.chosen.stepper().step(equations, piece)?;
        let spent = &mut equations.statistics;
        match self.chosen {
            Chosen::Dop853(_) => {}
            Chosen::Esdirk(_) => spent.esdirk_steps += 1,
            Chosen::Radau(_) => spent.radau_steps += 1,
        }
        let advanced = self.chosen.time() - before;
        let evaluations = spent.evaluations - begun.evaluations;
        // rounding makes both estimates alike where a step was cut to almost nothing
        let is_cut = self.chosen.time() == piece.end && advanced < TELLING_SHARE * proposed;
        let stiff = spent.stiff_steps > begun.stiff_steps && !is_cut;
        self.pace.note(advanced, evaluations, stiff);
        Ok(())
    }
}

impl<'s> Stepper<dyn FirstOrder + 's> for Auto {
    fn start(
        &mut self,
        equations: &mut FirstOrderEquations<'_, 's>,
        piece: &Piece,
    ) -> Result<(), IntegrateError> {
        let highest_order = equations.statistics.highest_order;
        self.chosen.stepper().start(equations, piece)?;
        let statistics = &mut equations.statistics;
        statistics.highest_order = statistics.highest_order.max(highest_order);
        Ok(())
    }

    fn step(
        &mut self,
        equations: &mut FirstOrderEquations<'_, 's>,
        piece: &Piece,
    ) -> Result<(), IntegrateError> {
        match self.pace.judge(self.chosen.is_implicit()) {
            Verdict::Stay => {}
            Verdict::Change(step) => self.change_over(equations, step)?,
            Verdict::TryImplicit(explicit) => {
                let step = explicit.mean_step();
                let implicit = self.try_implicit(equations, piece, step)?;
                if self.pace.is_won(&explicit, &implicit) {
                    self.change_over(equations, FirstStep(step))?;
                }
            }
        }
        match self.counted_step(equations, piece) {
            // the other method may be able to
            Err(IntegrateError::StepTooSmall { .. } | IntegrateError::NonFinite { .. })
                if self.pace.on_trial || self.chosen.is_implicit() =>
            {
                let step = self.pace.give_up();
                self.change_over(equations, step)?;
                self.counted_step(equations, piece)
            }
            stepped => stepped,
        }
    }

    fn project(
        &mut self,
        equations: &mut FirstOrderEquations<'_, 's>,
    ) -> Result<Projection, IntegrateError> {
        self.chosen.stepper().project(equations)
    }

    fn interpolate(
        &mut self,
        equations: &mut FirstOrderEquations<'_, 's>,
        time: f64,
        state: &mut [f64],
    ) -> Result<(), IntegrateError> {
        self.chosen.stepper().interpolate(equations, time, state)
    }

    fn place(&mut self, time: f64, state: &[f64]) {
        self.chosen.stepper().place(time, state);
    }

    fn time(&self) -> f64 {
        self.chosen.time()
    }

    fn state(&self) -> &[f64] {
        self.chosen.state()
    }
}
