//! The kernels compute the same bits with every scalar.

use lissom_engine::testing::{Random, Variety, random_state};
use lissom_spatial::{Dual, Force, Lanes, Scalar, Vector};
use lissom_tree::tree::{ArticulatedBody, apply_wrench, energy, marker_jacobian, momentum};

use super::tools::*;

/// Everything the kernels say of a state, in one list.
fn everything<T: Scalar>(
    case: &Case,
    position: &[T],
    velocity: &[T],
    acceleration: &[T],
) -> Vec<T> {
    let system = case.system();
    let size = system.velocity_count();
    let mut kinematics = prepared(system, position, velocity);
    let mut all = Vec::new();
    let sum = energy(system, &kinematics, position, velocity);
    all.extend([sum.kinetic, sum.strain, sum.gravity]);
    let total = momentum(system, &kinematics, velocity);
    all.extend(total.moment.0.into_iter().chain(total.force.0));
    for place in &case.model.linkage.markers {
        let body = place.body.unwrap();
        let (motion, influence) = marker(system, &kinematics, place, position, velocity);
        all.extend(motion.pose.rotation.0.into_iter().flatten());
        all.extend(motion.pose.translation.0);
        all.extend(motion.twist.angular.0);
        all.extend(motion.twist.linear.0);
        let point = motion.pose.translation;
        let mut jacobian = vec![T::zero(); 6 * size];
        marker_jacobian(system, &kinematics, body, point, &influence, &mut jacobian);
        all.extend(jacobian);
        let wrench = Force::new(
            Vector::constant([1.0, -2.0, 0.5]),
            Vector::constant([3.0, 0.3, -4.0]),
        );
        apply_wrench(system, &mut kinematics, body, point, &influence, wrench);
    }
    all.extend(mass(system, &kinematics));
    let force = forces(system, &kinematics, acceleration);
    all.extend(accelerations(system, &kinematics, &force));
    let mut articulated = ArticulatedBody::new(system);
    articulated.factor(system, &kinematics);
    let mut solution = vec![T::zero(); size];
    articulated.solve(system, &kinematics, &force, &mut solution);
    all.extend(force.into_iter().chain(solution));
    all
}

/// The tree, and four states of it.
fn case_and_states() -> (Case, [[Vec<f64>; 3]; 4]) {
    let case = Case::new(&Variety::everything(12), 61);
    let states = std::array::from_fn(|lane| {
        let state = random_state(case.system(), &mut Random::new(62 + lane as u64));
        [state.position, state.velocity, state.acceleration]
    });
    (case, states)
}

#[test]
fn lanes_are_bit_identical_to_single_runs() {
    let (case, states) = case_and_states();
    let lanes = |which: usize| -> Vec<Lanes<4>> {
        (0..states[0][which].len())
            .map(|i| Lanes(std::array::from_fn(|lane| states[lane][which][i])))
            .collect()
    };
    let together = everything(&case, &lanes(0), &lanes(1), &lanes(2));
    for (lane, [q, v, a]) in states.iter().enumerate() {
        let alone = everything(&case, q, v, a);
        for (at, (x, y)) in together.iter().zip(&alone).enumerate() {
            assert!(y.is_finite());
            assert_eq!(
                x.0[lane].to_bits(),
                y.to_bits(),
                "entry {at} of lane {lane}"
            );
        }
    }
}

#[test]
fn values_of_dual_numbers_are_bit_identical_to_plain_ones() {
    let (case, [[q, v, a], ..]) = case_and_states();
    let vary = |x: &[f64]| -> Vec<Rate> {
        x.iter()
            .map(|&value| Dual {
                value,
                tangent: [1.0 + value],
            })
            .collect()
    };
    let dual = everything(&case, &vary(&q), &vary(&v), &vary(&a));
    let plain = everything(&case, &q, &v, &a);
    for (at, (x, y)) in dual.iter().zip(&plain).enumerate() {
        assert_eq!(x.value.to_bits(), y.to_bits(), "entry {at}");
    }
    assert!(dual.iter().any(|x| x.tangent[0] != 0.0), "something varies");
}
