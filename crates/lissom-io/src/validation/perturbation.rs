//! The perturbation method on shipped models, as rows and figures of \[Jonker & Aarts 2001\] ask for it.

use lissom::{
    Flow, Interpolation, Linearized, LinearizedTrajectory, OperatingPoint, OutputOrder, Override,
    PerturbOptions, Point, Recording, SimulateOptions, State, Terms,
};
use lissom_numerics::linear::UndampedModes;

use crate::load::{self, Loaded};
use crate::models;

/// The complete perturbation method.
pub(super) const COMPLETE: Terms = Terms::CASES[0];

/// A shipped model with changes.
pub(super) fn shipped(name: &str, changes: &[&str]) -> Option<Loaded> {
    let changes: Option<Vec<Override>> = (changes.iter())
        .map(|change| Override::parse(change).ok())
        .collect();
    let model = models::find(name)?;
    load::load_text(model.name, model.text, &changes?).ok()
}

/// Component of a place across the direction of an angle.
pub(super) fn lateral([x, y]: [f64; 2], angle: f64) -> f64 {
    let (sin, cos) = angle.sin_cos();
    cos * y - sin * x
}

/// Tip along and across the axis of the hub at the samples.
pub(super) fn turning(recording: &Recording) -> Option<[Vec<f64>; 2]> {
    let of = |name: &str| Some(&recording.channel(name)?.samples);
    let (angle, x, y) = (
        of("hub.rotation")?,
        of("tip.position.x")?,
        of("tip.position.y")?,
    );
    let (mut trajectory, mut across) = (Vec::new(), Vec::new());
    for (i, angle) in angle.iter().enumerate() {
        let (sin, cos) = angle.sin_cos();
        trajectory.push(cos * x[i] + sin * y[i]);
        across.push(lateral([x[i], y[i]], *angle));
    }
    Some([trajectory, across])
}

pub(super) fn instants(end: f64, count: usize) -> Vec<f64> {
    (0..=count).map(|i| end * i as f64 / count as f64).collect()
}

/// A model linearised along its nominal motion.
pub(super) fn along_nominal(loaded: &Loaded, times: &[f64]) -> Option<Linearized> {
    let watch = &mut |_| Flow::Continue;
    let start = loaded.mechanism.start().ok()?;
    loaded
        .mechanism
        .linearize(&start, OperatingPoint::Nominal, times, watch)
        .ok()
}

/// Its perturbation run.
pub(super) fn perturbed(
    loaded: &Loaded,
    linearized: &Linearized,
    options: PerturbOptions,
    samples: &[f64],
) -> Option<Recording> {
    let watch = &mut |_| Flow::Continue;
    let run = (loaded.mechanism)
        .perturb(linearized, samples, options, watch)
        .ok()?;
    Some(run.recording)
}

/// Place of the tip along the axes of the ground at the samples, or how far it is off its nominal place.
pub(super) fn tip(recording: &Recording, what: &str) -> Option<Vec<[f64; 3]>> {
    let of = |axis: &str| Some(&recording.channel(&format!("tip.{what}.{axis}"))?.samples);
    let (x, y) = (of("x")?, of("y")?);
    // a planar point has no third coordinate
    let z = |i: usize| of("z").map_or(0.0, |z| z[i]);
    Some((0..x.len()).map(|i| [x[i], y[i], z(i)]).collect())
}

/// How far the tip of a beam that turns about the origin is off its nominal place, across the beam, at the samples of a
/// perturbation run.
pub(super) fn lag(recording: &Recording) -> Option<Vec<f64>> {
    let places = tip(recording, "position")?;
    let deviations = tip(recording, "deviation")?;
    let across = |(place, off): (&[f64; 3], &[f64; 3])| {
        let angle = (place[1] - off[1]).atan2(place[0] - off[0]);
        lateral([off[0], off[1]], angle)
    };
    Some(places.iter().zip(&deviations).map(across).collect())
}

/// Squares of the constrained natural frequencies at a point, rising.
pub(super) fn squares(
    trajectory: &LinearizedTrajectory,
    point: usize,
    terms: Terms,
) -> Option<Vec<f64>> {
    let (mass, stiffness) = trajectory.constrained(point, terms);
    Some(UndampedModes::new(&mass, &stiffness).ok()?.squares)
}

/// The perturbation run at rest without inertia: the steady deviation of eq (41) at an instant.
pub(super) fn steady(loaded: &Loaded, linearized: &Linearized) -> Option<Recording> {
    let options = PerturbOptions {
        terms: Terms::CASES[1],
        interpolation: Interpolation::Matrices,
        order: OutputOrder::First,
    };
    perturbed(loaded, linearized, options, &[0.0])
}

/// How far the tip is off its nominal place in the nonlinear run that starts from the steady deviation, in metres.
pub(super) fn nonlinear_deviation(
    loaded: &Loaded,
    linearized: &Linearized,
    samples: &[f64],
) -> Option<Vec<[f64; 3]>> {
    let trajectory = &linearized.trajectory;
    let steady = steady(loaded, linearized)?;
    let coordinates = trajectory.labels().coordinates.iter();
    let position = coordinates.map(|label| steady.channel(&label.name)?.samples.first().copied());
    let position: Vec<f64> = position.collect::<Option<_>>()?;
    let still = vec![0.0; position.len()];
    let start = State::new(loaded.spec.simulation.start_s, position, still);
    let options = SimulateOptions {
        samples,
        channels: None,
        most_lengths: f64::INFINITY,
    };
    let simulation = &loaded.spec.simulation;
    let run = (loaded.mechanism).simulate(&start, simulation, &options, &mut |_| Flow::Continue);
    let marker = (trajectory.labels().markers.iter()).position(|name| name == "tip")?;
    let mut places = tip(&run.recording, "position")?;
    for (place, &time) in places.iter_mut().zip(samples) {
        let mut nominal = [0.0; 3];
        let at = |point: &Point, i: usize| point.outputs[marker].position[i];
        trajectory.nominal(time, at, &mut nominal);
        for (x, nominal) in place.iter_mut().zip(nominal) {
            *x -= nominal;
        }
    }
    Some(places)
}

/// Largest difference of two lists of places, component by component.
pub(super) fn largest_apart(a: &[[f64; 3]], b: &[[f64; 3]]) -> [f64; 3] {
    let mut worst = [0.0_f64; 3];
    for (a, b) in a.iter().zip(b) {
        for (worst, (a, b)) in worst.iter_mut().zip(a.iter().zip(b)) {
            *worst = worst.max((a - b).abs());
        }
    }
    worst
}
