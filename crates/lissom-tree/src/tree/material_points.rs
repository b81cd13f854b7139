//! Points that stand for the mass of a tree, for what has to be known of forces point by point.
//!
//! A rigid body is its centre of mass and a pair of points on every principal axis; a slice of a flexible body is
//! the same about its own centre. Of a body that is given by its integrals there are points with the same integrals. A point of a flexible body sits at
//! $`p = r + \sum\psi_\alpha\eta_\alpha + \tfrac12\sum H_{\alpha\beta}\eta_\alpha\eta_\beta`$, the last term where the body's fidelity moves points
//! to second order: the displacement field that `body_inertia.rs` integrates.

use std::ops::Range;

use nalgebra::{Matrix3, SymmetricEigen};

use super::Kinematics;
use super::frame::add_generalized_forces;
use crate::flex::{CarriedKind, FlexibleBody, MassNode, carried, equivalent_points};
use crate::{Body, System};
use lissom_spatial::Scalar;
use lissom_spatial::{Force, Motion, RigidInertia, Vector};
use lissom_spec::{Inertia, ShorteningTerms};

/// The points of all bodies.
#[derive(Clone, Debug)]
pub struct MaterialPoints {
    bodies: Vec<BodyPoints>,
}

/// The points of one body, or of a part of it.
#[derive(Clone, Debug)]
pub(super) struct BodyPoints {
    /// The parts of the second-order displacement.
    blocks: Vec<Block>,
    points: Vec<MaterialPoint>,
}

/// Component and coordinates of a part of the second-order displacement, as in [`crate::flex::SecondOrderBlock`].
#[derive(Clone, Debug)]
struct Block {
    component: usize,
    rows: Range<usize>,
    columns: Range<usize>,
}

#[derive(Clone, Debug)]
struct MaterialPoint {
    mass: f64,
    position: [f64; 3],
    /// Per elastic coordinate; empty for a body that is taken undeformed.
    displacement: Vec<[f64; 3]>,
    /// Entries of all blocks of the body.
    second_order: Vec<f64>,
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
        self.bodies.iter().map(|body| body.points.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Masses, body by body.
    pub fn masses(&self) -> impl Iterator<Item = f64> {
        let points = self.bodies.iter().flat_map(|body| &body.points);
        points.map(|point| point.mass)
    }

    /// Velocities in ground components, in the state last given to [`Kinematics::update`] and
    /// [`Kinematics::update_poses`].
    #[inline(never)]
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
        for (k, body) in self.bodies.iter().enumerate() {
            let elastic = &position[layout.elastic_position[k]..];
            let rates = &velocity[layout.elastic_velocity[k]..];
            let twist = kinematics.twist[k];
            let rotation = kinematics.ground_from_body[k].rotation;
            for point in &body.points {
                let mut moved = twist.linear + twist.angular.cross(body.place(point, elastic));
                for (alpha, displacement) in point.displacement.iter().enumerate() {
                    moved += Vector::constant(*displacement).scale(rates[alpha]);
                    moved += body.curved(point, alpha, elastic).scale(rates[alpha]);
                }
                velocities.push(rotation * moved);
            }
        }
    }

    /// Forces in ground components, one per point, that stay as they are while the points move.
    pub fn hold(&self, forces: &[Vector<f64>]) -> HeldForces {
        let mut forces = forces.iter();
        let bodies = self.bodies.iter().map(|body| {
            let mut held = HeldOnBody {
                blocks: body.blocks.clone(),
                ..HeldOnBody::default()
            };
            for (point, &force) in body.points.iter().zip(&mut forces) {
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
                (held.by_second_order).resize(point.second_order.len(), Vector::zero());
                for (moment, &entry) in held.by_second_order.iter_mut().zip(&point.second_order) {
                    *moment += force.scale(entry);
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

/// Of the points $`p = r + \sum\psi_\alpha\eta_\alpha + \tfrac12\sum H_{\alpha\beta}\eta_\alpha\eta_\beta`$ of one body with forces $`f`$.
#[derive(Clone, Debug)]
struct HeldOnBody {
    /// $`\sum f`$.
    sum: Vector<f64>,
    /// $`\sum r_j f`$.
    moments: [Vector<f64>; 3],
    /// $`\sum \psi_{\alpha j} f`$.
    by_coordinate: Vec<[Vector<f64>; 3]>,
    /// $`\sum H f`$ for the entries of all blocks.
    by_second_order: Vec<Vector<f64>>,
    blocks: Vec<Block>,
}

impl Default for HeldOnBody {
    fn default() -> Self {
        Self {
            sum: Vector::zero(),
            moments: [Vector::zero(); 3],
            by_coordinate: Vec::new(),
            by_second_order: Vec::new(),
            blocks: Vec::new(),
        }
    }
}

impl HeldForces {
    /// Adds the generalised force in the state last given to [`Kinematics::update`] and [`Kinematics::update_poses`].
    #[inline(never)]
    pub fn add<T: Scalar>(
        &self,
        system: &System,
        kinematics: &Kinematics<T>,
        position: &[T],
        generalized_force: &mut [T],
    ) {
        let layout = system.layout();
        let mut forces = vec![Force::zero(); self.bodies.len()];
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
            let mut entries = held.by_second_order.iter();
            for block in &held.blocks {
                let axis = block.component;
                for alpha in block.rows.clone() {
                    let mut sum = Vector::zero();
                    for (beta, &moment) in block.columns.clone().zip(&mut entries) {
                        let moment = lifted(moment);
                        sum += moment.scale(elastic[beta]);
                        if block.rows != block.columns {
                            own[beta] += in_body(moment)[axis] * elastic[alpha];
                        }
                    }
                    own[alpha] += in_body(sum)[axis];
                    let share = if block.rows == block.columns {
                        0.5
                    } else {
                        1.0
                    };
                    moments[axis] += sum.scale(elastic[alpha] * share);
                }
            }
            let [x, y, z] = moments.map(in_body);
            let moment = Vector([y[2] - z[1], z[0] - x[2], x[1] - y[0]]);
            forces[k] = Force::new(moment, in_body(lifted(held.sum)));
        }
        add_generalized_forces(system, kinematics, &mut forces, generalized_force);
    }
}

impl BodyPoints {
    /// The points of a body with other mass nodes than its own.
    pub(super) fn of_part(body: &Body, mass_nodes: Vec<MassNode>) -> Self {
        if mass_nodes.is_empty() {
            return Self {
                blocks: Vec::new(),
                points: Vec::new(),
            };
        }
        let mut part = body.clone();
        if let Some(flexible) = &mut part.flexible {
            flexible.mass_nodes = mass_nodes;
        }
        points_of(&part)
    }

    /// What the points need to move as they do, at the origin of the body in its axes. `twist` and `acceleration` are those of the
    /// body's frame, and `[elastic, rates, accelerations]` those of its coordinates; an upward acceleration stands for gravity.
    pub(super) fn needed(
        &self,
        twist: Motion<f64>,
        acceleration: Motion<f64>,
        [elastic, rates, accelerations]: [&[f64]; 3],
    ) -> Force<f64> {
        let omega = twist.angular;
        let mut needed = Force::zero();
        for point in &self.points {
            let place = self.place(point, elastic);
            let (mut rate, mut relative) = (Vector::zero(), Vector::zero());
            for (alpha, displacement) in point.displacement.iter().enumerate() {
                let slope = Vector(*displacement) + self.curved(point, alpha, elastic);
                rate += slope.scale(rates[alpha]);
                relative += slope.scale(accelerations[alpha]);
                relative += self.curved(point, alpha, rates).scale(rates[alpha]);
            }
            // the derivative of the components of the frame's velocity, and what its turning adds
            let carried = acceleration.linear + acceleration.angular.cross(place) + relative;
            let turning = omega.cross(twist.linear + omega.cross(place) + rate.scale(2.0));
            let force = (carried + turning).scale(point.mass);
            needed += Force::new(place.cross(force), force);
        }
        needed
    }

    /// Where a point is in the body's frame.
    fn place<T: Scalar>(&self, point: &MaterialPoint, elastic: &[T]) -> Vector<T> {
        let mut place = Vector::constant(point.position);
        for (alpha, displacement) in point.displacement.iter().enumerate() {
            let curved = self.curved(point, alpha, elastic);
            place += Vector::constant(*displacement).scale(elastic[alpha]);
            place += curved.scale(elastic[alpha] * 0.5);
        }
        place
    }

    /// $`\sum_\beta H_{\alpha\beta}\eta_\beta`$ of a point.
    fn curved<T: Scalar>(&self, point: &MaterialPoint, alpha: usize, elastic: &[T]) -> Vector<T> {
        let mut sum = Vector::zero();
        let mut first = 0;
        for block in &self.blocks {
            let (rows, columns) = (&block.rows, &block.columns);
            let entry = |row: usize, column: usize| {
                point.second_order
                    [first + (row - rows.start) * columns.len() + column - columns.start]
            };
            if rows.contains(&alpha) {
                for beta in columns.clone() {
                    sum[block.component] += elastic[beta] * entry(alpha, beta);
                }
            } else if columns.contains(&alpha) {
                for beta in rows.clone() {
                    sum[block.component] += elastic[beta] * entry(beta, alpha);
                }
            }
            first += rows.len() * columns.len();
        }
        sum
    }
}

fn points_of(body: &Body) -> BodyPoints {
    let Some(flexible) = &body.flexible else {
        let points = rigid_points(&body.rigid).into_iter();
        let points = points.map(|(mass, position)| MaterialPoint {
            mass,
            position: position.0,
            displacement: Vec::new(),
            second_order: Vec::new(),
        });
        return BodyPoints {
            blocks: Vec::new(),
            points: points.collect(),
        };
    };
    let deforms = !body.fidelity.frozen && body.fidelity.inertia != Inertia::Rigid;
    if flexible.mass_nodes.is_empty() {
        return points_by_integrals(flexible, deforms, body.fidelity.shortening);
    }
    let parts = if deforms {
        second_order_parts(flexible, body.fidelity.shortening)
    } else {
        Vec::new()
    };
    let slice = |(index, mass_node): (usize, &MassNode)| {
        let node = &mass_node.node;
        let inertia = RigidInertia::from_moments(
            mass_node.mass,
            Vector(mass_node.centre).scale(mass_node.mass),
            lissom_spatial::Matrix(mass_node.second_moment),
        );
        let points = rigid_points(&inertia).into_iter();
        let parts = &parts;
        points
            .map(move |(mass, offset)| MaterialPoint {
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
                second_order: parts
                    .iter()
                    .flat_map(|part| {
                        let share = match part.kind {
                            CarriedKind::Centre => 1.0,
                            CarriedKind::Direction(axis) => offset[axis],
                        };
                        part.entries[index].iter().map(move |entry| entry * share)
                    })
                    .collect(),
            })
            .collect::<Vec<_>>()
    };
    let nodes = flexible.mass_nodes.iter().enumerate();
    let points = nodes.flat_map(slice).collect();
    BodyPoints {
        blocks: parts.into_iter().map(|part| part.block).collect(),
        points,
    }
}

fn points_by_integrals(
    flexible: &FlexibleBody,
    deforms: bool,
    shortening: ShorteningTerms,
) -> BodyPoints {
    let n = flexible.len();
    let curves = deforms && shortening.moves_points() && flexible.second_order_integrals.is_some();
    let block = |component: usize| Block {
        component,
        rows: 0..n,
        columns: 0..n,
    };
    let points = equivalent_points(flexible).into_iter();
    BodyPoints {
        blocks: if curves {
            (0..3).map(block).collect()
        } else {
            Vec::new()
        },
        points: points
            .map(|point| MaterialPoint {
                mass: point.mass,
                position: point.position,
                displacement: if deforms {
                    point.displacement
                } else {
                    Vec::new()
                },
                second_order: if curves {
                    point.second_order
                } else {
                    Vec::new()
                },
            })
            .collect(),
    }
}

/// A part of what a section carries to second order.
struct Part {
    kind: CarriedKind,
    block: Block,
    /// Entries at every mass node.
    entries: Vec<Vec<f64>>,
}

/// What moves points to second order: all of the field, or the shortening alone.
fn second_order_parts(flexible: &FlexibleBody, shortening: ShorteningTerms) -> Vec<Part> {
    let Some(field) = (flexible.second_order.as_ref()).filter(|_| shortening.moves_points()) else {
        return Vec::new();
    };
    let mut parts = Vec::new();
    for line in carried(flexible, field) {
        for block in line.blocks {
            let axial = line.kind == CarriedKind::Centre && block.component == 0;
            if axial || shortening == ShorteningTerms::Kinematic {
                parts.push(Part {
                    kind: line.kind,
                    block: Block {
                        component: block.component,
                        rows: block.rows,
                        columns: block.columns,
                    },
                    entries: block.entries,
                });
            }
        }
    }
    parts
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
