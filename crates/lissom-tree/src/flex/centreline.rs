//! The bent axis of a beam at any place along it, for what slides on it.

use std::ops::Range;

use super::groups::Group;
use super::shape::{Shape, Shapes};
use lissom_spatial::Real;

/// How many of the deformations bend: along y and along z.
const BENDING_PLANES: usize = 2;

/// The functions along a beam by which its elastic coordinates move the axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Centreline {
    length: f64,
    /// Coordinates and functions of bending y, bending z, stretch and torsion.
    deformations: [(Range<usize>, Shapes); 4],
    breaks: Vec<f64>,
}

impl Centreline {
    pub(super) fn new(length: f64, groups: [Group; 4]) -> Self {
        let mut breaks: Vec<f64> = groups[..BENDING_PLANES]
            .iter()
            .flat_map(|group| group.shapes.breaks())
            .filter(|&x| x > 0.0)
            .collect();
        breaks.sort_by(f64::total_cmp);
        breaks.dedup();
        Self {
            length,
            deformations: groups.map(|group| (group.coordinates, group.shapes)),
            breaks,
        }
    }

    /// Length of the undeformed axis.
    pub fn length(&self) -> f64 {
        self.length
    }

    /// Places inside the beam where a derivative of the deflection may jump, in rising order.
    pub fn breaks(&self) -> &[f64] {
        &self.breaks
    }

    /// The stretch between two neighbouring breaks that a place lies in, counted from the root.
    pub fn stretch(&self, x: f64) -> usize {
        self.breaks.partition_point(|&at| at <= x)
    }

    /// Where a stretch begins and ends.
    pub fn ends(&self, stretch: usize) -> [f64; 2] {
        let begin = stretch.checked_sub(1).map_or(0.0, |i| self.breaks[i]);
        let end = self.breaks.get(stretch).copied().unwrap_or(self.length);
        [begin, end]
    }

    /// Coordinates that bend along y (plane 0) or along z (plane 1).
    pub fn bending(&self, plane: usize) -> Range<usize> {
        self.deformations[plane].0.clone()
    }

    /// Coordinates that twist the beam.
    pub fn torsion(&self) -> Range<usize> {
        self.deformations[3].0.clone()
    }

    /// Coordinates of every deformation, and how many rigid motions these contain at most where nothing holds the beam: two of
    /// bending in a plane, one of stretch and one of torsion.
    pub(super) fn rigid_motions(&self) -> impl Iterator<Item = (Range<usize>, usize)> {
        let motions = self.deformations.iter().zip([2, 2, 1, 1]);
        motions.map(|((coordinates, _), most)| (coordinates.clone(), most))
    }

    /// Functions of all elastic coordinates at `x`; beyond the ends they go on straight. Those of one `stretch` go on as
    /// they are.
    fn write(&self, stretch: Option<usize>, x: f64, shapes: &mut [Shape]) {
        if let Some(stretch) = stretch {
            let [begin, end] = self.ends(stretch);
            for (coordinates, functions) in &self.deformations {
                functions.write(0.5 * (begin + end), x, &mut shapes[coordinates.clone()]);
            }
            return;
        }
        let inside = x.clamp(0.0, self.length);
        for (deformation, (coordinates, functions)) in self.deformations.iter().enumerate() {
            let shapes = &mut shapes[coordinates.clone()];
            functions.write(inside, inside, shapes);
            if x != inside {
                for shape in shapes {
                    shape.value += (x - inside) * shape.slope;
                    // the strain of stretch and torsion is the slope, which goes on
                    if deformation < BENDING_PLANES {
                        shape.strain = 0.0;
                    }
                    shape.strain_slope = 0.0;
                }
            }
        }
    }
}

/// The functions of a beam at one place, with room to compute them.
#[derive(Clone, Debug)]
pub struct Section<T> {
    shapes: Vec<Shape>,
    /// Value of every elastic coordinate's own function.
    pub value: Vec<T>,
    /// Its slope.
    pub slope: Vec<T>,
    /// Curvature of a bending function, slope of any other.
    pub strain: Vec<T>,
    /// Its derivative along the beam; derivatives of this one are taken as zero, as they are for finite elements.
    pub strain_slope: Vec<T>,
}

impl<T: Real> Section<T> {
    /// Room for a body with so many elastic coordinates.
    pub fn new(coordinates: usize) -> Self {
        let zeros = vec![T::zero(); coordinates];
        Self {
            shapes: vec![Shape::default(); coordinates],
            value: zeros.clone(),
            slope: zeros.clone(),
            strain: zeros.clone(),
            strain_slope: zeros,
        }
    }

    /// Evaluates the functions at `x`; beyond the ends they go on straight. With a `stretch` between two breaks the
    /// functions that hold there are continued instead, smoothly. Allocates nothing.
    pub fn update(&mut self, line: &Centreline, stretch: Option<usize>, x: T) {
        line.write(stretch, x.value(), &mut self.shapes);
        for (i, shape) in self.shapes.iter().enumerate() {
            self.value[i] = x.follow(shape.value, shape.slope);
            self.slope[i] = x.follow(shape.slope, shape.strain);
            self.strain[i] = x.follow(shape.strain, shape.strain_slope);
            self.strain_slope[i] = x.follow(shape.strain_slope, 0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;
    use crate::flex::{
        Basis, Beam, Boundary, Damping, Deformation, FlexibleBody, Membrane, ModeCounts, Segment,
    };

    /// The beam of Pan, Scott & Ulsoy's example, held by nothing.
    fn beam(basis: Basis) -> FlexibleBody {
        let beam = Beam {
            segments: vec![Segment {
                length: 1.0,
                mass_per_length: 1.0,
                bending_stiffness: [1.0; 2],
                axial_stiffness: 0.0,
                torsional_stiffness: 0.0,
                section_inertia: [0.0; 2],
            }],
            rotary_inertia: false,
            basis,
            point_masses: Vec::new(),
        };
        beam.reduce(&[], &Damping::None).unwrap()
    }

    fn elements(count: usize) -> Basis {
        Basis::Elements {
            per_segment: vec![count],
            planes: vec![Deformation::BendingY],
            modes: None,
            boundary: Boundary::Unconstrained,
            membrane: Membrane::Pointwise,
        }
    }

    fn modes(count: usize) -> Basis {
        Basis::held(
            Boundary::Unconstrained,
            ModeCounts {
                bending_y: count,
                ..ModeCounts::default()
            },
        )
    }

    /// Lowest frequencies of the beam on two supports.
    fn frequencies(body: &FlexibleBody, supports: [f64; 2]) -> Vec<f64> {
        let n = body.len();
        let mut rows = DMatrix::zeros(2, n);
        let mut shapes = vec![Shape::default(); n];
        for (row, x) in supports.into_iter().enumerate() {
            let line = body.centreline.as_ref().unwrap();
            line.write(None, x, &mut shapes);
            for (column, shape) in shapes.iter().enumerate() {
                rows[(row, column)] = shape.value;
            }
        }
        // the null space of the rows: eigenvectors of JᵀJ beyond the two that it keeps
        let eigen = nalgebra::SymmetricEigen::new(rows.transpose() * &rows);
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
        let null: Vec<_> = order[..n - 2]
            .iter()
            .map(|&i| eigen.eigenvectors.column(i).into_owned())
            .collect();
        let null = DMatrix::from_columns(&null);
        let project = |m: &[f64]| null.transpose() * DMatrix::from_row_slice(n, n, m) * &null;
        let mass = project(&body.integrals.mass_matrix);
        let factor = mass.cholesky().unwrap().l();
        let half = factor
            .solve_lower_triangular(&project(&body.stiffness))
            .unwrap();
        let reduced = factor.solve_lower_triangular(&half.transpose()).unwrap();
        let mut squares: Vec<f64> = reduced.symmetric_eigenvalues().iter().copied().collect();
        squares.sort_by(f64::total_cmp);
        squares.iter().map(|square| square.sqrt()).collect()
    }

    /// Published: natural frequencies of the beam on supports a quarter of its length apart, converged in
    /// space, to the digits given.
    #[test]
    fn frequencies_between_supports() {
        const DIGITS: f64 = 1e-5;
        let cases = [
            (0.725, [5.52735, 36.2851, 102.791]),
            (0.5, [10.82987, 37.41390, 74.90233]),
        ];
        for (overhang, expected) in cases {
            for basis in [elements(48), modes(60)] {
                let found = frequencies(&beam(basis), [overhang, overhang + 0.25]);
                for (found, expected) in found.iter().zip(expected) {
                    assert!(
                        (found / expected - 1.0).abs() < DIGITS,
                        "{overhang}: {found} {expected}"
                    );
                }
            }
        }
    }

    /// Identity: slope and strain are derivatives of value and slope, in every basis.
    #[test]
    fn slopes_and_strains_are_derivatives() {
        // central differences of functions with derivatives up to a few hundred
        const STEP: f64 = 1e-5;
        const DIFFERENCE: f64 = 1e-5;
        let clamped = Basis::held(
            Boundary::Clamped,
            ModeCounts {
                bending_y: 3,
                ..ModeCounts::default()
            },
        );
        for basis in [elements(3), modes(6), clamped] {
            let body = beam(basis);
            let line = body.centreline.as_ref().unwrap();
            let at = |x: f64| {
                let mut shapes = vec![Shape::default(); body.len()];
                line.write(None, x, &mut shapes);
                shapes
            };
            for x in [0.1, 0.42, 0.77] {
                let (below, here, above) = (at(x - STEP), at(x), at(x + STEP));
                for i in 0..body.len() {
                    let slope = (above[i].value - below[i].value) / (2.0 * STEP);
                    let strain = (above[i].slope - below[i].slope) / (2.0 * STEP);
                    let scale = here[i].strain.abs().max(1.0);
                    assert!(
                        (slope - here[i].slope).abs() < DIFFERENCE * scale,
                        "{i} {x}"
                    );
                    assert!(
                        (strain - here[i].strain).abs() < DIFFERENCE * scale,
                        "{i} {x}"
                    );
                }
            }
        }
    }

    /// Property: the functions of a stretch are its own inside it and polynomials beyond, so that values and slopes of
    /// neighbours meet at the break and curvatures do not.
    #[test]
    fn stretches_go_on_smoothly() {
        const ROUNDING: f64 = 1e-12;
        let body = beam(elements(4));
        let line = body.centreline.as_ref().unwrap();
        let at = |stretch: Option<usize>, x: f64| {
            let mut shapes = vec![Shape::default(); body.len()];
            line.write(stretch, x, &mut shapes);
            shapes
        };
        assert_eq!((line.stretch(0.3), line.ends(1)), (1, [0.25, 0.5]));
        assert_eq!(at(Some(1), 0.3), at(None, 0.3));
        let mut jumps = 0.0_f64;
        for (below, above) in at(Some(0), 0.25).iter().zip(at(Some(1), 0.25)) {
            assert!((below.value - above.value).abs() < ROUNDING);
            assert!((below.slope - above.slope).abs() < ROUNDING);
            jumps = jumps.max((below.strain - above.strain).abs());
        }
        assert!(jumps > 1.0, "{jumps}");
        // a cubic: its third derivative is the same beyond the break
        for (inside, beyond) in at(Some(0), 0.2).iter().zip(at(Some(0), 0.4)) {
            assert!((inside.strain_slope - beyond.strain_slope).abs() < ROUNDING);
        }
    }

    /// By construction: the rigid motions are translation and rotation of unit modal mass, without strain.
    #[test]
    fn rigid_motions_come_first() {
        const ROUNDING: f64 = 1e-12;
        let body = beam(modes(4));
        let mut shapes = vec![Shape::default(); 4];
        for x in [0.0, 0.3, 1.0] {
            let line = body.centreline.as_ref().unwrap();
            line.write(None, x, &mut shapes);
            assert!((shapes[0].value - 1.0).abs() < ROUNDING);
            assert!((shapes[1].value.abs() - (12.0_f64.sqrt() * (x - 0.5)).abs()).abs() < ROUNDING);
            assert!(shapes[0].strain.abs() + shapes[1].strain.abs() < 1e-9);
        }
        assert_eq!(&body.stiffness[..2], [0.0, 0.0]);
    }
}
