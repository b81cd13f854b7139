//! How long a step is: error measure, first step, limits and the controller of the explicit methods.
//!
//! Source: Hairer, Nørsett & Wanner, *Solving Ordinary Differential Equations I*, 2nd ed., II.4: error
//! norm (4.11), first step (after 4.14), step size (4.13), stabilised as in section IV.2 of volume II.

use super::equations::FirstOrderEquations;
use super::memory::ErrorTrend;
use super::schedule::Piece;
use super::{Control, IntegrateError};

/// Weights of the components in an error norm.
#[derive(Clone, Debug)]
pub(super) struct Tolerance {
    relative: f64,
    /// One per component, or one for all.
    absolute: Vec<f64>,
}

impl Tolerance {
    pub(super) fn new(relative: f64, absolute: Vec<f64>) -> Self {
        Self { relative, absolute }
    }

    pub(super) fn of(control: &Control) -> Self {
        Self::new(control.rtol, control.atol.clone())
    }

    /// The same weights for another size of the whole.
    pub(super) fn times(mut self, factor: f64) -> Self {
        self.relative *= factor;
        for absolute in &mut self.absolute {
            *absolute *= factor;
        }
        self
    }

    /// Error that counts as one in component `i` of this magnitude.
    pub(super) fn scale(&self, i: usize, magnitude: f64) -> f64 {
        let absolute = self.absolute[if self.absolute.len() == 1 { 0 } else { i }];
        // keeps 0/0 out of the norm of a component that is zero and has no absolute tolerance
        (absolute + self.relative * magnitude).max(f64::MIN_POSITIVE)
    }

    /// Root mean square of the scaled error, and the component that contributes most.
    pub(super) fn norm(&self, error: &[f64], state: &[f64]) -> (f64, usize) {
        let mut sum = 0.0;
        let mut worst = (0.0, 0);
        for (i, (&error, &value)) in error.iter().zip(state).enumerate() {
            let square = (error / self.scale(i, value.abs())).powi(2);
            sum += square;
            if square > worst.0 {
                worst = (square, i);
            }
        }
        ((sum / error.len().max(1) as f64).sqrt(), worst.1)
    }
}

/// Below this length a step changes the time by little more than its rounding error.
///
/// The second term keeps a system that cannot be evaluated behind t = 0 from being tried with a
/// thousand halvings.
pub(super) fn smallest_step(time: f64, piece: &Piece) -> f64 {
    16.0 * f64::EPSILON * time.abs().max(1e-9 * (piece.end - piece.start))
}

/// Scaled errors below this may be rounding errors.
const HIDDEN_ERROR: f64 = 1e-4;

/// A step as it fits between where it begins and the end of the piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct FittedStep {
    pub(super) length: f64,
    /// Length that the control of errors asked for.
    pub(super) wanted: f64,
    /// Whether it reaches the end of the piece.
    pub(super) last: bool,
}

impl FittedStep {
    /// Whether the step is shorter than the control of errors asked for.
    pub(super) fn is_cut(&self) -> bool {
        self.last && self.length < self.wanted
    }

    /// Factor from this step to the one that was asked for if it is cut, else one.
    pub(super) fn regrowth(&self) -> f64 {
        if self.is_cut() {
            self.wanted / self.length
        } else {
            1.0
        }
    }

    /// Length of the next step from the one that the error of this step allows. Rounding hides the error of a step that was
    /// cut to almost nothing, which then says nothing against the length that was asked for.
    pub(super) fn next(&self, allowed: f64, error: f64) -> f64 {
        if self.is_cut() && error < HIDDEN_ERROR {
            allowed.max(self.wanted)
        } else {
            allowed
        }
    }
}

/// Shortens a proposed step to `max_step` and to the end of the piece.
pub(super) fn fitted_step(
    proposed: f64,
    time: f64,
    piece: &Piece,
    max_step: Option<f64>,
) -> FittedStep {
    let wanted = max_step.map_or(proposed, |longest| proposed.min(longest));
    // a stretch by a hundredth saves a last step of almost nothing
    let last = time + 1.01 * wanted >= piece.end;
    FittedStep {
        length: if last { piece.end - time } else { wanted },
        wanted,
        last,
    }
}

/// Guesses a first step for a method of this order from the sizes of the solution and of its first two
/// derivatives. `rate` is the derivative at the start; the last two vectors are scratch.
pub(super) fn first_step(
    equations: &mut FirstOrderEquations<'_, '_>,
    tolerance: &Tolerance,
    order: u32,
    piece: &Piece,
    state: &[f64],
    rate: &[f64],
    [probe, probe_rate]: [&mut [f64]; 2],
) -> f64 {
    let size = tolerance.norm(state, state).0;
    let slope = tolerance.norm(rate, state).0;
    // a call that goes nowhere says nothing about the way ahead
    let length = match piece.end - piece.start {
        0.0 => f64::INFINITY,
        length => length,
    };
    let euler_step = if size < 1e-5 || slope < 1e-5 {
        1e-6
    } else {
        0.01 * size / slope
    }
    .min(length);
    for i in 0..state.len() {
        probe[i] = state[i] + euler_step * rate[i];
    }
    let evaluated = equations.derivative(piece.start + euler_step, probe, probe_rate);
    let step = if evaluated.is_ok() {
        for i in 0..state.len() {
            probe_rate[i] -= rate[i];
        }
        let curvature = tolerance.norm(probe_rate, state).0 / euler_step;
        let largest = slope.max(curvature);
        let step = if largest <= 1e-15 {
            (1e-3 * euler_step).max(1e-6)
        } else {
            (0.01 / largest).powf(1.0 / f64::from(order))
        };
        step.min(100.0 * euler_step)
    } else {
        // the step itself will be halved until the system can be evaluated
        euler_step
    };
    step.max(10.0 * smallest_step(piece.start, piece))
}

/// Step-size controller of the explicit Runge–Kutta methods.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    /// One over the order of the error in the step.
    exponent: f64,
    /// Weight of the previous error (β), which damps oscillations of the step.
    stabilization: f64,
    shrink_limit: f64,
    growth_limit: f64,
}

const SMALLEST_REMEMBERED_ERROR: f64 = 1e-4;

impl ErrorTrend {
    /// That of no steps at all.
    pub(super) const NONE: Self = Self {
        previous_error: SMALLEST_REMEMBERED_ERROR,
        after_rejection: false,
    };
}

impl Controller {
    const SAFETY: f64 = 0.9;

    pub(super) fn new(
        order: u32,
        stabilization: f64,
        shrink_limit: f64,
        growth_limit: f64,
    ) -> Self {
        Self {
            exponent: 1.0 / f64::from(order) - 0.75 * stabilization,
            stabilization,
            shrink_limit,
            growth_limit,
        }
    }

    /// Length of the next step behind an accepted one. If that was cut, the next may be as long as it was to be, and its
    /// small error is no trend.
    pub(super) fn accepted(&self, trend: &mut ErrorTrend, error: f64, step: FittedStep) -> f64 {
        let wanted = Self::SAFETY * trend.previous_error.powf(self.stabilization)
            / error.powf(self.exponent);
        let largest = if trend.after_rejection {
            1.0
        } else {
            self.growth_limit
        };
        if !step.is_cut() {
            trend.previous_error = error.max(SMALLEST_REMEMBERED_ERROR);
        }
        trend.after_rejection = false;
        let factor = wanted
            .min(largest.max(step.regrowth()))
            .max(self.shrink_limit);
        step.next(step.length * factor, error)
    }

    /// Factor from a rejected step to the next attempt.
    pub(super) fn rejected(&self, trend: &mut ErrorTrend, error: f64) -> f64 {
        trend.after_rejection = true;
        (Self::SAFETY / error.powf(self.exponent)).clamp(self.shrink_limit, 1.0)
    }

    /// Factor from a step that could not be evaluated to the next attempt.
    pub(super) fn failed(trend: &mut ErrorTrend) -> f64 {
        trend.after_rejection = true;
        0.5
    }
}

/// Refuses tolerances and limits that cannot work.
pub(super) fn check_control(
    control: &Control,
    components: usize,
    time: f64,
) -> Result<(), IntegrateError> {
    let invalid =
        |quantity, value, remedy| Err(IntegrateError::invalid(quantity, value, remedy, time));
    if !(control.rtol >= Control::SMALLEST_RTOL && control.rtol < 1.0) {
        return invalid(
            "relative tolerance",
            control.rtol,
            "it must be at least 1e-14 and below 1",
        );
    }
    if control.atol.len() != 1 && control.atol.len() != components {
        return invalid(
            "number of absolute tolerances",
            control.atol.len() as f64,
            "give one for all components or one for each",
        );
    }
    if let Some(&atol) = control
        .atol
        .iter()
        .find(|&&atol| !(atol >= 0.0 && atol.is_finite()))
    {
        return invalid(
            "absolute tolerance",
            atol,
            "it must be finite and not negative",
        );
    }
    for (quantity, step) in [
        ("initial step", control.initial_step),
        ("longest step", control.max_step),
    ] {
        if let Some(step) = step.filter(|step| step.is_nan() || *step <= 0.0) {
            return invalid(quantity, step, "it must be positive");
        }
    }
    Ok(())
}
