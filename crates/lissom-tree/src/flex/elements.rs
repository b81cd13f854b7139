//! Piecewise polynomial functions along a beam: finite elements, and the eigenfunctions found with them.
//!
//! Between two breaks a deformation is a polynomial. Bending elements are cubic Hermite functions of the
//! values and slopes at their ends, stretch and torsion elements are linear; that is what an engineer
//! calls beam elements. For accurate eigenfunctions of stepped beams the same elements carry internal
//! functions of higher degree, with k-th Legendre polynomials as second (bending) or first derivative
//! (stretch, torsion), which vanish at both ends with their slope (or value):
//!
//! ```math
//! \frac{d}{d\xi} N_k = \frac{L_{k+1} - L_{k-1}}{2k+1}, \qquad
//! N_k = \frac{1}{2k+1}\left[\frac{L_{k+2} - L_k}{2k+3} - \frac{L_k - L_{k-2}}{2k-1}\right].
//! ```
//!
//! Their error falls exponentially with the degree, and the slopes are as good as the values.

use nalgebra::DMatrix;

use super::eigen;
use super::eigenfunctions::Boundary;
use super::error::FlexError;
use super::quadrature::{gauss_legendre, legendre};
use super::shape::{Field, Shape};

/// Largest number of freedoms that dense matrices of one deformation are built for.
pub(super) const MOST_FREEDOMS: usize = lissom_spec::MOST_BEAM_FREEDOMS;

/// One polynomial piece of a beam with constant properties.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Element {
    pub(super) start: f64,
    pub(super) length: f64,
    /// Degree of the polynomials: 3 for Hermite bending, 1 for linear elements.
    pub(super) degree: usize,
    /// EI, EA or GJ.
    pub(super) stiffness: f64,
    /// Mass per length, or section inertia for torsion.
    pub(super) density: f64,
    /// Inertia of the section against its slope; zero unless rotary inertia counts.
    pub(super) rotary: f64,
}

/// Elements that follow one another along a beam, and their freedoms.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mesh {
    field: Field,
    boundary: Boundary,
    elements: Vec<Element>,
    /// Which freedom each value and slope at the nodes is, node by node from the root; none if it is held.
    nodal: Vec<Option<usize>>,
    /// First internal freedom of every element, and the total behind the last.
    internal: Vec<usize>,
}

/// A function that does not vanish on an element.
struct LocalFunction {
    freedom: usize,
    value: f64,
    slope: f64,
    /// Second derivative for bending, first otherwise: what stores energy.
    strain: f64,
    strain_slope: f64,
}

/// A mesh with its elastic coordinates.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ElementModes {
    mesh: Mesh,
    /// Coordinates × freedoms, so that what one freedom has of every coordinate lies together; the freedoms themselves
    /// are the coordinates if absent.
    vectors: Option<DMatrix<f64>>,
}

impl Mesh {
    /// A chain of elements that follow one another from the root.
    pub(super) fn new(
        field: Field,
        boundary: Boundary,
        elements: Vec<Element>,
    ) -> Result<Self, FlexError> {
        let per_node = freedoms_per_node(field);
        let [root, tip] = boundary.held(field);
        let last = elements.len();
        let mut next = 0;
        let mut nodal = Vec::with_capacity(per_node * (last + 1));
        for node in 0..=last {
            for derivative in 0..per_node {
                let held = (node == 0 && root[derivative]) || (node == last && tip[derivative]);
                nodal.push((!held).then_some(next));
                next += usize::from(!held);
            }
        }
        let mut internal = vec![next];
        for element in &elements {
            next += element.degree + 1 - 2 * per_node;
            internal.push(next);
        }
        if next > MOST_FREEDOMS {
            return Err(FlexError::TooLarge {
                quantity: "number of freedoms of one deformation of a beam",
                found: next,
                limit: MOST_FREEDOMS,
            });
        }
        Ok(Self {
            field,
            boundary,
            elements,
            nodal,
            internal,
        })
    }

    /// Number of freedoms.
    pub(super) fn len(&self) -> usize {
        self.internal[self.elements.len()]
    }

    /// Rigid motions that the freedoms contain and the body's frame makes instead.
    pub(super) fn rigid_motions(&self) -> usize {
        match self.boundary {
            Boundary::Free => freedoms_per_node(self.field),
            _ => 0,
        }
    }

    /// Translation and rotation as freedoms, orthonormal in `mass`: one column each.
    fn rigid_vectors(&self, mass: &DMatrix<f64>) -> DMatrix<f64> {
        let per_node = freedoms_per_node(self.field);
        let ends = (self.elements.iter().map(|element| element.start)).chain(
            self.elements
                .last()
                .map(|element| element.start + element.length),
        );
        let mut vectors = DMatrix::zeros(self.len(), per_node);
        for (node, x) in ends.enumerate() {
            vectors[(per_node * node, 0)] = 1.0;
            if per_node == 2 {
                vectors[(2 * node, 1)] = x;
                vectors[(2 * node + 1, 1)] = 1.0;
            }
        }
        for column in 0..per_node {
            for known in 0..column {
                let share = (vectors.column(known).transpose() * mass * vectors.column(column))[0];
                let known = vectors.column(known) * share;
                let mut rest = vectors.column_mut(column);
                rest -= known;
            }
            let square = (vectors.column(column).transpose() * mass * vectors.column(column))[0];
            vectors.column_mut(column).scale_mut(1.0 / square.sqrt());
        }
        vectors
    }

    /// Node (counted from 1 at the root) and derivative (0 or 1) that freedoms at nodes stand for.
    pub(super) fn nodal_freedoms(&self) -> impl Iterator<Item = (usize, usize)> {
        let per_node = freedoms_per_node(self.field);
        let present = self.nodal.iter().enumerate();
        present
            .filter(|(_, freedom)| freedom.is_some())
            .map(move |(place, _)| (place / per_node + 1, place % per_node))
    }

    /// The freedoms at the ends, by which neighbours move the beam.
    pub(super) fn end_freedoms(&self) -> Vec<usize> {
        let per_node = freedoms_per_node(self.field);
        let ends = self.nodal[..per_node]
            .iter()
            .chain(&self.nodal[per_node * self.elements.len()..]);
        ends.flatten().copied().collect()
    }

    /// Stiffness matrix, $`\int EI\,N''N''`$ or $`\int EA\,N'N'`$.
    pub(super) fn stiffness(&self) -> DMatrix<f64> {
        let mut matrix = DMatrix::zeros(self.len(), self.len());
        self.for_gauss_points(|element, weight, functions| {
            for row in functions {
                for column in functions {
                    matrix[(row.freedom, column.freedom)] +=
                        element.stiffness * weight * row.strain * column.strain;
                }
            }
        });
        matrix
    }

    /// Consistent mass matrix with `point_masses` given as place and mass (or inertia).
    pub(super) fn mass(&self, point_masses: &[(f64, f64)]) -> DMatrix<f64> {
        let mut matrix = DMatrix::zeros(self.len(), self.len());
        self.for_gauss_points(|element, weight, functions| {
            for row in functions {
                for column in functions {
                    matrix[(row.freedom, column.freedom)] += weight
                        * (element.density * row.value * column.value
                            + element.rotary * row.slope * column.slope);
                }
            }
        });
        for &(x, mass) in point_masses {
            let functions = self.functions_at(x);
            for row in &functions {
                for column in &functions {
                    matrix[(row.freedom, column.freedom)] += mass * row.value * column.value;
                }
            }
        }
        matrix
    }

    /// The lowest `count` modes with their $`\omega^2`$, rigid ones first if they are coordinates; `shift` is of
    /// the order of the lowest elastic one.
    pub(super) fn modes(
        self,
        mass: &DMatrix<f64>,
        count: usize,
        shift: f64,
    ) -> Result<(ElementModes, Vec<f64>), FlexError> {
        let rigid = self.rigid_motions();
        let shift = if self.boundary.is_free() { shift } else { 0.0 };
        let modes = eigen::modes(&self.stiffness(), mass, shift)?;
        let mut squares = modes.squares[rigid..rigid + count].to_vec();
        let mut vectors = modes.vectors.columns(rigid, count).into_owned();
        if self.boundary == Boundary::Unconstrained {
            // of equal frequency, so that the eigenproblem leaves their combination open
            let rigid = self.rigid_vectors(mass);
            for (column, vector) in rigid.column_iter().enumerate().take(count) {
                vectors.set_column(column, &vector);
                squares[column] = 0.0;
            }
        }
        Ok((self.combined(&vectors), squares))
    }

    /// The freedoms themselves as coordinates.
    pub(super) fn unreduced(self) -> ElementModes {
        ElementModes {
            mesh: self,
            vectors: None,
        }
    }

    /// Freedoms of the function, zero at the clamped root of a mesh of [`Field::Rod`], whose slopes at the
    /// `degree` Gauss points of every element are `slopes`, element after element.
    pub(super) fn freedoms_of_slopes(&self, slopes: &[f64]) -> Vec<f64> {
        let mut freedoms = vec![0.0; self.len()];
        let (mut first, mut end_value) = (0, 0.0);
        for (index, element) in self.elements.iter().enumerate() {
            let half = 0.5 * element.length;
            let rule = gauss_legendre(element.degree);
            // the rule is exact for products of the polynomials through its points
            let mut coefficients = vec![0.0; element.degree];
            for (&(xi, weight), slope) in rule.iter().zip(&slopes[first..]) {
                let polynomials = legendre(element.degree, xi);
                for (k, coefficient) in coefficients.iter_mut().enumerate() {
                    *coefficient += 0.5 * (2 * k + 1) as f64 * weight * polynomials[k] * slope;
                }
            }
            end_value += element.length * coefficients[0];
            freedoms[index] = end_value;
            for (k, coefficient) in coefficients.iter().enumerate().skip(1) {
                freedoms[self.internal[index] + k - 1] = coefficient / internal_scale(k, half);
            }
            first += element.degree;
        }
        freedoms
    }

    /// These combinations of the freedoms, one column each, as coordinates.
    pub(super) fn combined(self, vectors: &DMatrix<f64>) -> ElementModes {
        ElementModes {
            mesh: self,
            vectors: Some(vectors.transpose()),
        }
    }

    fn for_gauss_points(&self, mut visit: impl FnMut(&Element, f64, &[LocalFunction])) {
        for (index, element) in self.elements.iter().enumerate() {
            // the integrand has degree 2 × degree
            for (xi, weight) in gauss_legendre(element.degree + 1) {
                let functions = self.element_functions(index, xi);
                visit(element, 0.5 * element.length * weight, &functions);
            }
        }
    }

    fn functions_at(&self, x: f64) -> Vec<LocalFunction> {
        let mut functions = Vec::new();
        self.for_functions_at(x, x, |function| functions.push(function));
        functions
    }

    /// Visits the functions that do not vanish on the element of `within`, continued to `x`.
    fn for_functions_at(&self, within: f64, x: f64, visit: impl FnMut(LocalFunction)) {
        let behind = (self.elements).partition_point(|element| element.start <= within);
        let index = behind.saturating_sub(1);
        let element = &self.elements[index];
        let xi = 2.0 * (x - element.start) / element.length - 1.0;
        let inside = if within == x { xi.clamp(-1.0, 1.0) } else { xi };
        self.for_element_functions(index, inside, visit);
    }

    /// All functions of an element at `xi` in `[-1, 1]`.
    fn element_functions(&self, index: usize, xi: f64) -> Vec<LocalFunction> {
        let mut functions = Vec::with_capacity(self.elements[index].degree + 1);
        self.for_element_functions(index, xi, |function| functions.push(function));
        functions
    }

    fn for_element_functions(&self, index: usize, xi: f64, mut visit: impl FnMut(LocalFunction)) {
        let element = &self.elements[index];
        let own = &self.nodal[freedoms_per_node(self.field) * index..];
        let mut visit_node = |local: usize, [value, slope, strain, strain_slope]: [f64; 4]| {
            if let Some(freedom) = own[local] {
                visit(LocalFunction {
                    freedom,
                    value,
                    slope,
                    strain,
                    strain_slope,
                });
            }
        };
        match self.field {
            Field::Bending => {
                for (local, function) in hermite_functions(element.length, xi).iter().enumerate() {
                    visit_node(local, *function);
                }
            }
            Field::Rod => {
                for (local, function) in linear_functions(element.length, xi).iter().enumerate() {
                    visit_node(local, *function);
                }
            }
        }
        let first = self.internal[index];
        for_internal_functions(
            self.field,
            element,
            xi,
            |local, [value, slope, strain, strain_slope]| {
                visit(LocalFunction {
                    freedom: first + local,
                    value,
                    slope,
                    strain,
                    strain_slope,
                });
            },
        );
    }
}

impl ElementModes {
    pub(super) fn len(&self) -> usize {
        self.vectors
            .as_ref()
            .map_or(self.mesh.len(), DMatrix::nrows)
    }

    /// Where the elements begin.
    pub(super) fn breaks(&self) -> impl Iterator<Item = f64> {
        self.mesh.elements.iter().map(|element| element.start)
    }

    /// Every coordinate's function at `x`, continued from the element of `within`.
    pub(super) fn write(&self, within: f64, x: f64, shapes: &mut [Shape]) {
        shapes.fill(Shape::default());
        self.mesh.for_functions_at(within, x, |function| {
            let add = |shape: &mut Shape, factor: f64| {
                shape.value += factor * function.value;
                shape.slope += factor * function.slope;
                shape.strain += factor * function.strain;
                shape.strain_slope += factor * function.strain_slope;
            };
            match &self.vectors {
                None => add(&mut shapes[function.freedom], 1.0),
                Some(vectors) => {
                    let count = vectors.nrows();
                    let share = &vectors.as_slice()[function.freedom * count..][..count];
                    for (shape, &factor) in shapes.iter_mut().zip(share) {
                        add(shape, factor);
                    }
                }
            }
        });
    }

    /// Every coordinate's function at `x`.
    pub(super) fn at(&self, x: f64) -> Vec<Shape> {
        let mut shapes = vec![Shape::default(); self.len()];
        self.write(x, x, &mut shapes);
        shapes
    }

    /// Curvature (bending) or slope (stretch, torsion) of every function at the root.
    pub(super) fn strain_at_root(&self) -> Vec<f64> {
        let functions = self.mesh.element_functions(0, -1.0);
        let strain = |factor: &dyn Fn(usize) -> f64| {
            functions
                .iter()
                .map(|function| factor(function.freedom) * function.strain)
                .sum()
        };
        (0..self.len())
            .map(|mode| match &self.vectors {
                None => strain(&|freedom| f64::from(u8::from(freedom == mode))),
                Some(vectors) => strain(&|freedom| vectors[(mode, freedom)]),
            })
            .collect()
    }

    /// Turns the sign of every mode for which `negative` holds.
    pub(super) fn flip(&mut self, negative: &[bool]) {
        if let Some(vectors) = &mut self.vectors {
            for (mode, _) in negative.iter().enumerate().filter(|(_, flip)| **flip) {
                vectors.row_mut(mode).neg_mut();
            }
        }
    }
}

fn freedoms_per_node(field: Field) -> usize {
    match field {
        Field::Bending => 2,
        Field::Rod => 1,
    }
}

/// Value and three derivatives of the four Hermite functions.
fn hermite_functions(length: f64, xi: f64) -> [[f64; 4]; 4] {
    let s = 0.5 * (1.0 + xi);
    let t = 0.5 * (1.0 - xi);
    let first = 1.0 / length;
    let second = first * first;
    [
        [
            t * t * (1.0 + 2.0 * s),
            -6.0 * s * t * first,
            (12.0 * s - 6.0) * second,
            12.0 * second * first,
        ],
        [
            length * s * t * t,
            t * (t - 2.0 * s),
            (6.0 * s - 4.0) * first,
            6.0 * second,
        ],
        [
            s * s * (1.0 + 2.0 * t),
            6.0 * s * t * first,
            (6.0 - 12.0 * s) * second,
            -12.0 * second * first,
        ],
        [
            -length * s * s * t,
            s * (s - 2.0 * t),
            (6.0 * s - 2.0) * first,
            6.0 * second,
        ],
    ]
}

/// Value, slope, strain (which is the slope) and its derivative of the two linear functions.
fn linear_functions(length: f64, xi: f64) -> [[f64; 4]; 2] {
    let slope = 1.0 / length;
    [
        [0.5 * (1.0 - xi), -slope, -slope, 0.0],
        [0.5 * (1.0 + xi), slope, slope, 0.0],
    ]
}

/// Makes the square of the k-th Legendre polynomial integrate to one over an element of this half length.
fn internal_scale(k: usize, half: f64) -> f64 {
    (0.5 * (2 * k + 1) as f64 / half).sqrt()
}

/// Visits number, value, slope, strain and its derivative of the functions that vanish at both ends.
///
/// They are scaled so that the strains are orthonormal over the element.
fn for_internal_functions(
    field: Field,
    element: &Element,
    xi: f64,
    mut visit: impl FnMut(usize, [f64; 4]),
) {
    let half = 0.5 * element.length;
    let lowest = match field {
        Field::Bending => 2,
        Field::Rod => 1,
    };
    let count = (element.degree + 1).saturating_sub(2 * lowest);
    // L of five degrees that follow one another, the middle one being k
    let mut window = [0.0, 0.0, 1.0, xi, 0.5 * (3.0 * xi * xi - 1.0)];
    // L' of degrees k - 1 and k, by L'(k + 1) = L'(k - 1) + (2k + 1) L(k)
    let mut slopes = [0.0, 0.0];
    for k in 0..lowest + count {
        let [l_2, l_1, l, l1, l2] = window;
        let below = if k >= 1 {
            (l - l_2) / (2.0 * k as f64 - 1.0)
        } else {
            0.0
        };
        let integral = (l1 - l_1) / (2 * k + 1) as f64;
        let above = (l2 - l) / (2 * k + 3) as f64;
        if k >= lowest {
            let scale = internal_scale(k, half);
            let function = match field {
                Field::Bending => {
                    let value = (above - below) / (2 * k + 1) as f64;
                    [
                        scale * half * half * value,
                        scale * half * integral,
                        scale * l,
                        scale * slopes[1] / half,
                    ]
                }
                Field::Rod => [
                    scale * half * integral,
                    scale * l,
                    scale * l,
                    scale * slopes[1] / half,
                ],
            };
            visit(k - lowest, function);
        }
        let order = (k + 3) as f64;
        let next = ((2.0 * order - 1.0) * xi * l2 - (order - 1.0) * l1) / order;
        window = [l_1, l, l1, l2, next];
        slopes = [slopes[1], slopes[0] + (2 * k + 1) as f64 * l];
    }
}
