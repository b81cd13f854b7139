//! The recursions against d'Alembert's principle over the material points of all bodies.
//!
//! Every body is taken apart into points $`p_i(q)`$ with the same mass, centre and second moments: rigid
//! bodies, and the slices and nodes that flexible bodies were integrated over. With $`J_i = \partial\dot p_i/\partial v`$,
//!
//! ```math
//! M = \sum m_i J_i^T J_i, \qquad
//! \tau = \sum m_i J_i^T(\ddot p_i - g) + K\eta + D\dot\eta .
//! ```

use lissom_spatial::{Dual, Matrix, Motion, Scalar, Transform, Vector};
use lissom_spec::ShorteningTerms;
use lissom_tree::flex::Component;
use lissom_tree::tree::{energy, marker_motion, momentum};
use lissom_tree::{Place, System};
use nalgebra::{DMatrix, Matrix3, SymmetricEigen};

use super::tools::*;

/// Some thousand products summed in another order.
const ROUNDING: f64 = 1e-11;

/// Points that stand for mass `m` with the given centre and second moment about the origin: offsets and
/// masses, some of them negative.
fn cluster(
    mass: f64,
    first_moment: [f64; 3],
    second_moment: [[f64; 3]; 3],
) -> Vec<([f64; 3], f64)> {
    const REACH: f64 = 0.1;
    let centre = first_moment.map(|x| if mass > 0.0 { x / mass } else { 0.0 });
    let central = Matrix3::from_fn(|i, j| second_moment[i][j] - mass * centre[i] * centre[j]);
    let principal = SymmetricEigen::new(central);
    let mut points = vec![(centre, mass)];
    for (axis, moment) in principal
        .eigenvectors
        .column_iter()
        .zip(principal.eigenvalues.iter())
    {
        let share = moment / (2.0 * REACH * REACH);
        points[0].1 -= 2.0 * share;
        for sign in [-REACH, REACH] {
            points.push((std::array::from_fn(|i| centre[i] + sign * axis[i]), share));
        }
    }
    points
}

/// All material points: which positions they have in the ground frame at `position`.
fn points<T: Scalar>(system: &System, position: &[T]) -> Vec<Vector<T>> {
    let still = vec![T::zero(); system.velocity_count()];
    let kinematics = prepared(system, position, &still);
    let layout = system.layout();
    let mut all = Vec::new();
    for (k, body) in system.bodies().iter().enumerate() {
        let origin = Place::Fixed(Transform::identity());
        let mut influence = vec![Motion::zero(); body.modes()];
        let pose = marker_motion(
            system,
            &kinematics,
            k,
            &origin,
            position,
            &still,
            &mut influence,
        )
        .pose;
        let Some(flexible) = &body.flexible else {
            for (offset, _) in rigid_points(body) {
                all.push(pose.point(Vector::constant(offset)));
            }
            continue;
        };
        let eta = &position[layout.elastic_position[k]..][..body.modes()];
        for lump in &flexible.mass_nodes {
            let node = &lump.node;
            let mut centre = Vector::constant(node.position);
            let mut turn = Vector::zero();
            for (alpha, &eta) in eta.iter().enumerate() {
                centre += Vector::constant(node.displacement[alpha]).scale(eta);
                turn += Vector::constant(node.rotation[alpha]).scale(eta);
            }
            // the section's rotation, to second order where it twists
            let mut rotation = Matrix::identity() + Matrix::skew(turn);
            if let (ShorteningTerms::Kinematic, Some(field)) =
                (body.fidelity.shortening, &flexible.second_order)
            {
                let mut second_turn = Vector::zero();
                for (block, entries) in field.entries(&node.second_order) {
                    let sum = match block.component {
                        Component::Displacement(axis) => &mut centre[axis],
                        Component::Rotation(axis) => &mut second_turn[axis],
                    };
                    let mut entries = entries.iter();
                    for alpha in block.rows.clone() {
                        for beta in block.columns.clone() {
                            let h = entries.next().expect("one entry per pair");
                            let pairs = if block.is_diagonal() { 0.5 } else { 1.0 };
                            *sum += eta[alpha] * eta[beta] * (pairs * h);
                        }
                    }
                }
                if !field.coordinates[2].is_empty() {
                    let skew = Matrix::skew(turn);
                    rotation += Matrix::skew(second_turn) + (skew * skew).scale(T::constant(0.5));
                }
            }
            for (offset, _) in node_points(lump) {
                all.push(pose.point(centre + rotation * Vector::constant(offset)));
            }
        }
    }
    all
}

fn rigid_points(body: &lissom_tree::Body) -> Vec<([f64; 3], f64)> {
    let inertia = body.rigid;
    let second = Matrix::diagonal(0.5 * inertia.rotational.trace()) - inertia.rotational.full();
    cluster(inertia.mass, inertia.first_moment.0, second.0)
}

fn node_points(lump: &lissom_tree::flex::MassNode) -> Vec<([f64; 3], f64)> {
    let first = lump.centre.map(|x| x * lump.mass);
    cluster(lump.mass, first, lump.second_moment)
}

/// Mass of every material point.
fn masses(system: &System) -> Vec<f64> {
    let of_body = |body: &lissom_tree::Body| match &body.flexible {
        None => rigid_points(body),
        Some(flexible) => flexible.mass_nodes.iter().flat_map(node_points).collect(),
    };
    system
        .bodies()
        .iter()
        .flat_map(of_body)
        .map(|(_, mass)| mass)
        .collect()
}

/// Jacobian of all points, three rows each.
fn jacobian(system: &System, position: &[f64], count: usize) -> DMatrix<f64> {
    let size = system.velocity_count();
    let mut jacobian = DMatrix::zeros(3 * count, size);
    for j in 0..size {
        let moved = points(system, &along_velocity(system, position, j));
        let column = moved.iter().flat_map(|p| p.0.map(|x| x.tangent[0]));
        for (row, x) in column.enumerate() {
            jacobian[(row, j)] = x;
        }
    }
    jacobian
}

/// Stiffness, damping and rotors: what acts on the coordinates besides the points.
fn other_forces(case: &Case) -> Vec<f64> {
    let system = case.system();
    let layout = system.layout();
    let mut force = vec![0.0; system.velocity_count()];
    for (k, body) in system.bodies().iter().enumerate() {
        for i in 0..body.joint.kind.velocities() {
            let at = layout.joint_velocity[k] + i;
            force[at] = body.joint.armature[i] * case.state.acceleration[at];
        }
        let Some(flexible) = &body.flexible else {
            continue;
        };
        let n = flexible.len();
        for i in 0..n {
            for j in 0..n {
                force[layout.elastic_velocity[k] + i] += flexible.stiffness[i * n + j]
                    * case.state.position[layout.elastic_position[k] + j]
                    + flexible.damping[i * n + j]
                        * case.state.velocity[layout.elastic_velocity[k] + j];
            }
        }
    }
    force
}

#[test]
fn mass_matrix_and_forces_follow_from_material_points() {
    for case in trees() {
        let system = case.system();
        let size = system.velocity_count();
        let state = &case.state;
        let masses = masses(system);
        let jacobian = jacobian(system, &state.position, masses.len());
        let kinematics = case.kinematics();

        // M = Σ m JᵀJ, and the rotors
        let weighted = DMatrix::from_fn(3 * masses.len(), size, |i, j| {
            masses[i / 3] * jacobian[(i, j)]
        });
        let mut by_points = jacobian.tr_mul(&weighted);
        for (k, body) in system.bodies().iter().enumerate() {
            for i in 0..body.joint.kind.velocities() {
                let at = system.layout().joint_velocity[k] + i;
                by_points[(at, at)] += body.joint.armature[i];
            }
        }
        let matrix = mass(system, &kinematics);
        assert_close_by_entry(
            &matrix,
            by_points.as_slice(),
            &entry_scales(by_points.as_slice(), size),
            ROUNDING,
            &format!("mass matrix, {}", case.name),
        );

        // accelerations of the points: positions twice differentiated along the motion
        let (q, v) = case.in_time();
        let twice: Vec<Dual<Rate, 1>> = {
            let rate = position_rates(system, &q, &v);
            moving(&q, &rate)
        };
        let moved = points(system, &twice);
        let gravity = system.gravity();
        let acceleration: Vec<f64> = moved
            .iter()
            .flat_map(|p| {
                let second = p.0.map(|x| x.tangent[0].tangent[0]);
                (Vector(second) - gravity).0
            })
            .collect();
        // every entry relative to the inertial forces that meet in it, so that stiff elastic forces hide none
        let mut expected = other_forces(&case);
        let mut scale = vec![0.0; size];
        for j in 0..size {
            for (w, a) in weighted.column(j).iter().zip(&acceleration) {
                expected[j] += w * a;
                scale[j] += (w * a).abs();
            }
        }
        let force = forces(system, &kinematics, &state.acceleration);
        let what = format!("inverse dynamics, {}", case.name);
        assert_close_by_entry(&force, &expected, &scale, ROUNDING, &what);
    }
}

#[test]
fn energy_and_momentum_are_those_of_the_material_points() {
    for case in trees() {
        let system = case.system();
        let state = &case.state;
        let masses = masses(system);
        let rate = position_rates(system, &state.position, &state.velocity);
        let moved = points(system, &moving(&state.position, &rate));
        let (mut kinetic, mut potential) = (0.0, 0.0);
        let (mut linear, mut angular) = (Vector::zero(), Vector::zero());
        for (p, &mass) in moved.iter().zip(&masses) {
            let place = Vector(p.0.map(|x| x.value));
            let velocity = Vector(p.0.map(|x| x.tangent[0]));
            kinetic += 0.5 * mass * velocity.dot(velocity);
            potential -= mass * system.gravity().dot(place);
            linear += velocity.scale(mass);
            angular += place.cross(velocity).scale(mass);
        }
        for (k, body) in system.bodies().iter().enumerate() {
            for i in 0..body.joint.kind.velocities() {
                let rate = state.velocity[system.layout().joint_velocity[k] + i];
                kinetic += 0.5 * body.joint.armature[i] * rate * rate;
            }
        }
        let kinematics = case.kinematics();
        let found = energy(system, &kinematics, &state.position, &state.velocity);
        let what = |quantity: &str| format!("{quantity}, {}", case.name);
        assert_close(
            &[found.kinetic],
            &[kinetic],
            ROUNDING,
            &what("kinetic energy"),
        );
        assert_close(&[found.gravity], &[potential], ROUNDING, &what("potential"));
        let total = momentum(system, &kinematics, &state.velocity);
        assert_close(&total.force.0, &linear.0, ROUNDING, &what("momentum"));
        assert_close(
            &total.moment.0,
            &angular.0,
            ROUNDING,
            &what("angular momentum"),
        );
    }
}
