//! Calls whose last step ends at their target, restarts, and what happens when something goes wrong between calls.

use super::super::{
    Control, FirstOrder, FixedStep, IntegrateError, Integration, Method, MethodMemory, Projection,
    Schedule, Scheme, SecondOrder, StructuralIntegration, Target, integrate,
    integrate_second_order,
};
use super::Recorder;
use super::runs::{Case, END, METHODS, SCHEMES, bits, cases, control};

/// Two oscillators of frequencies 1 and 7 under a force that is held from outside; counts its events.
#[derive(Clone, Default)]
struct Oscillators {
    force: f64,
    events: usize,
    evaluations: usize,
}

impl FirstOrder for Oscillators {
    fn derivative(&mut self, _time: f64, state: &[f64], rate: &mut [f64]) {
        self.evaluations += 1;
        rate[0] = state[1];
        rate[1] = self.force - state[0];
        rate[2] = 7.0 * state[3];
        rate[3] = -7.0 * state[2];
    }

    fn handle_event(&mut self, _time: f64, _state: &mut [f64]) {
        self.events += 1;
    }
}

const RELEASED: [f64; 4] = [1.0, 0.0, 1.0, 0.0];

/// Largest error of both oscillators without a force.
fn released_error(integration: &Integration) -> f64 {
    let (time, state) = (integration.time(), integration.state());
    (state[0] - time.cos())
        .abs()
        .max((state[2] - (7.0 * time).cos()).abs())
}

#[test]
fn landings_keep_the_accuracy() {
    // cross-check: against the same method at a thousandth of the tolerance; fixed steps against steps that no landing cut
    const TOLERANCE: f64 = 1e-7;
    for case in cases() {
        let to = |time: f64| Target {
            breakpoints: case.breakpoints(),
            ..Target::landing(time)
        };
        let end_of = |tolerance: f64, landings: u32| {
            let mut run = case.run(tolerance);
            for i in 1..=landings {
                run.advance(&to(END * f64::from(i) / f64::from(landings)), &mut ());
            }
            run.state()[..2].to_vec()
        };
        let apart = |a: &[f64], b: &[f64]| f64::max((a[0] - b[0]).abs(), (a[1] - b[1]).abs());
        let exact = end_of(1e-3 * TOLERANCE, 1);
        let free = apart(&end_of(TOLERANCE, 1), &exact);
        for landings in [7, 37, 211] {
            let error = apart(&end_of(TOLERANCE, landings), &exact);
            let bound = match case {
                // errors accumulate over events and oscillations alike
                Case::FirstOrder(..) => 3.0 * free + 100.0 * TOLERANCE,
                // the error of a step of 0.03
                Case::Structural(..) => 2e-2,
            };
            assert!(error < bound, "{case:?}, {landings}: {error:e}, {free:e}");
        }
    }
}

#[test]
fn smooth_landings_forget_nothing() {
    // closed form: the oscillators; a landing costs about the step that it adds
    const TOLERANCE: f64 = 1e-8;
    for method in METHODS {
        let cost = |landings: u32, lands: bool| {
            let mut system = Oscillators::default();
            let mut integration =
                Integration::new(method, &control(TOLERANCE), 0.0, &RELEASED).unwrap();
            let mut error: f64 = 0.0;
            for i in 1..=landings {
                let time = 20.0 * f64::from(i) / f64::from(landings);
                let target = Target {
                    horizon: if lands { time } else { 20.0 },
                    ..Target::landing(time)
                };
                (integration.advance(&mut system, &target, &mut ())).unwrap();
                error = error.max(released_error(&integration));
            }
            assert_eq!(system.events, 1, "{method:?}");
            (integration.statistics(), error)
        };
        let (free, free_error) = cost(200, false);
        for landings in [6, 20, 200] {
            let (landed, error) = cost(landings, true);
            assert!(landed.rejected < 20, "{method:?}");
            assert!(
                landed.steps < free.steps * 12 / 10 + 2 * u64::from(landings),
                "{method:?}, {landings}: {landed:?} for {free:?}"
            );
            assert!(landed.highest_order + 1 >= free.highest_order, "{method:?}");
            assert!(
                error < 2.0 * free_error,
                "{method:?}, {landings}: {error:e} for {free_error:e}"
            );
        }
    }
}

#[test]
fn targets_one_rounding_apart_do_no_harm() {
    // closed form: the oscillators
    const TOLERANCE: f64 = 1e-8;
    for method in METHODS {
        let steps = |targets_each: usize| {
            let mut system = Oscillators::default();
            let mut integration =
                Integration::new(method, &control(TOLERANCE), 0.0, &RELEASED).unwrap();
            for i in 1..=20 {
                let mut time = 0.1 * f64::from(i);
                for _ in 0..targets_each {
                    (integration.advance(&mut system, &Target::landing(time), &mut ())).unwrap();
                    assert_eq!(integration.time(), time);
                    let error = released_error(&integration);
                    assert!(error < 100.0 * TOLERANCE, "{method:?}: {error:e}");
                    time = time.next_up();
                }
            }
            integration.statistics().steps
        };
        // one for each of the targets that are new
        assert!(steps(3) <= steps(1) + 2 * 20 + 5, "{method:?}");
    }
}

/// The oscillators with the forces of a whole run, each held from an instant on.
struct Programmed([f64; 4]);

const PERIOD: f64 = 0.75;

impl FirstOrder for Programmed {
    fn derivative(&mut self, time: f64, state: &[f64], rate: &mut [f64]) {
        let force = [3.0, 2.0, 1.0]
            .into_iter()
            .position(|period| time >= period * PERIOD)
            .map_or(self.0[0], |behind| self.0[3 - behind]);
        Oscillators {
            force,
            ..Oscillators::default()
        }
        .derivative(time, state, rate);
    }
}

#[test]
fn a_held_input_with_restarts_is_an_input_that_jumps_at_breakpoints() {
    // identity: the system does not depend on time otherwise
    let forces = [0.5, -1.0, 2.0, 0.0];
    for method in METHODS {
        let mut state = RELEASED;
        let breakpoints = [PERIOD, 2.0 * PERIOD, 3.0 * PERIOD];
        let schedule = Schedule {
            start: 0.0,
            end: 4.0 * PERIOD,
            breakpoints: &breakpoints,
            samples: &[],
        };
        let mut recorder = Recorder::new();
        let outcome = integrate(
            method,
            &control(1e-7),
            &mut Programmed(forces),
            &schedule,
            &mut state,
            &mut recorder,
        )
        .unwrap();

        let mut system = Oscillators::default();
        let mut integration = Integration::new(method, &control(1e-7), 0.0, &RELEASED).unwrap();
        let mut steps = Recorder::new();
        for (period, force) in forces.into_iter().enumerate() {
            system.force = force;
            integration.restart();
            let target = Target::landing((period + 1) as f64 * PERIOD);
            integration
                .advance(&mut system, &target, &mut steps)
                .unwrap();
        }
        assert_eq!(bits(integration.state()), bits(&state), "{method:?}");
        assert_eq!(bits(&steps.steps), bits(&recorder.steps), "{method:?}");
        assert_eq!(integration.statistics(), outcome.statistics, "{method:?}");
    }
}

/// A force that begins at an instant which its user learns of late.
struct Late {
    from: f64,
    latest_evaluation: f64,
}

impl FirstOrder for Late {
    fn derivative(&mut self, time: f64, state: &[f64], rate: &mut [f64]) {
        self.latest_evaluation = self.latest_evaluation.max(time);
        rate[0] = state[1];
        rate[1] = f64::from(u8::from(time >= self.from)) - state[0];
    }
}

#[test]
fn a_breakpoint_inside_a_step_that_was_made_takes_it_back() {
    // closed form: cos t, and 1 − cos (t − from) on top from the breakpoint on
    const TOLERANCE: f64 = 1e-8;
    for method in METHODS {
        for known in [0.0, 0.3] {
            let mut system = Late {
                from: f64::INFINITY,
                latest_evaluation: 0.0,
            };
            let mut integration =
                Integration::new(method, &control(TOLERANCE), 0.0, &[1.0, 0.0]).unwrap();
            let ahead = Target {
                horizon: END,
                ..Target::landing(0.5)
            };
            integration.advance(&mut system, &ahead, &mut ()).unwrap();
            // between the present instant and the end of the open step
            let front = system.latest_evaluation;
            assert!(front > 0.5, "{method:?}");
            let from = 0.5 + known * (front - 0.5);
            system.from = from;
            let mut recorder = Recorder::new();
            let target = Target {
                breakpoints: &[from],
                ..Target::landing(2.0)
            };
            integration
                .advance(&mut system, &target, &mut recorder)
                .unwrap();
            assert_eq!(recorder.steps[0], from, "{method:?}");
            assert!(recorder.steps.is_sorted(), "{method:?}");
            let exact = 2.0_f64.cos() + 1.0 - (2.0 - from).cos();
            let error = (integration.state()[0] - exact).abs();
            assert!(error < 100.0 * TOLERANCE, "{method:?}: {error:e}");
        }
    }
}

#[test]
fn a_restart_inside_a_step_begins_where_the_caller_stands() {
    // closed form, as before
    const TOLERANCE: f64 = 1e-8;
    for method in METHODS {
        let mut system = Oscillators::default();
        let mut integration =
            Integration::new(method, &control(TOLERANCE), 0.0, &RELEASED).unwrap();
        let ahead = Target {
            horizon: END,
            ..Target::landing(0.501)
        };
        integration.advance(&mut system, &ahead, &mut ()).unwrap();
        let there = integration.state().to_vec();
        system.force = 1.0;
        integration.restart();
        assert_eq!(integration.state(), there);
        let mut recorder = Recorder::new();
        integration
            .advance(&mut system, &Target::landing(2.0), &mut recorder)
            .unwrap();
        assert_eq!(
            recorder.steps[0], 0.501,
            "the step made before was shortened"
        );
        assert_eq!(system.events, 2);
        let exact = 2.0_f64.cos() + 1.0 - (2.0_f64 - 0.501).cos();
        let error = (integration.state()[0] - exact).abs();
        assert!(error < 100.0 * TOLERANCE, "{method:?}: {error:e}");
    }
}

#[test]
fn another_state_is_another_beginning() {
    // identity
    for method in METHODS {
        let control = control(1e-7);
        let mut fresh = Integration::new(method, &control, 1.0, &RELEASED).unwrap();
        let mut used = Integration::new(method, &control, 0.0, &[0.3; 4]).unwrap();
        let ahead = Target {
            horizon: END,
            ..Target::landing(0.5)
        };
        used.advance(&mut Oscillators::default(), &ahead, &mut ())
            .unwrap();
        used.set_state(1.0, &RELEASED).unwrap();
        assert_eq!((used.time(), used.state()), (1.0, &RELEASED[..]));
        for integration in [&mut fresh, &mut used] {
            (integration.advance(&mut Oscillators::default(), &Target::landing(2.0), &mut ()))
                .unwrap();
        }
        assert_eq!(bits(fresh.state()), bits(used.state()), "{method:?}");
        assert!(used.set_state(f64::NAN, &RELEASED).is_err());
        assert!(used.set_state(2.0, &[0.0; 3]).is_err());
    }
    let begin =
        || StructuralIntegration::new(SCHEMES[0], &fixed(0.01), 0.0, &[1.0], &[0.0]).unwrap();
    let mut fresh = begin();
    let mut used = begin();
    (used.advance(&mut Decaying, &Target::landing(0.123), &mut ())).unwrap();
    used.set_state(0.0, &[1.0], &[0.0]).unwrap();
    assert_eq!(used.state(), [1.0, 0.0, 0.0]);
    for integration in [&mut fresh, &mut used] {
        (integration.advance(&mut Decaying, &Target::landing(2.0), &mut ())).unwrap();
    }
    assert_eq!(bits(fresh.state()), bits(used.state()));
    assert!(used.set_state(0.0, &[1.0, 2.0], &[0.0]).is_err());
    assert!(used.set_state(0.0, &[1.0], &[]).is_err());
}

/// Cannot be evaluated beyond an instant, and stops the integration beyond another.
struct Walled {
    undefined_from: f64,
    refused_from: f64,
}

impl FirstOrder for Walled {
    fn derivative(&mut self, time: f64, state: &[f64], rate: &mut [f64]) {
        rate[0] = if time < self.undefined_from {
            -state[0]
        } else {
            f64::NAN
        };
    }

    fn project(&mut self, time: f64, _state: &mut [f64]) -> Projection {
        if time < self.refused_from {
            Projection::Kept
        } else {
            Projection::Stop { good_until: time }
        }
    }
}

#[test]
fn after_an_error_the_integration_starts_afresh_where_it_stands() {
    // closed form: exponential decay; the obstacle is moved out of the way between two calls
    for method in METHODS {
        let mut system = Walled {
            undefined_from: 0.5,
            refused_from: f64::INFINITY,
        };
        let mut integration = Integration::new(method, &control(1e-8), 0.0, &[1.0]).unwrap();
        let target = Target::landing(1.0);
        let error = integration.advance(&mut system, &target, &mut ());
        assert!(matches!(error, Err(IntegrateError::NonFinite { .. })));
        assert!((integration.time() - 0.5).abs() < 1e-8, "{method:?}");
        let reached = (-integration.time()).exp();
        assert!((integration.state()[0] - reached).abs() < 1e-6);
        system.undefined_from = f64::INFINITY;
        integration.advance(&mut system, &target, &mut ()).unwrap();
        assert!((integration.state()[0] - (-1.0_f64).exp()).abs() < 1e-6);
    }
}

#[test]
fn a_refusal_of_the_system_lasts_until_its_state_is_another() {
    for method in METHODS {
        let mut system = Walled {
            undefined_from: f64::INFINITY,
            refused_from: 0.5,
        };
        let mut integration = Integration::new(method, &control(1e-8), 0.0, &[1.0]).unwrap();
        let target = Target::landing(1.0);
        let outcome = integration.advance(&mut system, &target, &mut ()).unwrap();
        let stopped = outcome.stopped_at.unwrap();
        assert!(stopped >= 0.5);
        system.refused_from = f64::INFINITY;
        for _ in 0..2 {
            let again = integration.advance(&mut system, &target, &mut ()).unwrap();
            assert_eq!(again, outcome, "{method:?}");
            integration.restart();
        }
        integration.set_state(stopped, &[1.0]).unwrap();
        let outcome = integration.advance(&mut system, &target, &mut ()).unwrap();
        assert_eq!(outcome.stopped_at, None);
    }
}

#[test]
fn every_call_has_the_whole_allowance_of_steps() {
    for method in METHODS {
        let control = Control {
            max_steps: 100,
            ..control(1e-6)
        };
        let mut integration = Integration::new(method, &control, 0.0, &RELEASED).unwrap();
        let mut system = Oscillators::default();
        for i in 1..=60 {
            let target = Target::landing(0.25 * f64::from(i));
            integration.advance(&mut system, &target, &mut ()).unwrap();
        }
        assert!(integration.statistics().steps > 100, "{method:?}");
        let far = integration.advance(&mut system, &Target::landing(1e3), &mut ());
        assert!(matches!(
            far,
            Err(IntegrateError::TooManySteps { limit: 100, .. })
        ));
    }
}

#[test]
fn targets_behind_are_refused_and_change_nothing() {
    let mut integration = Integration::new(Method::Radau, &control(1e-6), 0.0, &RELEASED).unwrap();
    let mut system = Oscillators::default();
    (integration.advance(&mut system, &Target::landing(1.0), &mut ())).unwrap();
    let memory = integration.memory();
    let refused = integration.advance(&mut system, &Target::landing(0.5), &mut ());
    assert!(matches!(
        refused,
        Err(IntegrateError::Invalid {
            quantity: "target",
            ..
        })
    ));
    assert_eq!(integration.memory(), memory);
    assert!(Integration::new(Method::Radau, &control(1e-6), f64::NAN, &RELEASED).is_err());
}

/// Unit mass, decay 0.3, frequency 2.
struct Decaying;

impl SecondOrder for Decaying {
    fn position_count(&self) -> usize {
        1
    }

    fn velocity_count(&self) -> usize {
        1
    }

    fn residual(&mut self, _time: f64, q: &[f64], v: &[f64], a: &[f64], residual: &mut [f64]) {
        residual[0] = a[0] + 0.6 * v[0] + 4.09 * q[0];
    }

    fn mass_matrix(&mut self, _time: f64, _position: &[f64], mass: &mut [f64]) {
        mass[0] = 1.0;
    }

    fn displace(&self, position: &[f64], increment: &[f64], displaced: &mut [f64]) {
        displaced[0] = position[0] + increment[0];
    }
}

fn fixed(step: f64) -> FixedStep {
    FixedStep {
        step,
        tolerance: 1e-11,
        max_iterations: 10,
    }
}

#[test]
fn landings_between_fixed_steps_keep_the_order() {
    // closed form: damped oscillator; intervals in proportion to the step, equal and unequal
    const ORDER_MARGIN: f64 = 0.2;
    let exact = |t: f64| (-0.3 * t).exp() * (2.0 * t).cos();
    let half = Scheme::GeneralizedAlpha {
        spectral_radius: 0.5,
    };
    for scheme in [SCHEMES[0], SCHEMES[1], SCHEMES[2], half] {
        for intervals in [[3.3, 3.3], [0.7, 0.7], [3.3, 1.6], [0.3, 2.2]] {
            let error = |step: f64| {
                let mut integration =
                    StructuralIntegration::new(scheme, &fixed(step), 0.0, &[1.0], &[-0.3]).unwrap();
                let mut largest: f64 = 0.0;
                let mut time = 0.0;
                for interval in intervals.into_iter().cycle() {
                    time += interval * step;
                    if time > 4.0 {
                        break;
                    }
                    (integration.advance(&mut Decaying, &Target::landing(time), &mut ())).unwrap();
                    largest = largest.max((integration.state()[0] - exact(time)).abs());
                }
                (largest, integration.statistics())
            };
            let (coarse, fine) = (error(0.01), error(0.005));
            let order = (coarse.0 / fine.0).log2();
            assert!(
                (order - 2.0).abs() < ORDER_MARGIN,
                "{scheme:?}, {intervals:?}: order {order}"
            );
            if intervals[0] == intervals[1] {
                assert!(fine.1.jacobians < 5, "{:?}", fine.1);
            }
        }
    }
}

#[test]
fn fixed_steps_that_divide_the_interval_stay_multiples_of_the_step() {
    // identity: a step that is a binary fraction has no rounding, and landings leave no trace
    for scheme in SCHEMES {
        let options = fixed(1.0 / 64.0);
        let begin = || StructuralIntegration::new(scheme, &options, 0.0, &[1.0], &[0.0]).unwrap();
        let mut free = begin();
        let mut landed = begin();
        for i in 1..=40 {
            let target = Target::landing(f64::from(i) / 16.0);
            landed.advance(&mut Decaying, &target, &mut ()).unwrap();
            let ahead = Target {
                horizon: 100.0,
                ..target
            };
            free.advance(&mut Decaying, &ahead, &mut ()).unwrap();
        }
        assert_eq!(landed.memory(), free.memory());
        let MethodMemory::Structural(memory) = landed.memory().method else {
            panic!("memory of the scheme");
        };
        assert_eq!((memory.origin, memory.steps_from_origin), (0.0, 160));
        assert!(!memory.landed);
    }
}

#[test]
fn one_landing_at_the_end_is_the_whole_schedule() {
    // identity
    for scheme in SCHEMES {
        let options = fixed(0.03);
        let (mut q, mut v) = ([1.0], [0.0]);
        let schedule = Schedule {
            start: 0.0,
            end: 2.41,
            breakpoints: &[],
            samples: &[],
        };
        let outcome = integrate_second_order(
            scheme,
            &options,
            &mut Decaying,
            &schedule,
            &mut q,
            &mut v,
            &mut (),
        )
        .unwrap();
        let mut integration =
            StructuralIntegration::new(scheme, &options, 0.0, &[1.0], &[0.0]).unwrap();
        let landed = integration
            .advance(&mut Decaying, &Target::landing(2.41), &mut ())
            .unwrap();
        assert_eq!(landed, outcome);
        assert_eq!(bits(&integration.state()[..2]), bits(&[q[0], v[0]]));
    }
}

#[test]
fn integrations_may_go_to_another_thread() {
    fn wanted<T: Clone + Send + Sync + 'static>() {}
    wanted::<Integration>();
    wanted::<StructuralIntegration>();
}

#[test]
fn a_system_of_another_size_is_refused() {
    let mut integration =
        StructuralIntegration::new(SCHEMES[0], &fixed(0.01), 0.0, &[1.0, 2.0], &[0.0]).unwrap();
    let refused = integration.advance(&mut Decaying, &Target::landing(1.0), &mut ());
    assert!(matches!(refused, Err(IntegrateError::Invalid { .. })));
}
