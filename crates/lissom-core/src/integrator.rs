//! The integrator that a model file asks for.

use lissom_numerics::integrate::{Control, FixedStep, Method, Scheme};
use lissom_spec::spec::{AdaptiveSpec, IntegratorSpec};

/// How many Newton iterations a step of a structural method may take.
const NEWTON_ITERATIONS: usize = 20;

/// An integrator with its settings.
pub enum Integrator {
    /// A method that chooses its steps.
    Adaptive(Method, Control),
    /// A structural method of fixed steps.
    Fixed(Scheme, FixedStep),
}

impl Integrator {
    /// The integrator of a model file.
    pub fn of(spec: &IntegratorSpec) -> Self {
        match spec {
            IntegratorSpec::Auto(spec) => Self::adaptive(Method::Auto, spec),
            IntegratorSpec::Dop853(spec) => Self::adaptive(Method::Dop853, spec),
            IntegratorSpec::Dopri5(spec) => Self::adaptive(Method::Dopri5, spec),
            IntegratorSpec::Adams(spec) => Self::adaptive(Method::Adams, spec),
            IntegratorSpec::Radau(spec) => Self::adaptive(Method::Radau, spec),
            IntegratorSpec::Esdirk(spec) => Self::adaptive(Method::Esdirk, spec),
            IntegratorSpec::GeneralizedAlpha(spec) => {
                let scheme = Scheme::GeneralizedAlpha {
                    spectral_radius: spec.spectral_radius,
                };
                Self::fixed(scheme, spec.step_s, spec.tolerance)
            }
            IntegratorSpec::Newmark(spec) => {
                let scheme = Scheme::Newmark {
                    beta: spec.beta,
                    gamma: spec.gamma,
                };
                Self::fixed(scheme, spec.step_s, spec.tolerance)
            }
        }
    }

    fn adaptive(method: Method, spec: &AdaptiveSpec) -> Self {
        Self::Adaptive(method, control(spec))
    }

    fn fixed(scheme: Scheme, step: f64, tolerance: f64) -> Self {
        let options = FixedStep {
            step,
            tolerance,
            max_iterations: NEWTON_ITERATIONS,
        };
        Self::Fixed(scheme, options)
    }
}

fn control(spec: &AdaptiveSpec) -> Control {
    Control {
        rtol: spec.rtol,
        atol: vec![spec.atol],
        initial_step: spec.initial_step_s,
        max_step: spec.max_step_s,
        max_steps: spec.max_steps as u64,
    }
}
