//! Inertial forces, kinetic energy and weight of beams and lumped masses.
//!
//! A beam's axis is interpolated by cubic Hermite polynomials,
//! $`r(\xi) = H_1 x^p + l_0 H_2 x\text{-axis}^p + H_3 x^q + l_0 H_4 x\text{-axis}^q`$, so that its kinetic energy is
//! a constant quadratic form in the rates of these four vectors and its inertial forces are
//! $`(\partial X/\partial x)^T\,\mathcal M\,\ddot X`$: consistent mass matrix and convective forces at once.
//! Rotary inertia of sections follows the angular velocities of both ends in their own axes,
//! $`\tfrac12 l_0\,(\tfrac{5}{12}\Omega_p^T J\Omega_p + \tfrac16\Omega_p^T J\Omega_q + \tfrac{5}{12}\Omega_q^T J\Omega_q)`$:
//! halfway between lumped and linearly interpolated inertia, whose errors in frequency cancel. Gravity
//! acts as an acceleration of the ground of $`-g`$.

use lissom_spatial::Scalar;
use lissom_spatial::{Matrix, Vector};

use super::beam::Beam;
use super::node::NodeState;

/// Mass matrix of cubic Hermite functions over 1/420 of the element's mass.
const HERMITE: [[f64; 4]; 4] = [
    [156.0, 22.0, 54.0, -13.0],
    [22.0, 4.0, 13.0, -3.0],
    [54.0, 13.0, 156.0, -22.0],
    [-13.0, -3.0, -22.0, 4.0],
];

/// Points and weights of Gauss's rule on the interval from -1 to 1: exact for products of two cubics.
const GAUSS: [(f64, f64); 4] = [
    (-0.861_136_311_594_052_6, 0.347_854_845_137_453_85),
    (-0.339_981_043_584_856_3, 0.652_145_154_862_546_1),
    (0.339_981_043_584_856_3, 0.652_145_154_862_546_1),
    (0.861_136_311_594_052_6, 0.347_854_845_137_453_85),
];

/// Weights of an end's own and the other end's angular velocity in its angular momentum.
const ROTARY: [f64; 2] = [5.0 / 12.0, 1.0 / 12.0];

/// Share of the gravity's work of each Hermite function, over the element's mass.
const HERMITE_MEAN: [f64; 4] = [0.5, 1.0 / 12.0, 0.5, -1.0 / 12.0];

impl Beam {
    pub(super) fn mass(&self) -> f64 {
        self.section.mass_per_length * self.length
    }

    /// Components of a vector along the axes of one end.
    #[inline(always)]
    fn along_axes<T: Scalar>(
        &self,
        node: &NodeState<T>,
        end: usize,
        vector: Vector<T>,
    ) -> Vector<T> {
        Vector(self.axes[end].map(|axis| node.direction(axis).dot(vector)))
    }

    /// Angular velocities of both ends, each in its own axes.
    #[inline(always)]
    fn angular_velocities<T: Scalar>(&self, ends: [&NodeState<T>; 2]) -> [Vector<T>; 2] {
        std::array::from_fn(|end| self.along_axes(ends[end], end, ends[end].velocity))
    }

    /// Angular momentum of one end, of rates in the axes of both ends.
    #[inline(always)]
    fn rotary_momentum<T: Scalar>(&self, own: Vector<T>, other: Vector<T>) -> Vector<T> {
        let inertia = self.section.rotary_inertia_per_length;
        Vector(std::array::from_fn(|i| {
            (own[i] * ROTARY[0] + other[i] * ROTARY[1]) * (self.length * inertia[i])
        }))
    }

    fn turns_with_inertia(&self) -> bool {
        self.section.rotary_inertia_per_length != [0.0; 3]
    }

    /// Moments that turn the sections, in inertial components: momentum's rate in turning axes.
    #[inline(always)]
    fn rotary_moments<T: Scalar>(&self, ends: [&NodeState<T>; 2]) -> [Vector<T>; 2] {
        let omega = self.angular_velocities(ends);
        let rate: [Vector<T>; 2] =
            std::array::from_fn(|end| self.along_axes(ends[end], end, ends[end].acceleration));
        std::array::from_fn(|end| {
            let momentum = self.rotary_momentum(omega[end], omega[1 - end]);
            let moment =
                self.rotary_momentum(rate[end], rate[1 - end]) + omega[end].cross(momentum);
            let mut sum = Vector::zero();
            for i in 0..3 {
                sum += ends[end].direction(self.axes[end][i]).scale(moment[i]);
            }
            sum
        })
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
        if self.turns_with_inertia() {
            let [p, q] = self.rotary_moments([nodes[1], nodes[3]]);
            forces[1] += p;
            forces[3] += q;
        }
        forces
    }

    /// Mass matrix over `[point p, end p, point q, end q]`: $`(\partial X/\partial x)^T\,\mathcal M\,\partial X/\partial x`$ of points
    /// that move and axes that turn, $`\dot a = \omega\times a`$, and the rotary inertia of sections.
    pub(super) fn mass_blocks(&self, nodes: [&NodeState<f64>; 4]) -> [[Matrix<f64>; 4]; 4] {
        let slopes: [Option<Matrix<f64>>; 4] = std::array::from_fn(|i| {
            let end = i / 2;
            let axis = || nodes[i].direction(self.axes[end][0]).scale(-self.length);
            (i % 2 == 1).then(|| Matrix::skew(axis()))
        });
        let mut blocks = [[Matrix::zero(); 4]; 4];
        for (i, row) in blocks.iter_mut().enumerate() {
            for (j, block) in row.iter_mut().enumerate() {
                let weight = self.mass() * HERMITE[i][j] / 420.0;
                let product = match (slopes[i], slopes[j]) {
                    (None, None) => Matrix::identity(),
                    (None, Some(slope)) => slope,
                    (Some(slope), None) => slope.transpose(),
                    (Some(left), Some(right)) => left.transpose() * right,
                };
                *block = product.scale(weight);
            }
        }
        if self.turns_with_inertia() {
            let inertia = self.section.rotary_inertia_per_length;
            let ends = [nodes[1], nodes[3]];
            for (own, other) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let share = ROTARY[usize::from(own != other)] * self.length;
                for i in 0..3 {
                    let [left, right] =
                        [own, other].map(|end| ends[end].direction(self.axes[end][i]));
                    let turned = left.outer(right).scale(share * inertia[i]);
                    blocks[1 + 2 * own][1 + 2 * other] += turned;
                }
            }
        }
        blocks
    }

    /// Whether it has inertia.
    pub(super) fn has_inertia(&self) -> bool {
        self.mass() != 0.0 || self.turns_with_inertia()
    }

    /// Axes of both ends times the length, and the forces on the four interpolated vectors.
    #[inline(always)]
    fn hermite_forces<T: Scalar>(
        &self,
        [point_p, end_p, point_q, end_q]: [&NodeState<T>; 4],
        gravity: Vector<f64>,
    ) -> ([Vector<T>; 2], [Vector<T>; 4]) {
        let length = T::constant(self.length);
        let axes = [(end_p, 0), (end_q, 1)]
            .map(|(node, end)| node.direction(self.axes[end][0]).scale(length));
        let nodes = [point_p, end_p, point_q, end_q];
        let acceleration = hermite_accelerations(nodes, axes, gravity);
        (axes, hermite(self.mass(), &acceleration))
    }

    /// What the mass of a part of the beam needs beyond its weight: the moment about the origin, and the force. The part reaches
    /// `from` one fraction of the length `until` another. Moments that turn the sections are spread linearly between those of the ends.
    pub(super) fn needed_between(
        &self,
        nodes: [&NodeState<f64>; 4],
        gravity: Vector<f64>,
        [from, until]: [f64; 2],
    ) -> [Vector<f64>; 2] {
        let [places, _] = self.hermite_motion(nodes);
        let [_, axis_p, _, axis_q] = places;
        let accelerations = hermite_accelerations(nodes, [axis_p, axis_q], gravity);
        let half = 0.5 * (until - from);
        let [mut moment, mut force] = [Vector([0.0; 3]); 2];
        for (xi, weight) in GAUSS {
            let functions = hermite_functions(from + half * (1.0 + xi));
            let at = |vectors: &[Vector<f64>; 4]| combined(vectors, functions);
            let inertial = at(&accelerations).scale(half * weight * self.mass());
            force += inertial;
            moment += at(&places).cross(inertial);
        }
        if self.turns_with_inertia() {
            let [p, q] = self.rotary_moments([nodes[1], nodes[3]]);
            let square = |x: f64| x * x;
            moment += p.scale(square(1.0 - from) - square(1.0 - until));
            moment += q.scale(square(until) - square(from));
        }
        [moment, force]
    }

    /// Axes and place of the section at a fraction of the length: x along the axis, y as between the ends.
    pub(super) fn section(
        &self,
        nodes: [&NodeState<f64>; 4],
        at: f64,
    ) -> (Matrix<f64>, Vector<f64>) {
        let [places, _] = self.hermite_motion(nodes);
        let x = combined(&places, hermite_slopes(at)).unit();
        let [p, q] =
            [(nodes[1], 0), (nodes[3], 1)].map(|(node, end)| node.direction(self.axes[end][1]));
        let between = p.scale(1.0 - at) + q.scale(at);
        let y = (between - x.scale(x.dot(between))).unit();
        let axes = Matrix([x.0, y.0, x.cross(y).0]).transpose();
        (axes, combined(&places, hermite_functions(at)))
    }

    /// The four interpolated vectors, and their rates.
    fn hermite_motion(
        &self,
        [point_p, end_p, point_q, end_q]: [&NodeState<f64>; 4],
    ) -> [[Vector<f64>; 4]; 2] {
        let axes = [(end_p, 0), (end_q, 1)]
            .map(|(node, end)| node.direction(self.axes[end][0]).scale(self.length));
        [
            [point_p.position, axes[0], point_q.position, axes[1]],
            [
                point_p.velocity,
                end_p.velocity.cross(axes[0]),
                point_q.velocity,
                end_q.velocity.cross(axes[1]),
            ],
        ]
    }

    /// For each end, how the moment of its inertial forces turns with the end while the forces stay:
    /// $`a f^T - (a\cdot f)\,1`$ of arms and forces.
    pub(super) fn lever_stiffness(
        &self,
        nodes: [&NodeState<f64>; 4],
        gravity: Vector<f64>,
    ) -> [Matrix<f64>; 2] {
        let (axes, force) = self.hermite_forces(nodes, gravity);
        std::array::from_fn(|end| arm_matrix(axes[end].outer(force[1 + 2 * end])))
    }

    /// Linear momentum, and angular momentum about the origin.
    pub(super) fn momentum(&self, nodes: [&NodeState<f64>; 4]) -> [Vector<f64>; 2] {
        let [position, velocity] = self.hermite_motion(nodes);
        let parts = hermite(self.mass(), &velocity);
        let mut angular = Vector([0.0; 3]);
        for (arm, part) in position.into_iter().zip(parts) {
            angular += arm.cross(part);
        }
        if self.turns_with_inertia() {
            let ends = [nodes[1], nodes[3]];
            let omega = self.angular_velocities(ends);
            for (end, node) in ends.into_iter().enumerate() {
                let momentum = self.rotary_momentum(omega[end], omega[1 - end]);
                for i in 0..3 {
                    angular += node.direction(self.axes[end][i]).scale(momentum[i]);
                }
            }
        }
        // the functions of both points sum up to one everywhere
        [parts[0] + parts[2], angular]
    }

    /// Kinetic energy, and potential energy in the field of `gravity`.
    pub(super) fn energy(&self, nodes: [&NodeState<f64>; 4], gravity: Vector<f64>) -> (f64, f64) {
        let [position, velocity] = self.hermite_motion(nodes);
        let momentum = hermite(self.mass(), &velocity);
        let mut kinetic = 0.0;
        let mut potential = 0.0;
        for i in 0..4 {
            kinetic += 0.5 * velocity[i].dot(momentum[i]);
            potential -= self.mass() * HERMITE_MEAN[i] * gravity.dot(position[i]);
        }
        if self.turns_with_inertia() {
            let omega = self.angular_velocities([nodes[1], nodes[3]]);
            for end in 0..2 {
                let momentum = self.rotary_momentum(omega[end], omega[1 - end]);
                kinetic += 0.5 * omega[end].dot(momentum);
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

/// Accelerations, less gravity, of the four interpolated vectors.
#[inline(always)]
fn hermite_accelerations<T: Scalar>(
    [point_p, end_p, point_q, end_q]: [&NodeState<T>; 4],
    axes: [Vector<T>; 2],
    gravity: Vector<f64>,
) -> [Vector<T>; 4] {
    let gravity = Vector::constant(gravity.0);
    let accelerated = |node: &NodeState<T>, axis: Vector<T>| {
        node.acceleration.cross(axis) + node.velocity.cross(node.velocity.cross(axis))
    };
    [
        point_p.acceleration - gravity,
        accelerated(end_p, axes[0]),
        point_q.acceleration - gravity,
        accelerated(end_q, axes[1]),
    ]
}

/// Hermite's cubics at a fraction of the length.
fn hermite_functions(x: f64) -> [f64; 4] {
    let (square, cube) = (x * x, x * x * x);
    [
        1.0 - 3.0 * square + 2.0 * cube,
        x - 2.0 * square + cube,
        3.0 * square - 2.0 * cube,
        cube - square,
    ]
}

/// Their derivatives by the fraction.
fn hermite_slopes(x: f64) -> [f64; 4] {
    let square = x * x;
    [
        6.0 * (square - x),
        1.0 - 4.0 * x + 3.0 * square,
        6.0 * (x - square),
        3.0 * square - 2.0 * x,
    ]
}

fn combined(vectors: &[Vector<f64>; 4], weights: [f64; 4]) -> Vector<f64> {
    let mut sum = Vector([0.0; 3]);
    for (vector, weight) in vectors.iter().zip(weights) {
        sum += vector.scale(weight);
    }
    sum
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
    let omega = Matrix::skew(node.velocity);
    let force_per_arm = Matrix::skew(node.acceleration) + omega * omega;
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
            Self::Mass { node, mass } => {
                (nodes[node].acceleration - Vector::constant(gravity.0)).scale(T::constant(mass))
            }
            Self::Inertia { node, inertia } => {
                let node = &nodes[node];
                euler(node, turned(node.rotation, inertia))
            }
        }
    }

    /// Mass matrix of its node.
    pub(super) fn mass_block(&self, nodes: &[NodeState<f64>]) -> Matrix<f64> {
        match *self {
            Self::Mass { mass, .. } => Matrix::diagonal(mass),
            Self::Inertia { node, inertia } => turned(nodes[node].rotation, inertia),
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

    /// Linear momentum, and angular momentum about the origin.
    pub(super) fn momentum(&self, nodes: &[NodeState<f64>]) -> [Vector<f64>; 2] {
        match *self {
            Self::Mass { node, mass } => {
                let linear = nodes[node].velocity.scale(mass);
                [linear, nodes[node].position.cross(linear)]
            }
            Self::Inertia { node, inertia } => {
                let node = &nodes[node];
                let angular = turned(node.rotation, inertia) * node.velocity;
                [Vector([0.0; 3]), angular]
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
