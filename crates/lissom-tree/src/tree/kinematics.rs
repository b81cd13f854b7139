//! Everything about one state that the recursions share: poses, velocities, velocity products, and the
//! inertia of every body in its deformed shape.

use super::any_shape::AnyShape;
use super::body_inertia::{self, BodyInertia};
use super::lumped_nodes;
use super::membrane;
use super::node::node_motion;
use super::shortening::AlongBeam;
use super::simd::{Kernel, run_simd};
use crate::flex::{FlexibleBody, ShorteningInertia};
use crate::{Body, Place, System};
use lissom_spatial::Scalar;
use lissom_spatial::{Force, Matrix, Motion, Quaternion, RigidInertia, Transform, Vector};
use lissom_spec::Inertia;

/// The state of a system, prepared for the recursions. Build it once, [`update`](Self::update) it for
/// every state.
///
/// | field | symbol | length |
/// |---|---|---|
/// | `parent_from_body` | pose behind $`X`$ | bodies |
/// | `twist` | $`V_k`$ | bodies |
/// | `velocity_product` | $`\zeta_k`$ | bodies |
/// | `subspace` | $`H`$ | joint degrees of freedom |
/// | `influence` | $`\Pi`$ at the outboard node, per child | parent's elastic coordinates |
/// | `floating` | $`B`$, zero for frames fixed to the inboard node | elastic coordinates |
/// | `inertia`, `coupling`, `modal_mass` | $`M_m`$ | bodies, elastic coordinates, squares |
/// | `bias`, `modal_bias` | $`b_m`$ with elastic and damping forces | bodies, elastic coordinates |
#[derive(Clone, Debug)]
pub struct Kinematics<T> {
    pub(super) parent_from_body: Vec<Transform<T>>,
    pub(super) twist: Vec<Motion<T>>,
    pub(super) velocity_product: Vec<Motion<T>>,
    pub(super) subspace: Vec<Motion<T>>,
    pub(super) influence: Vec<Motion<T>>,
    /// Position of the outboard node and the matrix of its rotation rates, for joints that sit on one.
    pub(super) outboard_node: Vec<(Vector<T>, Matrix<T>)>,
    /// The same of the inboard node, for frames that float.
    pub(super) inboard_node: Vec<(Vector<T>, Matrix<T>)>,
    pub(super) floating: Vec<Motion<T>>,
    pub(super) inertia: Vec<RigidInertia<T>>,
    pub(super) bias: Vec<Force<T>>,
    pub(super) coupling: Vec<Force<T>>,
    pub(super) modal_mass: Vec<T>,
    pub(super) modal_bias: Vec<T>,
    /// Force applied from outside to every body, at its origin in its own components.
    pub(super) external: Vec<Force<T>>,
    /// What applied forces do to the elastic coordinates.
    pub(super) modal_external: Vec<T>,
    /// Pose of every body in the ground frame, as of the last [`update_poses`](Self::update_poses).
    pub(super) ground_from_body: Vec<Transform<T>>,
    scratch: Scratch<T>,
}

#[derive(Clone, Debug)]
struct Scratch<T> {
    with_position: Vec<Matrix<T>>,
    with_velocity: Vec<Vector<T>>,
    along: AlongBeam<T>,
    any_shape: AnyShape<T>,
    /// Elastic coordinates of a system that ignores them.
    zeros: Vec<T>,
}

impl<T: Scalar> Kinematics<T> {
    /// Buffers for `system`.
    pub fn new(system: &System) -> Self {
        let layout = system.layout();
        let bodies = system.bodies().len();
        let elastic = layout.elastic[bodies];
        let most = system.bodies().iter().map(Body::modes).max().unwrap_or(0);
        let groups = (0..bodies)
            .filter_map(|k| system.shortening(k))
            .map(|shortening| match shortening {
                ShorteningInertia::Full(beam) => beam.groups(),
                ShorteningInertia::SecondOrder(_) | ShorteningInertia::Integrals(_) => 0,
            })
            .max()
            .unwrap_or(0);
        let most_of_any_shape = (0..bodies)
            .filter(|&k| matches!(system.shortening(k), Some(ShorteningInertia::Integrals(_))))
            .map(|k| system.bodies()[k].modes())
            .max()
            .unwrap_or(0);
        let hinge_motions = system.hinge_motions();
        Self {
            parent_from_body: vec![Transform::identity(); bodies],
            twist: vec![Motion::zero(); bodies],
            velocity_product: vec![Motion::zero(); bodies],
            // constant unless the body's frame floats
            subspace: hinge_motions.iter().map(Motion::constant).collect(),
            influence: vec![Motion::zero(); layout.influence[bodies]],
            outboard_node: vec![(Vector::zero(), Matrix::identity()); bodies],
            inboard_node: vec![(Vector::zero(), Matrix::identity()); bodies],
            floating: vec![Motion::zero(); elastic],
            // constant for rigid bodies
            inertia: (system.bodies().iter())
                .map(|b| RigidInertia::constant(&b.rigid))
                .collect(),
            bias: vec![Force::zero(); bodies],
            coupling: vec![Force::zero(); elastic],
            modal_mass: vec![T::zero(); layout.modal_block[bodies]],
            modal_bias: vec![T::zero(); elastic],
            external: vec![Force::zero(); bodies],
            modal_external: vec![T::zero(); elastic],
            ground_from_body: vec![Transform::identity(); bodies],
            scratch: Scratch {
                with_position: vec![Matrix::zero(); most],
                with_velocity: vec![Vector::zero(); most],
                along: AlongBeam::new(most, groups),
                any_shape: AnyShape::new(most_of_any_shape),
                zeros: vec![T::zero(); most],
            },
        }
    }

    /// Elastic coordinates of a body that is taken undeformed and at rest.
    pub(super) fn zeros(&self, n: usize) -> &[T] {
        &self.scratch.zeros[..n]
    }

    /// Poses of all bodies in the ground frame, for markers, energy and momentum.
    pub fn update_poses(&mut self, system: &System) {
        self.update_poses_from(system, 0);
    }

    /// [`update_poses`](Self::update_poses) when nothing has changed on the bodies before `first`.
    pub fn update_poses_from(&mut self, system: &System, first: usize) {
        for (k, body) in system.bodies().iter().enumerate().skip(first) {
            let pose = self.parent_from_body[k];
            self.ground_from_body[k] = match body.parent {
                Some(p) => self.ground_from_body[p] * pose,
                None => pose,
            };
        }
    }

    /// Pose of a body in the ground frame, as of the last [`update_poses`](Self::update_poses).
    pub fn ground_from_body(&self, body: usize) -> &Transform<T> {
        &self.ground_from_body[body]
    }

    /// Prepares the state `(position, velocity)`; forces applied from outside are taken off.
    /// Allocates nothing.
    ///
    /// # Panics
    /// If the vectors are shorter than the system's.
    pub fn update(&mut self, system: &System, position: &[T], velocity: &[T]) {
        self.update_from(system, 0, position, velocity);
    }

    /// [`update`](Self::update) when nothing has changed on the bodies before `first`, on which no later one acts here.
    #[inline(never)]
    pub fn update_from(&mut self, system: &System, first: usize, position: &[T], velocity: &[T]) {
        run_simd(Update {
            kinematics: self,
            system,
            first,
            position,
            velocity,
        });
    }

    /// [`update_from`](Self::update_from) in the instructions of whoever calls.
    #[inline(always)]
    pub(super) fn update_here(
        &mut self,
        system: &System,
        first: usize,
        position: &[T],
        velocity: &[T],
    ) {
        self.external.fill(Force::zero());
        self.modal_external.fill(T::zero());
        self.update_motion_from(system, first, position, velocity);
        self.update_inertia(system, first, position, velocity);
    }

    /// Twist of a body in its own frame.
    pub fn twist(&self, body: usize) -> Motion<T> {
        self.twist[body]
    }

    /// Poses, twists and velocity products only: what closures and markers read.
    ///
    /// # Panics
    /// If the vectors are shorter than the system's.
    #[inline(never)]
    pub fn update_motion(&mut self, system: &System, position: &[T], velocity: &[T]) {
        self.update_motion_from(system, 0, position, velocity);
    }

    #[inline(always)]
    fn update_motion_from(
        &mut self,
        system: &System,
        first: usize,
        position: &[T],
        velocity: &[T],
    ) {
        let layout = system.layout();
        for (k, body) in system.bodies().iter().enumerate().skip(first) {
            let joint_position = &position[layout.joint_position[k]..];
            let joint_velocity = &velocity[layout.joint_velocity[k]..];
            let inner = system.joint_geometry()[k].pose(joint_position);
            let modes = layout.elastic[k]..layout.elastic[k + 1];
            let elastic_of = |k| elastic_of(system, k, position, velocity, &self.scratch.zeros);

            // an elastic parent moves the joint relative to its own frame
            let parent_twist = body.parent.map_or(Motion::zero(), |p| self.twist[p]);
            let mut pose = inner;
            let mut carried = parent_twist;
            let mut product = Motion::zero();
            if let (Place::Node { index, .. }, Some(p)) = (&body.outboard, body.parent) {
                let parent = system.bodies()[p]
                    .flexible
                    .as_ref()
                    .expect("invariant: a place at a node is on a flexible body");
                let fidelity = system.bodies()[p].fidelity;
                let (eta, eta_rate) = elastic_of(p);
                let orientation = layout.orientation[k].map(|at| {
                    let q = &position[at..];
                    Quaternion([q[0], q[1], q[2], q[3]])
                });
                let node = node_motion(
                    parent,
                    &parent.nodes[*index],
                    fidelity.tip,
                    fidelity.shortening,
                    eta,
                    eta_rate,
                    orientation,
                    &mut self.influence[layout.influence[k]..layout.influence[k + 1]],
                );
                pose = node.pose * inner;
                self.outboard_node[k] = (node.pose.translation, node.rate_matrix);
                carried += node.twist;
                // XΠ̇η̇, and the part of Ẋ(V_p + Πη̇) that the node makes
                product = pose.motion_to_child(node.bias)
                    + inner.motion_to_child(node.rate_of_carried(carried));
            }

            // a floating frame: the joint holds the inboard node, the frame follows
            let mut floating = None;
            if let (Place::Node { index, .. }, Some(flexible)) = (&body.inboard, &body.flexible) {
                let fidelity = body.fidelity;
                let (elastic, elastic_rate) = elastic_of(k);
                let motions = &mut self.floating[modes];
                let node = node_motion(
                    flexible,
                    &flexible.nodes[*index],
                    fidelity.marker_tip(),
                    fidelity.shortening,
                    elastic,
                    elastic_rate,
                    None,
                    motions,
                );
                self.inboard_node[k] = (node.pose.translation, node.rate_matrix);
                product = node.pose.motion_to_parent(product);
                for motion in motions {
                    *motion = -*motion;
                }
                pose = pose * node.pose.inverse();
                floating = Some((-node.twist, -node.bias));
                let constant = &system.hinge_motions()[layout.hinge[k]..layout.hinge[k + 1]];
                for (axis, motion) in self.subspace[layout.hinge[k]..].iter_mut().zip(constant) {
                    *axis = node.pose.motion_to_parent(Motion::constant(motion));
                }
            }

            let mut joint_twist = Motion::zero();
            let subspace = &self.subspace[layout.hinge[k]..layout.hinge[k + 1]];
            for (axis, &rate) in subspace.iter().zip(joint_velocity) {
                joint_twist += axis.scale(rate);
            }
            // ζ = XΠ̇η̇ + Ẋ(V_p + Πη̇) + Ḃη̇ − (Bη̇) × Hβ, Ẋ from the node above and from joint and frame here
            let carried = pose.motion_to_child(carried);
            let mut relative = joint_twist;
            if let Some((own, bias)) = floating {
                relative += own;
                product += bias - own.cross_motion(joint_twist);
            }
            product += carried.cross_motion(relative);
            let twist = carried + relative;
            self.parent_from_body[k] = pose;
            self.twist[k] = twist;
            self.velocity_product[k] = product;
        }
    }

    /// Inertia and bias forces of the bodies in the motion last given.
    #[inline(always)]
    fn update_inertia(&mut self, system: &System, first: usize, position: &[T], velocity: &[T]) {
        let layout = system.layout();
        for (k, body) in system.bodies().iter().enumerate().skip(first) {
            let twist = self.twist[k];
            match &body.flexible {
                None => {
                    let momentum = self.inertia[k].times(twist);
                    self.bias[k] = twist.cross_force(momentum);
                }
                Some(flexible) => {
                    let n = body.modes();
                    let modes = layout.elastic[k]..layout.elastic[k + 1];
                    let own_position = &position[layout.elastic_position[k]..][..n];
                    let own_velocity = &velocity[layout.elastic_velocity[k]..][..n];
                    let zeros = &self.scratch.zeros;
                    let fidelity = body.fidelity;
                    let (elastic, elastic_rate) = elastic_of(system, k, position, velocity, zeros);
                    let block = layout.modal_block[k]..layout.modal_block[k + 1];
                    let mut out = BodyInertia {
                        rigid: &mut self.inertia[k],
                        bias: &mut self.bias[k],
                        coupling: &mut self.coupling[modes.clone()],
                        modal_mass: &mut self.modal_mass[block],
                        modal_bias: &mut self.modal_bias[modes.clone()],
                        with_position: &mut self.scratch.with_position[..n],
                        with_velocity: &mut self.scratch.with_velocity[..n],
                        along: &mut self.scratch.along,
                        any_shape: &mut self.scratch.any_shape,
                    };
                    let stiffening = elastic;
                    let (elastic, elastic_rate) = match fidelity.inertia {
                        Inertia::Rigid => (&zeros[..n], &zeros[..n]),
                        _ => (elastic, elastic_rate),
                    };
                    match fidelity.inertia {
                        Inertia::Rigid | Inertia::HybridForces | Inertia::Full => {
                            body_inertia::evaluate(
                                flexible,
                                fidelity.inertia,
                                system.shortening(k),
                                twist,
                                elastic,
                                elastic_rate,
                                &mut out,
                            );
                        }
                        Inertia::LumpedNodes => {
                            lumped_nodes::evaluate(
                                flexible,
                                twist,
                                elastic,
                                elastic_rate,
                                &mut out,
                            );
                        }
                    }
                    if n > 0 {
                        add_linear_forces(
                            flexible,
                            own_position,
                            own_velocity,
                            &mut self.modal_bias[modes.clone()],
                        );
                    }
                    if let Some(strain) = system.strain(k) {
                        membrane::add_forces(
                            strain,
                            fidelity.elasticity,
                            own_position,
                            &mut self.modal_bias[modes.clone()],
                        );
                    }
                    if let Some(stiffness) = system.centrifugal_stiffness(k) {
                        let [_, y, z] = twist.angular.0;
                        add_centrifugal_forces(
                            stiffness,
                            y * y + z * z,
                            stiffening,
                            &mut self.modal_bias[modes],
                        );
                    }
                }
            }
        }
    }
}

/// Elastic coordinates and rates of body `k` as its kinematics takes them: `zeros` where it is taken undeformed.
#[inline(always)]
pub(super) fn elastic_of<'a, T>(
    system: &System,
    k: usize,
    position: &'a [T],
    velocity: &'a [T],
    zeros: &'a [T],
) -> (&'a [T], &'a [T]) {
    let (layout, body) = (system.layout(), &system.bodies()[k]);
    let n = body.modes();
    if body.fidelity.frozen {
        return (&zeros[..n], &zeros[..n]);
    }
    (
        &position[layout.elastic_position[k]..][..n],
        &velocity[layout.elastic_velocity[k]..][..n],
    )
}

/// `force += rate_squared matrix x`.
#[inline(always)]
fn add_centrifugal_forces<T: Scalar>(matrix: &[f64], rate_squared: T, x: &[T], force: &mut [T]) {
    let n = x.len();
    for (alpha, f) in force.iter_mut().enumerate() {
        for (&value, &x) in matrix[alpha * n..(alpha + 1) * n].iter().zip(x) {
            *f += x * rate_squared * value;
        }
    }
}

/// A call of [`Kinematics::update`].
struct Update<'a, T> {
    kinematics: &'a mut Kinematics<T>,
    system: &'a System,
    first: usize,
    position: &'a [T],
    velocity: &'a [T],
}

impl<T: Scalar> Kernel for Update<'_, T> {
    #[inline(always)]
    fn run(self) {
        self.kinematics
            .update_here(self.system, self.first, self.position, self.velocity);
    }
}

/// `force += K η + D η̇`.
#[inline(always)]
fn add_linear_forces<T: Scalar>(body: &FlexibleBody, elastic: &[T], rate: &[T], force: &mut [T]) {
    let n = force.len();
    let (elastic, rate) = (&elastic[..n], &rate[..n]);
    let stiffness = body.stiffness.chunks_exact(n);
    let damping = body.damping.chunks_exact(n);
    for (force, (stiffness, damping)) in force.iter_mut().zip(stiffness.zip(damping)) {
        let mut sum = *force;
        for i in 0..n {
            sum += elastic[i] * stiffness[i] + rate[i] * damping[i];
        }
        *force = sum;
    }
}
