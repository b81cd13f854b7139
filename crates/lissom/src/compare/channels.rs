//! Which channels are compared, and what their differences are small beside.

use std::collections::BTreeSet;

use lissom_core::study::Run;
use lissom_core::{Quantity, Recording, Signal, Source, Stage};
use lissom_numerics::CoordinateKind;
use lissom_spec::ModelSpec;
use lissom_spec::spec::{BeamSpec, GROUND};

use lissom_engine::Mechanism;

/// Names of the channels of a mechanism that begin with one of `beginnings`; unless said marker positions (positions of
/// points in a model of nodes and elements) and free joint coordinates, or elastic coordinates where there are neither.
pub fn chosen_channels(mechanism: &Mechanism, beginnings: Option<&[String]>) -> Vec<String> {
    let Ok(signals) = mechanism.signals() else {
        return Vec::new();
    };
    let named = |wanted: &dyn Fn(&Signal) -> bool| -> Vec<String> {
        let wanted = signals.iter().filter(|signal| wanted(signal));
        wanted.map(|signal| signal.name.clone()).collect()
    };
    if let Some(beginnings) = beginnings {
        let asked = |name: &str| beginnings.iter().any(|b| name.starts_with(b.as_str()));
        return named(&|signal| asked(&signal.name));
    }
    let spec = mechanism.spec();
    let stands = |source| matches!(source, Source::Marker(at) if spec.marker.get(at.0).is_some_and(|own| own.body == GROUND));
    let mut chosen =
        named(&|signal| signal.quantity == Quantity::Position && !stands(signal.source));
    // prescribed motions are no part of the state
    let layout = mechanism.layout().unwrap_or_default();
    let free: BTreeSet<&str> = layout.iter().map(|entry| entry.name.as_str()).collect();
    let of_kind = |wanted: CoordinateKind| {
        named(&|signal| {
            signal.quantity == Quantity::Coordinate(wanted)
                && signal.stage == Stage::Position
                && free.contains(signal.name.as_str())
        })
    };
    chosen.extend(of_kind(CoordinateKind::Joint));
    if chosen.is_empty() {
        chosen = of_kind(CoordinateKind::Elastic);
    }
    chosen
}

/// What distances are small beside: the length of the longest flexible body, or the distance of the outermost points of a
/// model of nodes and elements, or without any the furthest that one of the channels in metres moves.
pub(crate) fn length_scale_m(mechanism: &Mechanism, run: &Run, channels: &[String]) -> f64 {
    let spec = mechanism.spec();
    let reduced = run.audit.bodies.iter().map(|body| body.length_m);
    let beams = spec.body.iter().filter_map(|body| body.beam.as_ref());
    let beams = beams.map(BeamSpec::total_length_m);
    let longest = reduced.chain(beams).fold(0.0, f64::max);
    let apart = (0..3).map(|axis| span(&mut points(spec).map(|point| point[axis])).powi(2));
    let outermost = apart.sum::<f64>().sqrt();
    let moved = channels.iter().map(|name| travel_m(&run.recording, name));
    let sizes = [longest, outermost, moved.fold(0.0, f64::max)];
    sizes.into_iter().find(|&size| size > 0.0).unwrap_or(0.0)
}

/// Where points of a model of nodes and elements stand at first.
fn points(spec: &ModelSpec) -> impl Iterator<Item = [f64; 3]> {
    spec.node.iter().filter_map(|node| {
        let planar = node.planar_point.as_ref().map(|point| {
            let [x, y] = point.position_m;
            [x, y, 0.0]
        });
        planar.or(node.point.as_ref().map(|point| point.position_m))
    })
}

/// How far a channel in metres moves; zero for others.
fn travel_m(recording: &Recording, name: &str) -> f64 {
    let channel = recording.channel(name).filter(|c| c.unit == "m");
    let Some(channel) = channel else {
        return 0.0;
    };
    span(&mut channel.samples.iter().copied())
}

/// Largest less smallest; zero of none.
fn span(values: &mut dyn Iterator<Item = f64>) -> f64 {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values {
        (least, most) = (least.min(value), most.max(value));
    }
    (most - least).max(0.0)
}
