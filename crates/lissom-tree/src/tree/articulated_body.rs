//! Accelerations in O(N) by articulated bodies, and the inverse of the mass matrix as an operator.
//!
//! \[Jain & Rodriguez 1992, eqs (63), (64)\]. The articulated inertia $`P`$ of a body is what is felt at its
//! frame when everything outboard hangs free. Elastic coordinates and joint are eliminated one after the
//! other, each by a factor $`LDL^T`$, and of every symmetric matrix one triangle is kept, so that $`P`$ stays
//! symmetric to the last bit; the form $`(1 - GH)P`$ of the paper loses all accuracy in long flexible chains.
//!
//! | (63), inward | code | meaning |
//! |---|---|---|
//! | $`\Gamma`$ | `carried` | $`P_R^+`$ of a body outboard, seen at the frame of the body that carries it |
//! | $`P^{rr}, P^{rf}, P^{ff}`$ | `felt_inertia`, `modal_gain`, `modal_factor` | $`\mathcal{A}\Gamma\mathcal{A}^* + M_m`$ (the print has $`\mathcal{Q}`$), before the elimination |
//! | $`D_f = \mathcal{H}_f P \mathcal{H}_f^* = L D L^T`$ | `modal_factor` | inertia felt by the elastic coordinates; $`D^{-1}`$ on the diagonal |
//! | $`\mu = [P^{rf}, P^{rr}]\mathcal{H}_f^*`$ | `modal_gain` | kept as $`X = L^{-1}\mu^*`$, one force per elastic coordinate; $`\Lambda M_{fr}`$ where the inverse is indirect |
//! | $`P_R = P^{rr} - g\mu^* = P^{rr} - X^T D^{-1} X`$ | `felt_inertia` | what the joint feels when the body may bend; $`g = \mu D_f^{-1}`$ is not formed |
//! | $`D_R = H P_R H^* = L D L^T`$ | `hinge_factor` | inertia felt by the joint, $`H`$ for $`H_{\mathfrak F}`$ |
//! | $`G_R = P_R H^* D_R^{-1}`$ | `hinge_gain` | kept as $`U = L^{-1} H P_R`$, one force per joint degree of freedom |
//! | $`P_R^+ = \bar\tau_R P_R = P_R - U^T D^{-1} U`$ | `felt_inertia` | what the parent feels |
//!
//! | (64) | code | meaning |
//! |---|---|---|
//! | $`z_f, z_r`$ | `modal_bias`, `bias` | forces that hold the body while nothing accelerates, $`b_m + K_m\vartheta`$ and what comes from outboard |
//! | $`\epsilon_f = T_f - z_f + [\Pi_{\mathfrak F}^d]^* z_r`$ | `modal_bias` | kept as $`L^{-1}\epsilon_f`$ (the print has $`z_r`$ for $`z_f`$); `floating` is $`-\Pi_{\mathfrak F}^d`$ |
//! | $`z_R = z_r + g\epsilon_f`$ | `bias` | without $`P_R a_{mR}`$, see below |
//! | $`\epsilon_R = T_R - H z_R`$ | `hinge_bias` | kept as $`L^{-1}\epsilon_R`$ |
//! | $`z_R^+ = z_R + G_R\epsilon_R`$ | `bias` | with $`P_R^+ a_{mR}`$ added |
//! | $`\alpha_R^+`$ | `total` | acceleration that the parent gives, with $`a_{mR}`$ added |
//! | $`\dot\beta, \ddot\eta`$ | `acceleration` | of joint and elastic coordinates; $`\nu_R = D_R^{-1}\epsilon_R`$ and $`\nu_f = D_f^{-1}\epsilon_f`$ are not formed |
//! | $`\alpha_R`$, then $`\alpha_R - \Pi_{\mathfrak F}^d\ddot\eta`$ | `total`, `self.acceleration` | acceleration of the joint's side, then of the body's frame |
//!
//! The velocity product $`a_{mR}`$ stands before the joint here, not behind it: added to $`\alpha_R^+`$, it makes its force by
//! $`P_R^+`$ where the paper has $`P_R`$, and the joint's share of it comes with $`G_R^*\alpha_R^+`$.
//!
//! [`factor`](ArticulatedBody::factor) goes inward once per configuration;
//! [`forward_dynamics`](ArticulatedBody::forward_dynamics) and [`solve`](ArticulatedBody::solve) go inward and
//! outward once per right-hand side. Bodies with many modes take the [indirect inverse](super::indirect_inverse).

mod elimination;

pub(super) use elimination::factor_symmetric;
use elimination::{eliminate, eliminate_hinge, follow_floating_frame};

use super::heavy_loads::{Refinement, heavily_loaded};
use super::indirect_inverse::IndirectInverse;
use super::inverse_dynamics::ground_acceleration;
use super::simd::{Kernel, run_simd};
use super::{Kinematics, StageInertia};
use crate::{Body, Place, System};
use lissom_spatial::{ArticulatedInertia, Force, Motion};
use lissom_spatial::{Pivot, Scalar};

/// The factored mass matrix of one configuration.
#[derive(Clone, Debug)]
pub struct ArticulatedBody<T> {
    felt_inertia: Vec<ArticulatedInertia<T>>,
    pub(super) modal_factor: Vec<T>,
    pub(super) modal_gain: Vec<Force<T>>,
    /// Bodies whose elastic coordinates are eliminated without factoring.
    indirect: Vec<Option<IndirectInverse<T>>>,
    pub(super) hinge_factor: Vec<T>,
    pub(super) hinge_gain: Vec<Force<T>>,
    // per right-hand side
    bias: Vec<Force<T>>,
    modal_bias: Vec<T>,
    hinge_bias: Vec<T>,
    acceleration: Vec<Motion<T>>,
    /// Where loads are so heavy that accelerations need a correction.
    refinement: Option<Refinement<T>>,
}

/// Number of elastic coordinates from which the indirect inverse is cheaper than factoring, as `lissom-bench`
/// measures it for full elastic mass matrices.
const INDIRECT_FROM: usize = 20;

impl<T: Scalar> ArticulatedBody<T> {
    /// Buffers for `system`. Elastic coordinates are eliminated by the indirect inverse (B3) where that is cheaper, and under
    /// heavy loads, where it can be taken.
    pub fn new(system: &System) -> Self {
        let heavy = heavily_loaded(system);
        Self::eliminating(system, |k| if heavy[k] { 1 } else { INDIRECT_FROM })
    }

    /// Buffers for `system`, where bodies with a constant elastic mass matrix and at least `modes` elastic
    /// coordinates for every body on a node of theirs are eliminated by the indirect inverse (B3).
    pub fn with_indirect_from(system: &System, modes: usize) -> Self {
        Self::eliminating(system, |_| modes)
    }

    /// The same with a number of modes for every body.
    fn eliminating(system: &System, indirect_from: impl Fn(usize) -> usize) -> Self {
        let layout = system.layout();
        let bodies = system.bodies().len();
        Self {
            felt_inertia: vec![ArticulatedInertia::zero(); bodies],
            modal_factor: vec![T::zero(); layout.modal_block[bodies]],
            modal_gain: vec![Force::zero(); layout.elastic[bodies]],
            indirect: (0..bodies)
                .map(|k| IndirectInverse::of(system, k, indirect_from(k)))
                .collect(),
            hinge_factor: vec![T::zero(); layout.hinge_block[bodies]],
            hinge_gain: vec![Force::zero(); layout.hinge[bodies]],
            bias: vec![Force::zero(); bodies],
            modal_bias: vec![T::zero(); layout.elastic[bodies]],
            hinge_bias: vec![T::zero(); layout.hinge[bodies]],
            acceleration: vec![Motion::zero(); bodies],
            refinement: Refinement::of(system),
        }
    }

    /// Factors the mass matrix of the prepared configuration, tip to base (63). Allocates nothing.
    #[inline(never)]
    pub fn factor(&mut self, system: &System, kinematics: &Kinematics<T>) {
        run_simd(Factor {
            articulated: self,
            system,
            kinematics,
            added: None,
        });
    }

    /// [`factor`](Self::factor) of the mass matrix and what a stage adds to it. Allocates nothing.
    ///
    /// # Panics
    /// If bodies are eliminated by the indirect inverse, which cannot hold what is added.
    #[inline(never)]
    pub fn factor_stage(
        &mut self,
        system: &System,
        kinematics: &Kinematics<T>,
        added: &StageInertia,
    ) {
        assert!(self.indirect.iter().all(Option::is_none));
        run_simd(Factor {
            articulated: self,
            system,
            kinematics,
            added: Some(added),
        });
    }

    /// [`factor`](Self::factor) in the instructions of whoever calls.
    #[inline(always)]
    fn factor_all(
        &mut self,
        system: &System,
        kinematics: &Kinematics<T>,
        added: Option<&StageInertia>,
    ) {
        let layout = system.layout();
        for (inertia, rigid) in self.felt_inertia.iter_mut().zip(&kinematics.inertia) {
            *inertia = ArticulatedInertia::from(*rigid);
        }
        self.modal_factor.copy_from_slice(&kinematics.modal_mass);
        if let Some(added) = added {
            for (factor, &added) in self.modal_factor.iter_mut().zip(&added.modal) {
                *factor += T::constant(added);
            }
        }
        self.modal_gain.copy_from_slice(&kinematics.coupling);
        for indirect in self.indirect.iter_mut().flatten() {
            indirect.begin();
        }

        for (k, body) in system.bodies().iter().enumerate().rev() {
            let n = body.modes();
            let felt = &mut self.felt_inertia[k];
            if n > 0 {
                let modes = layout.elastic[k]..layout.elastic[k] + n;
                let factor = &mut self.modal_factor[layout.modal_block[k]..][..n * n];
                let gain = &mut self.modal_gain[modes.clone()];
                if let Some(indirect) = &mut self.indirect[k] {
                    indirect.eliminate(felt, gain, kinematics.inboard_node[k]);
                } else {
                    if matches!(body.inboard, Place::Node { .. }) {
                        follow_floating_frame(felt, &kinematics.floating[modes], gain, factor);
                    }
                    // D_f = L D Lᵀ, X = L⁻¹ μ*, P_R = P^rr − Xᵀ D⁻¹ X
                    factor_symmetric(factor, n);
                    eliminate(felt, factor, n, gain);
                }
            }

            // D_R = L D Lᵀ, U = L⁻¹ H P_R, P_R⁺ = P_R − Uᵀ D⁻¹ U
            let hinge = layout.hinge[k]..layout.hinge[k + 1];
            let axes = &kinematics.subspace[hinge.clone()];
            if let Some(indirect) = carrier(&mut self.indirect, body) {
                let (pose, node) = (&kinematics.parent_from_body[k], kinematics.outboard_node[k]);
                indirect.attach(k, felt, axes, pose, node);
            }
            if !body.joint.prescribed {
                let mut armature = body.joint.armature;
                if let Some(added) = added {
                    for (own, added) in armature.iter_mut().zip(&added.hinge[hinge.clone()]) {
                        *own += added;
                    }
                }
                let gain = &mut self.hinge_gain[hinge];
                eliminate_hinge(
                    felt,
                    axes,
                    &armature,
                    &mut self.hinge_factor[layout.hinge_block[k]..layout.hinge_block[k + 1]],
                    gain,
                );
            }

            let Some(p) = body.parent else { continue };
            if carrier(&mut self.indirect, body).is_some() {
                continue;
            }
            // Γ, which adds A Γ A* to the parent
            let carried = felt.to_parent(&kinematics.parent_from_body[k]);
            self.felt_inertia[p] += carried;
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
    #[inline(never)]
    pub fn forward_dynamics(
        &mut self,
        system: &System,
        kinematics: &Kinematics<T>,
        generalized_force: &[T],
        acceleration: &mut [T],
    ) {
        self.accelerate(system, kinematics, None, generalized_force, acceleration);
    }

    /// [`forward_dynamics`](Self::forward_dynamics) with what was [added](Self::factor_stage) to the mass matrix: the solution of
    /// $`(M + X)\,\dot v = \tau - c`$. Allocates nothing.
    #[inline(never)]
    pub fn forward_dynamics_stage(
        &mut self,
        system: &System,
        kinematics: &Kinematics<T>,
        added: &StageInertia,
        generalized_force: &[T],
        acceleration: &mut [T],
    ) {
        let added = Some(added);
        self.accelerate(system, kinematics, added, generalized_force, acceleration);
    }

    #[inline(always)]
    fn accelerate(
        &mut self,
        system: &System,
        kinematics: &Kinematics<T>,
        added: Option<&StageInertia>,
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
        run_simd(Sweep::<_, true> {
            articulated: self,
            system,
            kinematics,
            ground: ground_acceleration(system.gravity()),
            generalized_force,
            acceleration,
        });
        if let Some(mut refinement) = self.refinement.take() {
            refinement.compare(system, kinematics, added, generalized_force, acceleration);
            let Refinement {
                lacking,
                correction,
                ..
            } = &mut refinement;
            self.solve(system, kinematics, lacking, correction);
            for (acceleration, &correction) in acceleration.iter_mut().zip(&*correction) {
                *acceleration += correction;
            }
            self.refinement = Some(refinement);
        }
    }

    /// $`M^{-1}`$ times a vector of generalised forces, without forming $`M`$ (Lemma 4).
    ///
    /// Entries of prescribed joints count as held. Allocates nothing.
    #[inline(never)]
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
        run_simd(Sweep::<_, false> {
            articulated: self,
            system,
            kinematics,
            ground: Motion::zero(),
            generalized_force,
            acceleration,
        });
    }

    /// $`M^{-1}`$ times a matrix given by its columns, one after the other: O(N) for each. Allocates nothing.
    pub fn solve_columns(
        &mut self,
        system: &System,
        kinematics: &Kinematics<T>,
        forces: &[T],
        accelerations: &mut [T],
    ) {
        let n = system.velocity_count();
        for (force, acceleration) in forces
            .chunks_exact(n)
            .zip(accelerations.chunks_exact_mut(n))
        {
            self.solve(system, kinematics, force, acceleration);
        }
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
                if let Some(indirect) = &mut self.indirect[k] {
                    for alpha in 0..n {
                        self.modal_bias[first + alpha] =
                            forces[alpha] - self.modal_bias[first + alpha];
                    }
                    let (right, gain) = (
                        &self.modal_bias[first..first + n],
                        &self.modal_gain[first..first + n],
                    );
                    bias = indirect.solve(right, bias, gain);
                }
                // y = L⁻¹ ε_f, kept in place of z_f, and z_R = z_r + Xᵀ D⁻¹ y
                let direct = if self.indirect[k].is_some() { 0 } else { n };
                for alpha in 0..direct {
                    let mut y = forces[alpha] - self.modal_bias[first + alpha];
                    if matches!(body.inboard, Place::Node { .. }) {
                        y -= kinematics.floating[first + alpha].dot(self.bias[k]);
                    }
                    for beta in 0..alpha {
                        y -= factor[alpha * n + beta] * self.modal_bias[first + beta];
                    }
                    self.modal_bias[first + alpha] = y;
                    bias += self.modal_gain[first + alpha].scale(y * factor[alpha * n + alpha]);
                }
            }

            let axes = &kinematics.subspace[layout.hinge[k]..layout.hinge[k + 1]];
            let at = layout.joint_velocity[k];
            let mut product = kinematics.velocity_product[k];
            if body.joint.prescribed && MOVING {
                // a given joint acceleration acts like one more velocity product
                for (i, axis) in axes.iter().enumerate() {
                    product += axis.scale(acceleration[at + i]);
                }
            }
            let carrier = carrier(&mut self.indirect, body);
            let is_carried = carrier.is_some();
            if let Some(indirect) = carrier {
                let product = if MOVING { product } else { Motion::zero() };
                indirect.push(k, bias, product, &generalized_force[at..]);
            }
            if !body.joint.prescribed {
                // u = L⁻¹ ε_R, and z_R⁺ = z_R + Uᵀ D⁻¹ u
                let first = layout.hinge[k];
                let factor = &self.hinge_factor[layout.hinge_block[k]..];
                let size = axes.len();
                let before = bias;
                for (i, axis) in axes.iter().enumerate() {
                    let mut u = generalized_force[at + i] - axis.dot(before);
                    for j in 0..i {
                        u -= factor[i * size + j] * self.hinge_bias[first + j];
                    }
                    self.hinge_bias[first + i] = u;
                    bias += self.hinge_gain[first + i].scale(u * factor[i * size + i]);
                }
            }

            let Some(p) = body.parent else { continue };
            if is_carried {
                continue;
            }
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
            // α_R⁺ + a_mR
            let mut total = kinematics.parent_from_body[k].motion_to_child(carried);
            if MOVING {
                total += kinematics.velocity_product[k];
            }

            let hinge = layout.hinge[k]..layout.hinge[k + 1];
            let axes = &kinematics.subspace[hinge.clone()];
            let at = layout.joint_velocity[k];
            if !body.joint.prescribed {
                // Lᵀ β̇ = D⁻¹ (u − U α_R⁺), from the last row up
                let factor = &self.hinge_factor[layout.hinge_block[k]..];
                let size = axes.len();
                for i in (0..size).rev() {
                    let mut a = (self.hinge_bias[hinge.start + i]
                        - total.dot(self.hinge_gain[hinge.start + i]))
                        * factor[i * size + i];
                    for j in i + 1..size {
                        a -= factor[j * size + i] * acceleration[at + j];
                    }
                    acceleration[at + i] = a;
                }
            }
            // α_R
            for (i, axis) in axes.iter().enumerate() {
                total += axis.scale(acceleration[at + i]);
            }

            let n = body.modes();
            if n > 0 {
                let first = layout.elastic[k];
                let factor = &self.modal_factor[layout.modal_block[k]..][..n * n];
                let elastic = &mut acceleration[layout.elastic_velocity[k]..][..n];
                if let Some(indirect) = &mut self.indirect[k] {
                    let gain = &self.modal_gain[first..first + n];
                    indirect.accelerations(total, gain, elastic);
                }
                // Lᵀ η̈ = D⁻¹ (y − X α_R)
                let direct = if self.indirect[k].is_some() { 0 } else { n };
                for alpha in (0..direct).rev() {
                    let mut a = (self.modal_bias[first + alpha]
                        - total.dot(self.modal_gain[first + alpha]))
                        * factor[alpha * n + alpha];
                    for beta in alpha + 1..n {
                        a -= factor[beta * n + alpha] * elastic[beta];
                    }
                    elastic[alpha] = a;
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

/// A call of [`ArticulatedBody::factor`].
struct Factor<'a, T> {
    articulated: &'a mut ArticulatedBody<T>,
    system: &'a System,
    kinematics: &'a Kinematics<T>,
    /// What a stage adds, if it is one.
    added: Option<&'a StageInertia>,
}

impl<T: Scalar> Kernel for Factor<'_, T> {
    #[inline(always)]
    fn run(self) {
        self.articulated
            .factor_all(self.system, self.kinematics, self.added);
    }
}

/// Inward and outward for one right-hand side, of a mechanism that moves or of one at rest without gravity.
struct Sweep<'a, T, const MOVING: bool> {
    articulated: &'a mut ArticulatedBody<T>,
    system: &'a System,
    kinematics: &'a Kinematics<T>,
    ground: Motion<T>,
    generalized_force: &'a [T],
    acceleration: &'a mut [T],
}

impl<T: Scalar, const MOVING: bool> Kernel for Sweep<'_, T, MOVING> {
    #[inline(always)]
    fn run(self) {
        let (system, kinematics) = (self.system, self.kinematics);
        let (force, acceleration) = (self.generalized_force, self.acceleration);
        self.articulated
            .inward::<MOVING>(system, kinematics, force, acceleration);
        self.articulated
            .outward::<MOVING>(system, kinematics, self.ground, acceleration);
    }
}

impl<T: Pivot> ArticulatedBody<T> {
    /// Whether every pivot of the last [`factor`](Self::factor) was positive and finite, in every lane. If not, something
    /// that moves has no mass.
    pub fn is_positive_definite(&self, system: &System) -> bool {
        let layout = system.layout();
        system.bodies().iter().enumerate().all(|(k, body)| {
            let (n, size) = (body.modes(), body.joint.kind.velocities());
            let modal = &self.modal_factor[layout.modal_block[k]..];
            let hinge = &self.hinge_factor[layout.hinge_block[k]..];
            let elastic = match &self.indirect[k] {
                Some(indirect) => indirect.is_positive_definite(),
                None => (0..n).all(|i| modal[i * n + i].is_positive()),
            };
            elastic
                && (body.joint.prescribed || (0..size).all(|i| hinge[i * size + i].is_positive()))
        })
    }
}

/// The indirect inverse of the parent on whose node a body hangs: it takes inertia and forces of the body with the
/// joint locked, and releases the joint itself.
#[inline(always)]
fn carrier<'a, T>(
    indirect: &'a mut [Option<IndirectInverse<T>>],
    body: &Body,
) -> Option<&'a mut IndirectInverse<T>> {
    match (&body.outboard, body.parent) {
        (Place::Node { .. }, Some(parent)) => indirect[parent].as_mut(),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
