//! What linearisation and perturbation runs cost beside the equations themselves.

use std::time::Instant;

use lissom_core::Recording;
use lissom_core::study::{
    OperatingPoint, OutputOrder, PerturbOptions, SimulateOptions, sample_instants,
};
use lissom_engine::Mechanism;
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Interpolation, Terms};
use lissom_spec::ModelSpec;
use lissom_spec::spec::{AdaptiveSpec, IntegratorSpec};

/// The controlled quarter turn of Jonker & Aarts 2001, section 7.2, with six modes.
const QUARTER_TURN: &str = r#"
format = 1
[[body]]
name = "beam"
[body.beam]
length_m = 8.0
mass_per_length_kg_per_m = 0.20196691
bending_stiffness_y_n_m2 = 566.6311
basis.clamped_free = { bending_y = 6 }
[[joint]]
name = "hub"
parent = "ground"
child = "beam"
revolute = { axis = [0, 0, 1] }
[[marker]]
name = "tip"
body = "beam"
[[input]]
joint = "hub"
rigid_inverse_dynamics.cycloid = { final_angle_rad = 1.5707963267948966, duration_s = 5.0 }
[[controller]]
name = "servo"
joints = ["hub"]
computed_pd = { frequency_rad_per_s = 1.45, damping_ratio = 0.9 }
[simulation]
duration_s = 8.0
[output]
sample_period_s = 0.04
"#;

/// A run with its cost.
#[derive(Clone, Copy, Debug)]
pub struct Priced {
    /// Largest error of the tip, in metres.
    pub error_m: f64,
    /// Seconds on the clock.
    pub seconds: f64,
    /// Evaluations of the equations.
    pub evaluations: u64,
}

/// The perturbation run of a controlled beam, its linearisations counted in, and the cheapest nonlinear run that is not
/// further off, both against a nonlinear run with ten digits.
///
/// # Panics
///
/// If the model of this file is not sound.
pub fn perturbation_beside_nonlinear(points: usize) -> (Priced, Option<Priced>) {
    let spec = ModelSpec::parse(QUARTER_TURN, &[]).expect("the model is sound");
    let mechanism = Mechanism::build(&spec).expect("the model is sound");
    let start = mechanism.start().expect("the model is written down");
    let samples = sample_instants(&spec, &[]);
    let nonlinear = |rtol: f64| {
        let mut simulation = spec.simulation.clone();
        simulation.integrator = IntegratorSpec::Dop853(AdaptiveSpec {
            rtol,
            atol: 1e-2 * rtol,
            ..AdaptiveSpec::default()
        });
        let began = Instant::now();
        let options = SimulateOptions {
            samples: &samples,
            channels: None,
            most_lengths: f64::INFINITY,
        };
        let run = mechanism.simulate(&start, &simulation, &options, &mut |_| Flow::Continue);
        let seconds = began.elapsed().as_secs_f64();
        (run.recording, seconds, run.statistics.evaluations)
    };
    let (reference, ..) = nonlinear(1e-10);
    let began = Instant::now();
    let duration = spec.simulation.duration_s;
    let times: Vec<f64> = (0..points)
        .map(|i| duration * i as f64 / (points - 1) as f64)
        .collect();
    let times = mechanism
        .with_breaks(&times)
        .expect("the mechanism can be linearised");
    let mut watch = |_| Flow::Continue;
    let found = mechanism
        .linearize(&start, OperatingPoint::Nominal, &times, &mut watch)
        .expect("the nominal motion exists");
    let options = PerturbOptions {
        terms: Terms::CASES[0],
        interpolation: Interpolation::Matrices,
        order: OutputOrder::Second,
    };
    let mut loose = spec.clone();
    loose.simulation.integrator = IntegratorSpec::Dop853(AdaptiveSpec {
        rtol: 1e-4,
        atol: 1e-6,
        ..AdaptiveSpec::default()
    });
    let loose = Mechanism::build(&loose).expect("the model is sound");
    let done = loose
        .perturb(&found, &samples, options, &mut watch)
        .expect("it is stable");
    let perturbed = Priced {
        error_m: apart(&done.recording, &reference),
        seconds: began.elapsed().as_secs_f64(),
        evaluations: done.statistics.evaluations,
    };
    let equal = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8]
        .into_iter()
        .map(|rtol| {
            let (recording, seconds, evaluations) = nonlinear(rtol);
            Priced {
                error_m: apart(&recording, &reference),
                seconds,
                evaluations,
            }
        })
        .find(|priced| priced.error_m <= perturbed.error_m);
    (perturbed, equal)
}

/// Largest distance of the tip between two recordings at the same instants.
fn apart(a: &Recording, b: &Recording) -> f64 {
    let mut worst = 0.0_f64;
    for axis in ["x", "y"] {
        let name = format!("tip.position.{axis}");
        if let (Some(a), Some(b)) = (a.channel(&name), b.channel(&name)) {
            for (a, b) in a.samples.iter().zip(&b.samples) {
                worst = worst.max((a - b).abs());
            }
        }
    }
    worst
}
