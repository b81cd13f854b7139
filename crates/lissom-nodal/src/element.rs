//! One element: its nodes, its deformation parameters and their derivatives, its inertia.

use lissom_spatial::Scalar;
use lissom_spatial::Vector;

use super::ball::Ball;
use super::beam::Beam;
use super::joints::{Hinge, Slider, Truss};
use super::node::{Followed, NodeState};
use super::role::Role;

/// Names an element of an [`super::Assembly`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ElementId(pub(super) usize);

impl ElementId {
    /// Position in the order in which elements were added.
    pub fn index(self) -> usize {
        self.0
    }
}

/// Largest number of deformation parameters of an element.
pub(super) const MOST_DEFORMATIONS: usize = 6;

/// Derivative of one deformation parameter by the displacement or turn of each of its nodes.
pub(super) type Gradient<T> = [Vector<T>; 4];

#[derive(Clone, Debug)]
pub(super) enum ElementKind {
    /// Nodes: point p, orientation p, point q, orientation q.
    Beam(Beam),
    /// Nodes: orientation p, orientation q.
    Hinge(Hinge),
    /// Nodes: point p, point q.
    Truss(Truss),
    /// Nodes: point p, orientation, point q.
    Slider(Slider),
    /// Nodes: orientation p, orientation q, and where it slides point p, point q.
    Ball(Ball),
}

/// An element in a mechanism.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) name: String,
    /// Deformations that are called otherwise than their kind calls them.
    pub(super) named: Vec<(usize, String)>,
    pub(super) kind: ElementKind,
    /// Indices of its nodes, as many as the kind has.
    pub(super) nodes: Vec<usize>,
    /// Role of each deformation parameter.
    pub(super) roles: Vec<Role>,
    /// Stress resultants per deformation.
    pub(super) stiffness: [[f64; MOST_DEFORMATIONS]; MOST_DEFORMATIONS],
    /// Ratio of damping to stiffness.
    pub(super) damping_time: f64,
    /// Value of each deformation at which it adds no stress.
    pub(super) rest: [f64; MOST_DEFORMATIONS],
    /// Inertia of a rotor that turns with each deformation.
    pub(super) rotors: [f64; MOST_DEFORMATIONS],
}

impl Element {
    /// Deformations that rotors turn with, and the inertia of each.
    #[inline(always)]
    pub(super) fn rotors(&self) -> impl Iterator<Item = (usize, f64)> {
        let all = self.rotors.into_iter().enumerate();
        all.filter(|(_, inertia)| *inertia != 0.0)
    }
}

impl ElementKind {
    /// Unit of a deformation parameter.
    pub(super) fn unit(&self, index: usize) -> &'static str {
        match self {
            Self::Hinge(_) if index == 0 => "rad",
            Self::Ball(_) if index < 3 => "rad",
            Self::Beam(_) | Self::Truss(_) | Self::Slider(_) | Self::Ball(_) => "m",
            Self::Hinge(_) => "1",
        }
    }

    /// Names of the deformation parameters.
    pub(super) fn labels(&self) -> &'static [&'static str] {
        match self {
            Self::Beam(beam) if beam.planar => &["elongation", "bending_p", "bending_q"],
            Self::Beam(_) => &[
                "elongation",
                "torsion",
                "bending_z_p",
                "bending_z_q",
                "bending_y_p",
                "bending_y_q",
            ],
            Self::Hinge(hinge) if hinge.planar => &["rotation"],
            Self::Hinge(_) => &["rotation", "tilt_y", "tilt_z"],
            Self::Truss(_) => &["elongation"],
            Self::Slider(slider) if slider.planar => &["travel", "offset_y"],
            Self::Slider(_) => &["travel", "offset_y", "offset_z"],
            Self::Ball(ball) if ball.translates => &[
                "rotation_x",
                "rotation_y",
                "rotation_z",
                "translation_x",
                "translation_y",
                "translation_z",
            ],
            Self::Ball(_) => &["rotation_x", "rotation_y", "rotation_z"],
        }
    }
}

/// The state of one node of an element.
#[inline(always)]
fn pick<'a, T, const N: usize>(
    nodes: &'a [NodeState<T>],
    sites: &[usize],
) -> [&'a NodeState<T>; N] {
    std::array::from_fn(|i| &nodes[sites[i]])
}

impl Element {
    /// Number of deformation parameters.
    pub(super) fn count(&self) -> usize {
        self.roles.len()
    }

    /// Values and gradients of the deformation parameters; `reference` is a hinge's last angle.
    #[inline(always)]
    pub(super) fn gradient<T: Scalar>(
        &self,
        nodes: &[NodeState<T>],
        reference: f64,
        value: &mut [T],
        gradient: &mut [Gradient<T>],
    ) {
        self.gradient_at(nodes, &self.nodes, reference, value, gradient);
    }

    /// The same with its nodes at these places.
    #[inline(always)]
    pub(super) fn gradient_at<T: Scalar>(
        &self,
        nodes: &[NodeState<T>],
        sites: &[usize],
        reference: f64,
        value: &mut [T],
        gradient: &mut [Gradient<T>],
    ) {
        match &self.kind {
            ElementKind::Beam(beam) => beam.gradient(pick(nodes, sites), value, gradient),
            ElementKind::Hinge(hinge) => {
                hinge.gradient(pick(nodes, sites), reference, value, gradient);
            }
            ElementKind::Truss(truss) => truss.gradient(pick(nodes, sites), value, gradient),
            ElementKind::Slider(slider) => slider.gradient(pick(nodes, sites), value, gradient),
            ElementKind::Ball(ball) => ball.gradient(ball.sites(nodes, sites), value, gradient),
        }
    }

    /// Values, rates and biases of the deformation parameters.
    #[inline(always)]
    pub(super) fn follow<T: Scalar>(
        &self,
        nodes: &[NodeState<T>],
        reference: f64,
        followed: &mut [Followed<T>],
    ) {
        match &self.kind {
            ElementKind::Beam(beam) => beam.follow(pick(nodes, &self.nodes), followed),
            ElementKind::Hinge(hinge) => {
                hinge.follow(pick(nodes, &self.nodes), reference, followed);
            }
            ElementKind::Truss(truss) => truss.follow(pick(nodes, &self.nodes), followed),
            ElementKind::Slider(slider) => slider.follow(pick(nodes, &self.nodes), followed),
            ElementKind::Ball(ball) => ball.follow(ball.sites(nodes, &self.nodes), followed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::beam::BeamSection;
    use lissom_spatial::Dual;
    use lissom_spatial::RotationVector;

    type Time = Dual<Dual<f64, 1>, 1>;

    /// A few hundred operations on numbers of order one, with second derivatives of order ten.
    const ROUNDING: f64 = 1e-12;

    fn elements() -> Vec<Element> {
        let turned = |x, y, z| RotationVector::new(Vector([x, y, z])).matrix();
        let frames = [turned(0.2, -0.1, 0.3), turned(0.1, 0.1, 0.2)];
        let section = BeamSection {
            shear_stiffness: Some([3.0, 5.0]),
            ..BeamSection::slender(1.0, 1.0, 1.0, 1.0)
        };
        let planar = |angle| turned(0.0, 0.0, angle);
        [
            (ElementKind::Beam(Beam::new(1.1, false, section, frames)), 4),
            (
                ElementKind::Beam(Beam::new(1.1, true, section, [planar(0.1), planar(0.2)])),
                4,
            ),
            (ElementKind::Hinge(Hinge::new(false, frames)), 2),
            (ElementKind::Hinge(Hinge::new(true, frames)), 2),
            (
                ElementKind::Truss(Truss {
                    length: 0.9,
                    stiffness: 1.0,
                }),
                2,
            ),
            (ElementKind::Slider(Slider::new(false, frames[0])), 3),
        ]
        .into_iter()
        .map(|(kind, nodes)| Element {
            named: Vec::new(),
            name: String::new(),
            roles: vec![Role::Dof; kind.labels().len()],
            kind,
            nodes: (0..nodes).collect(),
            stiffness: [[0.0; 6]; 6],
            damping_time: 0.0,
            rest: [0.0; 6],
            rotors: [0.0; 6],
        })
        .collect()
    }

    /// Nodes that move at constant velocity and angular velocity, at `time` after the present.
    fn nodes<T: Scalar>(time: T) -> Vec<NodeState<T>> {
        let velocities = [
            [0.3, -0.5, 0.2],
            [0.7, 0.4, -0.6],
            [-0.2, 0.9, 0.5],
            [0.1, -0.8, 0.4],
        ];
        let places = [[0.1, 0.2, 0.0], [0.0; 3], [1.1, 0.4, -0.2], [0.0; 3]];
        let turns = [
            [0.4, 0.1, 0.2],
            [0.3, 0.5, -0.1],
            [0.1, 0.2, 0.5],
            [0.2, 0.1, 0.1],
        ];
        (0..4)
            .map(|i| {
                let velocity = Vector::constant(velocities[i]);
                let turn = RotationVector::new(velocity.scale(time)).matrix();
                let start = RotationVector::new(Vector::constant(turns[i])).matrix();
                NodeState {
                    position: Vector::constant(places[i]) + velocity.scale(time),
                    rotation: turn * start,
                    velocity,
                    acceleration: Vector::zero(),
                }
            })
            .collect()
    }

    fn reference(element: &Element) -> f64 {
        match &element.kind {
            ElementKind::Hinge(hinge) => hinge.angle(pick(&nodes(0.0), &element.nodes), 0.0),
            _ => 0.0,
        }
    }

    /// Second way: rates and biases written out by hand are those of dual numbers in time.
    #[test]
    fn rates_and_biases_are_derivatives_by_time() {
        let time = Time::variable(Dual::variable(0.0, 0), 0);
        for element in elements() {
            let count = element.count();
            let reference = reference(&element);
            let mut value = vec![Time::constant(0.0); count];
            let mut gradient = vec![[Vector::zero(); 4]; count];
            element.gradient(&nodes(time), reference, &mut value, &mut gradient);
            let mut followed = vec![Followed::<f64>::zero(); count];
            element.follow(&nodes(0.0), reference, &mut followed);
            for (by_time, by_hand) in value.iter().zip(&followed) {
                assert!((by_time.value.value - by_hand.value).abs() < ROUNDING);
                assert!((by_time.value.tangent[0] - by_hand.rate).abs() < ROUNDING);
                let second = by_time.tangent[0].tangent[0];
                assert!(
                    (second - by_hand.bias).abs() < ROUNDING,
                    "{second} {by_hand:?}"
                );
            }
        }
    }

    /// Second way: gradients times velocities are the rates, and so are their duals.
    #[test]
    fn gradients_give_the_rates() {
        for element in elements() {
            let count = element.count();
            let reference = reference(&element);
            let nodes = nodes(0.0);
            let mut value = vec![0.0; count];
            let mut gradient = vec![[Vector::zero(); 4]; count];
            element.gradient(&nodes, reference, &mut value, &mut gradient);
            let mut followed = vec![Followed::zero(); count];
            element.follow(&nodes, reference, &mut followed);
            for (row, wanted) in gradient.iter().zip(&followed) {
                let rate: f64 = (0..element.nodes.len())
                    .map(|site| row[site].dot(nodes[site].velocity))
                    .sum();
                assert!((rate - wanted.rate).abs() < ROUNDING);
            }
        }
    }

    /// Property: a rigid motion of all nodes changes no deformation, however large it is.
    #[test]
    fn rigid_motion_deforms_nothing() {
        let turn = RotationVector::new(Vector([0.9, -1.7, 1.2])).matrix();
        let shift = Vector([3.0, -2.0, 5.0]);
        let moved: Vec<NodeState<f64>> = nodes(0.0)
            .into_iter()
            .map(|node| NodeState {
                position: turn * node.position + shift,
                rotation: turn * node.rotation,
                ..node
            })
            .collect();
        for element in elements() {
            let count = element.count();
            let reference = reference(&element);
            let mut values = [vec![0.0; count], vec![0.0; count]];
            let mut gradient = vec![[Vector::zero(); 4]; count];
            for (nodes, value) in [nodes(0.0), moved.clone()].iter().zip(&mut values) {
                element.gradient(nodes, reference, value, &mut gradient);
            }
            for (before, after) in values[0].iter().zip(&values[1]) {
                assert!((before - after).abs() < ROUNDING, "{before} {after}");
            }
        }
    }
}
