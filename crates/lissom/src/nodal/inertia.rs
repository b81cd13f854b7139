//! Inertial forces, kinetic energy and weight of beams and lumped masses.
//!
//! A beam's axis is interpolated by cubic Hermite polynomials,
//! $`r(\xi) = H_1 x^p + l_0 H_2 x\text{-axis}^p + H_3 x^q + l_0 H_4 x\text{-axis}^q`$, so that its kinetic energy is
//! a constant quadratic form in the rates of these four vectors and its inertial forces are
//! $`(\partial X/\partial x)^T\,\mathcal M\,\ddot X`$: consistent mass matrix and convective forces at once.
//! Rotary inertia of sections is lumped, half a beam's at each end. Gravity acts as an acceleration of
//! the ground of $`-g`$.

use crate::scalar::Scalar;
use crate::spatial::{Matrix, Vector};

use super::beam::Beam;
use super::node::NodeState;

/// Mass matrix of cubic Hermite functions over 1/420 of the element's mass.
const HERMITE: [[f64; 4]; 4] = [
    [156.0, 22.0, 54.0, -13.0],
    [22.0, 4.0, 13.0, -3.0],
    [54.0, 13.0, 156.0, -22.0],
    [-13.0, -3.0, -22.0, 4.0],
];

/// Share of the gravity's work of each Hermite function, over the element's mass.
const HERMITE_MEAN: [f64; 4] = [0.5, 1.0 / 12.0, 0.5, -1.0 / 12.0];

impl Beam {
    fn mass(&self) -> f64 {
        self.section.mass_per_length * self.length
    }

    /// Half the rotary inertia of the sections about the axes of one end, in inertial components.
    #[inline(always)]
    fn end_inertia<T: Scalar>(&self, node: &NodeState<T>, end: usize) -> Option<Matrix<T>> {
        let inertia = self.section.rotary_inertia_per_length;
        if inertia == [0.0; 3] {
            return None;
        }
        let mut sum = Matrix::zero();
        for axis in 0..3 {
            let direction = node.direction(self.axes[end][axis]);
            let share = T::constant(0.5 * self.length * inertia[axis]);
            sum += direction.outer(direction.scale(share));
        }
        Some(sum)
    }

    /// Inertial forces less weight at `[point p, end p, point q, end q]`.
    #[inline(always)]
    pub(super) fn inertial_forces<T: Scalar>(
        &self,
        nodes: [&NodeState<T>; 4],
        gravity: Vector<f64>,
    ) -> [Vector<T>; 4] {
        let (axes, force) = self.hermite_forces(nodes, gravity);
        let mut forces = [
            force[0],
            axes[0].cross(force[1]),
            force[2],
            axes[1].cross(force[3]),
        ];
        for end in 0..2 {
            let node = nodes[1 + 2 * end];
            if let Some(inertia) = self.end_inertia(node, end) {
                forces[1 + 2 * end] += euler(node, inertia);
            }
        }
        forces
    }

    /// Axes of both ends times the length, and the forces on the four interpolated vectors.
    #[inline(always)]
    fn hermite_forces<T: Scalar>(
        &self,
        [point_p, end_p, point_q, end_q]: [&NodeState<T>; 4],
        gravity: Vector<f64>,
    ) -> ([Vector<T>; 2], [Vector<T>; 4]) {
        let gravity = Vector::constant(gravity.0);
        let length = T::constant(self.length);
        let axes = [(end_p, 0), (end_q, 1)]
            .map(|(node, end)| node.direction(self.axes[end][0]).scale(length));
        let accelerated = |node: &NodeState<T>, axis: Vector<T>| {
            node.acceleration.cross(axis) + node.velocity.cross(node.velocity.cross(axis))
        };
        let acceleration = [
            point_p.acceleration - gravity,
            accelerated(end_p, axes[0]),
            point_q.acceleration - gravity,
            accelerated(end_q, axes[1]),
        ];
        (axes, hermite(self.mass(), &acceleration))
    }

    /// For each end, how the moment of its inertial forces turns with the end while the forces stay:
    /// $`a f^T - (a\cdot f)\,1`$ of arms and forces.
    pub(super) fn lever_stiffness(
        &self,
        nodes: [&NodeState<f64>; 4],
        gravity: Vector<f64>,
    ) -> [Matrix<f64>; 2] {
        let (axes, force) = self.hermite_forces(nodes, gravity);
        std::array::from_fn(|end| {
            let node = nodes[1 + 2 * end];
            let mut lever = arm_matrix(axes[end].outer(force[1 + 2 * end]));
            if let Some(inertia) = self.end_inertia(node, end) {
                lever += turning_lever(node, inertia);
            }
            lever
        })
    }

    /// Kinetic energy, and potential energy in the field of `gravity`.
    pub(super) fn energy(
        &self,
        [point_p, end_p, point_q, end_q]: [&NodeState<f64>; 4],
        gravity: Vector<f64>,
    ) -> (f64, f64) {
        let axes = [(end_p, 0), (end_q, 1)]
            .map(|(node, end)| node.direction(self.axes[end][0]).scale(self.length));
        let position = [point_p.position, axes[0], point_q.position, axes[1]];
        let velocity = [
            point_p.velocity,
            end_p.velocity.cross(axes[0]),
            point_q.velocity,
            end_q.velocity.cross(axes[1]),
        ];
        let momentum = hermite(self.mass(), &velocity);
        let mut kinetic = 0.0;
        let mut potential = 0.0;
        for i in 0..4 {
            kinetic += 0.5 * velocity[i].dot(momentum[i]);
            potential -= self.mass() * HERMITE_MEAN[i] * gravity.dot(position[i]);
        }
        for (end, node) in [end_p, end_q].into_iter().enumerate() {
            if let Some(inertia) = self.end_inertia(node, end) {
                kinetic += 0.5 * node.velocity.dot(inertia * node.velocity);
            }
        }
        (kinetic, potential)
    }
}

/// The Hermite mass matrix times four vectors.
#[inline(always)]
fn hermite<T: Scalar>(mass: f64, vectors: &[Vector<T>; 4]) -> [Vector<T>; 4] {
    std::array::from_fn(|i| {
        let mut sum = Vector::zero();
        for (vector, weight) in vectors.iter().zip(HERMITE[i]) {
            sum += vector.scale(T::constant(mass * weight / 420.0));
        }
        sum
    })
}

/// Moment that turns a rotational inertia, given in inertial components.
#[inline(always)]
fn euler<T: Scalar>(node: &NodeState<T>, inertia: Matrix<T>) -> Vector<T> {
    inertia * node.acceleration + node.velocity.cross(inertia * node.velocity)
}

/// $`L`$ of $`\int (t\times a)\times f = L\,t`$, from $`\int a f^T`$.
fn arm_matrix(outer: Matrix<f64>) -> Matrix<f64> {
    outer + Matrix::diagonal(-outer.trace())
}

/// The same of a turning inertia, given in inertial components.
fn turning_lever(node: &NodeState<f64>, inertia: Matrix<f64>) -> Matrix<f64> {
    let spin = Matrix::skew(node.velocity);
    let force_per_arm = Matrix::skew(node.acceleration) + spin * spin;
    let second_moment = Matrix::diagonal(0.5 * inertia.trace()) - inertia;
    arm_matrix(second_moment * force_per_arm.transpose())
}

/// Mass at a point or rotational inertia at an orientation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lump {
    /// Mass of a point node.
    Mass { node: usize, mass: f64 },
    /// Rotational inertia of an orientation node, in its components.
    Inertia { node: usize, inertia: Matrix<f64> },
}

impl Lump {
    pub(super) fn node(&self) -> usize {
        match *self {
            Self::Mass { node, .. } | Self::Inertia { node, .. } => node,
        }
    }

    #[inline(always)]
    pub(super) fn inertial_force<T: Scalar>(
        &self,
        nodes: &[NodeState<T>],
        gravity: Vector<f64>,
    ) -> Vector<T> {
        match *self {
            Self::Mass { node, mass } => (nodes[node].acceleration - Vector::constant(gravity.0))
                .scale(T::constant(mass)),
            Self::Inertia { node, inertia } => {
                let node = &nodes[node];
                euler(node, turned(node.rotation, inertia))
            }
        }
    }

    /// As [`Beam::lever_stiffness`].
    pub(super) fn lever_stiffness(&self, nodes: &[NodeState<f64>]) -> Matrix<f64> {
        match *self {
            Self::Mass { .. } => Matrix::zero(),
            Self::Inertia { node, inertia } => {
                let node = &nodes[node];
                turning_lever(node, turned(node.rotation, inertia))
            }
        }
    }

    pub(super) fn energy(&self, nodes: &[NodeState<f64>], gravity: Vector<f64>) -> (f64, f64) {
        match *self {
            Self::Mass { node, mass } => {
                let node = &nodes[node];
                (
                    0.5 * mass * node.velocity.dot(node.velocity),
                    -mass * gravity.dot(node.position),
                )
            }
            Self::Inertia { node, inertia } => {
                let node = &nodes[node];
                let inertia = turned(node.rotation, inertia);
                (0.5 * node.velocity.dot(inertia * node.velocity), 0.0)
            }
        }
    }
}

#[inline(always)]
fn turned<T: Scalar>(rotation: Matrix<T>, inertia: Matrix<f64>) -> Matrix<T> {
    rotation * Matrix::constant(inertia.0) * rotation.transpose()
}
