//! Lagrange's equations and Christoffel symbols, for trees whose positions are vectors.
//!
//! ```math
//! \tau_i = \frac{d}{dt}\frac{\partial T}{\partial v_i} - \frac{\partial T}{\partial q_i} + \frac{\partial U}{\partial q_i} + (D\dot\eta)_i,
//! \qquad
//! C_{ij} = \tfrac12\sum_k\left(\frac{\partial M_{ij}}{\partial q_k} + \frac{\partial M_{ik}}{\partial q_j} - \frac{\partial M_{jk}}{\partial q_i}\right) v_k .
//! ```
//!
//! Kinetic energy and mass matrix are differentiated by dual numbers; the recursions' velocity products and
//! bias forces take no part in either.

use lissom_engine::testing::{RandomBody, RandomJoint, Variety};
use lissom_spatial::{Dual, Scalar};
use lissom_tree::System;
use lissom_tree::tree::energy;

use super::tools::*;

/// Asked of the equations of motion of flexible bodies.
const EQUATIONS_OF_MOTION: f64 = 1e-9;
/// Skewness of a matrix of sums of third-order products.
const ROUNDING: f64 = 1e-11;

fn kinetic<T: Scalar>(system: &System, position: &[T], velocity: &[T]) -> T {
    let kinematics = prepared(system, position, velocity);
    energy(system, &kinematics, position, velocity).kinetic
}

/// Chains of beams that bend, stretch and twist, and branched trees of everything.
fn cases() -> Vec<Case> {
    let chain = Variety {
        body_kinds: &[RandomBody::ClampedFree, RandomBody::FreeFree],
        joint_kinds: &[RandomJoint::Revolute],
        branching: false,
        ..Variety::everything(4)
    };
    let mut cases = vector_trees();
    cases.push(Case::new(&chain, 24));
    cases
}

/// Lagrange's inertial forces, and the sum of the magnitudes of their parts.
fn lagrange(case: &Case) -> (Vec<f64>, Vec<f64>) {
    let system = case.system();
    let state = &case.state;
    let (q, v) = case.in_time();
    let (mut force, mut scale) = (Vec::new(), Vec::new());
    for i in 0..system.velocity_count() {
        // outer tangent by v_i, inner tangent by time
        let outer_position: Vec<Dual<Rate, 1>> = moving(&q, &lift(&vec![0.0; q.len()]));
        let mut outer_velocity = moving(&v, &lift(&vec![0.0; v.len()]));
        outer_velocity[i].tangent[0] = Rate::constant(1.0);
        let momentum = kinetic(system, &outer_position, &outer_velocity).tangent[0];

        let mut moved = lift::<Rate>(&state.position);
        moved[i].tangent[0] = 1.0;
        let by_position = kinetic(system, &moved, &lift(&state.velocity)).tangent[0];
        force.push(momentum.tangent[0] - by_position);
        scale.push(momentum.tangent[0].abs() + by_position.abs());
    }
    (force, scale)
}

/// Gravity, elastic and damping forces: what is left when nothing moves, and damping.
fn other_forces(case: &Case) -> Vec<f64> {
    let system = case.system();
    let (layout, velocity) = (system.layout(), &case.state.velocity);
    let still = vec![0.0; system.velocity_count()];
    let mut force = forces(
        system,
        &prepared(system, &case.state.position, &still),
        &still,
    );
    for (k, body) in system.bodies().iter().enumerate() {
        let Some(flexible) = &body.flexible else {
            continue;
        };
        let (first, n) = (layout.elastic_velocity[k], flexible.len());
        for at in 0..n * n {
            force[first + at / n] += flexible.damping[at] * velocity[first + at % n];
        }
    }
    force
}

#[test]
fn forces_follow_from_the_lagrangian() {
    for case in cases() {
        let system = case.system();
        assert_eq!(system.position_count(), system.velocity_count());
        let (inertial, scale) = lagrange(&case);
        let found = forces(system, &case.kinematics(), &case.state.acceleration);
        let expected: Vec<f64> = inertial
            .iter()
            .zip(other_forces(&case))
            .map(|(a, b)| a + b)
            .collect();
        let scale: Vec<f64> = scale.iter().map(|x| x + 1e-3 * largest(&scale)).collect();
        let what = format!("Lagrange's equations, {}", case.name);
        assert_close_by_entry(&found, &expected, &scale, EQUATIONS_OF_MOTION, &what);
    }
}

#[test]
fn mass_matrix_rate_less_twice_coriolis_is_skew() {
    for case in cases() {
        let system = case.system();
        let size = system.velocity_count();
        let state = &case.state;
        let still = vec![0.0; size];
        // ∂M/∂q_k
        let gradient: Vec<Vec<f64>> = (0..size)
            .map(|k| {
                let moved = along_velocity(system, &state.position, k);
                tangents(&mass(system, &prepared(system, &moved, &lift(&still))))
            })
            .collect();
        let mut coriolis = vec![0.0; size * size];
        for i in 0..size {
            for j in 0..size {
                for k in 0..size {
                    coriolis[i * size + j] += 0.5
                        * (gradient[k][i * size + j] + gradient[j][i * size + k]
                            - gradient[i][j * size + k])
                        * state.velocity[k];
                }
            }
        }
        // its product with the velocity is the recursion's bias
        let bias = forces(system, &case.kinematics(), &still);
        let product: Vec<f64> = (0..size)
            .map(|i| {
                (0..size)
                    .map(|j| coriolis[i * size + j] * state.velocity[j])
                    .sum()
            })
            .collect();
        let found: Vec<f64> = bias
            .iter()
            .zip(other_forces(&case))
            .map(|(a, b)| a - b)
            .collect();
        let what = format!("velocity forces, {}", case.name);
        assert_close(&found, &product, EQUATIONS_OF_MOTION, &what);

        // the rate of M along the motion, not from the gradient above
        let (q, v) = case.in_time();
        let rate = tangents(&mass(system, &prepared(system, &q, &v)));
        let skew = |i: usize, j: usize| rate[i * size + j] - 2.0 * coriolis[i * size + j];
        let sums: Vec<f64> = (0..size * size)
            .map(|at| skew(at / size, at % size) + skew(at % size, at / size))
            .map(|sum| sum / largest(&rate))
            .collect();
        let what = format!("skewness, {}", case.name);
        assert_small(&sums, ROUNDING, &what);
    }
}
