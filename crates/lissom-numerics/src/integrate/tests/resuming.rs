//! Memory: what was saved goes on to the last bit.

use super::super::{
    FirstOrder, IntegrateError, Integration, IntegratorMemory, Method, MethodMemory, Phase, Scheme,
    StepEnding, StructuralIntegration, Target,
};
use super::Recorder;
use super::runs::{Case, END, FIXED_STEP, Run, SCHEMES, bits, cases, control};
use super::stepping::{TARGETS, look_in, sample_instants, told};

#[test]
fn a_saved_run_goes_on_to_the_last_bit() {
    // identity: another process at every target, inside steps, at breakpoints, before and behind events
    let samples = sample_instants();
    for case in cases() {
        let (whole, in_one) = look_in(case, &[END], &samples, |run| run);
        let (resumed, in_parts) = look_in(case, &TARGETS, &samples, |run| run.renewed());
        assert_eq!(told(&in_parts), told(&in_one), "{case:?}");
        assert_eq!(bits(resumed.state()), bits(whole.state()), "{case:?}");
        let counts = |run: &Run| (run.statistics().steps, run.statistics().rejected);
        assert_eq!(counts(&resumed), counts(&whole), "{case:?}");
    }
}

#[test]
fn a_saved_run_that_lands_goes_on_to_the_last_bit() {
    // identity, costs and memory included
    for case in cases() {
        let landings = |renew: bool| {
            let mut run = case.run(1e-7);
            let mut recorder = Recorder::new();
            for (i, &time) in TARGETS.iter().enumerate() {
                run.advance(&Target::landing(time), &mut recorder);
                if i == 9 {
                    run.restart();
                }
                if renew {
                    run = run.renewed();
                }
            }
            (run.memory(), told(&recorder))
        };
        assert_eq!(landings(true), landings(false), "{case:?}");
    }
}

#[test]
fn fixed_steps_resume_between_two_steps() {
    // identity: at instants of steps, with the tangent that had been kept over several
    for scheme in SCHEMES {
        let case = Case::Structural(scheme, false);
        let grid: Vec<f64> = (0..=40).map(|i| f64::from(i) * FIXED_STEP.step).collect();
        let run_to = |time: f64| Target {
            time,
            horizon: 1000.0,
            breakpoints: &[],
            samples: &[],
        };
        let mut uninterrupted = case.run(0.0);
        let mut resumed = case.run(0.0);
        let mut kept = 0;
        for &time in &grid {
            uninterrupted.advance(&run_to(time), &mut ());
            resumed.advance(&run_to(time), &mut ());
            let memory = resumed.memory();
            assert_eq!(memory, uninterrupted.memory());
            assert_eq!(memory.progress.phase, Phase::BetweenSteps);
            let MethodMemory::Structural(method) = memory.method else {
                panic!("memory of the scheme");
            };
            assert_eq!(method.origin, 0.0);
            let steps = method.steps_from_origin as f64;
            assert_eq!(method.time, steps * FIXED_STEP.step);
            kept += u32::from(method.tangent_step.is_some());
            resumed = resumed.renewed();
        }
        assert_eq!(kept, 40);
        let cost = resumed.statistics();
        assert!(cost.jacobians < cost.steps, "{cost:?}");
    }
}

#[test]
fn memory_of_another_method_is_refused() {
    let memory_of = |case: Case| {
        let mut run = case.run(1e-6);
        run.advance(&Target::landing(0.1), &mut ());
        run.memory()
    };
    let part = |refused: Result<Integration, IntegrateError>| match refused.err() {
        Some(IntegrateError::ForeignMemory { part, time, .. }) => {
            assert_eq!(time, 0.1);
            part
        }
        other => panic!("{other:?}"),
    };
    let resume =
        |method, memory: &IntegratorMemory| Integration::resume(method, &control(1e-6), memory);
    let dop853 = memory_of(Case::FirstOrder(Method::Dop853, "forced"));
    let adams = memory_of(Case::FirstOrder(Method::Adams, "forced"));
    let radau = memory_of(Case::FirstOrder(Method::Radau, "forced"));
    let structural = memory_of(Case::Structural(SCHEMES[0], false));
    assert_eq!(part(resume(Method::Dopri5, &dop853)), "method");
    assert_eq!(part(resume(Method::Adams, &dop853)), "method");
    assert_eq!(part(resume(Method::Radau, &structural)), "method");
    let refused = StructuralIntegration::resume(SCHEMES[0], &FIXED_STEP, &radau);
    assert!(matches!(
        refused.err(),
        Some(IntegrateError::ForeignMemory { part: "method", .. })
    ));

    // and one that was damaged
    let damaged = |memory: &IntegratorMemory, damage: &dyn Fn(&mut MethodMemory)| {
        let mut memory = memory.clone();
        damage(&mut memory.method);
        memory
    };
    let short = damaged(&radau, &|method| {
        if let MethodMemory::Radau(radau) = method {
            radau.jacobian.pop();
        }
    });
    assert_eq!(part(resume(Method::Radau, &short)), "jacobian");
    let high = damaged(&adams, &|method| {
        if let MethodMemory::Adams(adams) = method {
            adams.order = 13;
        }
    });
    assert_eq!(part(resume(Method::Adams, &high)), "order");
    let unstarted = damaged(&adams, &|method| {
        if let MethodMemory::Adams(adams) = method {
            (adams.patience, adams.step) = (0, 0.0);
        }
    });
    assert_eq!(part(resume(Method::Adams, &unstarted)), "patience");
    let mut long = dop853.clone();
    long.progress.state.push(0.0);
    assert_eq!(part(resume(Method::Dop853, &long)), "state");
}

#[test]
fn memory_before_the_first_call_resumes_too() {
    for case in cases() {
        let mut run = case.run(1e-7).renewed();
        run.advance(&Target::landing(0.5), &mut ());
        let mut other = case.run(1e-7);
        other.advance(&Target::landing(0.5), &mut ());
        assert_eq!(run.memory(), other.memory(), "{case:?}");
    }
}

/// Decay towards 1, and towards 2 from where the solution has passed 1/2: a system that remembers its last event.
#[derive(Clone)]
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

#[test]
fn an_event_ahead_in_an_open_step_is_kept() {
    // identity: the step that found the event was made by a call whose target lies before it
    let event = 2.0_f64.ln();
    for method in super::runs::METHODS {
        let control = control(1e-6);
        let to = |time: f64| Target {
            horizon: 2.0,
            ..Target::landing(time)
        };
        let mut system = Kink { beyond: false };
        let mut whole = Integration::new(method, &control, 0.0, &[0.0]).unwrap();
        whole.advance(&mut system, &to(2.0), &mut ()).unwrap();

        let mut system = Kink { beyond: false };
        let mut parts = Integration::new(method, &control, 0.0, &[0.0]).unwrap();
        let mut open = false;
        for i in 0..=200 {
            let time = event + 1e-5 * f64::from(i - 100);
            parts.advance(&mut system, &to(time), &mut ()).unwrap();
            let memory = parts.memory();
            if let Phase::WithinStep { end, ending, .. } = memory.progress.phase {
                open |= ending == StepEnding::Event && end > time;
            }
            // to within ten tolerances
            if i != 100 {
                assert_eq!(system.beyond, time > event, "{method:?} at {time}");
            }
            // what the system remembers is saved with the memory
            system = system.clone();
            parts = Integration::resume(method, &control, &memory).unwrap();
        }
        parts.advance(&mut system, &to(2.0), &mut ()).unwrap();
        assert!(open, "{method:?}");
        assert_eq!(bits(parts.state()), bits(whole.state()), "{method:?}");
    }
}

#[test]
fn settings_are_checked_on_resumption() {
    let integration = Integration::new(Method::Adams, &control(1e-6), 0.0, &[0.0]).unwrap();
    let refused = Integration::resume(Method::Adams, &control(0.0), &integration.memory());
    assert!(matches!(refused, Err(IntegrateError::Invalid { .. })));
    let structural = Case::Structural(SCHEMES[0], false).run(0.0);
    let refused = StructuralIntegration::resume(
        Scheme::GeneralizedAlpha {
            spectral_radius: 2.0,
        },
        &FIXED_STEP,
        &structural.memory(),
    );
    assert!(matches!(refused, Err(IntegrateError::Invalid { .. })));
}
