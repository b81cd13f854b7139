//! Rotating beams: published and converged numbers.

use lissom::integrate::{
    Control, FixedStep, Flow, Method, Observer, Schedule, Scheme, integrate, integrate_second_order,
};
use lissom::nodal::{BeamSection, Dynamics, Equations, Role};

use crate::models::{RotatingBeam, SpinUp, jonker_beam, lateral, rotating_beam};

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

fn explicit<'a>(beam: &'a RotatingBeam, motion: SpinUp, samples: &[f64], method: Method) -> Tip<'a> {
    let equations = Equations::new(&beam.mechanism).unwrap();
    let mut tip = Tip {
        equations: equations.clone(),
        beam,
        motion,
        lateral: Vec::new(),
        along: Vec::new(),
    };
    let mut dynamics = Dynamics::new(equations, motion);
    let mut state = vec![0.0; beam.mechanism.position_count() + beam.mechanism.dof_count()];
    let control = Control {
        rtol: 1e-7,
        atol: vec![1e-8],
        initial_step: None,
        max_step: None,
        max_steps: 1_000_000,
    };
    let schedule = Schedule {
        start: 0.0,
        end: *samples.last().unwrap(),
        breakpoints: &[motion.time],
        samples,
    };
    let outcome = integrate(method, &control, &mut dynamics, &schedule, &mut state, &mut tip);
    eprintln!("{outcome:?}");
    tip
}

#[test]
fn jonker_spin_up() {
    for quadratic in [true, false] {
        let beam = jonker_beam(4, quadratic, Role::Prescribed);
        let motion = SpinUp { speed: 4.0, time: 15.0 };
        let samples = instants(15.0, 15000);
        let start = std::time::Instant::now();
        let tip = explicit(&beam, motion, &samples, Method::Dop853);
        let (i, m) = tip.lateral.iter().enumerate().fold((0, 0.0), |b, (i, &x)| if x < b.1 { (i, x) } else { b });
        eprintln!("{quadratic} {m} at {} {:?}", samples[i], start.elapsed());
    }
}

fn simo_section() -> BeamSection {
    BeamSection {
        shear_stiffness: Some([1e7, 1e7]),
        rotary_inertia_per_length: [0.0, 0.0, 6e-4],
        ..BeamSection::slender(1.2, 2.8e7, 0.0, 1.4e4)
    }
}

fn implicit<'a>(beam: &'a RotatingBeam, motion: SpinUp, samples: &[f64], step: f64) -> Tip<'a> {
    let equations = Equations::new(&beam.mechanism).unwrap();
    let mut tip = Tip { equations: equations.clone(), beam, motion, lateral: Vec::new(), along: Vec::new() };
    let mut dynamics = Dynamics::new(equations, motion);
    let mut position = vec![0.0; beam.mechanism.position_count()];
    let mut velocity = vec![0.0; beam.mechanism.dof_count()];
    let options = FixedStep { step, tolerance: 1e-6, max_iterations: 10 };
    let schedule = Schedule { start: 0.0, end: *samples.last().unwrap(), breakpoints: &[motion.time], samples };
    let outcome = integrate_second_order(Scheme::GeneralizedAlpha { spectral_radius: 0.8 }, &options, &mut dynamics, &schedule, &mut position, &mut velocity, &mut tip);
    eprintln!("{outcome:?} {:?}", dynamics.error());
    tip
}

#[test]
fn simo_spin_up() {
    let motion = SpinUp { speed: 6.0, time: 15.0 };
    for (n, h) in [(10, 5e-3), (20, 5e-3), (20, 2.5e-3)] {
        let beam = rotating_beam(n, 10.0, simo_section(), true, Role::Prescribed);
        let samples = instants(20.0, 4000);
        let start = std::time::Instant::now();
        let tip = implicit(&beam, motion, &samples, h);
        let (i, m) = tip.lateral.iter().enumerate().fold((0, 0.0), |b, (i, &x)| if x < b.1 { (i, x) } else { b });
        eprintln!("simo {n} {h} {m} at {} tip5 {} tip10 {} ext {} {:?}", samples[i], tip.lateral[1000], tip.lateral[2000], tip.along[4000] - 10.0, start.elapsed());
    }
}
