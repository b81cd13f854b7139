//! Every method on every small problem behind one face.

use super::super::{
    Control, FirstOrder, FixedStep, Integration, IntegratorMemory, Method, Observer, Outcome,
    Scheme, Statistics, StructuralIntegration, Target,
};
use super::problems::{Chain, first_order_problems};

/// Every problem ends here.
pub(super) const END: f64 = 3.0;

pub(super) const METHODS: [Method; 6] = [
    Method::Dop853,
    Method::Dopri5,
    Method::Adams,
    Method::Radau,
    Method::Esdirk,
    Method::Auto,
];

pub(super) const SCHEMES: [Scheme; 3] = [
    Scheme::GeneralizedAlpha {
        spectral_radius: 0.8,
    },
    Scheme::GeneralizedAlpha {
        spectral_radius: 0.0,
    },
    Scheme::Newmark {
        beta: 0.25,
        gamma: 0.5,
    },
];

/// A step that is no binary fraction, so that the instants of steps are rounded.
pub(super) const FIXED_STEP: FixedStep = FixedStep {
    step: 0.03,
    tolerance: 1e-10,
    max_iterations: 10,
};

pub(super) fn control(tolerance: f64) -> Control {
    Control {
        rtol: tolerance,
        atol: vec![tolerance],
        initial_step: None,
        max_step: None,
        max_steps: 1_000_000,
    }
}

/// An integration together with its system.
pub(super) enum Run {
    FirstOrder {
        name: &'static str,
        method: Method,
        control: Control,
        system: Box<dyn FirstOrder>,
        integration: Box<Integration>,
    },
    Structural {
        scheme: Scheme,
        system: Chain,
        integration: Box<StructuralIntegration>,
    },
}

/// A method and a problem.
#[derive(Clone, Copy, Debug)]
pub(super) enum Case {
    FirstOrder(Method, &'static str),
    Structural(Scheme, bool),
}

/// All of them.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for method in METHODS {
        cases.extend(first_order_problems().map(|problem| Case::FirstOrder(method, problem.name)));
    }
    for scheme in SCHEMES {
        cases.extend([false, true].map(|wall| Case::Structural(scheme, wall)));
    }
    cases
}

fn system_named(name: &str) -> Box<dyn FirstOrder> {
    let mut problems = first_order_problems().into_iter();
    problems
        .find(|problem| problem.name == name)
        .unwrap()
        .system
}

impl Case {
    pub(super) fn breakpoints(self) -> &'static [f64] {
        match self {
            Self::FirstOrder(_, name) => {
                let mut problems = first_order_problems().into_iter();
                let problem = problems.find(|problem| problem.name == name);
                problem.unwrap().breakpoints
            }
            Self::Structural(..) => &[1.0],
        }
    }

    /// A run that has not begun.
    pub(super) fn run(self, tolerance: f64) -> Run {
        match self {
            Self::FirstOrder(method, name) => {
                let control = control(tolerance);
                let mut problems = first_order_problems().into_iter();
                let start = problems.find(|problem| problem.name == name).unwrap().start;
                Run::FirstOrder {
                    name,
                    method,
                    system: system_named(name),
                    integration: Box::new(Integration::new(method, &control, 0.0, &start).unwrap()),
                    control,
                }
            }
            Self::Structural(scheme, wall) => {
                let integration =
                    StructuralIntegration::new(scheme, &FIXED_STEP, 0.0, &[0.0, 0.1], &[0.0, 0.5]);
                Run::Structural {
                    scheme,
                    system: Chain { wall },
                    integration: Box::new(integration.unwrap()),
                }
            }
        }
    }
}

impl Run {
    pub(super) fn advance(&mut self, target: &Target<'_>, observer: &mut dyn Observer) -> Outcome {
        match self {
            Self::FirstOrder {
                system,
                integration,
                ..
            } => integration.advance(system.as_mut(), target, observer),
            Self::Structural {
                system,
                integration,
                ..
            } => integration.advance(system, target, observer),
        }
        .unwrap()
    }

    pub(super) fn time(&self) -> f64 {
        match self {
            Self::FirstOrder { integration, .. } => integration.time(),
            Self::Structural { integration, .. } => integration.time(),
        }
    }

    pub(super) fn state(&self) -> &[f64] {
        match self {
            Self::FirstOrder { integration, .. } => integration.state(),
            Self::Structural { integration, .. } => integration.state(),
        }
    }

    pub(super) fn statistics(&self) -> Statistics {
        match self {
            Self::FirstOrder { integration, .. } => integration.statistics(),
            Self::Structural { integration, .. } => integration.statistics(),
        }
    }

    pub(super) fn restart(&mut self) {
        match self {
            Self::FirstOrder { integration, .. } => integration.restart(),
            Self::Structural { integration, .. } => integration.restart(),
        }
    }

    pub(super) fn memory(&self) -> IntegratorMemory {
        match self {
            Self::FirstOrder { integration, .. } => integration.memory(),
            Self::Structural { integration, .. } => integration.memory(),
        }
    }

    /// What another process makes of the memory: another system, another integration. The systems remember nothing.
    pub(super) fn renewed(&self) -> Self {
        let memory = self.memory();
        let renewed = match self {
            Self::FirstOrder {
                name,
                method,
                control,
                ..
            } => Self::FirstOrder {
                name,
                method: *method,
                control: control.clone(),
                system: system_named(name),
                integration: Box::new(Integration::resume(*method, control, &memory).unwrap()),
            },
            Self::Structural { scheme, system, .. } => Self::Structural {
                scheme: *scheme,
                system: Chain { wall: system.wall },
                integration: Box::new(
                    StructuralIntegration::resume(*scheme, &FIXED_STEP, &memory).unwrap(),
                ),
            },
        };
        assert_eq!(renewed.memory(), memory);
        renewed
    }
}

pub(super) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}
