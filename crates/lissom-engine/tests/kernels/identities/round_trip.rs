//! Forward and inverse dynamics undo each other, and the two forward algorithms agree.

use lissom_engine::testing::{Random, RandomBody, RandomJoint, Variety, random_state};
use lissom_spec::spec::{ConstantRateSpec, MotionSpec};
use lissom_tree::tree::ArticulatedBody;
use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::tools::*;

/// Error of a solution with a backward stable method, in units of rounding times condition number.
const BACKWARD_STABLE: f64 = 100.0 * f64::EPSILON;
/// Asked of chains of 30 flexible bodies, whose condition numbers reach 1e5 and more.
const LONG_CHAIN: f64 = 1e-8;
/// Entries of the mass matrix and of its derivative are sums of the same products in another order.
const ROUNDING: f64 = 1e-12;

/// Condition number of the mass matrix, rows and columns scaled to a unit diagonal so that units do not
/// count, and the scales.
fn scaled_condition(matrix: &DMatrix<f64>) -> (f64, DVector<f64>) {
    let scale = matrix.diagonal().map(f64::sqrt);
    let size = matrix.nrows();
    let unit = DMatrix::from_fn(size, size, |i, j| matrix[(i, j)] / (scale[i] * scale[j]));
    let eigenvalues = SymmetricEigen::new(unit).eigenvalues;
    assert!(
        eigenvalues.min() > 0.0,
        "a mass matrix is positive definite, smallest eigenvalue {}",
        eigenvalues.min()
    );
    (eigenvalues.max() / eigenvalues.min(), scale)
}

/// Length of a vector of accelerations in the scales of the mass matrix.
fn scaled_length(x: &[f64], scale: &DVector<f64>) -> f64 {
    length(&x.iter().zip(scale).map(|(x, s)| x * s).collect::<Vec<_>>())
}

#[test]
fn forward_dynamics_undo_inverse_dynamics() {
    for case in trees() {
        let system = case.system();
        let size = system.velocity_count();
        let kinematics = case.kinematics();
        let matrix = DMatrix::from_row_slice(size, size, &mass(system, &kinematics));
        let (condition, scale) = scaled_condition(&matrix);
        let wanted = &case.state.acceleration;
        let force = forces(system, &kinematics, wanted);
        // the forces contain a bias: what the accelerations would be without forces is part of the scale
        let bias = forces(system, &kinematics, &vec![0.0; size]);
        let size_of_bias: Vec<f64> = bias.iter().zip(&scale).map(|(b, s)| b / s).collect();
        let scale_of_error = scaled_length(wanted, &scale) + length(&size_of_bias);

        let by_articulated = accelerations(system, &kinematics, &force);
        let by_composite = accelerations_by_mass_matrix(system, &kinematics, &force);
        for (found, algorithm) in [
            (&by_articulated, "articulated"),
            (&by_composite, "composite"),
        ] {
            let apart: Vec<f64> = found.iter().zip(wanted).map(|(a, b)| a - b).collect();
            assert_small(
                &[scaled_length(&apart, &scale) / scale_of_error],
                BACKWARD_STABLE * condition,
                &format!("{algorithm} bodies undo inverse dynamics, {}", case.name),
            );
        }
        // the other way round no condition number enters
        let again = forces(system, &kinematics, &by_articulated);
        let apart: Vec<f64> = again.iter().zip(&force).map(|(a, b)| a - b).collect();
        let scaled =
            |x: &[f64]| length(&x.iter().zip(&scale).map(|(x, s)| x / s).collect::<Vec<_>>());
        assert_small(
            &[scaled(&apart) / (scaled(&force) + scaled(&bias))],
            ROUNDING,
            &format!("inverse dynamics undo forward dynamics, {}", case.name),
        );
    }
}

#[test]
fn chains_of_thirty_flexible_bodies_round_trip() {
    for (kind, seed) in [
        (RandomBody::ClampedFree, 31),
        (RandomBody::FreeFree, 32),
        (RandomBody::Nodal, 33),
    ] {
        let chain = Variety {
            body_kinds: &[kind],
            joint_kinds: &[RandomJoint::Revolute],
            branching: false,
            ..Variety::everything(30)
        };
        let case = Case::new(&chain, seed);
        let kinematics = case.kinematics();
        let force = forces(case.system(), &kinematics, &case.state.acceleration);
        let found = accelerations(case.system(), &kinematics, &force);
        let what = format!("{kind:?} chain, {}", case.name);
        assert_close(&found, &case.state.acceleration, LONG_CHAIN, &what);
    }
}

#[test]
fn mass_matrix_is_the_derivative_of_forces_by_accelerations() {
    for case in trees() {
        let system = case.system();
        let size = system.velocity_count();
        let matrix = mass(system, &case.kinematics());
        let scales = entry_scales(&matrix, size);
        let (q, v) = (
            lift::<Rate>(&case.state.position),
            lift(&case.state.velocity),
        );
        let kinematics = prepared(system, &q, &v);
        let mut by_forces = vec![0.0; size * size];
        for j in 0..size {
            let mut acceleration = lift::<Rate>(&case.state.acceleration);
            acceleration[j].tangent[0] = 1.0;
            let column = tangents(&forces(system, &kinematics, &acceleration));
            for (i, x) in column.into_iter().enumerate() {
                by_forces[i * size + j] = x;
            }
        }
        let what = format!("mass matrix as derivative, {}", case.name);
        assert_close_by_entry(&matrix, &by_forces, &scales, ROUNDING, &what);
        for i in 0..size {
            for j in 0..i {
                let (lower, upper) = (matrix[i * size + j], matrix[j * size + i]);
                assert!((lower - upper).abs() <= ROUNDING * scales[i * size + j]);
            }
        }
        // asserts that it is positive definite
        scaled_condition(&DMatrix::from_row_slice(size, size, &matrix));
    }
}

#[test]
fn the_operator_is_the_inverse_of_the_mass_matrix() {
    for case in trees() {
        let system = case.system();
        let size = system.velocity_count();
        let kinematics = case.kinematics();
        let matrix = DMatrix::from_row_slice(size, size, &mass(system, &kinematics));
        let (condition, scale) = scaled_condition(&matrix);
        // by factoring, as the number of modes asks for, and by the indirect inverse wherever it can be
        for indirect_from in [usize::MAX, 1] {
            let mut articulated = ArticulatedBody::with_indirect_from(system, indirect_from);
            articulated.factor(system, &kinematics);
            let units = DMatrix::from_diagonal(&scale);
            let mut columns = DMatrix::zeros(size, size);
            articulated.solve_columns(
                system,
                &kinematics,
                units.as_slice(),
                columns.as_mut_slice(),
            );
            let worst = (&matrix * columns - units)
                .row_iter()
                .zip(&scale)
                .fold(0.0_f64, |worst, (row, scale)| worst.max(row.amax() / scale));
            let what = format!("M times its inverse, {}, {indirect_from}", case.name);
            assert_small(&[worst], BACKWARD_STABLE * condition, &what);
        }
    }
}

/// The indirect inverse (B3) is taken by nodal bodies and unshortened beams, clamped and free, of the last tree at least.
/// Derivatives in time go the same way.
#[test]
fn the_indirect_inverse_gives_the_same_accelerations() {
    let mut taken = 0;
    for case in trees() {
        let system = case.system();
        let (position, velocity) = case.in_time();
        let kinematics = prepared(system, &position, &velocity);
        // forces that do not change
        let force: Vec<Rate> = lift(&forces(
            system,
            &case.kinematics(),
            &case.state.acceleration,
        ));
        let values = |x: &[Rate]| -> Vec<f64> { x.iter().map(|x| x.value).collect() };
        let by = |indirect_from: usize| {
            let mut articulated = ArticulatedBody::with_indirect_from(system, indirect_from);
            articulated.factor(system, &kinematics);
            let mut acceleration = lift::<Rate>(&vec![0.0; system.velocity_count()]);
            articulated.forward_dynamics(system, &kinematics, &force, &mut acceleration);
            acceleration
        };
        let (direct, indirect) = (by(usize::MAX), by(1));
        taken += usize::from(direct != indirect);
        for (direct, indirect) in [
            (values(&direct), values(&indirect)),
            (tangents(&direct), tangents(&indirect)),
        ] {
            let most = largest(&direct).max(1.0);
            let apart: Vec<f64> = (direct.iter().zip(&indirect))
                .map(|(a, b)| (a - b) / most)
                .collect();
            assert_small(&apart, 1e-9, &format!("indirect inverse, {}", case.name));
        }
    }
    assert!(taken > 1, "the two ways round differently where both exist");
}

/// Joints with a prescribed motion: their accelerations are given, the forces on all other coordinates hold,
/// and the operator inverts the block of the mass matrix that is free.
#[test]
fn prescribed_joints_follow_their_motion() {
    let mut spec = Variety::everything(12).mechanism(34);
    let moved = spec
        .joint
        .iter()
        .filter(|joint| joint.revolute.is_some() || joint.prismatic.is_some());
    spec.motion = moved
        .map(|joint| MotionSpec {
            joint: joint.name.clone(),
            constant_rate: Some(ConstantRateSpec::default()),
            ..MotionSpec::default()
        })
        .collect();
    let model = build(&spec);
    let system = &model.linkage.system;
    let size = system.velocity_count();
    let mut random = Random::new(35);
    let state = random_state(system, &mut random);
    let given: Vec<usize> = model.motions.iter().map(|motion| motion.velocity).collect();
    assert!(given.len() > 2);
    let free: Vec<usize> = (0..size).filter(|i| !given.contains(i)).collect();

    let kinematics = prepared(system, &state.position, &state.velocity);
    let force = random.list(size, 10.0);
    let mut acceleration = state.acceleration.clone();
    let mut articulated = ArticulatedBody::new(system);
    articulated.factor(system, &kinematics);
    articulated.forward_dynamics(system, &kinematics, &force, &mut acceleration);
    for &at in &given {
        assert_eq!(acceleration[at], state.acceleration[at]);
    }
    let needed = forces(system, &kinematics, &acceleration);
    let pick = |x: &[f64]| free.iter().map(|&i| x[i]).collect::<Vec<_>>();
    // relative to the bias, in which elastic forces are far larger than those applied
    let bias = forces(system, &kinematics, &vec![0.0; size]);
    let scale: Vec<f64> = pick(&bias).iter().map(|x| 10.0 + x.abs()).collect();
    let what = "forces on free coordinates";
    assert_close_by_entry(&pick(&needed), &pick(&force), &scale, ROUNDING, what);

    let mut solution = vec![0.0; size];
    articulated.solve(system, &kinematics, &force, &mut solution);
    assert!(given.iter().all(|&at| solution[at] == 0.0));
    let matrix = mass(system, &kinematics);
    let count = free.len();
    let block = DMatrix::from_fn(count, count, |i, j| matrix[free[i] * size + free[j]]);
    let (condition, scale) = scaled_condition(&block);
    let product = block * DVector::from_vec(pick(&solution));
    let what = "operator on free coordinates";
    let most = pick(&force)
        .iter()
        .zip(&scale)
        .fold(0.0_f64, |most, (f, s)| most.max((f / s).abs()));
    let scale: Vec<f64> = scale.iter().map(|s| s * most).collect();
    let allowed = BACKWARD_STABLE * condition;
    assert_close_by_entry(product.as_slice(), &pick(&force), &scale, allowed, what);
}
