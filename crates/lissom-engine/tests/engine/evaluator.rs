//! Evaluators: each quantity by itself, at one state and at many.

use std::collections::BTreeMap;

use lissom_engine::evaluate::{EvaluateOptions, MarkerPose};
use lissom_engine::testing::{Random, Variety};
use lissom_engine::{Evaluator, Mechanism, RowQuantity, StateRows};

use crate::evaluate::{AGREEMENT, ARM, assert_alike, by_name, in_nodes, parallelogram};
use crate::models::parsed;
use crate::shipped::{PLANAR_3RRR, SPACE_ARM, SPATIAL_3RRS};

/// Identity: an evaluator says what single evaluations say, at one state after the other, in both formulations; its Jacobian
/// gives the twist that a motion has.
#[test]
fn an_evaluator_says_what_evaluations_say() {
    let spec = parsed(ARM);
    for mechanism in [Mechanism::build(&spec).unwrap(), in_nodes(&spec)] {
        let mut evaluator = Evaluator::new(&mechanism).unwrap();
        let free = std::sync::Arc::clone(evaluator.mechanism());
        let n = evaluator.velocity_count();
        assert_eq!(evaluator.markers(), ["tool"]);
        for turn in [0.0, 0.4, -1.3] {
            let mut state = free.written();
            for (at, x) in state.position.iter_mut().enumerate() {
                *x += turn * (1.0 + at as f64);
            }
            state.velocity = vec![0.4, -0.8, 0.5 + turn];
            let options = EvaluateOptions {
                force: vec![2.0, -1.0, 4.0],
                acceleration: Some(vec![0.5, -0.7, 0.9]),
            };
            let expected = free.evaluate(&state, &options).unwrap();
            let (time_s, motion) = (state.time_s, [&state.position[..], &state.velocity]);
            let mut mass = vec![0.0; n * n];
            evaluator.mass_matrix(time_s, motion[0], &mut mass);
            let [mut bias, mut force, mut acceleration] = [0; 3].map(|_| vec![0.0; n]);
            evaluator.inverse_dynamics(time_s, motion, &vec![0.0; n], &mut bias);
            evaluator.inverse_dynamics(time_s, motion, &[0.5, -0.7, 0.9], &mut force);
            evaluator.forward_dynamics(time_s, motion, &options.force, &mut acceleration);
            for (row, expected) in mass.chunks(n).zip(expected.mass_matrix.chunks(n)) {
                assert_alike(&by_name(&free, row), &by_name(&free, expected));
            }
            for (found, expected) in [
                (bias, expected.bias),
                (force, expected.inverse_dynamics.unwrap()),
                (acceleration, expected.acceleration),
            ] {
                assert_alike(&by_name(&free, &found), &by_name(&free, &expected));
            }
            let pose = evaluator.marker(time_s, motion, 0).unwrap();
            let expected = &free.marker_poses(&state).unwrap()[0];
            let numbers = |pose: &MarkerPose| {
                let rows = pose.pose.rotation.0.concat();
                [&rows[..], &pose.pose.translation.0, &pose.twist.angular.0].concat()
            };
            for (found, expected) in numbers(&pose).iter().zip(numbers(expected)) {
                assert!((found - expected).abs() < AGREEMENT, "{found} {expected}");
            }
            let mut jacobian = vec![0.0; 6 * n];
            evaluator.jacobian(time_s, motion[0], 0, &mut jacobian);
            let twist = [pose.twist.angular.0, pose.twist.linear.0].concat();
            for (row, twist) in jacobian.chunks(n).zip(twist) {
                let found: f64 = row.iter().zip(&state.velocity).map(|(j, v)| j * v).sum();
                assert!((found - twist).abs() < AGREEMENT, "{found} {twist}");
            }
            let energy = evaluator.energy_and_momentum(time_s, motion);
            let kinetic: f64 = (mass.chunks(n).zip(&state.velocity))
                .map(|(row, v)| {
                    v * row
                        .iter()
                        .zip(&state.velocity)
                        .map(|(m, v)| m * v)
                        .sum::<f64>()
                })
                .sum();
            assert!((energy.kinetic - 0.5 * kinetic).abs() < AGREEMENT * kinetic);
        }
    }
}

/// States about the one that a mechanism writes down, row by row.
fn rows_about(evaluator: &mut Evaluator, count: usize, random: &mut Random) -> Vec<f64> {
    let written = evaluator.mechanism().written();
    let n = evaluator.velocity_count();
    let mut rows = Vec::new();
    for _ in 0..count {
        let mut position = written.position.clone();
        evaluator.displace(&written.position, &random.list(n, 0.02), &mut position);
        rows.extend(position);
        rows.extend(random.list(n, 1.0));
    }
    rows
}

/// Property: many states at once have the bits of one after the other, whatever their number, with loops and where one of them is not
/// a number. Nodes are placed from where they were before, and agree to rounding.
#[test]
fn rows_have_the_bits_of_single_calls() {
    let [arm, space, loops] = [ARM, SPACE_ARM, PLANAR_3RRR].map(parsed);
    let mechanisms = vec![
        Mechanism::build(&arm).unwrap(),
        in_nodes(&arm),
        Mechanism::build(&space).unwrap(),
        Mechanism::build(&loops).unwrap(),
        Mechanism::build(&Variety::everything(7).mechanism(5)).unwrap(),
    ];
    let random = &mut Random::new(11);
    for mechanism in mechanisms {
        let mut evaluator = Evaluator::new(&mechanism).unwrap();
        let [n_q, n] = [evaluator.position_count(), evaluator.velocity_count()];
        for count in [1, 4, 6, 9] {
            let mut motion = rows_about(&mut evaluator, count, random);
            if count == 6 {
                motion[n_q] = f64::NAN;
            }
            for with in [Vec::new(), random.list(n, 1.0), random.list(count * n, 1.0)] {
                let rows = StateRows {
                    time_s: 0.0,
                    motion: &motion,
                    with: &with,
                };
                for quantity in [
                    RowQuantity::MassMatrix,
                    RowQuantity::InverseDynamics,
                    RowQuantity::ForwardDynamics,
                ] {
                    let size = if quantity == RowQuantity::MassMatrix {
                        n * n
                    } else {
                        n
                    };
                    let mut together = vec![0.0; count * size];
                    evaluator.evaluate_rows(quantity, &rows, &mut together);
                    for (at, together) in together.chunks(size).enumerate() {
                        let state = motion[at * (n_q + n)..][..n_q + n].split_at(n_q).into();
                        let own = match with.len() / n {
                            0 | 1 => &with,
                            _ => &with[at * n..][..n],
                        };
                        let alone = single(&mut evaluator, quantity, state, own, size);
                        for (x, y) in together.iter().zip(&alone) {
                            let same = if evaluator.is_independent() {
                                x.to_bits() == y.to_bits()
                            } else {
                                x.is_nan() && y.is_nan() || (x - y).abs() < AGREEMENT
                            };
                            assert!(same, "{quantity:?} row {at} of {count}: {x} {y}");
                            assert!(y.is_finite() || count == 6);
                        }
                    }
                }
            }
        }
    }
}

/// A quantity of one state.
fn single(
    evaluator: &mut Evaluator,
    quantity: RowQuantity,
    state: [&[f64]; 2],
    with: &[f64],
    size: usize,
) -> Vec<f64> {
    let still = vec![0.0; state[1].len()];
    let mut found = vec![0.0; size];
    match quantity {
        RowQuantity::MassMatrix => evaluator.mass_matrix(0.0, state[0], &mut found),
        RowQuantity::InverseDynamics => {
            let acceleration = if with.is_empty() { &still } else { with };
            evaluator.inverse_dynamics(0.0, state, acceleration, &mut found);
        }
        RowQuantity::ForwardDynamics => evaluator.forward_dynamics(0.0, state, with, &mut found),
    }
    found
}

/// Inverse function: what leads from one position to another in unit time is what displaced it, and to first order in the time
/// it is the velocity.
#[test]
fn differences_take_displacements_back() {
    let floating = Variety {
        joint_kinds: Variety::VECTOR_JOINTS,
        ..Variety::everything(6)
    };
    let (arm, space) = (parsed(ARM), parsed(SPACE_ARM));
    let mechanisms = vec![
        Mechanism::build(&arm).unwrap(),
        Mechanism::build(&space).unwrap(),
        in_nodes(&space),
        Mechanism::build(&floating.mechanism(3)).unwrap(),
    ];
    let random = &mut Random::new(5);
    for mechanism in mechanisms {
        let mut evaluator = Evaluator::new(&mechanism).unwrap();
        let (from, n) = (
            evaluator.mechanism().written().position,
            evaluator.velocity_count(),
        );
        for size in [1e-3, 0.5] {
            let change = random.list(n, size);
            let (mut to, mut found) = (from.clone(), vec![0.0; n]);
            evaluator.displace(&from, &change, &mut to);
            evaluator.difference(&from, &to, &mut found);
            for (found, change) in found.iter().zip(&change) {
                assert!((found - change).abs() < 1e-12, "{found} {change}");
            }
        }
    }
}

/// Agreement of two ways: exact derivatives against central differences of the accelerations, whose error is of second order in the
/// step; joints of every kind, orientations displaced as velocities turn them, loops in every direction that opens them, and nodes.
#[test]
fn derivatives_are_slopes_of_the_accelerations() {
    const STEP: f64 = 1e-5;
    /// Share of the largest derivative: the step squared, with room for third derivatives above the first.
    const SLOPE: f64 = 1e-6;
    let mechanisms = vec![
        Mechanism::build(&parsed(ARM)).unwrap(),
        Mechanism::build(&parsed(SPACE_ARM)).unwrap(),
        Mechanism::build(&Variety::everything(7).mechanism(5)).unwrap(),
        Mechanism::build(&parsed(PLANAR_3RRR)).unwrap(),
        Mechanism::build(&parsed(SPATIAL_3RRS)).unwrap(),
        in_nodes(&parsed(ARM)),
        in_nodes(&parsed(SPACE_ARM)),
        in_nodes(&parsed(PLANAR_3RRR)),
    ];
    let random = &mut Random::new(13);
    for mechanism in mechanisms {
        let mut evaluator = Evaluator::new(&mechanism).unwrap();
        let [n_q, n] = [evaluator.position_count(), evaluator.velocity_count()];
        let motion = rows_about(&mut evaluator, 1, random);
        let (position, velocity) = motion.split_at(n_q);
        let force = random.list(n, 1.0);
        let mut exact = vec![0.0; 3 * n * n];
        evaluator.forward_derivatives(0.0, [position, velocity], &force, &mut exact);
        let mut slope = |which: usize, along: usize| -> Vec<f64> {
            let mut ends = [STEP, -STEP].map(|step| {
                let mut unit = vec![0.0; n];
                unit[along] = step;
                let sum = |base: &[f64]| base.iter().zip(&unit).map(|(x, dx)| x + dx).collect();
                let (mut q, mut v, mut f) = (position.to_vec(), velocity.to_vec(), force.clone());
                match which {
                    0 => evaluator.displace(position, &unit, &mut q),
                    1 => v = sum(velocity),
                    _ => f = sum(&force),
                }
                let mut acceleration = vec![0.0; n];
                evaluator.forward_dynamics(0.0, [&q, &v], &f, &mut acceleration);
                acceleration
            });
            let [ahead, behind] = &mut ends;
            let pairs = ahead.iter().zip(behind);
            pairs.map(|(a, b)| (a - *b) / (2.0 * STEP)).collect()
        };
        for (which, exact) in exact.chunks(n * n).enumerate() {
            let largest = exact.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            assert!(largest > 0.0);
            for along in 0..n {
                for (row, slope) in slope(which, along).iter().enumerate() {
                    let exact = exact[row * n + along];
                    let off = (exact - slope).abs() / largest;
                    assert!(off < SLOPE, "{which} {row} {along}: {exact} {slope}");
                }
            }
        }
    }
}

/// Identity: where loops close, accelerations are those of the closed mechanism, far from where it was assembled too.
#[test]
fn an_evaluator_keeps_loops_closed() {
    let mechanism = Mechanism::build(&parallelogram()).unwrap();
    let mut evaluator = Evaluator::new(&mechanism).unwrap();
    let free = std::sync::Arc::clone(evaluator.mechanism());
    let crank = free.coordinates().unwrap()[0][0].name.clone();
    for turn in [0.0, 0.6, 2.5] {
        let written = free.written().position[0];
        let given = BTreeMap::from([
            (crank.clone(), written + turn),
            (format!("{crank}.rate"), 1.5),
        ]);
        let state = free.state(0.0, &given).unwrap();
        let found = free.evaluate(&state, &EvaluateOptions::default()).unwrap();
        let expected = found.closed.unwrap().unwrap().acceleration;
        let mut acceleration = vec![0.0; expected.len()];
        evaluator.forward_dynamics(
            0.0,
            [&state.position, &state.velocity],
            &[],
            &mut acceleration,
        );
        assert_alike(&by_name(&free, &acceleration), &by_name(&free, &expected));
    }
}

/// Property: of what cannot move there is nothing to find, and no panic.
#[test]
fn what_cannot_move_has_no_rows() {
    let clamped = r#"
format = 1
[[body]]
name = "block"
rigid = { mass_kg = 2.0, inertia_kg_m2 = [0.1, 0.1, 0.1] }
[[joint]]
name = "clamp"
parent = "ground"
child = "block"
fixed = {}
"#;
    let mut evaluator = Evaluator::new(&Mechanism::build(&parsed(clamped)).unwrap()).unwrap();
    let rows = StateRows {
        time_s: 0.0,
        motion: &[],
        with: &[],
    };
    for quantity in [RowQuantity::MassMatrix, RowQuantity::ForwardDynamics] {
        evaluator.evaluate_rows(quantity, &rows, &mut []);
    }
    assert_eq!(evaluator.velocity_count(), 0);
}
