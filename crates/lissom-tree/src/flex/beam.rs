//! [`Beam`]: piecewise uniform Euler–Bernoulli beams, reduced to a [`FlexibleBody`].
//!
//! The beam lies along the x axis of its frame, root at 0. A section at `x` moves by the stretch `u`, the
//! deflections `v` (along y) and `w` (along z) and turns by $`\theta = (\phi, -w', v')`$; the point `(y, z)`
//! of the section moves by $`(u, v, w) + \theta \times (0, y, z)`$
//! \[Damaren & Sharf 1995, eq. (29)\], and to second order as [`SecondOrderField`] has it.

use nalgebra::DMatrix;

use super::body::{FlexibleBody, MassNode, Node, RigidMotions};
use super::centreline::Centreline;
use super::damping::Damping;
use super::deformation::Deformation;
use super::eigenfunctions::Boundary;
use super::error::{FlexError, finite, not_negative, positive};
use super::groups::{Group, Slice, groups, slices};
use super::second_order::{Component, SecondOrderBlock, SecondOrderField};
use super::strain::axial_strain;

/// Relative distance beyond the tip that rounding of a sum of lengths explains.
const LENGTH_ROUNDING: f64 = 1e-12;

/// A uniform piece of a beam.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Length in m.
    pub length: f64,
    /// Mass per length in kg/m.
    pub mass_per_length: f64,
    /// EI in N m² against displacement along y, and along z.
    pub bending_stiffness: [f64; 2],
    /// EA in N; may be zero if the beam does not stretch.
    pub axial_stiffness: f64,
    /// GJ in N m²; may be zero if the beam does not twist.
    pub torsional_stiffness: f64,
    /// $`\int \rho y^2 dA`$ and $`\int \rho z^2 dA`$ in kg m; may be zero if the beam does not twist.
    pub section_inertia: [f64; 2],
}

/// A beam of uniform segments, with the functions that describe its deformation.
#[derive(Clone, Debug, PartialEq)]
pub struct Beam {
    /// Segments from the root to the tip.
    pub segments: Vec<Segment>,
    /// Whether the sections resist the rotation that bending gives them. Without it the section inertia
    /// still counts for the inertia of the undeformed body and for torsion.
    pub rotary_inertia: bool,
    /// The functions.
    pub basis: Basis,
    /// Place x and mass of point masses on the axis.
    pub point_masses: Vec<(f64, f64)>,
}

/// Which functions describe the deformation of a beam.
///
/// Coordinates are ordered bending y, bending z, stretch, torsion, each by rising frequency, and modes have
/// unit modal mass.
#[derive(Clone, Debug, PartialEq)]
pub enum Basis {
    /// Eigenfunctions of the beam without rotary inertia and point masses: closed forms for one segment where there are such,
    /// polynomials of high degree per segment otherwise. Bending functions clamped at the root have positive curvature there,
    /// stretch and torsion positive slope; functions with a hinge at the root have positive slope there, those of free
    /// beams are positive at the root.
    Functions {
        /// Those of bending along y, bending along z, stretch and torsion.
        of: [Functions; 4],
        /// Whether the stretch of a clamped beam is also spanned by the functions $`\int_0^x \varphi_i'\varphi_j'\,ds`$ of
        /// every two bending functions in one plane, by which the axis of a bent beam draws back when it keeps its
        /// length. Without them a bent beam whose axial strain is of second order is too stiff (it locks). The
        /// stretch modes are then those of the whole space; how many it has is known only after functions that
        /// depend on others have been left out.
        foreshortening: bool,
    },
    /// Finite elements: cubic Hermite functions for bending, linear ones for stretch and torsion. Their
    /// modes count rotary inertia and point masses, and have their largest displacement (twist) positive,
    /// the one nearest to the root if several are equally large.
    Elements {
        /// Number of elements in every segment.
        per_segment: Vec<usize>,
        /// Deformations that are kept; their order does not matter.
        planes: Vec<Deformation>,
        /// Reduction to this many lowest modes of each deformation; none keeps the values and slopes at
        /// the nodes as coordinates.
        modes: Option<usize>,
        /// How the root is held.
        boundary: Boundary,
        /// Where the axial strain is taken in [`FlexibleBody::strain`].
        membrane: Membrane,
    },
}

/// Where the axial strain of a bent finite element is taken.
///
/// A linear stretch has a constant slope, which cannot balance $`\tfrac12(v'^2 + w'^2)`$ everywhere: a bent
/// element that is pointwise nearly inextensible is too stiff (it locks). Its mean strain can vanish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Membrane {
    /// At every point.
    #[default]
    Pointwise,
    /// As the mean over every element, which does not lock.
    Averaged,
}

/// Functions of one deformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Functions {
    /// How they are held.
    pub boundary: Boundary,
    /// How many there are.
    pub count: usize,
}

/// Number of modes of each deformation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModeCounts {
    /// Bending with displacement along y.
    pub bending_y: usize,
    /// Bending with displacement along z.
    pub bending_z: usize,
    /// Displacement along x.
    pub stretch: usize,
    /// Rotation about x.
    pub torsion: usize,
    /// See [`Basis::Functions`].
    pub foreshortening: bool,
}

impl Basis {
    /// Functions that are all held in the same way.
    pub fn held(boundary: Boundary, counts: ModeCounts) -> Self {
        let each = [
            counts.bending_y,
            counts.bending_z,
            counts.stretch,
            counts.torsion,
        ];
        Self::Functions {
            of: each.map(|count| Functions { boundary, count }),
            foreshortening: counts.foreshortening,
        }
    }
}

impl Beam {
    /// Length from root to tip.
    pub fn length(&self) -> f64 {
        self.segments.iter().map(|segment| segment.length).sum()
    }

    /// The flexible body, with a node at every place of `nodes` along the beam.
    ///
    /// # Errors
    /// If a number is not finite or out of its range, or the basis asks for what the beam does not have.
    pub fn reduce(&self, nodes: &[f64], damping: &Damping) -> Result<FlexibleBody, FlexError> {
        self.check()?;
        let nodes = self.places(nodes, "node")?;
        let point_masses: Vec<(f64, f64)> = self.checked_point_masses()?;
        let groups = groups(self, &point_masses)?;
        let slices = slices(self, &groups, &point_masses);

        // the second-order field along the beam, at the slices first and at the nodes behind them
        let second_order = SecondOrderField::new(&groups);
        let places: Vec<f64> = slices
            .iter()
            .map(|slice| slice.x)
            .chain(nodes.iter().copied())
            .collect();
        let mut entries = second_order.at(&places, &self.breaks(), &groups);
        let node_entries = entries.split_off(slices.len());
        let body_nodes = nodes
            .iter()
            .zip(node_entries)
            .map(|(&x, entries)| node_at(x, &groups, true, entries))
            .collect();
        let mass_nodes: Vec<MassNode> = slices
            .iter()
            .zip(entries)
            .map(|(slice, entries)| self.mass_node(slice, &groups, &second_order, entries))
            .collect();

        let coordinates = groups
            .iter()
            .flat_map(|group| group.names.iter().cloned())
            .collect();
        let ranges: Vec<_> = groups
            .iter()
            .map(|group| group.coordinates.clone())
            .collect();
        let strain = axial_strain(self, &groups)?;
        let body = FlexibleBody::assemble(
            coordinates,
            &ranges,
            body_nodes,
            mass_nodes,
            &stiffness(&groups),
            self.rigid_motions(),
        )?;
        FlexibleBody {
            held: self.held(&groups, &second_order),
            second_order: Some(second_order),
            strain,
            centreline: Some(Centreline::new(self.length(), groups)),
            ..body
        }
        .damped(damping)
    }

    /// The root section, turned by those bending functions that say nothing of how the beam is held: it counts as held there. Absent if there
    /// are none.
    fn held(&self, groups: &[Group; 4], field: &SecondOrderField) -> Option<Node> {
        let Basis::Functions { of, .. } = &self.basis else {
            return None;
        };
        let entries = field.blocks.iter().map(SecondOrderBlock::len).sum();
        let mut root = node_at(0.0, groups, true, vec![0.0; entries]);
        let mut turns = false;
        for group in groups {
            let Functions { boundary, count } = of[group.deformation as usize];
            let bends = matches!(
                group.deformation,
                Deformation::BendingY | Deformation::BendingZ
            );
            if bends && boundary == Boundary::FixedInterface && count > 0 {
                turns = true;
            } else {
                root.rotation[group.coordinates.clone()].fill([0.0; 3]);
            }
            root.displacement[group.coordinates.clone()].fill([0.0; 3]);
        }
        turns.then_some(root)
    }

    /// Whether rigid motions are among the elastic coordinates.
    fn rigid_motions(&self) -> RigidMotions {
        let are_coordinates = match &self.basis {
            Basis::Functions { of, .. } => {
                (of.iter()).any(|own| own.boundary == Boundary::Unconstrained)
            }
            Basis::Elements { boundary, .. } => *boundary == Boundary::Unconstrained,
        };
        if are_coordinates {
            RigidMotions::AreCoordinates
        } else {
            RigidMotions::AreTheFrames
        }
    }

    /// The place of the root, of every step between segments and of the tip.
    pub(super) fn breaks(&self) -> Vec<f64> {
        let mut breaks = vec![0.0];
        let mut x = 0.0;
        for segment in &self.segments {
            x += segment.length;
            breaks.push(x);
        }
        breaks
    }

    fn check(&self) -> Result<(), FlexError> {
        if self.segments.is_empty() {
            return Err(FlexError::NoSegments);
        }
        for (index, segment) in self.segments.iter().enumerate() {
            let named = |quantity: &str| format!("{quantity} of segment {}", index + 1);
            positive(segment.length, || named("length"))?;
            positive(segment.mass_per_length, || named("mass per length"))?;
            for (stiffness, direction) in segment.bending_stiffness.into_iter().zip(["y", "z"]) {
                not_negative(stiffness, || {
                    named(&format!("bending stiffness along {direction}"))
                })?;
            }
            not_negative(segment.axial_stiffness, || named("axial stiffness"))?;
            not_negative(segment.torsional_stiffness, || named("torsional stiffness"))?;
            for (inertia, direction) in segment.section_inertia.into_iter().zip(["y", "z"]) {
                not_negative(inertia, || {
                    named(&format!("section inertia along {direction}"))
                })?;
            }
        }
        positive(self.length(), || "length of the beam".to_owned())?;
        Ok(())
    }

    /// `places` along the beam, cut at its ends if rounding put them beyond.
    fn places(&self, places: &[f64], quantity: &str) -> Result<Vec<f64>, FlexError> {
        let length = self.length();
        places
            .iter()
            .enumerate()
            .map(|(index, &position)| {
                let quantity = format!("position of {quantity} {}", index + 1);
                let position = finite(position, || quantity.clone())?;
                if position < -LENGTH_ROUNDING * length
                    || position > (1.0 + LENGTH_ROUNDING) * length
                {
                    return Err(FlexError::OutsideBeam {
                        quantity,
                        position,
                        length,
                    });
                }
                Ok(position.clamp(0.0, length))
            })
            .collect()
    }

    fn checked_point_masses(&self) -> Result<Vec<(f64, f64)>, FlexError> {
        let (places, masses): (Vec<f64>, Vec<f64>) = self.point_masses.iter().copied().unzip();
        for (index, &mass) in masses.iter().enumerate() {
            not_negative(mass, || format!("point mass {}", index + 1))?;
        }
        Ok(self
            .places(&places, "point mass")?
            .into_iter()
            .zip(masses)
            .collect())
    }

    fn mass_node(
        &self,
        slice: &Slice,
        groups: &[Group; 4],
        field: &SecondOrderField,
        mut second_order: Vec<f64>,
    ) -> MassNode {
        let [along_y, along_z] = slice.section_inertia;
        if !self.rotary_inertia {
            // sections that bending does not tilt turn about the axis only, by the twist itself
            let mut entries = second_order.as_mut_slice();
            for block in &field.blocks {
                let (own, rest) = entries.split_at_mut(block.len());
                if matches!(block.component, Component::Rotation(_)) {
                    own.fill(0.0);
                }
                entries = rest;
            }
        }
        MassNode {
            node: node_at(slice.x, groups, self.rotary_inertia, second_order),
            mass: slice.mass,
            centre: [0.0; 3],
            second_moment: [[0.0, 0.0, 0.0], [0.0, along_y, 0.0], [0.0, 0.0, along_z]],
        }
    }
}

/// The motion of the section at `x`; bending turns it only if `tilting`.
fn node_at(x: f64, groups: &[Group; 4], tilting: bool, second_order: Vec<f64>) -> Node {
    let mut displacement = Vec::new();
    let mut rotation = Vec::new();
    for group in groups {
        for shape in group.shapes.at(x) {
            let slope = if tilting { shape.slope } else { 0.0 };
            let (moved, turned) = match group.deformation {
                Deformation::BendingY => ([0.0, shape.value, 0.0], [0.0, 0.0, slope]),
                Deformation::BendingZ => ([0.0, 0.0, shape.value], [0.0, -slope, 0.0]),
                Deformation::Stretch => ([shape.value, 0.0, 0.0], [0.0; 3]),
                Deformation::Torsion => ([0.0; 3], [shape.value, 0.0, 0.0]),
            };
            displacement.push(moved);
            rotation.push(turned);
        }
    }
    Node {
        position: [x, 0.0, 0.0],
        displacement,
        rotation,
        second_order,
    }
}

/// The stiffness matrices of the groups along the diagonal.
fn stiffness(groups: &[Group; 4]) -> DMatrix<f64> {
    let count = groups[3].coordinates.end;
    let mut matrix = DMatrix::zeros(count, count);
    for group in groups {
        let Some(first) = group.coordinates.clone().next() else {
            continue;
        };
        let size = group.coordinates.len();
        matrix
            .view_mut((first, first), (size, size))
            .copy_from(&group.stiffness);
    }
    matrix
}

mod cut;
#[cfg(test)]
mod tests;

pub use cut::CutBeam;
