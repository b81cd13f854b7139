//! Error-controlled integrators against closed forms, against each other and against SciPy.

use std::f64::consts::TAU;

use lissom_numerics::integrate::{
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
        (Method::Esdirk, 5.0, 0.25),
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
        (Method::Esdirk, 4.0, 0.125),
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
        (Method::Esdirk, 20.0),
        (Method::Auto, 20.0),
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

// --- named problems ---

/// Largest difference of two states, relative to one plus their size.
fn largest_scaled_difference(state: &[f64], reference: &[f64]) -> f64 {
    state
        .iter()
        .zip(reference)
        .map(|(value, exact)| ((value - exact) / (1.0 + exact.abs())).abs())
        .fold(0.0, f64::max)
}

/// How much the solution enlarges errors of its start: the largest scaled difference that a small one in any
/// component of the start makes later, and at least one.
fn condition(start: &[f64], mut solve: impl FnMut(&[f64]) -> Vec<Vec<f64>>) -> f64 {
    const NUDGE: f64 = 1e-6;
    let undisturbed = solve(start);
    let mut largest: f64 = 1.0;
    for component in 0..start.len() {
        let mut disturbed = start.to_vec();
        disturbed[component] += NUDGE * (1.0 + start[component].abs());
        for (state, reference) in solve(&disturbed).iter().zip(&undisturbed) {
            largest = largest.max(largest_scaled_difference(state, reference) / NUDGE);
        }
    }
    largest
}

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
    let tolerance = 1e-12;
    let orbits = |start: &[f64]| {
        run(
            Method::Dop853,
            &control(tolerance),
            |_, state, rate| {
                let cube = state[0].hypot(state[1]).powi(3);
                rate.copy_from_slice(&[state[2], state[3], -state[0] / cube, -state[1] / cube]);
            },
            &interval(0.0, 10.0 * TAU),
            start,
        )
    };
    let (state, outcome, _) = orbits(&start);
    let error = largest_scaled_difference(&state, &start);
    // errors at the pericentre, where the start is, grow most: they change the period
    let condition = condition(&start, |start| vec![orbits(start).0]);
    let steps = outcome.statistics.steps as f64;
    assert!(error < steps * condition * tolerance, "{state:?}");
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
    // cross-check: a solution at 1e-13 is within the error of what SciPy and this program find at 1e-10.
    // Their errors are those of their steps, a tolerance each, enlarged by the condition of the problem on
    // the way; SciPy takes about as many steps with the same method.
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
        let stiff = solution["problem"] == "robertson";
        let method = match solution["method"].as_str().unwrap() {
            "DOP853" => Method::Dop853,
            "RK45" => Method::Dopri5,
            "Radau" => Method::Radau,
            _ if stiff => Method::Radau,
            _ => Method::Adams,
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
        let solve = |method, tolerance: f64, start: &[f64]| {
            let control = Control {
                atol: vec![atol / rtol * tolerance],
                ..control(tolerance)
            };
            let (_, outcome, recorder) = run(method, &control, derivative, &schedule, start);
            let states: Vec<Vec<f64>> = recorder.samples.into_iter().map(|s| s.1).collect();
            (states, outcome.statistics.steps as f64)
        };
        let tight = if stiff { Method::Radau } else { Method::Dop853 };
        let reference = solve(tight, 1e-13, start).0;
        let (states, steps) = solve(method, rtol, start);
        let scipy: Vec<Vec<f64>> = (solution["states"].as_array().unwrap().iter())
            .map(numbers)
            .collect();
        let bound = steps * condition(start, |start| solve(tight, 1e-13, start).0) * rtol;
        for (program, states) in [("this program", states), ("SciPy", scipy)] {
            assert_eq!(states.len(), reference.len());
            let pairs = states.iter().zip(&reference);
            let error = pairs
                .map(|(state, exact)| largest_scaled_difference(state, exact))
                .fold(0.0, f64::max);
            assert!(
                error < bound,
                "{} by {}: {program} is {} tolerances off, of {}",
                solution["problem"],
                solution["method"],
                error / rtol,
                bound / rtol
            );
        }
    }
}

/// Decay towards 1, and towards 2 from where the solution has passed 1/2.
struct Kink {
    beyond: bool,
}

impl FirstOrder for Kink {
    fn derivative(&mut self, _time: f64, state: &[f64], rate: &mut [f64]) {
        rate[0] = if self.beyond { 2.0 } else { 1.0 } - state[0];
    }

    fn handle_event(&mut self, _time: f64, state: &mut [f64]) {
        self.beyond = state[0] >= 0.5;
    }

    fn event_function(&mut self, _time: f64, state: &[f64]) -> f64 {
        if self.beyond {
            f64::NEG_INFINITY
        } else {
            state[0] - 0.5
        }
    }
}

/// Closed form: a place where the derivative jumps is found, and the solution goes on from there; samples on both sides of it
/// lie on their side.
#[test]
fn a_jump_of_the_derivative_is_found_where_the_solution_meets_it() {
    // the interpolant on which it is found is of order 3 at least, at steps that keep errors to 1e-11
    const ACCURACY: f64 = 1e-9;
    let event = 2.0_f64.ln();
    let exact = |t: f64| {
        if t < event {
            1.0 - (-t).exp()
        } else {
            2.0 - 1.5 * (event - t).exp()
        }
    };
    let instants: Vec<f64> = (0..=20).map(|i| 0.1 * f64::from(i)).collect();
    let schedule = Schedule {
        samples: &instants,
        ..interval(0.0, 2.0)
    };
    for method in [
        Method::Dop853,
        Method::Dopri5,
        Method::Adams,
        Method::Radau,
        Method::Esdirk,
        Method::Auto,
    ] {
        let mut recorder = Recorder::default();
        let mut state = [0.0];
        let mut system = Kink { beyond: false };
        integrate(
            method,
            &control(1e-11),
            &mut system,
            &schedule,
            &mut state,
            &mut recorder,
        )
        .unwrap();
        assert_eq!(recorder.samples.len(), instants.len(), "{method:?}");
        for (t, state) in &recorder.samples {
            let error = (state[0] - exact(*t)).abs();
            assert!(error < ACCURACY, "{method:?} at {t}: {error:e}");
        }
        let nearest = (recorder.steps.iter())
            .fold(f64::INFINITY, |least: f64, t| least.min((t - event).abs()));
        assert!(nearest < ACCURACY, "{method:?}: {nearest:e}");
    }
}
