//! Beams of elements as bodies with coordinates: a body's frame is that of its first node.
//!
//! The coordinates of every further node are its displacement $`d`$ and the changes of its tangent $`t`$ and of its
//! rotation vector $`\theta`$ in that frame, so that between two nodes the centreline is Hermite's cubic through places and
//! tangents,
//!
//! ```math
//! u(\xi) = h_1 d_p + \ell h_2 t_p + h_3 d_q + \ell h_4 t_q ,
//! ```
//!
//! which is linear in the coordinates as the page wants it, for rotations of any size. Further coordinates are the
//! curvatures at the ends of its elements.

use lissom_nodal::{BeamSection, End, Equations};
use lissom_spatial::{Matrix, Vector, rotation_vector_of};

use crate::scene::section::Section;
use crate::scene::{Centreline, FlexiblePoint};

/// Intervals along a beam: enough that it looks smooth. A beam of more elements has one for each.
const INTERVALS: usize = 40;
/// Coordinates of a node of a beam: displacement, tangent, rotation vector.
const OF_NODE: usize = 9;
/// Coordinates of an element of a beam: curvatures along y and z at its first and at its second end.
const OF_ELEMENT: usize = 4;
/// Nodes along a beam.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) ends: Vec<End>,
    /// Axes of the beam at every node, as columns in the components of its orientation.
    pub(super) axes: Vec<Matrix<f64>>,
    /// Length and section of every element.
    pub(super) pieces: Vec<(f64, BeamSection)>,
    /// Places, tangents and orientations of the nodes at assembly, in the frame of the first.
    pub(super) reference: Vec<(Vector<f64>, Vector<f64>, Matrix<f64>)>,
}

impl Line {
    /// Number of elastic coordinates.
    pub(super) fn coordinates(&self) -> usize {
        (OF_NODE + OF_ELEMENT) * self.pieces.len()
    }

    /// First coordinate of a node; the first node has none.
    fn of_node(node: usize) -> Option<usize> {
        Some(OF_NODE * node.checked_sub(1)?)
    }

    fn of_element(&self, element: usize) -> usize {
        OF_NODE * self.pieces.len() + OF_ELEMENT * element
    }

    /// Where the nodes are in the frame of the first.
    pub(super) fn places(
        &self,
        equations: &Equations<'_>,
    ) -> Vec<(Vector<f64>, Vector<f64>, Matrix<f64>)> {
        let orientation =
            |i: usize| equations.node(self.ends[i].orientation).rotation * self.axes[i];
        let first = orientation(0);
        let origin = equations.node(self.ends[0].point).position;
        (0..self.ends.len())
            .map(|i| {
                let place = equations.node(self.ends[i].point).position - origin;
                let turned = first.transpose() * orientation(i);
                let tangent = turned * Vector([1.0, 0.0, 0.0]);
                (first.transpose_mul(place), tangent, turned)
            })
            .collect()
    }

    /// Appends its coordinates in a configuration.
    pub(super) fn push_elastic(&self, equations: &Equations<'_>, elastic: &mut Vec<f64>) {
        let places = self.places(equations);
        let mut before = Vector([0.0; 3]);
        for (now, reference) in places.iter().zip(&self.reference).skip(1) {
            let turn = rotation_vector_of(&(now.2 * reference.2.transpose()));
            before = nearest_turn(turn, before);
            for change in [now.0 - reference.0, now.1 - reference.1, before] {
                elastic.extend(change.0);
            }
        }
        for (pair, (length, _)) in places.windows(2).zip(&self.pieces) {
            let chord = pair[1].0 - pair[0].0;
            let chord = chord.scale(1.0 / chord.dot(chord).sqrt());
            // slopes of the ends against the chord
            let [p, q] = [&pair[0].2, &pair[1].2].map(|axes| axes.transpose_mul(chord));
            for axis in [1, 2] {
                let [p, q] = [-p[axis], -q[axis]];
                let ends = [-(4.0 * p + 2.0 * q) / length, (2.0 * p + 4.0 * q) / length];
                elastic.extend(ends);
            }
        }
    }

    /// A node as a point of the body.
    pub(super) fn point(&self, node: usize) -> FlexiblePoint {
        let position = self.reference[node].0.0;
        let Some(first) = Self::of_node(node) else {
            return FlexiblePoint::default();
        };
        let mut displacement = vec![[0.0; 3]; self.coordinates()];
        let mut rotation = displacement.clone();
        for i in 0..3 {
            displacement[first + i][i] = 1.0;
            rotation[first + 6 + i][i] = 1.0;
        }
        FlexiblePoint {
            position,
            displacement,
            rotation,
            second_order: Vec::new(),
        }
    }

    /// The line as it is drawn.
    pub(super) fn drawn(&self) -> Centreline {
        let n = self.coordinates();
        let whole: f64 = self.pieces.iter().map(|(length, _)| length).sum();
        let per_element = INTERVALS.div_ceil(self.pieces.len());
        let mut line = Centreline {
            positions: Vec::new(),
            displacement: Vec::new(),
            rotation: Vec::new(),
            second_order: Vec::new(),
            curvature: Vec::new(),
            half_axes: Vec::new(),
            sections_known: true,
            youngs_modulus: Vec::new(),
        };
        let mut moduli = Some(Vec::new());
        for (element, (length, given)) in self.pieces.iter().enumerate() {
            let stiffness = [given.bending_stiffness_y, given.bending_stiffness_z];
            let [_, about_y, about_z] = given.rotary_inertia_per_length;
            let section = Section::with(
                Some(given.axial_stiffness),
                stiffness.map(Some),
                // sections turn about z as the beam bends along y
                [about_z, about_y],
                given.mass_per_length,
                whole,
            );
            let from = usize::from(element > 0);
            for step in from..=per_element {
                let xi = step as f64 / per_element as f64;
                let [p, q] = [&self.reference[element], &self.reference[element + 1]];
                let at = |p: f64, q: f64| p + xi * (q - p);
                line.positions
                    .push(std::array::from_fn(|i| at(p.0[i], q.0[i])));
                let mut displacement = vec![[0.0; 3]; n];
                let mut rotation = vec![[0.0; 3]; n];
                let [h1, h2, h3, h4] = hermite(xi);
                let nodes = [
                    (element, h1, length * h2, 1.0 - xi),
                    (element + 1, h3, length * h4, xi),
                ];
                for (node, place, tangent, turn) in nodes {
                    let Some(first) = Self::of_node(node) else {
                        continue;
                    };
                    for i in 0..3 {
                        displacement[first + i][i] = place;
                        displacement[first + 3 + i][i] = tangent;
                        rotation[first + 6 + i][i] = turn;
                    }
                }
                let mut curvature = vec![[0.0; 2]; n];
                let first = self.of_element(element);
                for axis in 0..2 {
                    curvature[first + 2 * axis][axis] = 1.0 - xi;
                    curvature[first + 2 * axis + 1][axis] = xi;
                }
                line.displacement.extend(displacement);
                line.rotation.extend(rotation);
                line.curvature.extend(curvature);
                line.half_axes.push(section.half_axes);
                match (section.youngs_modulus, &mut moduli) {
                    (Some(modulus), Some(moduli)) => moduli.push(modulus),
                    _ => moduli = None,
                }
            }
            line.sections_known &= section.known;
        }
        line.youngs_modulus = moduli.unwrap_or_default();
        line
    }
}

/// Hermite's cubics: for the first place and tangent, then for the second.
fn hermite(x: f64) -> [f64; 4] {
    let (square, cube) = (x * x, x * x * x);
    [
        1.0 - 3.0 * square + 2.0 * cube,
        x - 2.0 * square + cube,
        3.0 * square - 2.0 * cube,
        cube - square,
    ]
}

/// The rotation vector of the same rotation that is nearest to another.
fn nearest_turn(turn: Vector<f64>, to: Vector<f64>) -> Vector<f64> {
    let length = |v: Vector<f64>| v.dot(v).sqrt();
    let (angle, before) = (length(turn), length(to));
    let along = if angle > 1e-6 {
        turn.scale(1.0 / angle)
    } else if before > 1e-6 {
        to.scale(1.0 / before)
    } else {
        return turn;
    };
    let turns = ((to.dot(along) - angle) / std::f64::consts::TAU).round();
    turn + along.scale(turns * std::f64::consts::TAU)
}

/// The line of a bar that can only be stretched.
pub(super) fn truss(length: f64) -> Centreline {
    Centreline {
        positions: vec![[0.0; 3], [length, 0.0, 0.0]],
        displacement: vec![[0.0; 3], [1.0, 0.0, 0.0]],
        rotation: vec![[0.0; 3]; 2],
        second_order: Vec::new(),
        curvature: Vec::new(),
        half_axes: Vec::new(),
        sections_known: false,
        youngs_modulus: Vec::new(),
    }
}
