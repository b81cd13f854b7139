//! Generalised-α and Newmark.

use super::super::{
    FixedStep, IntegrateError, Outcome, Schedule, Scheme, SecondOrder, integrate_second_order,
};
use super::Recorder;

const AVERAGE_ACCELERATION: Scheme = Scheme::Newmark {
    beta: 0.25,
    gamma: 0.5,
};

/// Observed orders may miss the theoretical one by this much at finite steps.
pub(super) const ORDER_MARGIN: f64 = 0.2;

/// `mass a + damping v + stiffness x = force(t)`, with a hardening cubic term.
struct Oscillator<F> {
    mass: f64,
    damping: f64,
    stiffness: f64,
    cubic: f64,
    force: F,
}

impl<F: FnMut(f64) -> f64> SecondOrder for Oscillator<F> {
    fn position_count(&self) -> usize {
        1
    }

    fn velocity_count(&self) -> usize {
        1
    }

    fn residual(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
        acceleration: &[f64],
        residual: &mut [f64],
    ) {
        residual[0] = self.mass * acceleration[0]
            + self.damping * velocity[0]
            + self.stiffness * position[0]
            + self.cubic * position[0].powi(3)
            - (self.force)(time);
    }

    fn mass_matrix(&mut self, _time: f64, _position: &[f64], mass: &mut [f64]) {
        mass[0] = self.mass;
    }

    fn displace(&self, position: &[f64], increment: &[f64], displaced: &mut [f64]) {
        displaced[0] = position[0] + increment[0];
    }
}

fn linear(stiffness: f64, damping: f64) -> Oscillator<fn(f64) -> f64> {
    Oscillator {
        mass: 1.0,
        damping,
        stiffness,
        cubic: 0.0,
        force: |_| 0.0,
    }
}

fn options(step: f64) -> FixedStep {
    FixedStep {
        step,
        tolerance: 1e-11,
        max_iterations: 10,
    }
}

pub(super) fn solve(
    scheme: Scheme,
    step: f64,
    system: &mut dyn SecondOrder,
    schedule: &Schedule<'_>,
    position: &mut [f64],
    velocity: &mut [f64],
) -> Result<(Outcome, Recorder), IntegrateError> {
    let mut recorder = Recorder::new();
    integrate_second_order(
        scheme,
        &options(step),
        system,
        schedule,
        position,
        velocity,
        &mut recorder,
    )
    .map(|outcome| (outcome, recorder))
}

pub(super) fn interval(end: f64) -> Schedule<'static> {
    Schedule {
        start: 0.0,
        end,
        breakpoints: &[],
        samples: &[],
    }
}

#[test]
fn second_order_accuracy_at_steps_and_between() {
    // closed form: a damped oscillator; samples fall between steps
    let (omega, decay) = (2.0_f64, 0.3_f64);
    let exact = |t: f64| (-decay * t).exp() * (omega * t).cos();
    let exact_velocity =
        |t: f64| -(-decay * t).exp() * (decay * (omega * t).cos() + omega * (omega * t).sin());
    let samples: Vec<f64> = (0..=37).map(|i| 0.1 * f64::from(i)).collect();
    for scheme in [
        Scheme::GeneralizedAlpha {
            spectral_radius: 0.0,
        },
        Scheme::GeneralizedAlpha {
            spectral_radius: 0.8,
        },
        Scheme::GeneralizedAlpha {
            spectral_radius: 1.0,
        },
        AVERAGE_ACCELERATION,
    ] {
        let errors = |step: f64| {
            let (_, recorder) = solve(
                scheme,
                step,
                &mut linear(omega * omega + decay * decay, 2.0 * decay),
                &Schedule {
                    samples: &samples,
                    ..interval(4.0)
                },
                &mut [1.0],
                &mut [-decay],
            )
            .unwrap();
            let error = |component: usize, exact: &dyn Fn(f64) -> f64| {
                recorder
                    .samples
                    .iter()
                    .map(|(time, state)| (state[component] - exact(*time)).abs())
                    .fold(0.0, f64::max)
            };
            [error(0, &exact), error(1, &exact_velocity)]
        };
        let (coarse, fine) = (errors(0.02), errors(0.01));
        for (coarse, fine) in coarse.iter().zip(&fine) {
            let slope = (coarse / fine).log2();
            assert!(
                (slope - 2.0).abs() < ORDER_MARGIN,
                "{scheme:?}: order {slope}"
            );
        }
        // closed form: frequency error ω h²/12 (1 + …) of the least damped scheme, three times that
        // for the most damped one, over four seconds
        assert!(fine[0] < 2e-3, "{scheme:?}: {fine:?}");
    }
}

/// Determinant of the amplification matrix of generalised-α on $`\ddot q = -\omega^2 q`$, with
/// $`\Omega = (h \omega)^2`$.
///
/// With $`a_1`$ eliminated, the map of $`(q, h v, h^2 a)`$ has the determinant
/// $`(\alpha_f (\gamma - \tfrac12 - \beta)\,\Omega - \alpha_m) / (1 - \alpha_m + (1 - \alpha_f)\,\beta\,\Omega)`$,
/// and $`\gamma - \tfrac12 - \beta = -\rho^2 \beta`$.
fn amplification_determinant(radius: f64, omega_squared: f64) -> f64 {
    let beta = 1.0 / (1.0 + radius).powi(2);
    let alpha_mass = (2.0 * radius - 1.0) / (1.0 + radius);
    let alpha_force = radius / (1.0 + radius);
    -(alpha_force * radius.powi(2) * beta * omega_squared + alpha_mass)
        / (1.0 - alpha_mass + (1.0 - alpha_force) * beta * omega_squared)
}

#[test]
fn amplification_has_the_roots_of_the_spectral_radius_asked_for() {
    // closed form: q obeys a recurrence of third order, and the ratio of consecutive Hankel determinants of
    // q is the product of its roots. At infinite frequency all three are -ρ.
    //
    // Each step is solved to `options().tolerance` of q, and a determinant enlarges that by the sum of the
    // sizes of its terms, three factors each, over its own size. The roots draw together as the frequency
    // grows, and that sum with them, so that the frequencies here are finite.
    const LARGEST_USEFUL_BOUND: f64 = 1e-5;
    for radius in [0.5, 0.8, 0.95] {
        let limit = amplification_determinant(radius, 1e20);
        assert!((limit + radius.powi(3)).abs() < 1e-15, "{limit}");
        for stiffness in [10.0, 100.0] {
            let samples: Vec<f64> = (0..=8).map(f64::from).collect();
            let (_, recorder) = solve(
                Scheme::GeneralizedAlpha {
                    spectral_radius: radius,
                },
                1.0,
                &mut linear(stiffness, 0.0),
                &Schedule {
                    samples: &samples,
                    ..interval(8.0)
                },
                &mut [1.0],
                &mut [0.0],
            )
            .unwrap();
            let q: Vec<f64> = recorder.samples.iter().map(|sample| sample.1[0]).collect();
            let hankel = |n: usize| {
                let product = |i, j, k| q[n + i] * q[n + 1 + j] * q[n + 2 + k];
                let even = [product(0, 1, 2), product(1, 2, 0), product(2, 0, 1)];
                let odd = [product(0, 2, 1), product(1, 0, 2), product(2, 1, 0)];
                let value = even.iter().sum::<f64>() - odd.iter().sum::<f64>();
                let size: f64 = even.iter().chain(&odd).map(|term| term.abs()).sum();
                (value, 3.0 * size / value.abs())
            };
            let ((first, first_gain), (second, second_gain)) = (hankel(0), hankel(1));
            let bound = options(1.0).tolerance * (first_gain + second_gain);
            let exact = amplification_determinant(radius, stiffness);
            let error = (second / first / exact - 1.0).abs();
            assert!(
                error < bound,
                "{error} above {bound} at {radius}, {stiffness}"
            );
            assert!(
                bound < LARGEST_USEFUL_BOUND,
                "{bound} at {radius}, {stiffness}"
            );
        }
    }
}

#[test]
fn average_acceleration_conserves_the_energy_of_a_linear_oscillator() {
    // invariant: exact for Newmark's method with β = 1/4, γ = 1/2, at any step
    let samples: Vec<f64> = (0..=1000).map(|i| 0.3 * f64::from(i)).collect();
    let energy = |state: &[f64]| 0.5 * (state[1].powi(2) + 4.0 * state[0].powi(2));
    let largest_drift = |scheme| {
        let (_, recorder) = solve(
            scheme,
            0.3,
            &mut linear(4.0, 0.0),
            &Schedule {
                samples: &samples,
                ..interval(0.3 * 1000.0)
            },
            &mut [1.0],
            &mut [0.5],
        )
        .unwrap();
        let start = energy(&recorder.samples[0].1);
        assert!(recorder.samples.iter().any(|s| s.1[0] < -0.9), "it moves");
        recorder
            .samples
            .iter()
            .map(|sample| (energy(&sample.1) / start - 1.0).abs())
            .fold(0.0, f64::max)
    };
    // a thousand steps solved to 1e-11
    assert!(largest_drift(AVERAGE_ACCELERATION) < 1e-9);
    // and the same measure sees the damping of another scheme
    let damped = Scheme::GeneralizedAlpha {
        spectral_radius: 0.8,
    };
    assert!(largest_drift(damped) > 0.1);
}

#[test]
fn nonlinear_steps_keep_their_tangent() {
    // cross-check: the cubic oscillator against itself at a quarter of the step
    let run = |step: f64| {
        let mut system = Oscillator {
            mass: 1.0,
            damping: 0.1,
            stiffness: 1.0,
            cubic: 10.0,
            force: f64::sin,
        };
        let (mut q, mut v) = ([1.0], [0.0]);
        let (outcome, _) = solve(
            Scheme::GeneralizedAlpha {
                spectral_radius: 0.9,
            },
            step,
            &mut system,
            &interval(3.0),
            &mut q,
            &mut v,
        )
        .unwrap();
        (q[0], outcome.statistics)
    };
    let (coarse, fine, finest) = (run(0.01), run(0.005), run(0.0025));
    let slope = ((coarse.0 - fine.0) / (fine.0 - finest.0)).log2();
    assert!((slope - 2.0).abs() < ORDER_MARGIN, "{slope}");
    assert!(fine.1.jacobians * 5 < fine.1.steps, "{:?}", fine.1);
}

#[test]
fn breakpoints_are_met_and_accelerations_computed_anew() {
    // closed form: unit mass, force 0 before 1 and 2 from 1 on; steps that do not divide the pieces
    for scheme in [
        AVERAGE_ACCELERATION,
        Scheme::GeneralizedAlpha {
            spectral_radius: 0.7,
        },
    ] {
        let mut system = Oscillator {
            mass: 1.0,
            damping: 0.0,
            stiffness: 0.0,
            cubic: 0.0,
            force: |time: f64| if time < 1.0 { 0.0 } else { 2.0 },
        };
        let (mut q, mut v) = ([0.0], [0.0]);
        let (_, recorder) = solve(
            scheme,
            0.3,
            &mut system,
            &Schedule {
                breakpoints: &[1.0],
                samples: &[0.0, 0.5, 1.0, 1.45, 2.0],
                ..interval(2.0)
            },
            &mut q,
            &mut v,
        )
        .unwrap();
        assert!(recorder.steps.contains(&1.0));
        assert_eq!(recorder.samples.len(), 5);
        for (time, state) in &recorder.samples {
            let behind = (time - 1.0).max(0.0);
            // constant acceleration is exact but for rounding
            assert!((state[0] - behind * behind).abs() < 1e-12, "{time}");
            assert!((state[1] - 2.0 * behind).abs() < 1e-12, "{time}");
            let acceleration = if *time < 1.0 { 0.0 } else { 2.0 };
            assert!((state[2] - acceleration).abs() < 1e-12, "{time}: {state:?}");
        }
    }
}

#[test]
fn failures_name_their_component() {
    let mut q = [1.0];
    let mut v = [0.0];
    let mut massless = Oscillator {
        mass: 0.0,
        ..linear(1.0, 0.0)
    };
    let error = solve(
        AVERAGE_ACCELERATION,
        0.1,
        &mut massless,
        &interval(1.0),
        &mut q,
        &mut v,
    )
    .err();
    assert!(matches!(
        error,
        Some(IntegrateError::SingularMass { component: 0, .. })
    ));

    let mut undefined = Oscillator {
        force: |time: f64| if time > 0.55 { f64::NAN } else { 0.0 },
        mass: 1.0,
        damping: 0.0,
        stiffness: 1.0,
        cubic: 0.0,
    };
    let error = solve(
        AVERAGE_ACCELERATION,
        0.1,
        &mut undefined,
        &interval(1.0),
        &mut q,
        &mut v,
    )
    .err()
    .unwrap();
    assert!(matches!(
        error,
        IntegrateError::NonFinite { component: 0, .. }
    ));
    assert!((error.time() - 0.5).abs() < 1e-12);

    // a force that flips at every evaluation has no equilibrium
    let mut sign = 1.0;
    let mut restless = Oscillator {
        force: move |_: f64| {
            sign = -sign;
            1e3 * sign
        },
        mass: 1.0,
        damping: 0.0,
        stiffness: 1.0,
        cubic: 0.0,
    };
    let error = solve(
        AVERAGE_ACCELERATION,
        0.1,
        &mut restless,
        &interval(1.0),
        &mut q,
        &mut v,
    )
    .err();
    assert!(matches!(
        error,
        Some(IntegrateError::NewtonFailed { component: 0, .. })
    ));
}

#[test]
fn wrong_arguments_are_refused() {
    for (scheme, step) in [
        (
            Scheme::GeneralizedAlpha {
                spectral_radius: 1.5,
            },
            0.1,
        ),
        (
            Scheme::Newmark {
                beta: -0.1,
                gamma: 0.5,
            },
            0.1,
        ),
        (
            Scheme::Newmark {
                beta: 0.25,
                gamma: 0.0,
            },
            0.1,
        ),
        (AVERAGE_ACCELERATION, 0.0),
    ] {
        let refused = solve(
            scheme,
            step,
            &mut linear(1.0, 0.0),
            &interval(1.0),
            &mut [0.0],
            &mut [0.0],
        );
        assert!(matches!(refused, Err(IntegrateError::Invalid { .. })));
    }
    let wrong_length = solve(
        AVERAGE_ACCELERATION,
        0.1,
        &mut linear(1.0, 0.0),
        &interval(1.0),
        &mut [0.0, 0.0],
        &mut [0.0],
    );
    assert!(matches!(wrong_length, Err(IntegrateError::Invalid { .. })));
}

#[test]
fn a_step_that_begins_far_off_is_solved() {
    // by construction: a spring that hardens with the cube of its stretch stops what a force throws at it within a hundredth of the
    // way that the acceleration of the start leads in one step; the step must still obey Newmark's equations, with the acceleration of
    // its end at its beginning too
    let (force, cubic, step) = (1e3, 1e8, 0.1);
    let mut thrown = Oscillator {
        mass: 1.0,
        damping: 0.0,
        stiffness: 0.0,
        cubic,
        force: |_: f64| force,
    };
    let (mut position, mut velocity) = ([0.0], [0.0]);
    let (outcome, _) = solve(
        AVERAGE_ACCELERATION,
        step,
        &mut thrown,
        &interval(step),
        &mut position,
        &mut velocity,
    )
    .unwrap();
    assert_eq!(outcome.statistics.steps, 1);
    let acceleration = 2.0 * position[0] / (step * step);
    assert!((velocity[0] - step * acceleration).abs() < 1e-9 * force);
    let unbalanced = acceleration + cubic * position[0].powi(3) - force;
    assert!(unbalanced.abs() < 1e-6 * force, "{position:?} {unbalanced}");
    assert!(position[0] > 0.0 && position[0] < 0.05, "{position:?}");
}
