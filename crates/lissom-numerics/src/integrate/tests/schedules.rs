//! Breakpoints, samples, stopping, failures and allocations of the error-controlled methods.

use super::super::{
    Control, FirstOrder, Flow, IntegrateError, Method, Observer, Outcome, Schedule, Statistics,
    integrate,
};
use super::Recorder;

use super::runs::METHODS;

/// A handful of sums of numbers of order one.
const ROUNDING: f64 = 1e-13;

struct System<F>(F);

impl<F: FnMut(f64, &[f64], &mut [f64])> FirstOrder for System<F> {
    fn derivative(&mut self, time: f64, state: &[f64], rate: &mut [f64]) {
        (self.0)(time, state, rate);
    }
}

fn control(tolerance: f64) -> Control {
    Control {
        rtol: tolerance,
        atol: vec![tolerance],
        initial_step: None,
        max_step: None,
        max_steps: 100_000,
    }
}

fn interval(end: f64) -> Schedule<'static> {
    Schedule {
        start: 0.0,
        end,
        breakpoints: &[],
        samples: &[],
    }
}

fn solve(
    method: Method,
    control: &Control,
    derivative: impl FnMut(f64, &[f64], &mut [f64]),
    schedule: &Schedule<'_>,
    state: &mut [f64],
    observer: &mut dyn Observer,
) -> Result<Outcome, IntegrateError> {
    integrate(
        method,
        control,
        &mut System(derivative),
        schedule,
        state,
        observer,
    )
}

#[test]
fn a_step_input_is_integrated_exactly() {
    // closed form: y' = 0 before 1, 1 from 1 on, 0 again from 2 on. Polynomials of degree one are
    // exact for every method, so any error is a stage that looked across a breakpoint.
    for method in METHODS {
        let mut state = [0.0];
        let outcome = solve(
            method,
            &control(1e-6),
            |time, _, rate| rate[0] = f64::from(u8::from((1.0..2.0).contains(&time))),
            &Schedule {
                breakpoints: &[1.0, 2.0],
                samples: &[],
                ..interval(3.0)
            },
            &mut state,
            &mut Recorder::new(),
        )
        .unwrap();
        assert!((state[0] - 1.0).abs() < ROUNDING, "{method:?}: {state:?}");
        assert_eq!(outcome.statistics.rejected, 0, "{method:?}");
    }
}

#[test]
fn stages_stay_on_their_side_of_a_breakpoint() {
    // identity: no time handed over while arriving reaches the breakpoint, none while leaving precedes it
    for method in METHODS {
        let mut times = Vec::new();
        let mut recorder = Recorder::new();
        solve(
            method,
            &control(1e-8),
            |time, state, rate| {
                times.push(time);
                rate[0] = -state[0];
            },
            &Schedule {
                breakpoints: &[0.7],
                ..interval(1.0)
            },
            &mut [1.0],
            &mut recorder,
        )
        .unwrap();
        let first_behind = times.iter().position(|&time| time >= 0.7).unwrap();
        assert_eq!(times[first_behind], 0.7, "{method:?}");
        assert!(times[first_behind..].iter().all(|&time| time >= 0.7));
        assert!(times[..first_behind].iter().any(|&time| time > 0.69));
        assert!(recorder.steps.contains(&0.7));
        assert_eq!(recorder.steps.last(), Some(&1.0));
    }
}

#[test]
fn samples_at_start_breakpoint_and_end_come_once() {
    // closed form: exponential decay
    let samples = [0.0, 0.25, 0.5, 0.500_000_001, 0.75, 1.0];
    for method in METHODS {
        let mut state = [1.0];
        let mut recorder = Recorder::new();
        solve(
            method,
            &control(1e-9),
            |_, state, rate| rate[0] = -state[0],
            &Schedule {
                breakpoints: &[0.0, 0.5, 1.0],
                samples: &samples,
                ..interval(1.0)
            },
            &mut state,
            &mut recorder,
        )
        .unwrap();
        let instants: Vec<f64> = recorder.samples.iter().map(|sample| sample.0).collect();
        assert_eq!(instants, samples, "{method:?}");
        for (time, sample) in &recorder.samples {
            // twenty tolerances, as the orders' tests allow
            assert!((sample[0] - (-time).exp()).abs() < 2e-8, "{method:?}");
        }
        assert_eq!(recorder.samples[0].1, [1.0]);
        assert_eq!(recorder.samples[5].1, state);
    }
}

#[test]
fn an_empty_interval_yields_its_sample() {
    for method in METHODS {
        let mut recorder = Recorder::new();
        let outcome = solve(
            method,
            &control(1e-9),
            |_, state, rate| rate[0] = -state[0],
            &Schedule {
                samples: &[0.0],
                ..interval(0.0)
            },
            &mut [1.0],
            &mut recorder,
        )
        .unwrap();
        assert_eq!(recorder.samples, [(0.0, vec![1.0])]);
        assert_eq!(outcome.statistics.steps, 0);
    }
}

#[test]
fn breakpoints_one_rounding_apart_do_no_harm() {
    for method in METHODS {
        let mut state = [1.0];
        solve(
            method,
            &control(1e-9),
            |_, state, rate| rate[0] = -state[0],
            &Schedule {
                breakpoints: &[0.3, 0.1 + 0.2],
                ..interval(1.0)
            },
            &mut state,
            &mut Recorder::new(),
        )
        .unwrap();
        assert!((state[0] - (-1.0_f64).exp()).abs() < 2e-8, "{method:?}");
    }
}

#[test]
fn the_observer_stops_where_it_says() {
    for method in METHODS {
        let decay = |_: f64, state: &[f64], rate: &mut [f64]| rate[0] = -state[0];
        let schedule = Schedule {
            samples: &[0.3, 0.6],
            ..interval(1.0)
        };
        let mut state = [1.0];
        let mut recorder = Recorder::new();
        recorder.stop_sample_from = 0.2;
        let outcome = solve(
            method,
            &control(1e-9),
            decay,
            &schedule,
            &mut state,
            &mut recorder,
        );
        assert_eq!(outcome.unwrap().stopped_at, Some(0.3));
        assert_eq!(recorder.samples.len(), 1);
        assert!((state[0] - (-0.3_f64).exp()).abs() < 2e-8);

        let mut state = [1.0];
        let mut recorder = Recorder::new();
        recorder.stop_step_from = 0.4;
        let outcome = solve(
            method,
            &control(1e-9),
            decay,
            &schedule,
            &mut state,
            &mut recorder,
        );
        let stopped = outcome.unwrap().stopped_at.unwrap();
        assert_eq!(recorder.steps.last(), Some(&stopped));
        assert!((state[0] - (-stopped).exp()).abs() < 2e-8);
    }
}

#[test]
fn a_pole_stops_the_integration_there() {
    // closed form: y' = y² from 1 has its pole at t = 1; component 0 is innocent
    for method in METHODS {
        let error = solve(
            method,
            &control(1e-8),
            |_, state, rate| {
                rate[0] = -state[0];
                rate[1] = state[1] * state[1];
            },
            &interval(2.0),
            &mut [1.0, 1.0],
            &mut Recorder::new(),
        )
        .unwrap_err();
        assert!(
            matches!(
                error,
                IntegrateError::StepTooSmall { .. } | IntegrateError::NonFinite { .. }
            ),
            "{method:?}: {error:?}"
        );
        // the numerical pole is off by about the tolerance
        assert!((error.time() - 1.0).abs() < 1e-6, "{method:?}: {error}");
        assert_eq!(error.component(), Some(1), "{method:?}");
        assert!(error.statistics().steps > 10);
    }
}

#[test]
fn a_derivative_that_is_not_a_number_is_named() {
    for method in METHODS {
        for from in [0.0, 0.5] {
            let mut state = [1.0, 1.0, 1.0];
            let error = solve(
                method,
                &control(1e-8),
                |time, _, rate| {
                    rate.fill(1.0);
                    if time >= from {
                        rate[2] = f64::NAN;
                    }
                },
                &interval(1.0),
                &mut state,
                &mut Recorder::new(),
            )
            .unwrap_err();
            assert!(
                matches!(error, IntegrateError::NonFinite { component: 2, .. }),
                "{method:?}: {error:?}"
            );
            // the last state reached is just before
            assert!((error.time() - from).abs() < 1e-9, "{method:?}: {error}");
            assert!((state[0] - 1.0 - from).abs() < 1e-9, "{method:?}");
        }
    }
}

#[test]
fn a_gap_inside_a_trial_step_is_only_a_rejection() {
    // closed form: y' = -y^(1/2) from 1 is (1 − t/2)², whose trial stages overshoot below zero
    for method in METHODS {
        let mut state = [1.0];
        let outcome = solve(
            method,
            &Control {
                initial_step: Some(1.95),
                ..control(1e-8)
            },
            |_, state, rate| rate[0] = -state[0].sqrt(),
            &interval(1.9),
            &mut state,
            &mut Recorder::new(),
        )
        .unwrap();
        // stages of order two are exact where the solution is a parabola
        let exact = method == Method::Esdirk;
        assert!(exact || outcome.statistics.rejected > 0, "{method:?}");
        assert!((state[0] - 0.0025).abs() < 1e-6, "{method:?}: {state:?}");
    }
}

#[test]
fn the_allowance_of_steps_is_kept() {
    for method in METHODS {
        let error = solve(
            method,
            &Control {
                max_steps: 20,
                ..control(1e-10)
            },
            |_, state, rate| {
                rate[0] = state[1];
                rate[1] = -state[0];
            },
            &interval(1000.0),
            &mut [1.0, 0.0],
            &mut Recorder::new(),
        )
        .unwrap_err();
        let IntegrateError::TooManySteps {
            limit, statistics, ..
        } = error
        else {
            panic!("{method:?}: {error:?}")
        };
        assert_eq!(limit, 20);
        assert_eq!(statistics.steps + statistics.rejected, 20);
    }
}

#[test]
fn absolute_tolerances_apply_to_their_components() {
    // closed form: two oscillators; the loose one is allowed to be wrong, the tight one is not
    for method in METHODS {
        let mut evaluations = Vec::new();
        for atol in [vec![1e-9], vec![1e-9, 1e-9, 1e3, 1e3]] {
            let mut state = [1.0, 0.0, 1e-3, 0.0];
            let outcome = solve(
                method,
                &Control {
                    atol,
                    ..control(1e-9)
                },
                |_, state, rate| {
                    rate[0] = state[1];
                    rate[1] = -state[0];
                    rate[2] = state[3];
                    rate[3] = -100.0 * state[2];
                },
                &interval(5.0),
                &mut state,
                &mut Recorder::new(),
            )
            .unwrap();
            assert!((state[0] - 5.0_f64.cos()).abs() < 1e-6, "{method:?}");
            evaluations.push(outcome.statistics.evaluations);
        }
        assert!(
            evaluations[1] < evaluations[0],
            "{method:?}: {evaluations:?}"
        );
    }
}

#[test]
fn wrong_arguments_are_refused() {
    let bad = [
        Control {
            rtol: 0.0,
            ..control(1e-6)
        },
        Control {
            atol: vec![1e-6, 1e-6],
            ..control(1e-6)
        },
        Control {
            atol: vec![-1.0],
            ..control(1e-6)
        },
        Control {
            max_step: Some(0.0),
            ..control(1e-6)
        },
    ];
    for control in bad {
        let refused = solve(
            Method::Dop853,
            &control,
            |_, _, rate| rate[0] = 0.0,
            &interval(1.0),
            &mut [0.0],
            &mut Recorder::new(),
        );
        assert!(matches!(refused, Err(IntegrateError::Invalid { .. })));
    }
}

#[test]
fn no_method_steps_beyond_its_longest_step() {
    for method in METHODS {
        let mut recorder = Recorder::new();
        solve(
            method,
            &Control {
                max_step: Some(0.01),
                ..control(1e-3)
            },
            |_, state, rate| rate[0] = -state[0],
            &interval(1.0),
            &mut [1.0],
            &mut recorder,
        )
        .unwrap();
        for pair in recorder.steps.windows(2) {
            // the last step may be stretched by a hundredth
            assert!(pair[1] - pair[0] < 0.0102, "{method:?}");
        }
    }
}

#[test]
fn statistics_add_up() {
    let one = Statistics {
        steps: 1,
        rejected: 2,
        evaluations: 3,
        jacobians: 4,
        factorizations: 5,
        iterations: 6,
        highest_order: 7,
        stiff_steps: 1,
        esdirk_steps: 1,
        radau_steps: 1,
        changes: 1,
    };
    let mut sum = one + one;
    assert_eq!((sum.steps, sum.iterations, sum.highest_order), (2, 12, 7));
    sum += Statistics::default();
    assert_eq!(sum, one + one);
}

#[test]
fn steps_allocate_nothing() {
    // identity: ten times the interval, the same number of allocations
    struct Silent;
    impl Observer for Silent {
        fn sample(&mut self, _: f64, _: &[f64]) -> Flow {
            Flow::Continue
        }
        fn step(&mut self, _: f64, _: &[f64]) -> Flow {
            Flow::Continue
        }
    }
    for method in METHODS {
        let allocations = |end: f64| {
            let samples: Vec<f64> = (0..10).map(|i| 0.1 * end * f64::from(i)).collect();
            let control = control(1e-6);
            allocation_counter::measure(|| {
                solve(
                    method,
                    &control,
                    |_, state, rate| {
                        rate[0] = state[1];
                        rate[1] = -state[0];
                    },
                    &Schedule {
                        samples: &samples,
                        ..interval(end)
                    },
                    &mut [1.0, 0.0],
                    &mut Silent,
                )
                .unwrap();
            })
            .count_total
        };
        assert_eq!(allocations(10.0), allocations(100.0), "{method:?}");
    }
}
