//! Runs of models in either formulation, and what is read from their recordings.

use lissom_core::Recording;
use lissom_core::study::{
    Ending, Linearize as _, OutputOrder, Run, SimulateOptions, sample_instants, simulate,
};
use lissom_engine::Mechanism;
use lissom_engine::model::Model;
use lissom_engine::nodal_model::{NodalLinearizer, NodalModel};
use lissom_engine::simulate::{equations_at, written_state};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::Point;
use lissom_spec::ModelSpec;
use lissom_spec::spec::{FormulationSpec, NodalFormulationSpec, SimulationSpec};

use crate::numbers::largest;

/// The mechanism of a model as its file has it.
pub(crate) fn mechanism(spec: &ModelSpec) -> Mechanism {
    Mechanism::build(spec).unwrap()
}

/// The mechanism of a model by the recursions.
pub(crate) fn tree_mechanism(spec: &ModelSpec) -> Mechanism {
    let formulation = FormulationSpec::Tree;
    mechanism(&ModelSpec {
        formulation,
        ..spec.clone()
    })
}

/// The mechanism of a model by so many finite elements in every link.
pub(crate) fn nodal_mechanism(spec: &ModelSpec, elements_per_link: usize) -> Mechanism {
    let formulation = FormulationSpec::Nodal(NodalFormulationSpec { elements_per_link });
    mechanism(&ModelSpec {
        formulation,
        ..spec.clone()
    })
}

/// The equations of a nodal model linearised on its nominal trajectory.
pub(crate) fn nominal_point(nodal: &NodalModel, time_s: f64) -> Point {
    let mut linearizer = NodalLinearizer::new(nodal).unwrap();
    let motion = linearizer.nominal(time_s).unwrap();
    linearizer
        .point(&motion, OutputOrder::First, &mut |_| Flow::Continue)
        .unwrap()
}

/// Runs a model by the recursions as far as it goes.
pub(crate) fn in_tree(spec: &ModelSpec) -> Run {
    tree_mechanism(spec).run(&sample_instants(spec, &[]))
}

/// Runs a tree that was changed after it had been built, such as by another method for its loops.
pub(crate) fn of_model(model: &Model, simulation: &SimulationSpec, samples: &[f64]) -> Run {
    let start = written_state(model, simulation.start_s);
    let equations = || equations_at(model, simulation, &start);
    let (mut dynamics, mut observed) = match (equations(), equations()) {
        (Ok(dynamics), Ok(observed)) => (dynamics, observed),
        (Err(error), _) | (_, Err(error)) => return Run::refused(error),
    };
    let options = SimulateOptions {
        samples,
        channels: None,
        most_lengths: f64::INFINITY,
    };
    let mut watch: &mut dyn FnMut(f64) -> Flow = &mut |_| Flow::Continue;
    simulate(
        &mut dynamics,
        &mut observed,
        &start,
        simulation,
        &options,
        &mut watch,
    )
}

/// Runs a model by finite elements as far as it goes.
pub(crate) fn in_nodes(spec: &ModelSpec, elements: usize) -> Run {
    nodal_mechanism(spec, elements).run(&sample_instants(spec, &[]))
}

/// A run that has reached its end.
#[track_caller]
pub(crate) fn completed(run: Run) -> Run {
    assert_eq!(run.ending, Ending::Completed);
    run
}

/// Samples of a channel.
#[track_caller]
pub(crate) fn samples<'r>(recording: &'r Recording, channel: &str) -> &'r [f64] {
    let found = recording.channel(channel);
    &found
        .unwrap_or_else(|| panic!("no channel {channel}"))
        .samples
}

/// The last sample of a channel.
#[track_caller]
pub(crate) fn last(recording: &Recording, channel: &str) -> f64 {
    *samples(recording, channel).last().unwrap()
}

/// A channel at an instant that was sampled, or between two.
#[track_caller]
pub(crate) fn value_at(recording: &Recording, channel: &str, time: f64) -> f64 {
    let channel = recording.channel(channel).unwrap();
    recording.value_at(channel, time).unwrap()
}

/// A vector of a marker, such as its position, at a sample; a planar node has no z.
pub(crate) fn vector(recording: &Recording, name: &str, sample: usize) -> [f64; 3] {
    ["x", "y", "z"].map(|axis| {
        let channel = recording.channel(&format!("{name}.{axis}"));
        assert!(channel.is_some() || axis == "z", "no channel {name}.{axis}");
        channel.map_or(0.0, |channel| channel.samples[sample])
    })
}

/// Asserts that every channel that both runs have is alike, to a part of its size or of one; how many there are.
#[track_caller]
pub(crate) fn assert_alike(tree: &Run, nodes: &Run, tolerance: f64) -> usize {
    assert_eq!(tree.recording.time_s, nodes.recording.time_s);
    let mut compared = 0;
    // what is held twice is not determined how
    let closures = tree.audit.closures.as_ref();
    let redundant = closures.is_some_and(|closures| !closures.redundant.is_empty());
    let of_constraint = |name: &str| name.contains(".force.") || name.contains(".moment.");
    for channel in &tree.recording.channels {
        let Some(other) = nodes.recording.channel(&channel.name) else {
            continue;
        };
        if redundant && of_constraint(&channel.name) {
            continue;
        }
        compared += 1;
        let size = largest(&channel.samples).max(1.0);
        for (sample, (a, b)) in channel.samples.iter().zip(&other.samples).enumerate() {
            assert!(
                (a - b).abs() < tolerance * size,
                "{} {sample}: {a} {b}",
                channel.name
            );
        }
    }
    compared
}

/// Asserts that two runs have the same channels, in the same units.
#[track_caller]
pub(crate) fn assert_same_channels(tree: &Run, nodes: &Run) {
    let [tree, nodes] = [tree, nodes].map(|run| {
        let channels = run.recording.channels.iter();
        let mut names: Vec<_> = channels.map(|c| (&c.name, &c.unit)).collect();
        names.sort();
        names
    });
    assert_eq!(tree, nodes);
}
