//! Several calls against one: the same steps, the same samples, the same bits.

use super::super::{Flow, Target};
use super::Recorder;
use super::runs::{Case, END, Run, bits, cases};

/// Unequal instants: inside steps, at breakpoints of one problem or another, one rounding apart, and one twice.
pub(super) const TARGETS: [f64; 16] = [
    0.0,
    1e-9,
    0.04,
    0.35,
    0.449,
    0.452,
    0.7,
    0.700_000_1,
    1.0,
    1.25,
    1.25,
    1.9,
    1.900_000_000_000_000_1,
    2.0,
    2.999,
    END,
];

const TOLERANCE: f64 = 1e-7;

/// Not at breakpoints, where a sample shows what holds behind them only if the call goes on behind them.
pub(super) fn sample_instants() -> Vec<f64> {
    let mut samples: Vec<f64> = (0..23).map(|i| 0.13 * f64::from(i)).collect();
    samples.extend([0.35, 1.9, END]);
    samples.sort_by(f64::total_cmp);
    samples
}

/// Everything an observer was told, to the last bit.
pub(super) fn told(recorder: &Recorder) -> Vec<Vec<u64>> {
    let mut told = vec![bits(&recorder.steps)];
    for (time, state) in &recorder.samples {
        told.push(bits(&[&[*time], state.as_slice()].concat()));
    }
    told
}

/// Looks in at `targets` on the way to the end.
pub(super) fn look_in(
    case: Case,
    targets: &[f64],
    samples: &[f64],
    mut between: impl FnMut(Run) -> Run,
) -> (Run, Recorder) {
    let mut run = case.run(TOLERANCE);
    let mut recorder = Recorder::new();
    for &time in targets {
        let target = Target {
            time,
            horizon: END,
            breakpoints: case.breakpoints(),
            samples,
        };
        let outcome = run.advance(&target, &mut recorder);
        assert_eq!(outcome.stopped_at, None, "{case:?}");
        assert_eq!(run.time(), time, "{case:?}");
        run = between(run);
    }
    (run, recorder)
}

#[test]
fn several_calls_make_the_steps_of_one() {
    // identity
    let samples = sample_instants();
    for case in cases() {
        let (whole, in_one) = look_in(case, &[END], &samples, |run| run);
        let (parts, in_parts) = look_in(case, &TARGETS, &samples, |run| run);
        assert_eq!(told(&in_parts), told(&in_one), "{case:?}");
        assert_eq!(bits(parts.state()), bits(whole.state()), "{case:?}");
        let counts = |run: &Run| (run.statistics().steps, run.statistics().rejected);
        assert_eq!(counts(&parts), counts(&whole), "{case:?}");
        assert_eq!(in_one.samples.len(), samples.len(), "each once");
    }
}

#[test]
fn the_state_at_a_target_is_the_sample_there() {
    // identity; samples at breakpoints are left out because they show what holds behind
    for case in cases() {
        let mut targets = TARGETS.to_vec();
        targets.retain(|target| !case.breakpoints().contains(target));
        targets.dedup();
        let (_, sampled) = look_in(case, &[END], &targets, |run| run);
        let mut states = Vec::new();
        look_in(case, &targets, &[], |run| {
            states.push((run.time(), run.state().to_vec()));
            run
        });
        assert_eq!(states, sampled.samples, "{case:?}");
    }
}

#[test]
fn a_stop_is_no_more_than_a_pause() {
    // identity: stopped by the observer inside steps and at their ends, the run goes on as if nothing had been
    let samples = sample_instants();
    for case in cases() {
        let (whole, in_one) = look_in(case, &[END], &samples, |run| run);
        let mut run = case.run(TOLERANCE);
        let mut recorder = Recorder::new();
        let target = Target {
            time: END,
            horizon: END,
            breakpoints: case.breakpoints(),
            samples: &samples,
        };
        let mut pauses = 0;
        loop {
            recorder.stop_sample_from = run.time() + 0.3;
            recorder.stop_step_from = run.time() + 0.2;
            let outcome = run.advance(&target, &mut recorder);
            if outcome.stopped_at.is_none() {
                break;
            }
            assert_eq!(outcome.stopped_at, Some(run.time()), "{case:?}");
            pauses += 1;
        }
        assert!(pauses > 5, "{case:?}");
        assert_eq!(told(&recorder), told(&in_one), "{case:?}");
        assert_eq!(bits(run.state()), bits(whole.state()), "{case:?}");
        assert_eq!(
            run.statistics().evaluations,
            whole.statistics().evaluations,
            "{case:?}"
        );
    }
}

#[test]
fn a_sample_at_a_breakpoint_belongs_to_the_call_whose_list_it_is_in() {
    // closed form: the acceleration of the chain jumps at the breakpoint by the jump of its force
    let cases = cases();
    let structural = |case: &&Case| matches!(case, Case::Structural(..));
    let case = cases.iter().find(structural).expect("structural cases");
    let at = |time, samples| Target {
        time,
        horizon: END,
        breakpoints: case.breakpoints(),
        samples,
    };
    let accelerations = |lists: [&'static [f64]; 2]| {
        let mut run = case.run(TOLERANCE);
        let mut recorder = Recorder::new();
        run.advance(&at(1.0, lists[0]), &mut recorder);
        run.advance(&at(1.5, lists[1]), &mut recorder);
        let [(time, state)] = recorder.samples.as_slice() else {
            panic!("one sample, once: {:?}", recorder.samples);
        };
        assert_eq!(*time, 1.0);
        state[5]
    };
    let ahead = accelerations([&[1.0], &[1.0]]);
    let behind = accelerations([&[], &[1.0]]);
    // to what Newton's iteration leaves
    assert!((ahead - behind - 7.0).abs() < 1e-7, "{ahead}, {behind}");
    assert_eq!(accelerations([&[1.0], &[]]), ahead);
}

#[test]
fn a_call_to_where_it_stands_starts_the_method_and_takes_the_sample() {
    for case in cases() {
        let mut run = case.run(TOLERANCE);
        let mut recorder = Recorder::new();
        for _ in 0..3 {
            let target = Target {
                samples: &[0.0],
                ..Target::landing(0.0)
            };
            run.advance(&target, &mut recorder);
        }
        assert_eq!(recorder.samples.len(), 1, "{case:?}");
        assert_eq!(run.statistics().steps, 0, "{case:?}");
        assert!(run.statistics().evaluations > 0, "{case:?}");
    }
}

#[test]
fn calls_allocate_nothing() {
    for case in cases() {
        let breakpoints = case.breakpoints();
        let mut run = case.run(TOLERANCE);
        run.advance(&Target::landing(0.01), &mut ());
        let counted = allocation_counter::measure(|| {
            for i in 2..100_u32 {
                let landing = Target::landing(0.01 * f64::from(i));
                let target = Target {
                    horizon: landing.time + 0.1 * f64::from(i % 3),
                    breakpoints,
                    samples: &[0.3, 0.5],
                    ..landing
                };
                run.advance(&target, &mut ());
                if i % 10 == 0 {
                    run.restart();
                }
            }
        });
        // a change makes the method that takes over
        if run.statistics().changes == 0 {
            assert_eq!(counted.count_total, 0, "{case:?}");
        }
    }
}

#[test]
fn nobody_stops_nothing() {
    use super::super::Observer;
    assert_eq!(().sample(0.0, &[]), Flow::Continue);
    assert_eq!(().step(0.0, &[]), Flow::Continue);
}
