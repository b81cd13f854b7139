//! Solvers of ordinary differential equations that see vectors and traits, never mechanics.
//!
//! | solver | for | source |
//! |---|---|---|
//! | [`Method::Dop853`] | smooth problems, tight tolerances | Hairer, Nørsett & Wanner, *Solving ODEs I*, II.5, II.10 |
//! | [`Method::Dopri5`] | loose tolerances | same, II.4 to II.6 |
//! | [`Method::Adams`] | smooth problems with costly derivatives | Hindmarsh, *ODEPACK* (1983), LSODE with `MF = 10` |
//! | [`Method::Radau`] | stiff problems | Hairer & Wanner, *Solving ODEs II*, IV.8 |
//! | [`Method::Esdirk`] | stiff problems whose systems solve for their stages themselves | Kennedy & Carpenter (2019) |
//! | [`Method::Auto`] | problems that may be stiff | changes between DOP853 and ESDIRK or Radau |
//! | [`Scheme::GeneralizedAlpha`] | structural systems, fixed step | Chung & Hulbert (1993); Arnold & Brüls (2007) |
//! | [`Scheme::Newmark`] | the same | Newmark (1959) |
//!
//! An [`Integration`] solves $`\dot y = f(t, y)`$ with error control, a [`StructuralIntegration`] solves
//! $`r(t, q, v, \dot v) = 0`$ with a fixed step on a space where positions need not be vectors. Both are values that own
//! their solution, borrow the system for one call at a time, and go from [`Target`] to target; their [`IntegratorMemory`]
//! can be saved and resumed from. [`integrate`] and [`integrate_second_order`] do a whole [`Schedule`] in one call.
//! No step crosses a breakpoint, and the solver starts afresh behind it. What
//! arrives at a breakpoint $`t_b`$ is evaluated at times below $`t_b`$ only, what leaves it at times
//! from $`t_b`$ on, so that an input may jump exactly there. Where a system is not smooth at a state rather than at an
//! instant, its event function tells, and the solver goes back to the instant of the event and starts afresh.

mod adams;
mod adams_coefficients;
mod auto;
mod dop853;
mod dopri5;
mod driver;
mod equations;
mod error;
mod esdirk;
mod esdirk_coefficients;
mod event;
mod integration;
mod jacobian;
mod lu;
mod memory;
mod radau;
mod radau_coefficients;
mod runge_kutta;
mod schedule;
mod second_order;
mod step_control;
mod stiffness;
#[cfg(test)]
mod tests;

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

pub use error::IntegrateError;
pub use integration::{Integration, StructuralIntegration};
pub use lu::Lu;
pub use memory::{
    AcceptedStep, AdamsMemory, AutoMemory, ChosenMemory, ErrorTrend, EsdirkMemory,
    IntegratorMemory, LastStep, MethodMemory, Pace, Phase, Progress, RadauMemory, RungeKuttaMemory,
    StepEnding, Stretch, StructuralMemory,
};
pub use schedule::{Schedule, Target};
pub use stiffness::fastest_rate;

/// A first-order system $`\dot y = f(t, y)`$.
pub trait FirstOrder {
    /// Writes $`f(t, y)`$ into `rate`, NaN where it cannot be evaluated.
    fn derivative(&mut self, time: f64, state: &[f64], rate: &mut [f64]);

    /// Brings the state reached by an accepted step back to where solutions live, for systems with
    /// invariants that a step keeps only to its accuracy.
    fn project(&mut self, _time: f64, _state: &mut [f64]) -> Projection {
        Projection::Kept
    }

    /// Called where a piece of the solution begins: at the start, behind every breakpoint (time event) and where
    /// [`event_function`](Self::event_function) has become positive (state event). From here on the derivative that holds
    /// just ahead holds, smoothly continued, until the next call. The state may jump, and its entries may mean something
    /// else from here on: then the [chart](Self::chart) is another one.
    fn handle_event(&mut self, _time: f64, _state: &mut [f64]) {}

    /// In which coordinates the state is given from the last [`handle_event`](Self::handle_event) on, as numbers that mean
    /// something to the system alone.
    fn chart(&self) -> &[usize] {
        &[]
    }

    /// Becomes positive where the solution leaves the region in which the derivative of the last
    /// [`handle_event`](Self::handle_event) holds. At the end of a step that finds it positive, the solution goes back to
    /// the instant at which it became so.
    fn event_function(&mut self, _time: f64, _state: &[f64]) -> f64 {
        f64::NEG_INFINITY
    }

    /// Whether the event function may have been positive within the step of this length that ends at a state where it is not. Then it is looked at on
    /// the way.
    fn may_have_passed(&mut self, _time: f64, _state: &[f64], _step: f64) -> bool {
        false
    }

    /// Prepares [`improve_stage`](Self::improve_stage) for a step that begins at `state` with the derivative `rate`, and whose
    /// stages have the equations $`k = f(t, b + s\,k)`$ with this `share` $`s`$ of the step. Tells whether the system solves
    /// for its stages itself; if not, the Jacobian is found by differences.
    ///
    /// A system that does may write into `allowance`, which holds ones, by how much the error of a component may exceed its tolerance: that of the
    /// rate of an oscillation by its frequency, since the displacement that it makes is smaller by as much.
    fn prepare_stages(
        &mut self,
        _time: f64,
        _state: &[f64],
        _rate: &[f64],
        _share: f64,
        _allowance: &mut [f64],
    ) -> bool {
        false
    }

    /// One iteration of $`k = f(t, b + s\,k)`$ from $`k`$ in `rate`, to be repeated until it converges: a step of Newton's
    /// method or near one, $`k + (1 - s\,\partial f/\partial y)^{-1}(f - k)`$. NaN where it cannot be evaluated. Called where
    /// [`prepare_stages`](Self::prepare_stages) tells that there is one.
    fn improve_stage(&mut self, _time: f64, _base: &[f64], _share: f64, rate: &mut [f64]) {
        rate.fill(f64::NAN);
    }
}

/// What [`FirstOrder::project`] or [`SecondOrder::project`] did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    /// The derivative at the state is what it was before.
    Kept,
    /// It is not.
    Moved,
    /// The integration cannot go on from here.
    Stop {
        /// Up to when the step that led here is good; if not a number, it is not good at all.
        good_until: f64,
    },
}

/// A second-order system $`M(q)\,\dot v = f(t, q, v)`$ written as a residual.
///
/// Positions may live on a manifold (unit quaternions among them), velocities and accelerations are
/// vectors.
pub trait SecondOrder {
    /// Number of position components.
    fn position_count(&self) -> usize;

    /// Number of velocity components, which is that of accelerations and residuals.
    fn velocity_count(&self) -> usize;

    /// Writes $`r = M(q)\,\dot v - f(t, q, v)`$ into `residual`, NaN where it cannot be evaluated.
    fn residual(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
        acceleration: &[f64],
        residual: &mut [f64],
    );

    /// Writes $`\partial r / \partial \dot v`$, n × n by rows.
    fn mass_matrix(&mut self, time: f64, position: &[f64], mass: &mut [f64]);

    /// Prepares [`solve_tangent`](Self::solve_tangent) at a motion, positions, velocities and accelerations, for steps in which positions and
    /// velocities change by these `weights` of the change of accelerations. Tells whether the system does that itself; if not, the tangent is
    /// found by differences.
    ///
    /// It depends on the arguments alone, not on what was prepared before.
    fn prepare_tangent(&mut self, _time: f64, _motion: [&[f64]; 3], _weights: [f64; 2]) -> bool {
        false
    }

    /// Replaces a residual by $`T^{-1} r`$ with the tangent prepared last, or nearly:
    /// $`T = \partial r/\partial\dot v + w_v\,\partial r/\partial v + w_q\,\partial r/\partial q`$, exact where both weights are zero. Called
    /// where [`prepare_tangent`](Self::prepare_tangent) tells that there is one.
    fn solve_tangent(&mut self, residual: &mut [f64]) {
        residual.fill(f64::NAN);
    }

    /// Brings what a step has made back onto a manifold that the motion must not leave; nothing by default.
    fn project(&mut self, _time: f64, _position: &mut [f64], _velocity: &mut [f64]) -> Projection {
        Projection::Kept
    }

    /// As [`FirstOrder::handle_event`].
    fn handle_event(&mut self, _time: f64, _position: &mut [f64], _velocity: &mut [f64]) {}

    /// As [`FirstOrder::chart`].
    fn chart(&self) -> &[usize] {
        &[]
    }

    /// As [`FirstOrder::event_function`].
    fn event_function(&mut self, _time: f64, _position: &[f64], _velocity: &[f64]) -> f64 {
        f64::NEG_INFINITY
    }

    /// As [`FirstOrder::may_have_passed`], for positions and velocities.
    fn may_have_passed(&mut self, _time: f64, _motion: [&[f64]; 2], _step: f64) -> bool {
        false
    }

    /// Writes $`q \oplus \Delta`$: where a constant velocity `increment` leads from `position` in unit
    /// time. Plain addition for vectors.
    fn displace(&self, position: &[f64], increment: &[f64], displaced: &mut [f64]);
}

/// Whether an integration goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop here; the outcome says where.
    Stop,
}

/// What is told about an integration while it runs.
pub trait Observer {
    /// Called at every requested sample instant, exactly those, in order.
    fn sample(&mut self, time: f64, state: &[f64]) -> Flow;

    /// Called after every accepted step, after the samples that lie inside it, by the call that reaches its end.
    fn step(&mut self, time: f64, state: &[f64]) -> Flow;

    /// Called where a piece of the solution begins, with the state that arrives there, in the coordinates that held until then, and the
    /// one that goes on, in those of `chart`, as all that come later. In the same coordinates they differ where the system has
    /// made the state jump.
    fn begin(&mut self, _time: f64, _arriving: &[f64], _leaving: &[f64], _chart: &[usize]) {}
}

/// Nobody, who never stops anything.
impl Observer for () {
    fn sample(&mut self, _time: f64, _state: &[f64]) -> Flow {
        Flow::Continue
    }

    fn step(&mut self, _time: f64, _state: &[f64]) -> Flow {
        Flow::Continue
    }
}

/// An error-controlled method for first-order systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Dormand and Prince's explicit Runge–Kutta method of order 8(5,3), interpolant of order 7.
    Dop853,
    /// Dormand and Prince's explicit Runge–Kutta method of order 5(4), interpolant of order 4.
    Dopri5,
    /// Adams–Moulton of orders 1 to 12 with variable step, solved by functional iteration.
    Adams,
    /// Radau IIA of order 5, implicit, for stiff systems.
    Radau,
    /// Diagonally implicit Runge–Kutta method of order 5(4) with an explicit first stage, stiffly accurate, for stiff systems
    /// that [solve for its stages](FirstOrder::improve_stage).
    Esdirk,
    /// [`Dop853`](Self::Dop853) until modes faster than the solution keep its steps short, then an implicit method if that gets on
    /// faster: [`Esdirk`](Self::Esdirk) for systems that solve for its stages, else [`Radau`](Self::Radau). And back.
    Auto,
}

/// Accuracy and limits of an [`Integration`].
///
/// A step is accepted when the root mean square of `error / (atol + rtol |y|)` is at most one; DOP853, Radau and
/// ESDIRK ask for less than that, so that the error of a run is near the tolerance.
#[derive(Clone, Debug, PartialEq)]
pub struct Control {
    /// Relative tolerance, at least [`Control::SMALLEST_RTOL`].
    pub rtol: f64,
    /// Absolute tolerance of each component, or one for all.
    pub atol: Vec<f64>,
    /// First step after the start and after every breakpoint; chosen automatically when absent.
    pub initial_step: Option<f64>,
    /// Longest step allowed.
    pub max_step: Option<f64>,
    /// Number of steps, accepted or rejected, after which a call fails.
    pub max_steps: u64,
}

impl Control {
    /// Below this relative tolerance rounding errors are taken for truncation errors.
    pub const SMALLEST_RTOL: f64 = 1e-14;
}

/// What an integration cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// Accepted steps.
    pub steps: u64,
    /// Rejected steps.
    pub rejected: u64,
    /// Evaluations of the derivative or the residual, those for Jacobians included.
    pub evaluations: u64,
    /// Jacobians or tangents built by finite differences.
    pub jacobians: u64,
    /// Matrix factorizations.
    pub factorizations: u64,
    /// Iterations of implicit equations (functional or Newton).
    pub iterations: u64,
    /// Highest order a step was taken with.
    pub highest_order: u64,
    /// Accepted steps of [`Method::Dop853`] that modes faster than the solution kept short.
    pub stiff_steps: u64,
    /// Accepted steps that [`Method::Auto`] made by [`Method::Esdirk`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub esdirk_steps: u64,
    /// Accepted steps that [`Method::Auto`] made by [`Method::Radau`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub radau_steps: u64,
    /// Changes from one method to another, those for trials of the explicit one included.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub changes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Statistics {
    /// Whether modes faster than the solution kept most steps of an explicit method short. Its error is then
    /// not near the tolerance but below, and [`Method::Radau`] takes far fewer steps.
    pub fn is_stiff(&self) -> bool {
        2 * self.stiff_steps > self.steps
    }
}

impl Add for Statistics {
    type Output = Self;

    /// Sums every count; the highest order is the higher of the two.
    fn add(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            rejected: self.rejected + other.rejected,
            evaluations: self.evaluations + other.evaluations,
            jacobians: self.jacobians + other.jacobians,
            factorizations: self.factorizations + other.factorizations,
            iterations: self.iterations + other.iterations,
            highest_order: self.highest_order.max(other.highest_order),
            stiff_steps: self.stiff_steps + other.stiff_steps,
            esdirk_steps: self.esdirk_steps + other.esdirk_steps,
            radau_steps: self.radau_steps + other.radau_steps,
            changes: self.changes + other.changes,
        }
    }
}

impl AddAssign for Statistics {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// How an integration ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// What it cost.
    pub statistics: Statistics,
    /// Where the observer stopped it; absent when the end was reached.
    pub stopped_at: Option<f64>,
}

/// Integrates $`\dot y = f(t, y)`$ over `schedule` from `state`, which holds the final state afterwards
/// (the last one reached if the observer stops the integration or it fails).
///
/// # Errors
///
/// When an argument is out of range, a step cannot be made, or too many would be needed.
pub fn integrate(
    method: Method,
    control: &Control,
    system: &mut dyn FirstOrder,
    schedule: &Schedule<'_>,
    state: &mut [f64],
    observer: &mut dyn Observer,
) -> Result<Outcome, IntegrateError> {
    schedule::check_schedule(schedule)?;
    let mut integration = Integration::new(method, control, schedule.start, state)?;
    let outcome = integration.advance(system, &Target::end_of(schedule), observer);
    state.copy_from_slice(integration.state());
    outcome
}

/// A fixed-step method for second-order systems.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scheme {
    /// Generalised-α: second order, with numerical damping at high frequencies.
    GeneralizedAlpha {
        /// Spectral radius at infinite frequency: 1 damps nothing, 0 annihilates in one step.
        spectral_radius: f64,
    },
    /// Newmark's family; β = 1/4, γ = 1/2 is the average-acceleration method.
    Newmark {
        /// Weight of the new acceleration in the position, from 0 to 1/2.
        beta: f64,
        /// Weight of the new acceleration in the velocity, in (0, 1]; second order at 1/2 only.
        gamma: f64,
    },
}

/// Step and Newton iteration of a [`StructuralIntegration`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedStep {
    /// Longest step. The last one before a breakpoint or the end is shortened to meet it; [`StructuralIntegration`] says
    /// how it goes on from there.
    pub step: f64,
    /// Relative accuracy to which Newton's iteration solves a step.
    pub tolerance: f64,
    /// Largest number of Newton iterations with one tangent.
    pub max_iterations: usize,
}

/// Integrates $`r(t, q, v, \dot v) = 0`$ over `schedule` from `position` and `velocity`, which hold the
/// final ones afterwards.
///
/// The state handed to the observer is position, velocity and acceleration, one after the other. At a
/// breakpoint a sample holds the acceleration behind it.
///
/// # Errors
///
/// When an argument is out of range or a step cannot be solved.
pub fn integrate_second_order(
    scheme: Scheme,
    options: &FixedStep,
    system: &mut dyn SecondOrder,
    schedule: &Schedule<'_>,
    position: &mut [f64],
    velocity: &mut [f64],
    observer: &mut dyn Observer,
) -> Result<Outcome, IntegrateError> {
    schedule::check_schedule(schedule)?;
    let start = schedule.start;
    let mut integration = StructuralIntegration::new(scheme, options, start, position, velocity)?;
    let outcome = integration.advance(system, &Target::end_of(schedule), observer);
    let (new_position, motion) = integration.state().split_at(position.len());
    position.copy_from_slice(new_position);
    velocity.copy_from_slice(&motion[..velocity.len()]);
    outcome
}
