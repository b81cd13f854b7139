//! [`FiniteElements`]: what a reduction asks of a body of elements, whatever they are.

use nalgebra::{DMatrix, Matrix3, Vector3};

use crate::FeError;
use crate::cholesky::Cholesky;
use crate::stop::Stop;
use crate::structure::Frame;
use lissom_spec::spec::SurfaceSpec;

/// One vector for every point of a body that has mass: displacements, positions or forces.
pub(crate) type Field = Vec<[f64; 3]>;

/// A body of finite elements that nothing holds.
///
/// Its unknowns move points, which have the mass, to first order by [`field`](Self::field). Points that stand on a frame that turns (nodes of
/// an interface, points of the section of a beam) move to second order by $`\tfrac12\theta\times(\theta\times\rho)`$ more, where $`\rho`$ is
/// their offset from the origin of the frame and $`\theta`$ its rotation vector.
pub(crate) trait FiniteElements {
    /// How many elements there are.
    fn elements(&self) -> usize;

    /// How many unknowns there are.
    fn unknowns(&self) -> usize;

    /// Places where something may be attached: `interfaces` first.
    fn places(&self) -> &[Place];

    /// How many of the places are interfaces.
    fn interfaces(&self) -> usize;

    /// Displacements along x, y, z and rotations about the axes through the origin.
    fn rigid_motions(&self) -> Vec<Vec<f64>>;

    /// The stiffness without the unknowns that are `held`, factorised.
    ///
    /// # Errors
    /// If it is not that of one body that is held, or somebody stops it.
    fn factorised(&self, held: &[usize], stop: Stop<'_>) -> Result<Cholesky, FeError>;

    /// Undeformed positions of the points.
    fn positions(&self) -> &Field;

    /// Displacements of the points that unknowns make.
    fn field(&self, unknowns: &[f64]) -> Field;

    /// The work of forces on the points, per unknown.
    fn loads(&self, forces: &Field) -> Vec<f64>;

    /// $`\int \rho\,u\,dV`$ against the functions of the points.
    fn times_mass(&self, field: &Field) -> Field;

    /// $`\sum f_i \rho_j`$ of forces on the points of every frame that turns.
    fn moments(&self, forces: &Field) -> Vec<Matrix3<f64>>;

    /// The same of a force or moment of one on the frame of an interface, displacements first: nothing where the frame is one that unknowns
    /// move.
    fn moments_on_frame(&self, _interface: usize, _row: usize) -> Vec<Matrix3<f64>> {
        Vec::new()
    }

    /// Rotations of the frames that turn.
    fn rotations(&self, unknowns: &[f64]) -> Vec<Vector3<f64>>;

    /// Third derivative of the strain energy at rest along every one of `unknowns` and every two of those from the one numbered `shapes`
    /// on, each a symmetric matrix.
    ///
    /// # Errors
    /// When somebody stops it.
    fn third_derivative(
        &self,
        unknowns: &[Vec<f64>],
        shapes: usize,
        stop: Stop<'_>,
    ) -> Result<Vec<DMatrix<f64>>, FeError>;

    /// What the body looks like, deformed by the unknowns of modes or, which is the same, by their fields; none if that is too much for a picture.
    fn surface(&self, modes: &[&[f64]], shapes: &[Field]) -> Option<SurfaceSpec>;
}

/// A place where something may be attached.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) position: [f64; 3],
    pub(crate) moves: Moves,
}

/// How a place moves.
#[derive(Clone, Debug)]
pub(crate) enum Moves {
    /// As a frame.
    Frame(Frame),
    /// With a point of the field. It turns by $`\sum w\times u`$ of the points around it, to first order.
    Point {
        point: usize,
        rotation: Vec<(usize, [f64; 3])>,
    },
}

/// Work of the second-order motion of frames against forces with these moments.
pub(crate) fn second_order_work(
    moments: &[Matrix3<f64>],
    a: &[Vector3<f64>],
    b: &[Vector3<f64>],
) -> f64 {
    // of ½(a × (b × ρ) + b × (a × ρ))
    let of_frame = |moments: &Matrix3<f64>, a: &Vector3<f64>, b: &Vector3<f64>| {
        0.5 * (a.dot(&(moments * b)) + b.dot(&(moments * a))) - moments.trace() * a.dot(b)
    };
    let frames = moments.iter().zip(a.iter().zip(b));
    frames
        .map(|(moments, (a, b))| of_frame(moments, a, b))
        .sum()
}
