//! Pan, Scott & Ulsoy 1990: links that slide through supports, against converged and finite-element references that
//! were computed independently, and against the paper's own formulation.

mod beam;
mod floating;
mod formulation;
mod frames;
mod links;
mod passages;
mod robot;
mod sliders;

use lissom::integrate::Flow;
use lissom::model::{Model, ModelSpec};
use lissom::simulate::{Run, run, sample_instants};

/// Runs the model of a text.
fn simulated(text: &str) -> Run {
    let spec = ModelSpec::parse(text, &[]).unwrap();
    spec.check().unwrap();
    let model = Model::build(&spec).unwrap();
    let samples = sample_instants(&spec, &[]);
    run(&model, &spec.simulation, &samples, None, &mut |_| {
        Flow::Continue
    })
}
