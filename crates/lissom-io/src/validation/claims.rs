//! What \[Jonker & Aarts 2001\] say of their spatial two-link arm in words: shapes, stability, and what the perturbation method saves.

use std::time::Instant;

use lissom::{Interpolation, LinearizedTrajectory, OutputOrder, PerturbOptions};
use lissom_numerics::linear::UndampedModes;
use nalgebra::DMatrix;

use super::nodal::Numbers;
use super::perturbation::{COMPLETE, along_nominal, instants, perturbed, shipped};

const ARM: &str = "spatial-two-link";

/// Intervals of the nominal motion, which is followed from A to B.
const INTERVALS: usize = 100;

/// Modes whose shapes the paper draws.
const DRAWN: usize = 4;

/// Coordinates that move in the plane of the links.
const IN_PLANE: &str = ".bending_z";

/// The arm along its path, which takes a second; it rests in B until the second is over.
fn along_path(changes: &[&str]) -> Option<LinearizedTrajectory> {
    let loaded = shipped(ARM, changes)?;
    let found = along_nominal(&loaded, &instants(2.0, INTERVALS))?;
    Some(found.trajectory)
}

/// How far the lowest shapes at both ends of the path are in the plane of the links or out of it, and the lowest frequency of either kind
/// at the first.
pub(super) fn two_link_shapes() -> Option<Numbers> {
    let trajectory = along_path(&[])?;
    let held = |name: &str| {
        trajectory
            .labels()
            .joints
            .iter()
            .any(|joint| joint.name == name)
    };
    let labels = trajectory.labels().coordinates.iter();
    let elastic = labels.filter(|label| !held(&label.name));
    let in_plane: Vec<bool> = elastic.map(|label| label.name.contains(IN_PLANE)).collect();
    let mut numbers = Numbers::new();
    for (name, point) in [("A", 0), ("B", INTERVALS)] {
        let (mass, stiffness) = trajectory.constrained(point, COMPLETE);
        if mass.nrows() != in_plane.len() {
            return None;
        }
        let modes = UndampedModes::new(&mass, &stiffness).ok()?;
        let mut mixed = 0.0_f64;
        for mode in 0..DRAWN {
            let share = share(&modes.shapes, mode, &mass, &in_plane);
            mixed = mixed.max(share.min(1.0 - share));
            let kind = if share > 0.5 {
                "in_plane"
            } else {
                "out_of_plane"
            };
            let frequency = modes.squares.get(mode)?.sqrt();
            // modes rise, so that the first of a kind is its lowest
            numbers
                .entry(format!("{kind}_at_{name}"))
                .or_insert(frequency);
        }
        numbers.insert(format!("mixed_at_{name}"), mixed);
    }
    Some(numbers)
}

/// Share of some coordinates in the kinetic energy of a mode.
fn share(shapes: &DMatrix<f64>, mode: usize, mass: &DMatrix<f64>, chosen: &[bool]) -> f64 {
    let shape = shapes.column(mode);
    let mut part = shape.into_owned();
    for (entry, chosen) in part.iter_mut().zip(chosen) {
        if !chosen {
            *entry = 0.0;
        }
    }
    (part.transpose() * mass * &part)[0] / (shape.transpose() * mass * shape)[0]
}

/// How fast a deviation grows at the end of the path when nothing but the nominal torques acts.
pub(super) fn two_link_uncontrolled() -> Option<Numbers> {
    let trajectory = along_path(&["controller=[]"])?;
    let point = trajectory.points().last()?;
    let modes = UndampedModes::new(&point.linear.mass, &point.stiffness(COMPLETE)).ok()?;
    let growth = (-modes.squares.first()?).sqrt();
    Some(Numbers::from([("growth_at_B".to_owned(), growth)]))
}

/// Time of a perturbation run, its linearisations counted in, over that of the nonlinear run; each the shortest of several.
pub(super) fn perturbation_time() -> Option<Numbers> {
    const POINTS: usize = 250;
    const RUNS: usize = 3;
    let loaded = shipped(ARM, &[])?;
    let samples = instants(2.0, 200);
    let options = PerturbOptions {
        terms: COMPLETE,
        interpolation: Interpolation::Matrices,
        order: OutputOrder::Second,
    };
    let shortest = |work: &dyn Fn() -> Option<()>| {
        let times = (0..RUNS).map(|_| {
            let began = Instant::now();
            work()?;
            Some(began.elapsed().as_secs_f64())
        });
        let times: Option<Vec<f64>> = times.collect();
        times?.into_iter().reduce(f64::min)
    };
    let linear = shortest(&|| {
        let found = along_nominal(&loaded, &instants(2.0, POINTS))?;
        perturbed(&loaded, &found, options, &samples).map(|_| ())
    })?;
    let nonlinear = shortest(&|| {
        let run = loaded.mechanism.run(&samples);
        (run.recording.len() == samples.len()).then_some(())
    })?;
    Some(Numbers::from([("ratio".to_owned(), linear / nonlinear)]))
}
