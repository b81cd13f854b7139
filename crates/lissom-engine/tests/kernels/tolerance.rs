//! How the global errors of DOP853 and Radau follow the tolerance, on spring pendulums.
//!
//! A unit mass on a damped spring of unit length falls from the horizontal, at rest, for 2.5 s: a swing and a
//! half at 3.13 rad/s. Spring stiffness $`k`$ and damping ratio $`\zeta`$ span a grid; stiff springs start
//! unstretched, lightly damped ones stretched by a twentieth, so that they oscillate, up to 40 times.
//!
//! The error of a run is the largest, over all its steps and 618 samples between them, of the root mean square
//! of $`(y_i - y_i^\text{ref}) / (1 + |y_i^\text{ref}|)`$, which is how the step control weighs errors when
//! both tolerances are equal. The reference is a third method, DOPRI5 at 1e-13, that ends a step at every
//! instant compared, so that no interpolant enters it.
//!
//! # What can be expected
//!
//! A tolerance bounds the error of a step. Errors of the steps of an oscillation add up with the number of its
//! periods; those of a strongly damped motion are forgotten within a few steps. For both to stay within a
//! factor of 30 of one tolerance, each estimate must be right within about one order.
//!
//! DOP853 cannot do that where modes are much faster than the solution. Its estimate goes with $`h^6`$
//! there, whatever tempers it (see the module of the method), and its local error with $`h^9`$: the error
//! falls with the power 3/2 of the tolerance. When the step is so long that stability bounds it, the error in
//! these modes is what the estimate lets pass, a share of the tolerance again. So the error stays below the
//! tolerance but need not be near it, and a run counts the steps for which this holds. Radau has no such
//! exception.

use lissom_numerics::integrate::{
    Control, FirstOrder, Flow, Method, Observer, Schedule, Statistics, integrate,
};

/// The error is at most this many tolerances, and at least one such part of it.
const ALLOWED_FACTOR: f64 = 30.0;
const DURATION: f64 = 2.5;

#[derive(Debug)]
struct SpringPendulum {
    stiffness: f64,
    damping_ratio: f64,
    stretch: f64,
}

impl FirstOrder for SpringPendulum {
    fn derivative(&mut self, _time: f64, state: &[f64], rate: &mut [f64]) {
        let &[x, y, vx, vy] = state else {
            unreachable!()
        };
        let length = x.hypot(y);
        let (along_x, along_y) = (x / length, y / length);
        let damping = 2.0 * self.damping_ratio * self.stiffness.sqrt();
        let tension = self.stiffness * (length - 1.0) + damping * (vx * along_x + vy * along_y);
        rate.copy_from_slice(&[vx, vy, -tension * along_x, -tension * along_y - 9.81]);
    }
}

fn pendulums(
    stiffnesses: &[f64],
    damping_ratios: &[f64],
    stretch: f64,
) -> impl Iterator<Item = SpringPendulum> {
    stiffnesses.iter().flat_map(move |&stiffness| {
        damping_ratios
            .iter()
            .map(move |&damping_ratio| SpringPendulum {
                stiffness,
                damping_ratio,
                stretch,
            })
    })
}

/// The grid, and pendulums between its points that no constant of a method was chosen on.
fn stiff() -> impl Iterator<Item = SpringPendulum> {
    pendulums(&[1e4, 1e5, 1e6], &[0.5, 1.0, 2.0], 0.0).chain(pendulums(&[3e5], &[0.7, 1.5], 0.0))
}

fn lightly_damped() -> impl Iterator<Item = SpringPendulum> {
    pendulums(&[1e2, 1e3, 1e4], &[1e-3, 1e-2], 0.05).chain(pendulums(&[3e3], &[1e-4, 3e-3], 0.05))
}

type Instants = Vec<(f64, Vec<f64>)>;

/// Keeps all states it is shown.
#[derive(Default)]
struct Recorder {
    samples: Instants,
    steps: Instants,
}

impl Observer for Recorder {
    fn sample(&mut self, time: f64, state: &[f64]) -> Flow {
        self.samples.push((time, state.to_vec()));
        Flow::Continue
    }

    fn step(&mut self, time: f64, state: &[f64]) -> Flow {
        self.steps.push((time, state.to_vec()));
        Flow::Continue
    }
}

fn run(
    method: Method,
    tolerance: f64,
    pendulum: &mut SpringPendulum,
    samples: &[f64],
    breakpoints: &[f64],
) -> (Recorder, Statistics) {
    let control = Control {
        rtol: tolerance,
        atol: vec![tolerance],
        initial_step: None,
        max_step: None,
        max_steps: 1_000_000,
    };
    let schedule = Schedule {
        start: 0.0,
        end: DURATION,
        breakpoints,
        samples,
    };
    let mut recorder = Recorder::default();
    let mut state = [1.0 + pendulum.stretch, 0.0, 0.0, 0.0];
    let outcome = integrate(
        method,
        &control,
        pendulum,
        &schedule,
        &mut state,
        &mut recorder,
    )
    .expect("a pendulum swings on");
    (recorder, outcome.statistics)
}

fn scaled_error(state: &[f64], reference: &[f64]) -> f64 {
    let sum: f64 = state
        .iter()
        .zip(reference)
        .map(|(value, exact)| ((value - exact) / (1.0 + exact.abs())).powi(2))
        .sum();
    (sum / state.len() as f64).sqrt()
}

/// Error of a run over its tolerance, and what the run says of itself.
fn error_over_tolerance(
    method: Method,
    tolerance: f64,
    pendulum: &mut SpringPendulum,
) -> (f64, Statistics) {
    let samples: Vec<f64> = (0..=617).map(|i| DURATION * f64::from(i) / 617.0).collect();
    let (recorder, statistics) = run(method, tolerance, pendulum, &samples, &[]);
    let mut compared: Instants = [recorder.samples, recorder.steps].concat();
    compared.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut instants: Vec<f64> = compared.iter().map(|(time, _)| *time).collect();
    instants.dedup();
    let (reference, _) = run(Method::Dopri5, 1e-13, pendulum, &instants, &instants);
    let mut worst: f64 = 0.0;
    let mut exact = reference.samples.iter().peekable();
    for (time, state) in &compared {
        while exact.next_if(|(known, _)| known < time).is_some() {}
        let (known, reference) = exact.peek().expect("an instant of the reference");
        assert_eq!(known, time);
        worst = worst.max(scaled_error(state, reference));
    }
    (worst / tolerance, statistics)
}

/// Ratios from 1e-4 to 1e-10, and whether the run found the pendulum stiff.
fn ratios(method: Method, pendulum: &mut SpringPendulum) -> Vec<(f64, bool)> {
    (4..=10)
        .map(|exponent| {
            let tolerance = 10.0_f64.powi(-exponent);
            let (ratio, statistics) = error_over_tolerance(method, tolerance, pendulum);
            (ratio, statistics.is_stiff())
        })
        .collect()
}

#[test]
fn radau_follows_the_tolerance_on_all_pendulums() {
    // cross-check: see above
    for mut pendulum in stiff().chain(lightly_damped()) {
        let found = ratios(Method::Radau, &mut pendulum);
        for (ratio, _) in &found {
            let followed = (1.0 / ALLOWED_FACTOR..ALLOWED_FACTOR).contains(ratio);
            assert!(followed, "{pendulum:?}: {found:?}");
        }
    }
}

#[test]
fn esdirk_follows_the_tolerance() {
    // over six decades: an exponent of one to a tenth
    const PROPORTIONAL: f64 = 4.0;
    // cross-check: see above, down to 1e-6; on stiff forces the order falls to that of the stages, which is two, and at 1e-10 the error
    // is 200 times the tolerance
    for mut pendulum in stiff() {
        let found = ratios(Method::Esdirk, &mut pendulum);
        for (ratio, _) in &found[..3] {
            let followed = (1.0 / ALLOWED_FACTOR..ALLOWED_FACTOR).contains(ratio);
            assert!(followed, "{pendulum:?}: {found:?}");
        }
    }
    // errors of the phase add up over the oscillations, in proportion to the tolerance
    for mut pendulum in lightly_damped() {
        let found = ratios(Method::Esdirk, &mut pendulum);
        let least = found.iter().fold(f64::INFINITY, |a, b| a.min(b.0));
        let most = found.iter().fold(0.0_f64, |a, b| a.max(b.0));
        assert!(most < PROPORTIONAL * least, "{pendulum:?}: {found:?}");
    }
}

#[test]
fn the_choice_stays_within_the_tolerance() {
    // cross-check: see above; an explicit method on a stiff pendulum is below the tolerance, so that only the upper bound holds
    for mut pendulum in stiff().chain(lightly_damped()) {
        for (ratio, _) in ratios(Method::Auto, &mut pendulum) {
            assert!(ratio < ALLOWED_FACTOR, "{pendulum:?}: {ratio}");
        }
    }
}

#[test]
fn dop853_follows_the_tolerance_on_lightly_damped_pendulums() {
    // cross-check: see above; an oscillation is not stiff
    for mut pendulum in lightly_damped() {
        let found = ratios(Method::Dop853, &mut pendulum);
        for (ratio, stiff) in &found {
            let followed = (1.0 / ALLOWED_FACTOR..ALLOWED_FACTOR).contains(ratio);
            assert!(followed && !stiff, "{pendulum:?}: {found:?}");
        }
    }
}

#[test]
fn dop853_stays_within_the_tolerance_on_stiff_pendulums_and_says_so() {
    // cross-check: see above; the run tells that its error need not be near the tolerance
    for mut pendulum in stiff() {
        let found = ratios(Method::Dop853, &mut pendulum);
        for (ratio, stiff) in &found {
            assert!(*ratio < ALLOWED_FACTOR && *stiff, "{pendulum:?}: {found:?}");
        }
    }
}
