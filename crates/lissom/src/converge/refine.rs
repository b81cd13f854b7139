//! What can be refined of the time steps of a model, and by which orders errors fall.

use lissom_spec::spec::{GeneralizedAlphaSpec, IntegratorSpec, NewmarkSpec};
use lissom_spec::{Discretization, ModelSpec, Refined};

use super::estimate::Orders;

/// Shares of functions in a motion fall at least as $`k^{-2}`$, which a slope at a tip under a moment does. They may
/// alternate between large and small, so that much faster falls are not believed.
pub(super) const OF_FUNCTIONS: Orders = Orders {
    lowest: 1.0,
    highest: 1.5,
};

/// Errors of cubic elements fall as the fourth power of their length.
pub(super) const OF_MESHES: Orders = Orders {
    lowest: 1.0,
    highest: 4.0,
};

/// Errors of a run go about with the error allowed per step.
const OF_TOLERANCES: Orders = Orders {
    lowest: 0.5,
    highest: 1.0,
};

/// Newmark's method and generalised-α are of second order, of first with numerical damping by γ.
const OF_STEPS: Orders = Orders {
    lowest: 1.0,
    highest: 2.0,
};

/// Smallest relative tolerance that integrators take.
const SMALLEST_RTOL: f64 = 1e-14;
/// Smallest tolerance of the iterations in a step that rounding lets pass.
const SMALLEST_ITERATION: f64 = 1e-13;

/// The integrator at a level, 0 being the user's, and the orders its errors fall by. Tolerances fall to a tenth and
/// the longest step to half by level, fixed steps to half.
pub(super) fn integrator(user: IntegratorSpec, level: u8) -> (Refined<IntegratorSpec>, Orders) {
    let (tenth, half) = (0.1_f64.powi(level.into()), 0.5_f64.powi(level.into()));
    let mut refined = user;
    let (what, resolution, orders) = match &mut refined {
        IntegratorSpec::Auto(spec)
        | IntegratorSpec::Dop853(spec)
        | IntegratorSpec::Dopri5(spec)
        | IntegratorSpec::Adams(spec)
        | IntegratorSpec::Radau(spec)
        | IntegratorSpec::Esdirk(spec) => {
            spec.rtol *= tenth;
            spec.atol *= tenth;
            spec.max_step_s = spec.max_step_s.map(|longest| half * longest);
            let longest = spec
                .max_step_s
                .map(|longest| format!(", max_step_s {longest:.3e}"));
            let what = format!(
                "rtol {:.3e}, atol {:.3e}{}",
                spec.rtol,
                spec.atol,
                longest.unwrap_or_default()
            );
            (what, 1.0 / tenth, OF_TOLERANCES)
        }
        IntegratorSpec::GeneralizedAlpha(GeneralizedAlphaSpec {
            step_s, tolerance, ..
        })
        | IntegratorSpec::Newmark(NewmarkSpec {
            step_s, tolerance, ..
        }) => {
            *step_s *= half;
            *tolerance = (tenth * *tolerance).max(SMALLEST_ITERATION.min(*tolerance));
            (format!("step_s {step_s:.3e}"), 1.0 / half, OF_STEPS)
        }
    };
    (Refined::of(refined, what, resolution), orders)
}

/// Whether tolerances are not below the rounding of numbers.
pub(super) fn is_above_rounding(integrator: &IntegratorSpec) -> bool {
    match integrator {
        IntegratorSpec::Auto(spec)
        | IntegratorSpec::Dop853(spec)
        | IntegratorSpec::Dopri5(spec)
        | IntegratorSpec::Adams(spec)
        | IntegratorSpec::Radau(spec)
        | IntegratorSpec::Esdirk(spec) => spec.rtol >= SMALLEST_RTOL,
        IntegratorSpec::GeneralizedAlpha(_) | IntegratorSpec::Newmark(_) => true,
    }
}

/// By which orders the errors of the bodies fall.
pub(super) fn orders_of_bodies(spec: &ModelSpec) -> Orders {
    match spec.discretization() {
        Discretization::Elements => OF_MESHES,
        Discretization::None | Discretization::Functions | Discretization::Mixed => OF_FUNCTIONS,
    }
}

#[cfg(test)]
mod tests {
    use lissom_spec::spec::AdaptiveSpec;

    use super::*;

    /// By hand: tolerances end at rounding.
    #[test]
    fn tolerances_cannot_be_tightened_for_ever() {
        let tight = AdaptiveSpec {
            rtol: 1e-13,
            ..AdaptiveSpec::default()
        };
        let level = |spec, level| integrator(spec, level).0.item;
        assert!(is_above_rounding(&level(IntegratorSpec::Dop853(tight), 1)));
        assert!(!is_above_rounding(&level(IntegratorSpec::Dop853(tight), 2)));
        let (finer, _) = integrator(IntegratorSpec::default(), 2);
        let IntegratorSpec::Auto(spec) = finer.item else {
            panic!("another method");
        };
        assert!((spec.rtol / 1e-11 - 1.0).abs() < 1e-9);
    }
}
