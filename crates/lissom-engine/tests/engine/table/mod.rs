//! Everything that acts, in both formulations, through every study: a table of small moving mechanisms.
//!
//! Kind of truth: two formulations. Rigid bodies leave nothing out in either, so that motions, equilibria and eigenvalues agree as
//! well as they are computed.

mod combinations;
mod control;
mod cut_joints;
mod flexible;
mod random;
mod rows;

use std::collections::{BTreeMap, BTreeSet};

use lissom_core::Recording;
use lissom_core::study::{
    AnalysisError, DrivenJoints, Ending, Linearized, OperatingPoint, OutputOrder, PerturbOptions,
    Run, sample_instants,
};
use lissom_engine::Mechanism;
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Interpolation, StateSpace, Terms, TrackedModes};
use nalgebra::Complex;

use crate::models::parsed;
use crate::numbers::distance;
use crate::runs::{assert_alike, nodal_mechanism, tree_mechanism, vector};

/// What acts, and a mechanism on which it does.
fn rows() -> Vec<(&'static str, String)> {
    [rows::rows(), control::rows(), combinations::rows()].concat()
}

/// Motions integrated at a relative tolerance of 1e-11.
const MOTION: f64 = 1e-9;
/// Forces that are balanced to 1e-10 of the largest.
const EQUILIBRIUM: f64 = 1e-7;
/// Eigenvalues of matrices of a few rows, in parts of the largest.
const EIGENVALUES: f64 = 1e-9;
/// A double eigenvalue is off by the square root of rounding.
const DOUBLE: f64 = 1e-7;
/// Linear motions of a hand that moves by centimetres, in m.
const PERTURBATION: f64 = 1e-7;
/// Drift of the energy at that tolerance, in percent.
const DRIFT: f64 = 1e-6;
/// Part of the stiffness that a load of a newton or so, which turns with its marker, has in pendulums of some ten newton metres.
const FOLLOWER: f64 = 1e-3;
/// The worst of the steps, which are not the same in both.
const WORST: f64 = 1e-3;

const INTEGRATOR: &str = "\n[simulation]\nduration_s = 0.2\n\
    integrator.dop853 = { rtol = 1e-11, atol = 1e-13 }\n";

/// Asks every row; tells all that fail.
fn every_row(ask: impl Fn(&str, [Mechanism; 2]) + std::panic::RefUnwindSafe) {
    let failed: Vec<&str> = (rows().iter())
        .filter(|(name, text)| std::panic::catch_unwind(|| ask(name, both(text))).is_err())
        .map(|(name, _)| *name)
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
}

/// A row in both formulations.
fn both(text: &str) -> [Mechanism; 2] {
    let spec = parsed(&(text.to_owned() + INTEGRATOR));
    [tree_mechanism(&spec), nodal_mechanism(&spec, 1)]
}

fn ran(mechanism: &Mechanism) -> Run {
    let run = mechanism.run(&sample_instants(mechanism.spec(), &[]));
    assert_eq!(run.ending, Ending::Completed);
    run
}

fn has_loops(mechanism: &Mechanism) -> bool {
    !mechanism.spec().loops.is_empty()
}

fn going(_: f64) -> Flow {
    Flow::Continue
}

/// Acceleration of every marker by a unit of every input at a point, whatever the coordinates: $`D\,M^{-1}B`$.
fn responses(found: &Linearized, point: usize) -> BTreeMap<(String, String), [f64; 3]> {
    let (labels, point) = (found.trajectory.labels(), &found.trajectory.points()[point]);
    let mass = point.linear.mass.clone().cholesky().unwrap();
    let accelerations = mass.solve(&point.linear.input);
    let mut responses = BTreeMap::new();
    for (marker, output) in labels.markers.iter().zip(&point.outputs) {
        let of_marker = &output.first * &accelerations;
        for (input, column) in labels.inputs.iter().zip(of_marker.column_iter()) {
            let key = (marker.clone(), input.name.clone());
            responses.insert(key, [column[0], column[1], column[2]]);
        }
    }
    responses
}

/// Both formulations offer loads on markers as inputs, and inputs that both have do the same.
#[track_caller]
fn assert_same_responses(name: &str, found: [&Linearized; 2], point: usize) {
    let [tree, nodes] = found.map(|found| responses(found, point));
    let size = (tree.values().flatten()).fold(1.0_f64, |most, x| most.max(x.abs()));
    for (key, tree) in &tree {
        let Some(nodes) = nodes.get(key) else {
            assert!(!key.1.contains("applied"), "{name}: {key:?}");
            continue;
        };
        let apart = distance(*tree, *nodes);
        assert!(
            apart < EIGENVALUES * size,
            "{name}: {key:?} {tree:?} {nodes:?}"
        );
    }
}

/// Sensors that need no forces of constraint read the same at a point.
#[track_caller]
fn assert_same_readings(name: &str, found: [&Linearized; 2], point: usize) {
    let [tree, nodes] = found.map(|found| {
        let readings = &found.trajectory.points()[point].sensors.reading;
        let names = found.trajectory.labels().sensors.iter();
        let named = names.zip(readings);
        named
            .map(|((name, _), reading)| (name.clone(), *reading))
            .collect::<BTreeMap<_, _>>()
    });
    assert_eq!(tree.len(), nodes.len(), "{name}");
    for (channel, reading) in &tree {
        let apart = (reading - nodes[channel]).abs();
        assert!(
            apart < MOTION * reading.abs().max(1.0),
            "{name}: {channel} {apart}"
        );
    }
}

/// Eigenvalues of the linearised equations at a point.
fn eigenvalues(found: &Linearized, point: usize) -> Vec<Complex<f64>> {
    let point = &found.trajectory.points()[point];
    let matrix = StateSpace::new(&found.trajectory, point).unwrap().state;
    matrix.complex_eigenvalues().iter().copied().collect()
}

/// Asserts that every eigenvalue has its like.
#[track_caller]
fn assert_same_eigenvalues(name: &str, found: [&Linearized; 2], point: usize) {
    assert_same_values(name, found.map(|found| eigenvalues(found, point)));
}

/// Asserts that every number has its like.
#[track_caller]
fn assert_same_values(name: &str, [a, mut b]: [Vec<Complex<f64>>; 2]) {
    assert_eq!(a.len(), b.len(), "{name}");
    let size = a.iter().fold(1.0_f64, |most, x| most.max(x.norm()));
    for value in &a {
        let apart = |x: &Complex<f64>| (x - value).norm();
        let (at, nearest) = (b.iter().map(apart).enumerate())
            .min_by(|x, y| x.1.total_cmp(&y.1))
            .unwrap();
        assert!(
            nearest < EIGENVALUES.max(DOUBLE / (1.0 + value.norm())) * size,
            "{name}: {value} in {a:?}, {} in {b:?}",
            b[at]
        );
        b.remove(at);
    }
}

#[test]
fn runs_agree() {
    every_row(|name, mechanisms| {
        let [tree, nodes] = mechanisms.each_ref().map(ran);
        // forces and gaps of what closes loops are known to the tree alone
        let closures = |name: &str| {
            let loops = &mechanisms[0].spec().loops;
            loops
                .iter()
                .any(|closure| name.starts_with(&format!("{}.", closure.name)))
        };
        let names = |run: &Run| -> BTreeSet<(String, String)> {
            let channels = run.recording.channels.iter();
            let told = channels.filter(|channel| !closures(&channel.name));
            told.map(|c| (c.name.clone(), c.unit.clone())).collect()
        };
        assert_eq!(names(&tree), names(&nodes), "{name}");
        let states = mechanisms.each_ref().map(|mechanism| {
            let layout = mechanism.layout().unwrap().into_iter();
            layout
                .map(|coordinate| coordinate.name)
                .collect::<BTreeSet<_>>()
        });
        assert!(
            states[0] == states[1] || has_loops(&mechanisms[0]),
            "{name}: {states:?}"
        );
        assert!(assert_alike(&tree, &nodes, MOTION) > 8, "{name}");
        let worst = |run: &Run| -> Vec<f64> {
            let violations = run.audit.limit_violations.iter();
            violations.map(|violation| violation.worst).collect()
        };
        let [a, b] = [&tree, &nodes].map(worst);
        assert_eq!(a.len(), b.len(), "{name}");
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() < WORST * a.abs(), "{name}: {a} {b}");
        }
        assert!(name != "limits" || a.len() > 2, "{a:?}");
        assert!(nodes.audit.energy.max_drift_percent < DRIFT, "{name}");
    });
}

/// At a dead point the angle of the driven rocker is no coordinate any more: both go on with another one.
#[test]
fn a_dead_point_of_the_coordinate_is_passed_in_both() {
    let [tree, nodes] = both(&rows::dead_point()).map(|mechanism| ran(&mechanism));
    assert!(assert_alike(&tree, &nodes, MOTION) > 8);
}

#[test]
fn equilibria_agree() {
    every_row(|name, mechanisms| {
        let [tree, nodes] =
            mechanisms.map(|mechanism| mechanism.equilibrium(&mechanism.written()).unwrap());
        for channel in &tree.recording.channels {
            let Some(other) = nodes.recording.channel(&channel.name) else {
                continue;
            };
            let (a, b) = (channel.samples[0], other.samples[0]);
            let size = a.abs().max(1.0);
            let what = &channel.name;
            assert!((a - b).abs() < EQUILIBRIUM * size, "{name} {what}: {a} {b}");
        }
        assert_eq!(tree.stability, nodes.stability, "{name}");
    });
}

#[test]
fn linear_models_agree() {
    every_row(|name, mechanisms| {
        for (place, times) in [
            (OperatingPoint::Start, &[][..]),
            (OperatingPoint::Equilibrium, &[]),
            (OperatingPoint::Nominal, &[0.0, 0.1]),
            (OperatingPoint::Run, &[0.05, 0.2]),
        ] {
            let found = mechanisms.each_ref().map(|mechanism| {
                mechanism
                    .linearize(&mechanism.written(), place, times, &mut going)
                    .unwrap_or_else(|error| panic!("{name} {place:?}: {error}"))
            });
            for found in &found {
                let inputs = found.trajectory.labels().inputs.iter();
                let inputs: Vec<&String> = inputs.map(|label| &label.name).collect();
                let once: BTreeSet<_> = inputs.iter().collect();
                assert_eq!(once.len(), inputs.len(), "{name}: {inputs:?}");
            }
            for point in 0..found[0].trajectory.points().len() {
                let name = format!("{name} {place:?} {point}");
                assert_same_responses(&name, found.each_ref(), point);
                if !matches!(place, OperatingPoint::Equilibrium) {
                    assert_same_readings(&name, found.each_ref(), point);
                }
            }
            let coordinates = |found: &Linearized| {
                let labels = found.trajectory.labels().coordinates.iter();
                labels
                    .map(|label| label.name.clone())
                    .collect::<BTreeSet<_>>()
            };
            let [tree, nodes] = found.each_ref().map(coordinates);
            // which coordinates follow from others in a loop is each formulation's own choice
            assert!(
                tree == nodes || has_loops(&mechanisms[0]),
                "{name}: {tree:?} {nodes:?}"
            );
            if tree != nodes && !matches!(place, OperatingPoint::Equilibrium) {
                continue;
            }
            for point in 0..found[0].trajectory.points().len() {
                let name = format!("{name} {place:?} {point}");
                assert_same_eigenvalues(&name, found.each_ref(), point);
            }
        }
    });
}

/// Loads that turn with what they act on make the stiffness unsymmetric, and friction adds to the damping.
#[test]
fn linear_models_contain_follower_loads_and_friction() {
    let rows = rows();
    let text = |name: &str| &rows.iter().find(|(row, _)| *row == name).unwrap().1;
    let point = |text: &str| {
        both(text).map(|mechanism| {
            let found = mechanism
                .linearize(
                    &mechanism.written(),
                    OperatingPoint::Equilibrium,
                    &[],
                    &mut going,
                )
                .unwrap();
            found.trajectory.points()[0].linear.clone()
        })
    };
    for name in ["force that follows", "torque that follows"] {
        for linear in point(text(name)) {
            let stiffness = linear.stiffness();
            let skew = (&stiffness - stiffness.transpose()).amax();
            assert!(skew > FOLLOWER * stiffness.amax(), "{name}: {skew}");
        }
    }
    for linear in point(text("force at a marker")) {
        let stiffness = linear.stiffness();
        let skew = (&stiffness - stiffness.transpose()).amax();
        assert!(skew < EIGENVALUES * stiffness.amax(), "{skew}");
    }
    // viscous and smoothed Coulomb friction at rest: 0.1 + 0.4/0.3
    for linear in point(text("friction")) {
        let damping = linear.damping[(1, 1)];
        assert!(
            (damping - (0.1 + 0.4 / 0.3)).abs() < EIGENVALUES,
            "{damping}"
        );
    }
}

/// Driven joints are free.
const FREE: DrivenJoints = DrivenJoints {
    free: true,
    closed_loop: false,
};

#[test]
fn modes_agree() {
    every_row(|name, mechanisms| {
        let squares = mechanisms.each_ref().map(|mechanism| {
            let found = mechanism
                .frozen(
                    &mechanism.written(),
                    OperatingPoint::Start,
                    &[],
                    FREE,
                    &mut going,
                )
                .unwrap();
            let point = &found.points[0].linear;
            let mass = point.mass.clone().cholesky().unwrap();
            let mut values: Vec<f64> = mass
                .solve(&point.structural)
                .complex_eigenvalues()
                .iter()
                .map(|value| value.re)
                .collect();
            values.sort_by(f64::total_cmp);
            values
        });
        let size = squares[0].iter().fold(1.0_f64, |most, x| most.max(x.abs()));
        for (a, b) in squares[0].iter().zip(&squares[1]) {
            assert!((a - b).abs() < EIGENVALUES * size, "{name}: {squares:?}");
        }
    });
}

/// With the loops of controllers closed, motions decay and vibrate alike in both formulations; and modes, with what the states of
/// controllers add, have the eigenvalues of the first-order equations, by other matrices and another iteration.
#[test]
fn closed_loops_agree() {
    const CLOSED: DrivenJoints = DrivenJoints {
        free: true,
        closed_loop: true,
    };
    every_row(|name, mechanisms| {
        let spec = mechanisms[0].spec();
        let acts = !spec.controller.is_empty() || !spec.actuator.is_empty();
        let found = mechanisms.each_ref().map(|mechanism| {
            let start = mechanism.written();
            let open = mechanism.linearize(&start, OperatingPoint::Nominal, &[0.1], &mut going);
            mechanism.with_controllers(&open.unwrap())
        });
        if spec.controller.iter().any(|own| own.sampled.is_some()) {
            let sampled = |error: &AnalysisError| matches!(error, AnalysisError::Sampled { .. });
            assert!(
                found.iter().all(|found| found.as_ref().is_err_and(sampled)),
                "{name}"
            );
            return;
        }
        let found = found.map(Result::unwrap);
        assert_same_eigenvalues(name, found.each_ref(), 0);
        if !acts {
            return;
        }
        for (mechanism, found) in mechanisms.iter().zip(&found) {
            let start = mechanism.written();
            let frozen =
                mechanism.frozen(&start, OperatingPoint::Nominal, &[0.1], CLOSED, &mut going);
            let modes = TrackedModes::new(&frozen.unwrap(), Terms::CASES[0], 64).unwrap();
            let roots = modes.modes.iter().filter_map(|mode| mode[0].roots);
            let pairs = modes.further[0].iter().flat_map(|root| {
                let conjugate = (root.im != 0.0).then(|| root.conj());
                [Some(*root), conjugate].into_iter().flatten()
            });
            let all: Vec<_> = roots.flatten().chain(pairs).collect();
            assert_same_values(name, [eigenvalues(found, 0), all]);
        }
    });
}

/// The linear motion of a mechanism about its nominal one, as long as joints that nothing drives stay near it.
fn perturbed(mechanism: &Mechanism) -> Result<Recording, AnalysisError> {
    let times: Vec<f64> = (0..=20).map(|i| 0.0025 * f64::from(i)).collect();
    let times = mechanism.with_breaks(&times).unwrap();
    let found = mechanism
        .linearize(
            &mechanism.written(),
            OperatingPoint::Nominal,
            &times,
            &mut going,
        )
        .unwrap();
    let options = PerturbOptions {
        terms: Terms::CASES[0],
        interpolation: Interpolation::Matrices,
        order: OutputOrder::First,
    };
    let samples = [0.0, 0.025, 0.05];
    let run = mechanism.perturb(&found, &samples, options, &mut going);
    Ok(run?.recording)
}

#[test]
fn perturbations_agree() {
    every_row(|name, mechanisms| {
        let [tree, nodes] = mechanisms.each_ref().map(perturbed);
        if let Err(error) = &tree {
            // ticks and limits are not linear
            let expected = match error {
                AnalysisError::Sampled { .. } => name.starts_with("sampled"),
                AnalysisError::AtLimit { .. } => {
                    name.starts_with("actuator at its limit") || name.contains("fast")
                }
                _ => false,
            };
            assert!(expected, "{name}: {error}");
            assert_eq!(error.to_string(), nodes.unwrap_err().to_string());
            return;
        }
        let (tree, nodes) = (tree.unwrap(), nodes.unwrap());
        let hand =
            |recording: &Recording, sample: usize| vector(recording, "hand.position", sample);
        for sample in 0..tree.len() {
            let apart = distance(hand(&tree, sample), hand(&nodes, sample));
            assert!(apart < PERTURBATION, "{name} {sample}: {apart}");
        }
    });
}

#[test]
fn recordings_hold_states_and_can_be_drawn() {
    every_row(|name, mechanisms| {
        for mechanism in mechanisms {
            let run = ran(&mechanism);
            let state = mechanism.recorded_state(&run.recording, 0.2).unwrap();
            let end = run.last.as_ref().unwrap();
            for (a, b) in state.position.iter().zip(&end.position) {
                assert!((a - b).abs() < MOTION, "{name}: {a} {b}");
            }
            assert!(!mechanism.scene().unwrap().bodies.is_empty(), "{name}");
            let frames = mechanism.frames(&run.recording, 10);
            assert!(!frames.unwrap().poses.is_empty(), "{name}");
        }
    });
}
