//! The mass matrix, by composite bodies.
//!
//! \[Jain & Rodriguez 1992, Lemma 1 and eq. (50)\]: going inward, the body and everything outboard of it
//! is one composite body as far as the coordinates inboard of it are concerned (a rigid one, unless a tip is
//! turned by a matrix that is no rotation). Each coordinate's
//! force column is carried to the ancestors, which read their entries off it.

use super::Kinematics;
use crate::{Place, System};
use lissom_spatial::Scalar;
use lissom_spatial::{ArticulatedInertia, Force};

/// Scratch memory of [`mass_matrix`].
#[derive(Clone, Debug)]
pub struct CompositeBody<T> {
    /// Inertia of every body with all that hangs on it.
    composite: Vec<ArticulatedInertia<T>>,
    /// Force at the body's origin per elastic acceleration, with what hangs on the body.
    coupling: Vec<Force<T>>,
}

impl<T: Scalar> CompositeBody<T> {
    /// Buffers for `system`.
    pub fn new(system: &System) -> Self {
        let bodies = system.bodies().len();
        Self {
            composite: vec![ArticulatedInertia::zero(); bodies],
            coupling: vec![Force::zero(); system.layout().elastic[bodies]],
        }
    }
}

/// Writes the mass matrix of the prepared state into `matrix`, n × n by rows. Allocates nothing.
#[inline(never)]
pub fn mass_matrix<T: Scalar>(
    system: &System,
    kinematics: &Kinematics<T>,
    workspace: &mut CompositeBody<T>,
    matrix: &mut [T],
) {
    let layout = system.layout();
    let size = layout.velocities;
    let w = workspace;
    matrix.fill(T::zero());
    for (composite, &rigid) in w.composite.iter_mut().zip(&kinematics.inertia) {
        *composite = ArticulatedInertia::from(rigid);
    }
    w.coupling.copy_from_slice(&kinematics.coupling);
    // elastic blocks start from each body's own mass; children add to them below
    for (k, body) in system.bodies().iter().enumerate() {
        let n = body.modes();
        let modal_mass = &kinematics.modal_mass[layout.modal_block[k]..];
        let first = layout.elastic_velocity[k];
        for alpha in 0..n {
            for beta in 0..n {
                matrix[(first + alpha) * size + first + beta] = modal_mass[alpha * n + beta];
            }
        }
    }

    for (k, body) in system.bodies().iter().enumerate().rev() {
        let composite = w.composite[k];
        let n = body.modes();
        let modes = layout.elastic[k]..layout.elastic[k] + n;
        let first = layout.elastic_velocity[k];

        // the frame of a floating body moves with its own elastic coordinates
        if matches!(body.inboard, Place::Node { .. }) {
            let floating = &kinematics.floating[modes.clone()];
            for alpha in 0..n {
                let force = composite.times(floating[alpha]);
                for beta in 0..n {
                    let entry = floating[beta].dot(w.coupling[modes.start + alpha] + force)
                        + floating[alpha].dot(w.coupling[modes.start + beta]);
                    matrix[(first + alpha) * size + first + beta] += entry;
                }
            }
            for alpha in 0..n {
                w.coupling[modes.start + alpha] += composite.times(floating[alpha]);
            }
        }

        // columns of the elastic coordinates, then of the joint
        for alpha in 0..n {
            let column = w.coupling[modes.start + alpha];
            own_joint_rows(system, kinematics, k, column, first + alpha, matrix);
            ancestor_rows(system, kinematics, k, column, first + alpha, matrix);
        }
        for i in 0..body.joint.kind.velocities() {
            let at = layout.joint_velocity[k] + i;
            let column = composite.times(kinematics.subspace[layout.hinge[k] + i]);
            own_joint_rows(system, kinematics, k, column, at, matrix);
            matrix[at * size + at] += T::constant(body.joint.armature[i]);
            ancestor_rows(system, kinematics, k, column, at, matrix);
        }

        // fold the composite into the parent
        let Some(p) = body.parent else { continue };
        let carried = composite.to_parent(&kinematics.parent_from_body[k]);
        w.composite[p] += carried;
        if matches!(body.outboard, Place::Node { .. }) {
            let m = system.bodies()[p].modes();
            let influence = &kinematics.influence[layout.influence[k]..][..m];
            let first = layout.elastic_velocity[p];
            for alpha in 0..m {
                let force = carried.times(influence[alpha]);
                w.coupling[layout.elastic[p] + alpha] += force;
                for beta in 0..m {
                    matrix[(first + alpha) * size + first + beta] += influence[beta].dot(force);
                }
            }
        }
    }
}

/// Writes the diagonal of the mass matrix of the prepared state: the inertia of every velocity, all others held. One
/// pass inward, O(N); allocates nothing.
#[inline(never)]
pub fn mass_diagonal<T: Scalar>(
    system: &System,
    kinematics: &Kinematics<T>,
    workspace: &mut CompositeBody<T>,
    diagonal: &mut [T],
) {
    let layout = system.layout();
    let w = workspace;
    for (composite, &rigid) in w.composite.iter_mut().zip(&kinematics.inertia) {
        *composite = ArticulatedInertia::from(rigid);
    }
    w.coupling.copy_from_slice(&kinematics.coupling);
    for (k, body) in system.bodies().iter().enumerate() {
        let n = body.modes();
        let modal_mass = &kinematics.modal_mass[layout.modal_block[k]..];
        let own = &mut diagonal[layout.elastic_velocity[k]..][..n];
        for (alpha, entry) in own.iter_mut().enumerate() {
            *entry = modal_mass[alpha * n + alpha];
        }
    }

    for (k, body) in system.bodies().iter().enumerate().rev() {
        let composite = w.composite[k];
        // the frame of a floating body moves with its own elastic coordinates
        if matches!(body.inboard, Place::Node { .. }) {
            let modes = layout.elastic[k]..layout.elastic[k] + body.modes();
            let own = &mut diagonal[layout.elastic_velocity[k]..];
            let floating = kinematics.floating[modes.clone()].iter();
            for ((entry, motion), coupling) in own.iter_mut().zip(floating).zip(&w.coupling[modes])
            {
                *entry += motion.dot(*coupling + composite.times(*motion)) + motion.dot(*coupling);
            }
        }
        let axes = &kinematics.subspace[layout.hinge[k]..layout.hinge[k + 1]];
        let own = &mut diagonal[layout.joint_velocity[k]..];
        for ((entry, axis), &armature) in own.iter_mut().zip(axes).zip(&body.joint.armature) {
            *entry = axis.dot(composite.times(*axis)) + T::constant(armature);
        }

        // fold the composite into the parent
        let Some(p) = body.parent else { continue };
        let carried = composite.to_parent(&kinematics.parent_from_body[k]);
        w.composite[p] += carried;
        if matches!(body.outboard, Place::Node { .. }) {
            let m = system.bodies()[p].modes();
            let influence = &kinematics.influence[layout.influence[k]..][..m];
            let own = &mut diagonal[layout.elastic_velocity[p]..];
            for (alpha, motion) in influence.iter().enumerate() {
                let force = carried.times(*motion);
                w.coupling[layout.elastic[p] + alpha] += force;
                own[alpha] += motion.dot(force);
            }
        }
    }
}

/// Entries of the body's own joint in the column of coordinate `at`, and their mirror images.
#[inline(always)]
fn own_joint_rows<T: Scalar>(
    system: &System,
    kinematics: &Kinematics<T>,
    k: usize,
    column: Force<T>,
    at: usize,
    matrix: &mut [T],
) {
    let layout = system.layout();
    let size = layout.velocities;
    let hinge = layout.hinge[k]..layout.hinge[k + 1];
    for (i, axis) in kinematics.subspace[hinge].iter().enumerate() {
        let row = layout.joint_velocity[k] + i;
        let entry = axis.dot(column);
        matrix[row * size + at] = entry;
        matrix[at * size + row] = entry;
    }
}

/// Entries of all coordinates inboard of body `k` in the column of coordinate `at`.
#[inline(always)]
fn ancestor_rows<T: Scalar>(
    system: &System,
    kinematics: &Kinematics<T>,
    k: usize,
    column: Force<T>,
    at: usize,
    matrix: &mut [T],
) {
    let layout = system.layout();
    let size = layout.velocities;
    let bodies = system.bodies();
    let (mut child, mut column) = (k, column);
    while let Some(p) = bodies[child].parent {
        column = kinematics.parent_from_body[child].force_to_parent(column);
        let at_node = matches!(bodies[child].outboard, Place::Node { .. });
        let floats = matches!(bodies[p].inboard, Place::Node { .. });
        for alpha in 0..bodies[p].modes() {
            let mut entry = T::zero();
            if at_node {
                entry += kinematics.influence[layout.influence[child] + alpha].dot(column);
            }
            if floats {
                entry += kinematics.floating[layout.elastic[p] + alpha].dot(column);
            }
            let row = layout.elastic_velocity[p] + alpha;
            matrix[row * size + at] = entry;
            matrix[at * size + row] = entry;
        }
        own_joint_rows(system, kinematics, p, column, at, matrix);
        child = p;
    }
}
