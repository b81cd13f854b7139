//! Velocities, Jacobians, forces and powers against exact derivatives of poses and energies.

use lissom_engine::testing::Random;
use lissom_spatial::{Dual, Force, Matrix, Scalar, Vector};
use lissom_tree::tree::{apply_wrench, energy, marker_jacobian};
use lissom_tree::{Body, System};

use super::tools::*;

/// The same quantity by two chains of some hundred products.
const ROUNDING: f64 = 1e-12;
/// A power is a sum in which large terms cancel.
const POWER: f64 = 1e-11;

/// Six numbers, angular first.
fn six<T: Copy>(angular: Vector<T>, linear: Vector<T>) -> Vec<T> {
    angular.0.into_iter().chain(linear.0).collect()
}

/// The vector of the skew matrix $`\dot R R^T`$.
fn angular_velocity<T: Scalar>(rotation: &Matrix<Dual<T, 1>>) -> Vector<T> {
    let rate = Matrix(rotation.0.map(|row| row.map(|x| x.tangent[0])));
    let value = Matrix(rotation.0.map(|row| row.map(|x| x.value)));
    let skew = rate * value.transpose();
    Vector([skew.0[2][1], skew.0[0][2], skew.0[1][0]])
}

/// Twist of a marker in ground components, as six numbers.
fn twist<T: Scalar>(case: &Case, index: usize, position: &[T], velocity: &[T]) -> Vec<T> {
    let kinematics = prepared(case.system(), position, velocity);
    let place = &case.model.linkage.markers[index];
    let (motion, _) = marker(case.system(), &kinematics, place, position, velocity);
    six(motion.twist.angular, motion.twist.linear)
}

#[test]
fn twists_are_rates_of_poses() {
    for case in trees() {
        let system = case.system();
        let (q, v) = case.in_time();
        let kinematics = prepared(system, &q, &v);
        for place in &case.model.linkage.markers {
            let (motion, _) = marker(system, &kinematics, place, &q, &v);
            let linear = Vector(motion.pose.translation.0.map(|x| x.tangent[0]));
            let expected = six(angular_velocity(&motion.pose.rotation), linear);
            let found = six(motion.twist.angular, motion.twist.linear);
            let found: Vec<f64> = found.iter().map(|x| x.value).collect();
            let what = format!("twist of {}, {}", place.name, case.name);
            assert_close(&found, &expected, ROUNDING, &what);
        }
    }
}

#[test]
fn jacobians_give_twists_and_their_rates() {
    for case in trees() {
        let system = case.system();
        let size = system.velocity_count();
        let (q, v) = case.in_time();
        let kinematics = prepared(system, &q, &v);
        for (index, place) in case.model.linkage.markers.iter().enumerate() {
            let body = place.body.unwrap();
            let (motion, influence) = marker(system, &kinematics, place, &q, &v);
            let mut jacobian = vec![Rate::zero(); 6 * size];
            marker_jacobian(
                system,
                &kinematics,
                body,
                motion.pose.translation,
                &influence,
                &mut jacobian,
            );
            // J v with its rate J a + J̇ v, from a Jacobian with its rate
            let product: Vec<Rate> = (0..6)
                .map(|i| {
                    let row = &jacobian[i * size..(i + 1) * size];
                    row.iter()
                        .zip(&v)
                        .fold(Rate::zero(), |sum, (&j, &v)| sum + j * v)
                })
                .collect();
            let expected = twist(&case, index, &q, &v);
            let values = |x: &[Rate]| x.iter().map(|x| x.value).collect::<Vec<_>>();
            let what = |quantity: &str| format!("{quantity} of {}, {}", place.name, case.name);
            assert_close(
                &values(&product),
                &values(&expected),
                ROUNDING,
                &what("J v"),
            );
            let rate = what("rate of J v");
            assert_close(&tangents(&product), &tangents(&expected), ROUNDING, &rate);
        }
    }
}

#[test]
fn wrenches_act_through_jacobians() {
    for case in trees() {
        let system = case.system();
        let size = system.velocity_count();
        let state = &case.state;
        let mut random = Random::new(5);
        let free = forces(system, &case.kinematics(), &state.acceleration);
        for place in &case.model.linkage.markers {
            let body = place.body.unwrap();
            let mut kinematics = case.kinematics();
            let (motion, influence) =
                marker(system, &kinematics, place, &state.position, &state.velocity);
            let point = motion.pose.translation;
            let mut jacobian = vec![0.0; 6 * size];
            marker_jacobian(system, &kinematics, body, point, &influence, &mut jacobian);
            // as large as the other forces, so that their difference keeps its digits
            let strength = largest(&free);
            let wrench = Force::new(
                Vector(random.vector(strength)),
                Vector(random.vector(strength)),
            );
            apply_wrench(system, &mut kinematics, body, point, &influence, wrench);
            let loaded = forces(system, &kinematics, &state.acceleration);
            let found: Vec<f64> = free.iter().zip(&loaded).map(|(a, b)| a - b).collect();
            let load = six(wrench.moment, wrench.force);
            let expected: Vec<f64> = (0..size)
                .map(|j| (0..6).map(|i| jacobian[i * size + j] * load[i]).sum())
                .collect();
            let what = format!("wrench on {}, {}", place.name, case.name);
            assert_close(&found, &expected, ROUNDING, &what);
        }
    }
}

/// Kinetic, strain and gravity energy.
fn energies<T: Scalar>(system: &System, position: &[T], velocity: &[T]) -> [T; 3] {
    let kinematics = prepared(system, position, velocity);
    let sum = energy(system, &kinematics, position, velocity);
    [sum.kinetic, sum.strain, sum.gravity]
}

#[test]
fn kinetic_energy_is_the_quadratic_form_of_the_mass_matrix() {
    for case in trees() {
        let system = case.system();
        let size = system.velocity_count();
        let (q, v) = (&case.state.position, &case.state.velocity);
        let matrix = mass(system, &case.kinematics());
        let form: f64 = (0..size * size)
            .map(|at| 0.5 * v[at / size] * matrix[at] * v[at % size])
            .sum();
        let [kinetic, _, _] = energies(system, q, v);
        let what = format!("kinetic energy, {}", case.name);
        assert_close(&[kinetic], &[form], ROUNDING, &what);
    }
}

/// At rest and without acceleration the generalised forces are the gradient of the potential energy.
#[test]
fn static_forces_are_the_gradient_of_potential_energy() {
    for case in trees() {
        let system = case.system();
        let size = system.velocity_count();
        let position = &case.state.position;
        let still = vec![0.0; size];
        let found = forces(system, &prepared(system, position, &still), &still);
        let (mut strain, mut gravity) = (vec![0.0; size], vec![0.0; size]);
        for j in 0..size {
            let moved = along_velocity(system, position, j);
            let [_, by_strain, by_gravity] = energies(system, &moved, &lift(&still));
            strain[j] = by_strain.tangent[0];
            gravity[j] = by_gravity.tangent[0];
        }
        // gravity alone, so that elastic forces do not hide it
        let weight: Vec<f64> = found.iter().zip(&strain).map(|(f, s)| f - s).collect();
        assert_close(&weight, &gravity, POWER, &format!("gravity, {}", case.name));
        let elastic = elastic_forces(system, position);
        assert_close(
            &elastic,
            &strain,
            ROUNDING,
            &format!("strain, {}", case.name),
        );
    }
}

/// Stiffness times elastic coordinates.
fn elastic_forces(system: &System, position: &[f64]) -> Vec<f64> {
    of_elastic(system, |body, k, alpha| {
        let flexible = body.flexible.as_ref().unwrap();
        let n = flexible.len();
        let eta = &position[system.layout().elastic_position[k]..][..n];
        let row = &flexible.stiffness[alpha * n..(alpha + 1) * n];
        row.iter().zip(eta).map(|(k, eta)| k * eta).sum()
    })
}

/// Damping times elastic rates.
fn damping_forces(system: &System, velocity: &[f64]) -> Vec<f64> {
    of_elastic(system, |body, k, alpha| {
        let flexible = body.flexible.as_ref().unwrap();
        let n = flexible.len();
        let rate = &velocity[system.layout().elastic_velocity[k]..][..n];
        let row = &flexible.damping[alpha * n..(alpha + 1) * n];
        row.iter().zip(rate).map(|(d, rate)| d * rate).sum()
    })
}

/// A vector of generalised forces with the given entries at elastic coordinates.
fn of_elastic(system: &System, value: impl Fn(&Body, usize, usize) -> f64) -> Vec<f64> {
    let mut force = vec![0.0; system.velocity_count()];
    for (k, body) in system.bodies().iter().enumerate() {
        for alpha in 0..body.modes() {
            force[system.layout().elastic_velocity[k] + alpha] = value(body, k, alpha);
        }
    }
    force
}

/// $`\dot M - 2C`$ does no work: for every motion, energy changes by the power of the forces alone. In
/// quasi-velocities (quaternion and free joints) this is the meaning of the skewness.
#[test]
fn energy_changes_by_the_power_of_the_forces() {
    for case in trees() {
        let system = case.system();
        let state = &case.state;
        let force = forces(system, &case.kinematics(), &state.acceleration);
        let damping = damping_forces(system, &state.velocity);
        let power = |force: &[f64]| {
            force
                .iter()
                .zip(&state.velocity)
                .map(|(f, v)| f * v)
                .sum::<f64>()
        };
        let (q, v) = case.in_time();
        let parts = energies(system, &q, &v).map(|x| x.tangent[0]);
        let found: f64 = parts.iter().sum();
        let expected = power(&force) - power(&damping);
        // not relative to the power of elastic forces, which would hide the rest
        let scale = parts[0].abs() + parts[2].abs();
        let what = format!("power, {}", case.name);
        assert_small(&[(found - expected) / scale], POWER, &what);
    }
}
