//! Points that stand for the mass of a tree, for what has to be known of forces point by point.
//!
//! A rigid body is its centre of mass and a pair of points on every principal axis; a slice of a flexible body is
//! the same about its own centre. A point of a flexible body sits at $`p = r + \sum\psi_\alpha\eta_\alpha + a\,e_x`$ with
//! the shortening $`a = -\tfrac12\eta^T S\eta`$ where the body's fidelity moves points by it: the displacement field that
//! `body_inertia.rs` integrates.

use std::ops::Range;

use nalgebra::{Matrix3, SymmetricEigen};

use super::Kinematics;
use super::frame::add_generalized_force;
use crate::flex::MassNode;
use crate::{Body, System};
use lissom_spatial::Scalar;
use lissom_spatial::{Force, Motion, RigidInertia, Vector};
use lissom_spec::Inertia;

/// The points of all bodies.
#[derive(Clone, Debug)]
pub struct MaterialPoints {
    bodies: Vec<Vec<MaterialPoint>>,
}

#[derive(Clone, Debug)]
struct MaterialPoint {
    mass: f64,
    position: [f64; 3],
    /// Per elastic coordinate; empty for a body that is taken undeformed.
    displacement: Vec<[f64; 3]>,
    /// Laid out as in [`crate::flex::Shortening::matrices`]; empty where points are not moved by it.
    shortening: Vec<f64>,
}

impl MaterialPoints {
    /// The points of `system`.
    pub fn new(system: &System) -> Self {
        Self {
            bodies: system.bodies().iter().map(points_of).collect(),
        }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.bodies.iter().map(Vec::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Masses, body by body.
    pub fn masses(&self) -> impl Iterator<Item = f64> {
        self.bodies.iter().flatten().map(|point| point.mass)
    }

    /// Velocities in ground components, in the state last given to [`Kinematics::update`] and
    /// [`Kinematics::update_poses`].
    pub fn velocities<T: Scalar>(
        &self,
        system: &System,
        kinematics: &Kinematics<T>,
        position: &[T],
        velocity: &[T],
        velocities: &mut Vec<Vector<T>>,
    ) {
        let layout = system.layout();
        velocities.clear();
        for (k, points) in self.bodies.iter().enumerate() {
            let elastic = &position[layout.elastic_position[k]..];
            let rates = &velocity[layout.elastic_velocity[k]..];
            let twist = kinematics.twist[k];
            let rotation = kinematics.ground_from_body[k].rotation;
            for point in points {
                let (place, slope) = point.place(&system.bodies()[k], elastic);
                let mut moved = twist.linear + twist.angular.cross(place);
                for (alpha, displacement) in point.displacement.iter().enumerate() {
                    moved += Vector::constant(*displacement).scale(rates[alpha]);
                    moved[0] -= slope(alpha) * rates[alpha];
                }
                velocities.push(rotation * moved);
            }
        }
    }

    /// Forces in ground components, one per point, that stay as they are while the points move.
    pub fn hold(&self, system: &System, forces: &[Vector<f64>]) -> HeldForces {
        let mut forces = forces.iter();
        let bodies = self
            .bodies
            .iter()
            .zip(system.bodies())
            .map(|(points, body)| {
                let mut held = HeldOnBody {
                    planes: planes(body).cloned(),
                    ..HeldOnBody::default()
                };
                for (point, &force) in points.iter().zip(&mut forces) {
                    held.sum += force;
                    for (axis, moment) in held.moments.iter_mut().enumerate() {
                        *moment += force.scale(point.position[axis]);
                    }
                    let coordinates = point.displacement.len();
                    held.by_coordinate.resize(coordinates, [Vector::zero(); 3]);
                    for (moments, displacement) in
                        held.by_coordinate.iter_mut().zip(&point.displacement)
                    {
                        for (axis, moment) in moments.iter_mut().enumerate() {
                            *moment += force.scale(displacement[axis]);
                        }
                    }
                    (held.by_shortening).resize(point.shortening.len(), Vector::zero());
                    for (moment, &shortening) in
                        held.by_shortening.iter_mut().zip(&point.shortening)
                    {
                        *moment += force.scale(shortening);
                    }
                }
                held
            });
        HeldForces {
            bodies: bodies.collect(),
        }
    }
}

/// Forces held at the points of all bodies, summed up as far as they do not depend on the state.
#[derive(Clone, Debug)]
pub struct HeldForces {
    bodies: Vec<HeldOnBody>,
}

/// Of the points $`p = r + \sum\psi_\alpha\eta_\alpha - \tfrac12\eta^TS\eta\,e_x`$ of one body with forces $`f`$.
#[derive(Clone, Debug)]
struct HeldOnBody {
    /// $`\sum f`$.
    sum: Vector<f64>,
    /// $`\sum r_j f`$.
    moments: [Vector<f64>; 3],
    /// $`\sum \psi_{\alpha j} f`$.
    by_coordinate: Vec<[Vector<f64>; 3]>,
    /// $`\sum S f`$, laid out as $`S`$.
    by_shortening: Vec<Vector<f64>>,
    planes: Option<[Range<usize>; 2]>,
}

impl Default for HeldOnBody {
    fn default() -> Self {
        Self {
            sum: Vector::zero(),
            moments: [Vector::zero(); 3],
            by_coordinate: Vec::new(),
            by_shortening: Vec::new(),
            planes: None,
        }
    }
}

impl HeldForces {
    /// Adds the generalised force in the state last given to [`Kinematics::update`] and [`Kinematics::update_poses`].
    pub fn add<T: Scalar>(
        &self,
        system: &System,
        kinematics: &Kinematics<T>,
        position: &[T],
        generalized_force: &mut [T],
    ) {
        let layout = system.layout();
        let none: &[Motion<T>] = &[];
        for (k, held) in self.bodies.iter().enumerate() {
            let elastic = &position[layout.elastic_position[k]..];
            let rotation = kinematics.ground_from_body[k].rotation;
            let in_body = |ground: Vector<T>| rotation.transpose_mul(ground);
            let lifted = |ground: Vector<f64>| Vector::constant(ground.0);
            let own = &mut generalized_force[layout.elastic_velocity[k]..];
            let mut moments = held.moments.map(lifted);
            for (alpha, by_coordinate) in held.by_coordinate.iter().enumerate() {
                for (axis, &moment) in by_coordinate.iter().enumerate() {
                    let moment = lifted(moment);
                    moments[axis] += moment.scale(elastic[alpha]);
                    own[alpha] += in_body(moment)[axis];
                }
            }
            let mut block = held.by_shortening.as_slice();
            for plane in held.planes.iter().flatten() {
                let size = plane.len();
                if block.len() < size * size {
                    break;
                }
                for alpha in plane.clone() {
                    let mut sum = Vector::zero();
                    for (&moment, beta) in block.iter().zip(plane.clone()) {
                        sum += lifted(moment).scale(elastic[beta]);
                    }
                    block = &block[size..];
                    own[alpha] -= in_body(sum)[0];
                    moments[0] = moments[0] - sum.scale(elastic[alpha] * 0.5);
                }
            }
            let [x, y, z] = moments.map(in_body);
            let moment = Vector([y[2] - z[1], z[0] - x[2], x[1] - y[0]]);
            let force = Force::new(moment, in_body(lifted(held.sum)));
            add_generalized_force(system, kinematics, k, none, force, generalized_force);
        }
    }
}

/// Coordinates that shorten a body, by plane.
fn planes(body: &Body) -> Option<&[Range<usize>; 2]> {
    let flexible = body.flexible.as_ref()?;
    Some(&flexible.shortening.as_ref()?.planes)
}

impl MaterialPoint {
    /// Where the point is in the body's frame, and $`(S\eta)_\alpha`$ by coordinate.
    fn place<'a, T: Scalar>(
        &'a self,
        body: &'a Body,
        elastic: &'a [T],
    ) -> (Vector<T>, impl Fn(usize) -> T + 'a) {
        let planes = planes(body).filter(|_| !self.shortening.is_empty());
        let slope = move |alpha: usize| {
            let mut sum = T::zero();
            let mut block = 0;
            for plane in planes.into_iter().flatten() {
                let size = plane.len();
                if plane.contains(&alpha) {
                    let first = block + (alpha - plane.start) * size;
                    for (&s, beta) in self.shortening[first..first + size]
                        .iter()
                        .zip(plane.clone())
                    {
                        sum += elastic[beta] * s;
                    }
                }
                block += size * size;
            }
            sum
        };
        let mut place = Vector::constant(self.position);
        for (alpha, displacement) in self.displacement.iter().enumerate() {
            place += Vector::constant(*displacement).scale(elastic[alpha]);
            place[0] -= slope(alpha) * elastic[alpha] * 0.5;
        }
        (place, slope)
    }
}

fn points_of(body: &Body) -> Vec<MaterialPoint> {
    let Some(flexible) = &body.flexible else {
        return rigid_points(&body.rigid)
            .into_iter()
            .map(|(mass, position)| MaterialPoint {
                mass,
                position: position.0,
                displacement: Vec::new(),
                shortening: Vec::new(),
            })
            .collect();
    };
    let deforms = !body.fidelity.frozen && body.fidelity.inertia != Inertia::Rigid;
    let shortens = deforms && body.fidelity.shortening.moves_points();
    let slice = |mass_node: &MassNode| {
        let node = &mass_node.node;
        let inertia = RigidInertia::from_moments(
            mass_node.mass,
            Vector(mass_node.centre).scale(mass_node.mass),
            lissom_spatial::Matrix(mass_node.second_moment),
        );
        rigid_points(&inertia)
            .into_iter()
            .map(|(mass, offset)| MaterialPoint {
                mass,
                position: (Vector(node.position) + offset).0,
                displacement: if deforms {
                    node.displacement
                        .iter()
                        .zip(&node.rotation)
                        .map(|(moved, turned)| (Vector(*moved) + Vector(*turned).cross(offset)).0)
                        .collect()
                } else {
                    Vec::new()
                },
                shortening: if shortens {
                    node.shortening.clone()
                } else {
                    Vec::new()
                },
            })
            .collect::<Vec<_>>()
    };
    flexible.mass_nodes.iter().flat_map(slice).collect()
}

/// Masses, which may be negative, and places of points with the moments of a rigid body.
fn rigid_points(inertia: &RigidInertia<f64>) -> Vec<(f64, Vector<f64>)> {
    if inertia.mass == 0.0 {
        return Vec::new();
    }
    let centre = inertia.first_moment.scale(1.0 / inertia.mass);
    // ∫ρρᵀ about the centre from the inertia tensor about the origin
    let tensor = inertia.rotational.full();
    let trace = tensor.trace();
    let second = Matrix3::from_fn(|i, j| {
        let diagonal = if i == j { 0.5 * trace } else { 0.0 };
        diagonal - tensor.0[i][j] - inertia.mass * centre[i] * centre[j]
    });
    let largest = second.amax();
    // what rounding leaves of a point mass is none
    if largest <= 1e-14 * trace.abs() || largest == 0.0 {
        return vec![(inertia.mass, centre)];
    }
    let eigen = SymmetricEigen::new(second);
    let distance = (largest / inertia.mass.abs()).sqrt();
    let mut points = vec![(inertia.mass, centre)];
    for axis in 0..3 {
        let share = 0.5 * eigen.eigenvalues[axis] / (distance * distance);
        let along = eigen.eigenvectors.column(axis);
        let along = Vector([along[0], along[1], along[2]]).scale(distance);
        points[0].0 -= 2.0 * share;
        points.push((share, centre + along));
        points.push((share, centre - along));
    }
    points
}
