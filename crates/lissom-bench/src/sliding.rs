//! The beam of Pan, Scott & Ulsoy 1990, section 5, by the method of their section 4: how errors and violations fall with the
//! step.

use lissom_core::study::{Run, sample_instants};
use lissom_engine::Mechanism;
use lissom_spec::{ModelSpec, Override};

const BEAM: &str = include_str!("../../../models/pan_1990/sliding_beam.toml");

/// One step size of Newmark's method with stabilised multipliers, γ = β = 5.
#[derive(Clone, Copy, Debug)]
pub struct Accuracy {
    /// Largest difference of the tip's deflection from the exact solution of the same elements, at twentieths of the run,
    /// in millimetres.
    pub error_mm: f64,
    /// Largest violation of a support, in metres.
    pub violation_m: f64,
    /// Evaluations of the equations of motion.
    pub evaluations: u64,
}

/// Pushes the beam within `duration_s` by every one of the steps. Passages of nodes are `located` or `stepped_over`.
///
/// # Panics
/// If the shipped model cannot be run so.
pub fn newmark(duration_s: f64, steps_s: &[f64], element_crossings: &str) -> Vec<Accuracy> {
    let exact = deflections(&push(duration_s, &[]));
    let accuracy = |&step: &f64| {
        let solution = [
            format!("simulation.integrator={{newmark={{step_s={step},tolerance=1e-11}}}}"),
            "simulation.closure={stabilized={frequency_rad_per_s=5.0,damping_ratio=1.0}}"
                .to_owned(),
            format!("simulation.element_crossings={element_crossings}"),
        ];
        let run = push(duration_s, &solution);
        let apart = deflections(&run).into_iter().zip(&exact);
        let closures = run.audit.closures.as_ref().expect("a beam on supports");
        Accuracy {
            error_mm: 1e3 * apart.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs())),
            violation_m: closures.max_position_violation,
            evaluations: run.statistics.evaluations,
        }
    };
    steps_s.iter().map(accuracy).collect()
}

fn push(duration_s: f64, changes: &[String]) -> Run {
    let common = [
        "fidelity.shortening=second_order".to_owned(),
        format!("motion.0.cycloid.duration_s={duration_s}"),
        format!("simulation.duration_s={duration_s}"),
        format!("output.sample_period_s={}", duration_s / 20.0),
    ];
    let overrides: Vec<Override> = (common.iter().chain(changes))
        .map(|text| Override::parse(text).expect("a change of a value"))
        .collect();
    let spec = ModelSpec::parse(BEAM, &overrides).expect("a shipped model");
    let mechanism = Mechanism::build(&spec).expect("a shipped model");
    mechanism.run(&sample_instants(&spec, &[]))
}

fn deflections(run: &Run) -> Vec<f64> {
    let channel = run.recording.channel("rear.deflection.y");
    channel.expect("a marker of the model").samples.clone()
}
