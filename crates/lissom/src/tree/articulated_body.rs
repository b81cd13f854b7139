//! Accelerations in O(N) by articulated bodies, and the inverse of the mass matrix as an operator.
//!
//! \[Jain & Rodriguez 1992, eqs (63), (64)\]. The articulated inertia $`P`$ of a body is what is felt at its
//! frame when everything outboard hangs free. Elastic coordinates and joint are eliminated one after the
//! other, each by a Cholesky factor that keeps $`P`$ symmetric to the last bit; the form $`(1 - GH)P`$ of the
//! paper loses all accuracy in long flexible chains.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | $`P_{ff} = LL^T`$ | `modal_factor` | inertia felt by the elastic coordinates |
//! | $`X = L^{-1}P_{fr}`$ | `modal_gain` | one force per elastic coordinate |
//! | $`P_R = P_{rr} - X^TX`$ | | what the joint feels when the body may bend |
//! | $`D_r = H P_R H^* `$ | `hinge_factor` | inertia felt by the joint, by its Cholesky factor |
//! | $`U = D_r^{-1/2} H P_R`$ | `hinge_gain` | one force per joint degree of freedom |
//! | $`P^+ = P_R - U^TU`$ | `felt_inertia` | what the parent feels |
//!
//! [`factor`](ArticulatedBody::factor) goes inward once per configuration;
//! [`forward_dynamics`](ArticulatedBody::forward_dynamics) and [`solve`](ArticulatedBody::solve) go inward and
//! outward once per right-hand side.

use super::Kinematics;
use super::inverse_dynamics::ground_acceleration;
use crate::model::{Place, System};
use crate::scalar::Scalar;
use crate::spatial::{ArticulatedInertia, Force, Motion};

/// The factored mass matrix of one configuration.
#[derive(Clone, Debug)]
pub struct ArticulatedBody<T> {
    inertia: Vec<ArticulatedInertia<T>>,
    felt_inertia: Vec<ArticulatedInertia<T>>,
    modal_factor: Vec<T>,
    modal_gain: Vec<Force<T>>,
    hinge_factor: Vec<[T; 36]>,
    hinge_gain: Vec<Force<T>>,
    // per right-hand side
    bias: Vec<Force<T>>,
    modal_bias: Vec<T>,
    hinge_bias: Vec<T>,
    acceleration: Vec<Motion<T>>,
}

impl<T: Scalar> ArticulatedBody<T> {
    /// Buffers for `system`.
    pub fn new(system: &System) -> Self {
        let layout = system.layout();
        let bodies = system.bodies().len();
        Self {
            inertia: vec![ArticulatedInertia::zero(); bodies],
            felt_inertia: vec![ArticulatedInertia::zero(); bodies],
            modal_factor: vec![T::zero(); layout.modal_block[bodies]],
            modal_gain: vec![Force::zero(); layout.elastic[bodies]],
            hinge_factor: vec![[T::zero(); 36]; bodies],
            hinge_gain: vec![Force::zero(); layout.hinge[bodies]],
            bias: vec![Force::zero(); bodies],
            modal_bias: vec![T::zero(); layout.elastic[bodies]],
            hinge_bias: vec![T::zero(); layout.hinge[bodies]],
            acceleration: vec![Motion::zero(); bodies],
        }
    }

    /// Factors the mass matrix of the prepared configuration, tip to base (63). Allocates nothing.
    pub fn factor(&mut self, system: &System, kinematics: &Kinematics<T>) {
        let layout = system.layout();
        for (inertia, rigid) in self.inertia.iter_mut().zip(&kinematics.inertia) {
            *inertia = ArticulatedInertia::from(*rigid);
        }
        self.modal_factor.copy_from_slice(&kinematics.modal_mass);
        self.modal_gain.copy_from_slice(&kinematics.coupling);

        for (k, body) in system.bodies().iter().enumerate().rev() {
            let n = body.modes();
            let mut felt = self.inertia[k];
            if n > 0 {
                let modes = layout.elastic[k]..layout.elastic[k] + n;
                let factor = &mut self.modal_factor[layout.modal_block[k]..][..n * n];
                let gain = &mut self.modal_gain[modes.clone()];
                if matches!(body.inboard, Place::Node { .. }) {
                    follow_floating_frame(&felt, &kinematics.floating[modes], gain, factor);
                }
                cholesky(factor, n, n);
                // X = L⁻¹ P_fr, row by row
                for alpha in 0..n {
                    let mut row = gain[alpha];
                    for beta in 0..alpha {
                        row -= gain[beta].scale(factor[alpha * n + beta]);
                    }
                    gain[alpha] = row.scale(T::constant(1.0) / factor[alpha * n + alpha]);
                    felt.subtract_outer(gain[alpha], gain[alpha]);
                }
            }

            if !body.joint.prescribed {
                let hinge = layout.hinge[k]..layout.hinge[k + 1];
                let axes = &kinematics.subspace[hinge.clone()];
                let gain = &mut self.hinge_gain[hinge];
                eliminate_hinge(
                    &mut felt,
                    axes,
                    body.joint.armature,
                    &mut self.hinge_factor[k],
                    gain,
                );
            }
            self.felt_inertia[k] = felt;

            let Some(p) = body.parent else { continue };
            let carried = felt.to_parent(&kinematics.parent_from_body[k]);
            self.inertia[p] += carried;
            if matches!(body.outboard, Place::Node { .. }) {
                let m = system.bodies()[p].modes();
                let influence = &kinematics.influence[layout.influence[k]..][..m];
                let factor = &mut self.modal_factor[layout.modal_block[p]..][..m * m];
                let gain = &mut self.modal_gain[layout.elastic[p]..][..m];
                for alpha in 0..m {
                    let force = carried.times(influence[alpha]);
                    gain[alpha] += force;
                    for beta in 0..=alpha {
                        factor[alpha * m + beta] += influence[beta].dot(force);
                    }
                }
            }
        }
    }

    /// Accelerations of the prepared and [factored](Self::factor) state under `generalized_force` (64).
    ///
    /// Entries of `acceleration` that belong to prescribed joints are read, all others are written.
    /// Allocates nothing.
    pub fn forward_dynamics(
        &mut self,
        system: &System,
        kinematics: &Kinematics<T>,
        generalized_force: &[T],
        acceleration: &mut [T],
    ) {
        for k in 0..system.bodies().len() {
            self.bias[k] = kinematics.bias[k] - kinematics.external[k];
        }
        for (bias, (&inner, &applied)) in self
            .modal_bias
            .iter_mut()
            .zip(kinematics.modal_bias.iter().zip(&kinematics.modal_external))
        {
            *bias = inner - applied;
        }
        let ground = ground_acceleration(system);
        self.inward::<true>(system, kinematics, generalized_force, acceleration);
        self.outward::<true>(system, kinematics, ground, acceleration);
    }

    /// $`M^{-1}`$ times a vector of generalised forces, without forming $`M`$ (Lemmas 3–5).
    ///
    /// Entries of prescribed joints count as held. Allocates nothing.
    pub fn solve(
        &mut self,
        system: &System,
        kinematics: &Kinematics<T>,
        generalized_force: &[T],
        acceleration: &mut [T],
    ) {
        self.bias.fill(Force::zero());
        self.modal_bias.fill(T::zero());
        acceleration.fill(T::zero());
        self.inward::<false>(system, kinematics, generalized_force, acceleration);
        self.outward::<false>(system, kinematics, Motion::zero(), acceleration);
    }

    /// Tip to base: what remains of the forces once the coordinates outboard have taken their share.
    #[inline(always)]
    fn inward<const MOVING: bool>(
        &mut self,
        system: &System,
        kinematics: &Kinematics<T>,
        generalized_force: &[T],
        acceleration: &[T],
    ) {
        let layout = system.layout();
        for (k, body) in system.bodies().iter().enumerate().rev() {
            let n = body.modes();
            let mut bias = self.bias[k];
            if n > 0 {
                let first = layout.elastic[k];
                let factor = &self.modal_factor[layout.modal_block[k]..][..n * n];
                let forces = &generalized_force[layout.elastic_velocity[k]..][..n];
                // y = L⁻¹ (T_f − z_f), kept in place of z_f
                for alpha in 0..n {
                    let mut y = forces[alpha] - self.modal_bias[first + alpha];
                    if matches!(body.inboard, Place::Node { .. }) {
                        y -= kinematics.floating[first + alpha].dot(self.bias[k]);
                    }
                    for beta in 0..alpha {
                        y -= factor[alpha * n + beta] * self.modal_bias[first + beta];
                    }
                    y = y / factor[alpha * n + alpha];
                    self.modal_bias[first + alpha] = y;
                    bias += self.modal_gain[first + alpha].scale(y);
                }
            }

            let axes = &kinematics.subspace[layout.hinge[k]..layout.hinge[k + 1]];
            let at = layout.joint_velocity[k];
            let mut product = kinematics.velocity_product[k];
            if body.joint.prescribed {
                if MOVING {
                    // a given joint acceleration acts like one more velocity product
                    for (i, axis) in axes.iter().enumerate() {
                        product += axis.scale(acceleration[at + i]);
                    }
                }
            } else {
                let factor = &self.hinge_factor[k];
                for (i, axis) in axes.iter().enumerate() {
                    let mut u = generalized_force[at + i] - axis.dot(bias);
                    for j in 0..i {
                        u -= factor[i * 6 + j] * self.hinge_bias[layout.hinge[k] + j];
                    }
                    self.hinge_bias[layout.hinge[k] + i] = u / factor[i * 7];
                }
                for (i, gain) in self.hinge_gain[layout.hinge[k]..layout.hinge[k + 1]]
                    .iter()
                    .enumerate()
                {
                    bias += gain.scale(self.hinge_bias[layout.hinge[k] + i]);
                }
            }

            let Some(p) = body.parent else { continue };
            if MOVING {
                bias += self.felt_inertia[k].times(product);
            }
            let carried = kinematics.parent_from_body[k].force_to_parent(bias);
            self.bias[p] += carried;
            if matches!(body.outboard, Place::Node { .. }) {
                let m = system.bodies()[p].modes();
                let influence = &kinematics.influence[layout.influence[k]..][..m];
                for (alpha, motion) in influence.iter().enumerate() {
                    self.modal_bias[layout.elastic[p] + alpha] += motion.dot(carried);
                }
            }
        }
    }

    /// Base to tip: accelerations.
    #[inline(always)]
    fn outward<const MOVING: bool>(
        &mut self,
        system: &System,
        kinematics: &Kinematics<T>,
        ground: Motion<T>,
        acceleration: &mut [T],
    ) {
        let layout = system.layout();
        for (k, body) in system.bodies().iter().enumerate() {
            let mut carried = body.parent.map_or(ground, |p| self.acceleration[p]);
            if let (Place::Node { .. }, Some(p)) = (&body.outboard, body.parent) {
                let m = system.bodies()[p].modes();
                let influence = &kinematics.influence[layout.influence[k]..][..m];
                let parent_acceleration = &acceleration[layout.elastic_velocity[p]..][..m];
                for (motion, &a) in influence.iter().zip(parent_acceleration) {
                    carried += motion.scale(a);
                }
            }
            let mut total = kinematics.parent_from_body[k].motion_to_child(carried);
            if MOVING {
                total += kinematics.velocity_product[k];
            }

            let hinge = layout.hinge[k]..layout.hinge[k + 1];
            let axes = &kinematics.subspace[hinge.clone()];
            let at = layout.joint_velocity[k];
            if !body.joint.prescribed {
                // Lᵀ β̇ = u − U A⁺, from the last row up
                let factor = &self.hinge_factor[k];
                for i in (0..axes.len()).rev() {
                    let mut a = self.hinge_bias[hinge.start + i]
                        - total.dot(self.hinge_gain[hinge.start + i]);
                    for j in i + 1..axes.len() {
                        a -= factor[j * 6 + i] * acceleration[at + j];
                    }
                    acceleration[at + i] = a / factor[i * 7];
                }
            }
            for (i, axis) in axes.iter().enumerate() {
                total += axis.scale(acceleration[at + i]);
            }

            let n = body.modes();
            if n > 0 {
                let first = layout.elastic[k];
                let factor = &self.modal_factor[layout.modal_block[k]..][..n * n];
                let elastic = &mut acceleration[layout.elastic_velocity[k]..][..n];
                // Lᵀ η̈ = y − X A
                for alpha in (0..n).rev() {
                    let mut a =
                        self.modal_bias[first + alpha] - total.dot(self.modal_gain[first + alpha]);
                    for beta in alpha + 1..n {
                        a -= factor[beta * n + alpha] * elastic[beta];
                    }
                    elastic[alpha] = a / factor[alpha * n + alpha];
                }
                if matches!(body.inboard, Place::Node { .. }) {
                    for (alpha, &a) in elastic.iter().enumerate() {
                        total += kinematics.floating[first + alpha].scale(a);
                    }
                }
            }
            self.acceleration[k] = total;
        }
    }
}

/// Rewrites a floating body's inertia for the twist of the joint side: $`V = V' + B\dot\eta`$.
#[inline(always)]
fn follow_floating_frame<T: Scalar>(
    inertia: &ArticulatedInertia<T>,
    floating: &[Motion<T>],
    gain: &mut [Force<T>],
    factor: &mut [T],
) {
    let n = gain.len();
    for alpha in 0..n {
        let force = inertia.times(floating[alpha]);
        for beta in 0..=alpha {
            factor[alpha * n + beta] +=
                floating[beta].dot(gain[alpha] + force) + floating[alpha].dot(gain[beta]);
        }
    }
    for alpha in 0..n {
        gain[alpha] += inertia.times(floating[alpha]);
    }
}

/// Takes the joint's own directions out of the inertia that the parent feels.
#[inline(always)]
fn eliminate_hinge<T: Scalar>(
    felt: &mut ArticulatedInertia<T>,
    axes: &[Motion<T>],
    armature: f64,
    factor: &mut [T; 36],
    gain: &mut [Force<T>],
) {
    let size = axes.len();
    for i in 0..size {
        gain[i] = felt.times(axes[i]);
        for j in 0..=i {
            factor[i * 6 + j] = axes[j].dot(gain[i]);
        }
        factor[i * 7] += T::constant(armature);
    }
    cholesky(factor, size, 6);
    for i in 0..size {
        let mut row = gain[i];
        for j in 0..i {
            row -= gain[j].scale(factor[i * 6 + j]);
        }
        gain[i] = row.scale(T::constant(1.0) / factor[i * 7]);
        felt.subtract_outer(gain[i], gain[i]);
    }
}

/// Cholesky factor of the lower triangle of a symmetric matrix with rows `stride` apart, in place.
///
/// A matrix that is not positive definite leaves NaN, which whoever reads the accelerations reports.
#[inline(always)]
fn cholesky<T: Scalar>(a: &mut [T], n: usize, stride: usize) {
    for i in 0..n {
        for j in 0..=i {
            let mut sum = a[i * stride + j];
            for l in 0..j {
                sum -= a[i * stride + l] * a[j * stride + l];
            }
            a[i * stride + j] = if i == j {
                sum.sqrt()
            } else {
                sum / a[j * stride + j]
            };
        }
    }
}
