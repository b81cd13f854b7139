//! What an integration remembers from one step to the next, as plain data.
//!
//! Every solver works on these structs themselves, so that a copy of them is complete: an integration that is
//! [resumed](super::Integration::resume) from an [`IntegratorMemory`], in another process of the same build, goes on to the
//! last bit as the one it was taken from, within a step as well as at its end. All parts are numbers, flags and vectors
//! with names; to write them down without loss is all that a file format has to do. Matrices are kept by their entries and
//! factored again, which repeats the same arithmetic on the same numbers.
//!
//! | method | remembers beside time and state |
//! |---|---|
//! | Runge–Kutta | derivative that opens the next step, its length, last error, steps since a sign of stiffness |
//! | Adams | scaled derivatives, order, step, steps until it may change |
//! | Radau | opening derivative, step, last error, Jacobian, collocation polynomial that the next iteration starts from |
//! | ESDIRK | opening derivative, step, last error, derivatives of the stages that the next iteration starts from, Jacobian if the system has none of its own |
//! | the choice between two methods | what the one in force remembers, its pace and that of the other |
//! | generalised-α, Newmark | algorithmic acceleration, origin and number of the steps, tangent and the step it is of |
//!
//! What a *system* remembers (the branch it took at the last event, seeds of its own iterations) is not here: it belongs
//! to the state of the system.

use serde::{Deserialize, Serialize};

use super::{IntegrateError, Statistics};

/// All that an integration knows, beside its settings and the system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IntegratorMemory {
    /// Where the integration stands.
    pub progress: Progress,
    /// What its method remembers.
    pub method: MethodMemory,
}

/// Where an integration stands, whatever its method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Instant that has been reached.
    pub time: f64,
    /// The solution there.
    pub state: Vec<f64>,
    /// Where the method last started afresh: at the start, a breakpoint, a state event or a restart.
    pub piece_start: f64,
    /// What comes next.
    pub phase: Phase,
    /// Last instant at which a sample was taken.
    pub sampled: Option<f64>,
    /// What has been spent so far.
    pub statistics: Statistics,
}

/// What an integration does next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Phase {
    /// The method starts afresh at [`Progress::time`].
    StartDue,
    /// It makes a step from there.
    BetweenSteps,
    /// The step made last leads beyond [`Progress::time`].
    WithinStep {
        /// Where it ends.
        end: f64,
        /// Why it ends there.
        ending: StepEnding,
        /// Whether the system refused to go on from its end.
        refused: bool,
    },
    /// The system refused to go on from there.
    Refused,
}

/// Why a step ends where it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepEnding {
    /// It was made so long.
    Full,
    /// A state event cut it.
    Event,
    /// A restart, or a breakpoint that was not known when it was made, cut it.
    Cut,
}

/// What a method remembers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MethodMemory {
    /// Of [`Method::Dop853`](super::Method::Dop853) and [`Method::Dopri5`](super::Method::Dopri5).
    RungeKutta(RungeKuttaMemory),
    /// Of [`Method::Adams`](super::Method::Adams).
    Adams(AdamsMemory),
    /// Of [`Method::Radau`](super::Method::Radau).
    Radau(RadauMemory),
    /// Of [`Method::Esdirk`](super::Method::Esdirk).
    Esdirk(EsdirkMemory),
    /// Of [`Method::Auto`](super::Method::Auto).
    Auto(AutoMemory),
    /// Of every [`Scheme`](super::Scheme).
    Structural(StructuralMemory),
}

/// What a choice between methods remembers. The method that is not in force starts afresh when it takes over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AutoMemory {
    /// Of the method in force.
    pub method: ChosenMemory,
    /// How fast the methods get on.
    pub pace: Pace,
}

/// What the method in force remembers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ChosenMemory {
    /// Of [`Method::Dop853`](super::Method::Dop853).
    Dop853(RungeKuttaMemory),
    /// Of [`Method::Esdirk`](super::Method::Esdirk).
    Esdirk(EsdirkMemory),
    /// Of [`Method::Radau`](super::Method::Radau).
    Radau(RadauMemory),
}

/// How fast the method in force and the other one get on, as time that passes per evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Whether the method in force, the explicit one, is being tried.
    pub on_trial: bool,
    /// Accepted steps since it took over or was found the better one.
    pub steps: u64,
    /// What is being measured.
    pub stretch: Stretch,
    /// Pace of the other method when it was left; zero before.
    pub other_pace: f64,
    /// Mean length of its steps then; zero before.
    pub other_step: f64,
    /// Accepted steps after which the other method may be tried.
    pub patience: u64,
}

/// Accepted steps in a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stretch {
    /// How many.
    pub steps: u64,
    /// Time that they passed.
    pub advanced: f64,
    /// What they cost, with the attempts between them that were rejected.
    pub evaluations: u64,
    /// Steps of an explicit method that modes faster than the solution kept short.
    pub stiff_steps: u64,
}

impl Stretch {
    pub(super) const NONE: Self = Self {
        steps: 0,
        advanced: 0.0,
        evaluations: 0,
        stiff_steps: 0,
    };
}

/// The step made last, as far as interpolants need it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LastStep {
    /// Where it began.
    pub start: f64,
    /// The state there.
    pub state: Vec<f64>,
    /// Its length.
    pub length: f64,
}

impl LastStep {
    pub(super) fn none(state: &[f64]) -> Self {
        Self {
            start: 0.0,
            state: state.to_vec(),
            length: 0.0,
        }
    }
}

/// What an explicit Runge–Kutta method remembers. Vectors have the length of the state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RungeKuttaMemory {
    /// End of the last step.
    pub time: f64,
    /// The solution there.
    pub state: Vec<f64>,
    /// Its derivative, the first stage of the next step.
    pub opening: Vec<f64>,
    /// Length proposed for the next step.
    pub proposed: f64,
    /// What the control of the step knows of errors.
    pub trend: ErrorTrend,
    /// Accepted steps since modes faster than the solution governed the error, counted up to 20.
    pub calm_steps: u32,
    /// Component with the worst error, for messages.
    pub worst: usize,
    /// For the interpolant.
    pub last_step: LastStep,
    /// Derivatives at the stages of the last step, one vector per stage of the tableau.
    pub stages: Vec<Vec<f64>>,
    /// Coefficients of the interpolant of the last step.
    pub polynomial: Vec<Vec<f64>>,
    /// Whether they have been computed.
    pub polynomial_ready: bool,
}

/// What the control of a step knows of errors so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorTrend {
    /// Scaled error of the last step whose length was free, at least 1e-4.
    pub previous_error: f64,
    /// Whether the last attempt was rejected.
    pub after_rejection: bool,
}

/// What the Adams method remembers. Vectors have the length of the state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdamsMemory {
    /// End of the last step.
    pub time: f64,
    /// Step that the scaled derivatives refer to.
    pub step: f64,
    /// Order of the next step.
    pub order: usize,
    /// $`z_j = h^j y^{(j)} / j!`$ for j = 0 … 12; those above the order mean nothing.
    pub nordsieck: Vec<Vec<f64>>,
    /// Correction of the step before a change of order is considered.
    pub previous_correction: Vec<f64>,
    /// Accepted steps until a change of step or order is considered.
    pub patience: usize,
    /// Largest lengthening at that occasion.
    pub largest_growth: f64,
    /// Step that the control of errors asks for, where steps divide the way to the next instant to land on; absent until
    /// the first landing behind a start.
    pub free_step: Option<f64>,
    /// Component with the worst error, for messages.
    pub worst: usize,
}

/// What Radau's method remembers. Vectors have the length n of the state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RadauMemory {
    /// End of the last step.
    pub time: f64,
    /// The solution there.
    pub state: Vec<f64>,
    /// Its derivative.
    pub opening: Vec<f64>,
    /// Length proposed for the next step.
    pub proposed: f64,
    /// Whether the last attempt was rejected.
    pub after_rejection: bool,
    /// The last accepted step whose length was free; absent after a start.
    pub accepted: Option<AcceptedStep>,
    /// $`\partial f / \partial y`$, n × n by rows.
    pub jacobian: Vec<f64>,
    /// Whether the next attempt needs a new one.
    pub jacobian_wanted: bool,
    /// Whether this one was taken at `time`.
    pub jacobian_fresh: bool,
    /// Step for which the iteration matrices are factored.
    pub factored_step: Option<f64>,
    /// θ/(1 − θ) of the last iteration, which contracted by θ.
    pub contraction: f64,
    /// For the interpolant and the first guess of the next iteration.
    pub last_step: LastStep,
    /// Divided differences of the collocation polynomial of the last step.
    pub polynomial: [Vec<f64>; 3],
    /// Component with the worst error, for messages.
    pub worst: usize,
}

/// What the ESDIRK method remembers. Vectors have the length n of the state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EsdirkMemory {
    /// End of the last step.
    pub time: f64,
    /// The solution there.
    pub state: Vec<f64>,
    /// Its derivative, the first stage of the next step.
    pub opening: Vec<f64>,
    /// Length proposed for the next step.
    pub proposed: f64,
    /// What the control of the step knows of errors.
    pub trend: ErrorTrend,
    /// For the interpolant and the first guess of the next iteration; its length is zero behind a start.
    pub last_step: LastStep,
    /// Derivatives at the stages of the last step.
    pub stages: Vec<Vec<f64>>,
    /// $`\partial f / \partial y`$, n × n by rows; empty where the system solves for its stages itself.
    pub jacobian: Vec<f64>,
    /// Whether the next attempt needs a new one.
    pub jacobian_wanted: bool,
    /// Whether this one was taken at `time`.
    pub jacobian_fresh: bool,
    /// Step for which the iteration matrix is factored.
    pub factored_step: Option<f64>,
    /// Component with the worst error, for messages.
    pub worst: usize,
}

/// Length and scaled error of an accepted step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AcceptedStep {
    /// Its length.
    pub step: f64,
    /// Its scaled error, at least 0.01.
    pub error: f64,
}

/// What generalised-α and Newmark's method remember. Vectors have the length n of the velocities, states hold positions,
/// velocities and accelerations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StructuralMemory {
    /// End of the last step.
    pub time: f64,
    /// The solution there.
    pub state: Vec<f64>,
    /// $`a`$ of the scheme.
    pub algorithmic_acceleration: Vec<f64>,
    /// Steps end at `origin` + k h, so that instants do not gather rounding errors.
    pub origin: f64,
    /// Number k of full steps since then.
    pub steps_from_origin: u64,
    /// Whether a step was made to end elsewhere since the last start. From then on equal steps divide the way to the next
    /// instant to land on instead.
    pub landed: bool,
    /// Derivative of the residual along the new acceleration, n × n by rows, kept over several steps. Its entries and not
    /// its factors: they fix the factors and do not depend on how these are stored. Empty where the system has tangents of its own.
    pub tangent: Vec<f64>,
    /// Step that the tangent was built for; absent when there is none.
    pub tangent_step: Option<f64>,
    /// For the interpolant.
    pub last_step: LastStep,
    /// Increment of position over the last step.
    pub increment: Vec<f64>,
}

impl IntegratorMemory {
    /// The refusal of memory of another method or another size.
    pub(super) fn unfit(&self, part: &'static str) -> IntegrateError {
        IntegrateError::ForeignMemory {
            part,
            time: self.progress.time,
            statistics: self.progress.statistics,
        }
    }

    /// The number of components of the state that all parts agree on.
    ///
    /// # Errors
    ///
    /// With the first part whose size is another, or whose value no method leaves behind.
    pub(super) fn check(&self) -> Result<usize, IntegrateError> {
        let size = self.progress.state.len();
        let checked = match &self.method {
            MethodMemory::RungeKutta(memory) => memory.check(size),
            MethodMemory::Adams(memory) => {
                memory.check(size, self.progress.phase == Phase::StartDue)
            }
            MethodMemory::Radau(memory) => memory.check(size),
            MethodMemory::Esdirk(memory) => memory.check(size),
            MethodMemory::Auto(memory) => match &memory.method {
                ChosenMemory::Dop853(memory) => memory.check(size),
                ChosenMemory::Esdirk(memory) => memory.check(size),
                ChosenMemory::Radau(memory) => memory.check(size),
            },
            MethodMemory::Structural(memory) => memory.check(size),
        };
        checked.map_err(|part| self.unfit(part))?;
        Ok(size)
    }
}

/// Names the first part that is not of its size.
fn check_sizes(parts: &[(&'static str, &[f64], usize)]) -> Result<(), &'static str> {
    match parts.iter().find(|(_, part, size)| part.len() != *size) {
        Some(&(name, ..)) => Err(name),
        None => Ok(()),
    }
}

impl RungeKuttaMemory {
    fn check(&self, size: usize) -> Result<(), &'static str> {
        check_sizes(&[
            ("state", &self.state, size),
            ("opening", &self.opening, size),
            ("last_step", &self.last_step.state, size),
        ])?;
        let stored = [("stages", &self.stages), ("polynomial", &self.polynomial)];
        for (name, vectors) in stored {
            if vectors.iter().any(|vector| vector.len() != size) {
                return Err(name);
            }
        }
        Ok(())
    }
}

impl AdamsMemory {
    fn check(&self, size: usize, start_due: bool) -> Result<(), &'static str> {
        check_sizes(&[("previous_correction", &self.previous_correction, size)])?;
        let columns = &self.nordsieck;
        if columns.len() != super::adams_coefficients::HIGHEST_ORDER + 1
            || columns.iter().any(|column| column.len() != size)
        {
            return Err("nordsieck");
        }
        if !(1..columns.len()).contains(&self.order) {
            return Err("order");
        }
        // a start sets both
        if self.patience == 0 && !start_due {
            return Err("patience");
        }
        if (self.step.is_nan() || self.step <= 0.0) && !start_due {
            return Err("step");
        }
        Ok(())
    }
}

impl RadauMemory {
    fn check(&self, size: usize) -> Result<(), &'static str> {
        check_sizes(&[
            ("state", &self.state, size),
            ("opening", &self.opening, size),
            ("jacobian", &self.jacobian, size * size),
            ("last_step", &self.last_step.state, size),
            ("polynomial", &self.polynomial[0], size),
            ("polynomial", &self.polynomial[1], size),
            ("polynomial", &self.polynomial[2], size),
        ])
    }
}

impl EsdirkMemory {
    fn check(&self, size: usize) -> Result<(), &'static str> {
        check_sizes(&[
            ("state", &self.state, size),
            ("opening", &self.opening, size),
            ("last_step", &self.last_step.state, size),
        ])?;
        let stages = &self.stages;
        if stages.len() != super::esdirk_coefficients::STAGES
            || stages.iter().any(|stage| stage.len() != size)
        {
            return Err("stages");
        }
        let none = self.jacobian.is_empty() && self.factored_step.is_none();
        if !none && self.jacobian.len() != size * size {
            return Err("jacobian");
        }
        Ok(())
    }
}

impl StructuralMemory {
    fn check(&self, size: usize) -> Result<(), &'static str> {
        let velocities = self.algorithmic_acceleration.len();
        if size < 2 * velocities {
            return Err("algorithmic_acceleration");
        }
        let none = self.tangent.is_empty() && self.tangent_step.is_none();
        if !none && self.tangent.len() != velocities * velocities {
            return Err("tangent");
        }
        check_sizes(&[
            ("state", &self.state, size),
            ("last_step", &self.last_step.state, size),
            ("increment", &self.increment, velocities),
        ])
    }
}
