//! [`StageInertia`]: what the stages of an implicit integrator add to the mass matrix.
//!
//! A stage with the share $`s`$ of the step ($`v = \hat v + s\,a`$, $`q = \hat q + s\,v`$) solves $`M a = f(q, v)`$. With the stiffness
//! $`K = -\partial f/\partial q`$ and the damping $`D = -\partial f/\partial v`$ a step of Newton's method from $`a_0`$ is
//!
//! ```math
//! (M + X)\,a = f + X a_0 , \qquad X = s D + s^2 K .
//! ```
//!
//! What is stiff in a tree is in the bodies and the joints: $`K`$ and $`D`$ of a body among its own elastic coordinates, springs,
//! dampers and gains on the diagonal of a joint. $`X`$ of these has blocks that the articulated-body sweep takes to the
//! inertia of elastic coordinates and joints, so that a step costs one sweep and no matrix over all coordinates is formed. Gyroscopic terms and the
//! change of inertia with the configuration are left out: the iteration still ends at the solution, since $`X`$ stands on both sides.
//!
//! The stiffness of a body is that of its strain energy (the constant matrix and the Hessian of the [membrane](super::membrane) energy) and
//! the geometric one, by which forces along a bent beam stiffen or soften it: with the second-order field
//! $`\tfrac12\eta^T H(x)\,\eta`$ of places and rotations, the wrench $`F`$ that the next body asks for at its node, and the
//! acceleration $`\ddot r(x)`$ of the points of the beam, weight included,
//!
//! ```math
//! K_g = F \cdot H(L) + \int H(x) \cdot \ddot r(x)\,dm .
//! ```
//!
//! Where compression makes $`X`$ of a body indefinite, $`M + X`$ might be so too: then the body keeps its constant stiffness alone, and $`X`$ is never
//! negative.

use super::articulated_body::factor_symmetric;
use super::membrane;
use super::node::keeps_second_order;
use super::points::Points;
use super::{InverseDynamics, Kinematics};
use crate::flex::{Component, SecondOrderIntegrals, ShorteningInertia, ShorteningSums};
use crate::{Body, Place, System};
use lissom_spatial::{Force, Motion, Scalar, Vector};

/// Blocks of $`X`$ for elastic coordinates and joints.
#[derive(Clone, Debug)]
pub struct StageInertia {
    /// Of the elastic coordinates of every body, n × n by rows.
    pub(super) modal: Vec<f64>,
    /// The diagonal of every joint, as [`Layout::hinge`](crate::Layout::hinge) counts.
    pub(super) hinge: Vec<f64>,
    /// The second-order field of every body over its mass.
    sums: Vec<Vec<FieldSum>>,
    /// Stiffness of every body beyond its constant one, and the factor of one block.
    stiffness: Vec<f64>,
    factor: Vec<f64>,
    /// Room for the gradient of the axial strain of a body.
    gradient: Vec<Points<f64>>,
}

/// $`\int H\,dm`$ and $`\int r_i\,H\,dm`$ of one component of the displacement, for one block of coordinates.
#[derive(Clone, Debug)]
struct FieldSum {
    component: usize,
    /// i, the axis of the position.
    axis: usize,
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
    total: Vec<f64>,
    with_position: Vec<f64>,
}

impl StageInertia {
    /// Nothing yet, for `system`.
    pub fn new(system: &System) -> Self {
        let layout = system.layout();
        let bodies = system.bodies().len();
        let most = system.bodies().iter().map(Body::modes).max().unwrap_or(0);
        Self {
            modal: vec![0.0; layout.modal_block[bodies]],
            hinge: vec![0.0; layout.hinge[bodies]],
            sums: (0..bodies).map(|k| field_sums(system, k)).collect(),
            stiffness: vec![0.0; layout.modal_block[bodies]],
            factor: vec![0.0; most * most],
            gradient: vec![Points::zero(); most],
        }
    }

    /// $`X`$ of the bodies at a prepared state, whose accelerations `inverse` was last called with; nothing on joints. Allocates nothing.
    pub fn update(
        &mut self,
        system: &System,
        kinematics: &Kinematics<f64>,
        inverse: &InverseDynamics<f64>,
        position: &[f64],
        share: f64,
    ) {
        let layout = system.layout();
        self.hinge.fill(0.0);
        self.stiffness.fill(0.0);
        for (k, body) in system.bodies().iter().enumerate() {
            let n = body.modes();
            let own = &mut self.stiffness[layout.modal_block[k]..][..n * n];
            if let Some(strain) = system.strain(k) {
                let elastic = &position[layout.elastic_position[k]..][..n];
                let gradient = &mut self.gradient[..n];
                membrane::add_stiffness(strain, body.fidelity.elasticity, elastic, gradient, own);
            }
            let (twist, acceleration) = (kinematics.twist[k], inverse.acceleration[k]);
            add_own_inertia(&self.sums[k], twist, acceleration, own);
            if let Some(stiffness) = system.centrifugal_stiffness(k) {
                let [_, y, z] = twist.angular.0;
                for (own, stiffness) in own.iter_mut().zip(stiffness) {
                    *own += (y * y + z * z) * stiffness;
                }
            }
            if let (Place::Node { index, .. }, Some(p)) = (&body.outboard, body.parent) {
                let m = system.bodies()[p].modes();
                let stiffness = &mut self.stiffness[layout.modal_block[p]..][..m * m];
                let (place, _) = kinematics.outboard_node[k];
                let wrench = kinematics.parent_from_body[k].force_to_parent(inverse.force[k]);
                let moment = wrench.moment - place.cross(wrench.force);
                let load = Force::new(moment, wrench.force);
                add_load(&system.bodies()[p], *index, load, stiffness);
            }
        }
        for (k, body) in system.bodies().iter().enumerate() {
            let (n, Some(flexible)) = (body.modes(), &body.flexible) else {
                continue;
            };
            let block = layout.modal_block[k]..layout.modal_block[k] + n * n;
            let (added, block) = (&self.stiffness[block.clone()], &mut self.modal[block]);
            let constant = flexible.stiffness.iter().zip(&flexible.damping);
            for (x, (stiffness, damping)) in block.iter_mut().zip(constant) {
                *x = share * (damping + share * stiffness);
            }
            let factor = &mut self.factor[..n * n];
            for ((factor, x), added) in factor.iter_mut().zip(&*block).zip(added) {
                *factor = x + share * share * added;
            }
            factor_symmetric(factor, n);
            let positive = |x: f64| x > 0.0 && x.is_finite();
            if (0..n).all(|i| positive(factor[i * n + i])) {
                for (x, added) in block.iter_mut().zip(added) {
                    *x += share * share * added;
                }
            }
        }
    }

    /// Adds to the diagonal of the joint of a body, in one of its directions; nothing to prescribed joints.
    pub fn add_to_joint(&mut self, system: &System, body: usize, direction: usize, added: f64) {
        if !system.bodies()[body].joint.prescribed {
            self.hinge[system.layout().hinge[body] + direction] += added.max(0.0);
        }
    }

    /// $`f + X a`$.
    pub fn add_force<T: Scalar>(&self, system: &System, acceleration: &[T], force: &mut [T]) {
        let layout = system.layout();
        for (k, body) in system.bodies().iter().enumerate() {
            let at = layout.joint_velocity[k];
            let hinge = &self.hinge[layout.hinge[k]..layout.hinge[k + 1]];
            for (i, &x) in hinge.iter().enumerate() {
                force[at + i] += acceleration[at + i] * x;
            }
            let n = body.modes();
            let first = layout.elastic_velocity[k];
            let block = &self.modal[layout.modal_block[k]..][..n * n];
            for alpha in 0..n {
                for beta in 0..n {
                    force[first + alpha] += acceleration[first + beta] * block[alpha * n + beta];
                }
            }
        }
    }

    /// Adds $`X`$ to a matrix over all velocities, n × n by rows.
    pub fn add_to_matrix(&self, system: &System, matrix: &mut [f64]) {
        let layout = system.layout();
        let size = layout.velocities;
        for (k, body) in system.bodies().iter().enumerate() {
            let hinge = &self.hinge[layout.hinge[k]..layout.hinge[k + 1]];
            for (i, x) in hinge.iter().enumerate() {
                matrix[(layout.joint_velocity[k] + i) * (size + 1)] += x;
            }
            let n = body.modes();
            let first = layout.elastic_velocity[k];
            let block = &self.modal[layout.modal_block[k]..][..n * n];
            for alpha in 0..n {
                for beta in 0..n {
                    matrix[(first + alpha) * size + first + beta] += block[alpha * n + beta];
                }
            }
        }
    }
}

/// The second-order field of a body over its mass, as the fidelity keeps it.
fn field_sums(system: &System, body: usize) -> Vec<FieldSum> {
    match system.shortening(body) {
        None => Vec::new(),
        Some(ShorteningInertia::SecondOrder(sums)) => shortening_sums(sums),
        Some(ShorteningInertia::Integrals(_)) => {
            let flexible = system.bodies()[body].flexible.as_ref();
            let integrals = flexible.and_then(|own| own.second_order_integrals.as_ref());
            integrals.map_or_else(Vec::new, any_shape_sums)
        }
        Some(ShorteningInertia::Full(field)) => {
            let places = field.lines.iter().filter(|line| line.is_place);
            let sums = places.flat_map(|line| {
                line.blocks.iter().map(|block| {
                    let size = block.rows.len() * block.columns.len();
                    let (mut total, mut with_position) = (vec![0.0; size], vec![0.0; size]);
                    let groups = line.weights.iter().zip(&line.undeformed);
                    for ((weights, places), entries) in groups.zip(block.entries.chunks(size)) {
                        for (entry, h) in entries.iter().enumerate() {
                            for ((h, weight), place) in h.iter().zip(weights).zip(places) {
                                total[entry] += weight * h;
                                with_position[entry] += weight * place * h;
                            }
                        }
                    }
                    FieldSum {
                        component: block.component,
                        axis: 0,
                        rows: block.rows.clone(),
                        columns: block.columns.clone(),
                        total,
                        with_position,
                    }
                })
            });
            sums.collect()
        }
    }
}

fn shortening_sums(sums: &ShorteningSums) -> Vec<FieldSum> {
    let mut first = 0;
    let planes = sums.planes.iter().map(|plane| {
        let entries = first..first + plane.len() * plane.len();
        first = entries.end;
        FieldSum {
            component: 0,
            axis: 0,
            rows: plane.clone(),
            columns: plane.clone(),
            total: sums.total[entries.clone()].to_vec(),
            with_position: sums.with_position[entries].to_vec(),
        }
    });
    planes.collect()
}

fn any_shape_sums(integrals: &SecondOrderIntegrals) -> Vec<FieldSum> {
    let n = integrals.sums.len().isqrt();
    let sum = |component: usize, axis: usize| FieldSum {
        component,
        axis,
        rows: 0..n,
        columns: 0..n,
        // counted once among the three axes
        total: (integrals.sums.iter())
            .map(|sums| if axis == 0 { sums[component] } else { 0.0 })
            .collect(),
        with_position: (integrals.sums.iter())
            .map(|sums| sums[3 + 3 * axis + component])
            .collect(),
    };
    let components = (0..3).flat_map(|component| (0..3).map(move |axis| (component, axis)));
    components
        .map(|(component, axis)| sum(component, axis))
        .collect()
}

/// Adds $`\int H \cdot \ddot r\,dm`$ for a body with this twist and acceleration.
fn add_own_inertia(
    sums: &[FieldSum],
    twist: Motion<f64>,
    acceleration: Motion<f64>,
    stiffness: &mut [f64],
) {
    let omega = twist.angular;
    let origin = acceleration.linear + omega.cross(twist.linear);
    let slopes = [0, 1, 2].map(|axis| {
        let mut along = Vector::zero();
        along[axis] = 1.0;
        acceleration.angular.cross(along) + omega.cross(omega.cross(along))
    });
    for sum in sums {
        let (origin, slope) = (origin[sum.component], slopes[sum.axis][sum.component]);
        let entries = sum.total.iter().zip(&sum.with_position);
        let entries = entries.map(|(total, with_position)| origin * total + slope * with_position);
        add_block(&sum.rows, &sum.columns, entries, stiffness);
    }
}

/// Adds $`F \cdot H`$ for a wrench on a node of a body.
fn add_load(body: &Body, node: usize, wrench: Force<f64>, stiffness: &mut [f64]) {
    let Some(flexible) = &body.flexible else {
        return;
    };
    let Some(field) = &flexible.second_order else {
        return;
    };
    let (tip, shortening) = (body.fidelity.tip, body.fidelity.shortening);
    for (block, entries) in field.entries(&flexible.nodes[node].second_order) {
        if !keeps_second_order(shortening, tip, block.component) {
            continue;
        }
        let load = match block.component {
            Component::Displacement(i) => wrench.force[i],
            Component::Rotation(i) => wrench.moment[i],
        };
        let entries = entries.iter().map(|h| load * h);
        add_block(&block.rows, &block.columns, entries, stiffness);
    }
}

/// Adds a block by rows and, if it lies aside from the diagonal, its mirror image.
fn add_block(
    rows: &std::ops::Range<usize>,
    columns: &std::ops::Range<usize>,
    mut entries: impl Iterator<Item = f64>,
    stiffness: &mut [f64],
) {
    let n = stiffness.len().isqrt();
    for alpha in rows.clone() {
        for beta in columns.clone() {
            let entry = entries.next().unwrap_or(0.0);
            stiffness[alpha * n + beta] += entry;
            if rows != columns {
                stiffness[beta * n + alpha] += entry;
            }
        }
    }
}
