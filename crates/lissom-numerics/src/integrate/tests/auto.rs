//! The choice between an explicit and an implicit method: when it changes, that nothing is lost by it, and what it spends.

use super::super::{
    FirstOrder, Integration, Method, MethodMemory, Schedule, Statistics, Target, integrate,
};
use super::Recorder;
use super::problems::{VanDerPol, first_order_problems};
use super::runs::{END, bits, control};

/// $`\dot y = -\lambda(t)\,(y - \cos t) - \sin t`$ with the solution $`\cos t`$, beside an oscillator that keeps steps from growing without bound.
/// The rate $`\lambda`$ is one but from 2 to 20, where it is large.
struct StiffSpan {
    fastest: f64,
    /// Whether it solves for the stages of an implicit method, and whether it can.
    solves: bool,
    fails: bool,
}

const SPAN_END: f64 = 60.0;

impl StiffSpan {
    const STIFF: Self = Self {
        fastest: 1e6,
        solves: true,
        fails: false,
    };

    fn rate(&self, time: f64) -> f64 {
        let rise = |from: f64| 0.5 * (1.0 + (5.0 * (time - from)).tanh());
        1.0 + self.fastest * rise(2.0) * (1.0 - rise(20.0))
    }
}

impl FirstOrder for StiffSpan {
    fn derivative(&mut self, time: f64, state: &[f64], rate: &mut [f64]) {
        rate[0] = -self.rate(time) * (state[0] - time.cos()) - time.sin();
        rate[1] = state[2];
        rate[2] = -state[1];
    }

    fn prepare_stages(
        &mut self,
        _time: f64,
        _state: &[f64],
        _rate: &[f64],
        _share: f64,
        _allowance: &mut [f64],
    ) -> bool {
        self.solves
    }

    fn improve_stage(&mut self, time: f64, base: &[f64], share: f64, rate: &mut [f64]) {
        if self.fails {
            rate.fill(f64::NAN);
            return;
        }
        let lambda = self.rate(time);
        rate[0] = (-lambda * (base[0] - time.cos()) - time.sin()) / (1.0 + share * lambda);
        let [x, v] = [base[1] + share * base[2], base[2] - share * base[1]];
        let both = 1.0 + share * share;
        (rate[1], rate[2]) = (v / both, -x / both);
    }
}

/// Largest error of all samples, and the cost.
fn through(method: Method, tolerance: f64, mut system: StiffSpan) -> (f64, Statistics) {
    let samples: Vec<f64> = (0..=1200).map(|i| 0.05 * f64::from(i)).collect();
    let schedule = Schedule {
        start: 0.0,
        end: SPAN_END,
        breakpoints: &[],
        samples: &samples,
    };
    let mut recorder = Recorder::new();
    let mut state = [1.0, 1.0, 0.0];
    let outcome = integrate(
        method,
        &control(tolerance),
        &mut system,
        &schedule,
        &mut state,
        &mut recorder,
    );
    let error = recorder.samples.iter().fold(0.0, |most: f64, (t, y)| {
        let apart = [y[0] - t.cos(), y[1] - t.cos(), y[2] + t.sin()];
        apart.iter().fold(most, |most, error| most.max(error.abs()))
    });
    (error, outcome.unwrap().statistics)
}

/// Identity: what is not stiff is solved by the explicit method to the last bit.
#[test]
fn what_is_not_stiff_stays_explicit() {
    for problem in first_order_problems() {
        if problem.name == "stiff" {
            continue;
        }
        let [mut chosen, mut explicit] = [Method::Auto, Method::Dop853].map(|method| {
            let control = control(1e-8);
            Integration::new(method, &control, 0.0, &problem.start).unwrap()
        });
        let target = Target {
            breakpoints: problem.breakpoints,
            ..Target::landing(END)
        };
        let mut system = problem.system;
        for integration in [&mut chosen, &mut explicit] {
            (integration.advance(system.as_mut(), &target, &mut ())).unwrap();
        }
        assert_eq!(
            bits(chosen.state()),
            bits(explicit.state()),
            "{}",
            problem.name
        );
        assert_eq!(chosen.statistics(), explicit.statistics());
        assert_eq!(chosen.statistics().changes, 0);
    }
}

/// Closed form and property: stiffness comes and goes. The error follows the tolerance through all changes, and stability does not set the steps.
#[test]
fn it_goes_to_an_implicit_method_and_comes_back() {
    /// Of the tolerance: what the explicit method may do on an oscillator, twice.
    const ALLOWED: f64 = 40.0;
    for exponent in 4..=9 {
        let tolerance = 10.0_f64.powi(-exponent);
        for solves in [true, false] {
            let system = StiffSpan {
                solves,
                ..StiffSpan::STIFF
            };
            let (error, cost) = through(Method::Auto, tolerance, system);
            assert!(error < ALLOWED * tolerance, "{tolerance:e}: {error:e}");
            // at the bound of stability the stiff part takes 18 / 6e-6 steps of 12 evaluations
            assert!(cost.evaluations < 20_000, "{tolerance:e}: {cost:?}");
            let implicit = [cost.esdirk_steps, cost.radau_steps];
            let by_esdirk = solves && tolerance >= 1e-6;
            assert_eq!(
                implicit.map(|steps| steps > 0),
                [by_esdirk, !by_esdirk],
                "{tolerance:e}: {cost:?}"
            );
            assert!(cost.changes >= 2, "{tolerance:e}: {cost:?}");
            assert!(implicit[0] + implicit[1] < cost.steps);
        }
    }
}

/// Identity: another process between any two targets, with the explicit and either implicit method in force, and on trial.
#[test]
fn a_run_that_changes_is_resumed_to_the_last_bit() {
    let start = [1.0, 1.0, 0.0];
    let to = |time: f64| Target {
        horizon: SPAN_END,
        ..Target::landing(time)
    };
    let mut trials = 0;
    // ESDIRK down to 1e-6, Radau below
    for tolerance in [1e-5, 1e-6, 1e-7] {
        let control = control(tolerance);
        let mut system = StiffSpan::STIFF;
        let mut whole = Integration::new(Method::Auto, &control, 0.0, &start).unwrap();
        (whole.advance(&mut system, &to(SPAN_END), &mut ())).unwrap();
        let mut parts = Integration::new(Method::Auto, &control, 0.0, &start).unwrap();
        for i in 1..=1200 {
            let time = SPAN_END * f64::from(i) / 1200.0;
            (parts.advance(&mut system, &to(time), &mut ())).unwrap();
            let memory = parts.memory();
            let MethodMemory::Auto(auto) = &memory.method else {
                panic!("memory of the choice");
            };
            trials += u32::from(auto.pace.on_trial);
            parts = Integration::resume(Method::Auto, &control, &memory).unwrap();
            assert_eq!(parts.memory(), memory);
        }
        assert!(parts.statistics().changes >= 2, "{tolerance:e}");
        assert_eq!(bits(parts.state()), bits(whole.state()));
        let counts = |run: &Integration| (run.statistics().steps, run.statistics().rejected);
        assert_eq!(counts(&parts), counts(&whole));
    }
    assert!(trials >= 2, "{trials}");
}

/// Cross-check by Radau: relaxation, whose slow parts are stiff and whose jumps are not.
#[test]
fn relaxation_oscillations_are_followed() {
    /// Errors of the phase, of a problem that contracts: as Radau itself has them.
    const ALLOWED: f64 = 100.0;
    const TOLERANCE: f64 = 1e-7;
    let end = |method: Method, tolerance: f64| {
        let schedule = Schedule {
            start: 0.0,
            end: 1500.0,
            breakpoints: &[],
            samples: &[],
        };
        let mut state = [2.0, 0.0];
        let mut system = VanDerPol(500.0);
        let outcome = integrate(
            method,
            &control(tolerance),
            &mut system,
            &schedule,
            &mut state,
            &mut (),
        );
        (state, outcome.unwrap().statistics)
    };
    let (exact, _) = end(Method::Radau, 1e-11);
    let (found, cost) = end(Method::Auto, TOLERANCE);
    let error = (found[0] - exact[0]).abs();
    assert!(error < ALLOWED * TOLERANCE, "{error:e}");
    let (_, explicit) = end(Method::Dop853, TOLERANCE);
    assert!(
        20 * cost.evaluations < explicit.evaluations,
        "{cost:?} {explicit:?}"
    );
}

/// Property: an implicit method that cannot go on is left, and tried again ever more rarely.
#[test]
fn a_method_that_fails_is_left() {
    let fails = StiffSpan {
        fastest: 1e4,
        fails: true,
        ..StiffSpan::STIFF
    };
    let (error, cost) = through(Method::Auto, 1e-6, fails);
    assert!(error < 1e-5, "{error:e}");
    assert_eq!((cost.esdirk_steps, cost.radau_steps), (0, 0));
    assert_eq!(cost.changes, 0);
    let sound = StiffSpan {
        fastest: 1e4,
        ..StiffSpan::STIFF
    };
    let (_, explicit) = through(Method::Dop853, 1e-6, sound);
    assert!(
        4 * cost.evaluations < 5 * explicit.evaluations,
        "{cost:?} {explicit:?}"
    );
}

/// Stiff decay towards 1, and towards 2 from where the second component, which is time, has passed 5.
#[derive(Clone)]
struct StiffKink {
    beyond: bool,
}

impl FirstOrder for StiffKink {
    fn derivative(&mut self, _time: f64, state: &[f64], rate: &mut [f64]) {
        rate[0] = 1e6 * (if self.beyond { 2.0 } else { 1.0 } - state[0]);
        rate[1] = 1.0;
    }

    fn handle_event(&mut self, _time: f64, state: &mut [f64]) {
        self.beyond = state[1] >= 5.0;
    }

    fn event_function(&mut self, _time: f64, state: &[f64]) -> f64 {
        if self.beyond { -1.0 } else { state[1] - 5.0 }
    }
}

/// Closed form: an event inside an implicit step is located, and the run goes on behind it.
#[test]
fn events_are_met_by_the_implicit_method() {
    let mut system = StiffKink { beyond: false };
    let mut integration = Integration::new(Method::Auto, &control(1e-6), 0.0, &[0.0, 0.0]).unwrap();
    let mut recorder = Recorder::new();
    (integration.advance(&mut system, &Target::landing(10.0), &mut recorder)).unwrap();
    let cost = integration.statistics();
    assert!(system.beyond && cost.radau_steps > 0, "{cost:?}");
    let nearest = (recorder.steps.iter()).fold(f64::INFINITY, |least: f64, time| {
        least.min((time - 5.0).abs())
    });
    assert!(nearest < 1e-8, "{nearest:e}");
    assert!((integration.state()[0] - 2.0).abs() < 1e-6);
    assert!(cost.evaluations < 5000, "{cost:?}");
}

/// A fast vibration of some energy that nothing damps, beside a slow one.
struct Vibration;

impl FirstOrder for Vibration {
    fn derivative(&mut self, _time: f64, state: &[f64], rate: &mut [f64]) {
        rate.copy_from_slice(&[state[1], -1e4 * state[0], state[3], -state[2]]);
    }
}

/// Identity: where implicit steps are no faster, the run is that of the explicit method to the last bit, whatever was tried.
#[test]
fn vibrations_stay_explicit_to_the_last_bit() {
    let [chosen, explicit] = [Method::Auto, Method::Dop853].map(|method| {
        let mut integration =
            Integration::new(method, &control(1e-3), 0.0, &[0.1, 0.0, 1.0, 0.0]).unwrap();
        (integration.advance(&mut Vibration, &Target::landing(20.0), &mut ())).unwrap();
        integration
    });
    assert_eq!(bits(chosen.state()), bits(explicit.state()));
    let [chosen, explicit] = [chosen, explicit].map(|run| run.statistics());
    assert_eq!(
        (chosen.steps, chosen.changes),
        (explicit.steps, 0),
        "{chosen:?}"
    );
    assert!(4 * chosen.evaluations < 5 * explicit.evaluations);
}
