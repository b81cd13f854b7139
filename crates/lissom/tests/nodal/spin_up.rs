//! Rotating beams: published and converged numbers.

use lissom::integrate::{
    Control, FixedStep, Flow, Method, Observer, Schedule, Scheme, integrate, integrate_second_order,
};
use lissom::nodal::classics::{RotatingBeam, SpinUp, lateral, simo_beam};
use lissom::nodal::{Dynamics, Equations, Role};

use crate::models::jonker_beam;

/// Tip across the hub's axis at the samples.
struct Tip<'a> {
    equations: Equations<'a>,
    beam: &'a RotatingBeam,
    motion: SpinUp,
    lateral: Vec<f64>,
    along: Vec<f64>,
}

impl Observer for Tip<'_> {
    fn sample(&mut self, time: f64, state: &[f64]) -> Flow {
        let drive = self.motion.at(time);
        let positions = self.beam.mechanism.position_count();
        self.equations.place(&state[..positions], &[drive]).unwrap();
        let position = self.equations.node(self.beam.tip).position.0;
        self.lateral.push(lateral(position, drive.value));
        let (sin, cos) = drive.value.sin_cos();
        self.along.push(cos * position[0] + sin * position[1]);
        Flow::Continue
    }
    fn step(&mut self, _: f64, _: &[f64]) -> Flow {
        Flow::Continue
    }
}

fn instants(end: f64, count: usize) -> Vec<f64> {
    (0..=count).map(|i| end * i as f64 / count as f64).collect()
}

const QUIET: Control = Control {
    rtol: 1e-7,
    atol: Vec::new(),
    initial_step: None,
    max_step: None,
    max_steps: 1_000_000,
};

fn observed(beam: &RotatingBeam, motion: SpinUp) -> (Dynamics<'_, SpinUp>, Tip<'_>) {
    let equations = Equations::new(&beam.mechanism).unwrap();
    let tip = Tip {
        equations: equations.clone(),
        beam,
        motion,
        lateral: Vec::new(),
        along: Vec::new(),
    };
    (Dynamics::new(equations, motion), tip)
}

fn explicit<'a>(beam: &'a RotatingBeam, motion: SpinUp, samples: &[f64]) -> Tip<'a> {
    let (mut dynamics, mut tip) = observed(beam, motion);
    let mut state = vec![0.0; beam.mechanism.position_count() + beam.mechanism.dof_count()];
    let control = Control {
        atol: vec![1e-8],
        ..QUIET
    };
    let schedule = Schedule {
        start: 0.0,
        end: *samples.last().unwrap(),
        breakpoints: &[motion.time],
        samples,
    };
    let method = Method::Dop853;
    integrate(
        method,
        &control,
        &mut dynamics,
        &schedule,
        &mut state,
        &mut tip,
    )
    .unwrap();
    tip
}

fn implicit<'a>(beam: &'a RotatingBeam, motion: SpinUp, samples: &[f64], step: f64) -> Tip<'a> {
    let (mut dynamics, mut tip) = observed(beam, motion);
    let mut position = vec![0.0; beam.mechanism.position_count()];
    let mut velocity = vec![0.0; beam.mechanism.dof_count()];
    let options = FixedStep {
        step,
        tolerance: 1e-6,
        max_iterations: 10,
    };
    let schedule = Schedule {
        start: 0.0,
        end: *samples.last().unwrap(),
        breakpoints: &[motion.time],
        samples,
    };
    let scheme = Scheme::GeneralizedAlpha {
        spectral_radius: 0.8,
    };
    integrate_second_order(
        scheme,
        &options,
        &mut dynamics,
        &schedule,
        &mut position,
        &mut velocity,
        &mut tip,
    )
    .unwrap();
    tip
}

/// Smallest value and its instant.
fn lowest(values: &[f64], samples: &[f64]) -> (f64, f64) {
    values.iter().zip(samples).fold(
        (0.0, 0.0),
        |best, (&x, &t)| if x < best.0 { (x, t) } else { best },
    )
}

/// Second implementation: Jonker & Aarts's beam of four elements, with and without the quadratic term
/// of the elongation; converged reference values with five digits.
#[test]
fn spin_up_of_jonker_and_aarts() {
    const DIGITS: f64 = 1e-5;
    let motion = SpinUp {
        speed: 4.0,
        time: 15.0,
    };
    let samples = instants(8.0, 1600);
    for (quadratic, wanted) in [(true, -0.53424), (false, -0.53866)] {
        let beam = jonker_beam(4, quadratic, Role::Prescribed);
        let tip = explicit(&beam, motion, &samples);
        let (found, instant) = lowest(&tip.lateral, &samples);
        assert!((found - wanted).abs() < DIGITS, "{found} at {instant}");
        if quadratic {
            assert!((instant - 6.766).abs() < 0.01, "{instant}");
        }
    }
}

/// Second implementation: Simo & Vu-Quoc's beam, geometrically exact, 20 elements, implicit; the error
/// asked of 20 elements is 1e-4 m.
#[test]
fn spin_up_of_simo_and_vu_quoc() {
    const AGREEMENT: f64 = 1e-4;
    let motion = SpinUp {
        speed: 6.0,
        time: 15.0,
    };
    let beam = simo_beam(20, Role::Prescribed).unwrap();
    let samples = instants(18.0, 3600);
    let tip = implicit(&beam, motion, &samples, 5e-3);
    let (found, instant) = lowest(&tip.lateral, &samples);
    assert!((found + 0.57384).abs() < AGREEMENT, "{found} at {instant}");
    assert!((tip.lateral[1000] + 0.46848).abs() < AGREEMENT);
    assert!((tip.lateral[2000] + 0.36282).abs() < AGREEMENT);
    let extension = tip.along[3600] - beam.length;
    assert!(
        (extension - 5.1429e-4).abs() < 1e-2 * 5.1429e-4,
        "{extension}"
    );
}
