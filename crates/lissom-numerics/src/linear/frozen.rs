//! Linearised equations frozen at instants of a motion, each in coordinates of its own: what modes are found of.

use nalgebra::DMatrix;

use super::error::LinearError;
use super::linearization::{Label, Linearization};
use super::trajectory::{LinearizedTrajectory, Terms};

/// The equations frozen at one instant, in as many coordinates as can move.
#[derive(Clone, Debug)]
pub struct FrozenPoint {
    /// Instant.
    pub time: f64,
    /// Coefficients in the coordinates of this point.
    pub linear: Linearization,
    /// What all coordinates of the motion do when one of this point moves: one column each.
    pub basis: DMatrix<f64>,
    /// Mass matrix in all coordinates, in which shapes of different points are compared.
    pub inertia: DMatrix<f64>,
}

/// The equations frozen at instants of a motion.
#[derive(Clone, Debug)]
pub struct Frozen {
    /// All coordinates of the motion, whatever is held or depends on others.
    pub coordinates: Vec<Label>,
    /// Coordinates that are held.
    pub held: Vec<usize>,
    /// Coordinates that move a floating mechanism, or a floating part, as a whole: nothing elastic resists them.
    pub rigid: Vec<usize>,
    /// Of rising instants, at least one.
    pub points: Vec<FrozenPoint>,
}

impl Frozen {
    /// Equations along a motion with degrees of freedom held at rest.
    pub fn new(trajectory: &LinearizedTrajectory, held: &[usize]) -> Self {
        let coordinates = trajectory.labels().coordinates.clone();
        let free: Vec<usize> = (0..coordinates.len())
            .filter(|dof| !held.contains(dof))
            .collect();
        let points = trajectory.points().iter().map(|point| FrozenPoint {
            time: point.time,
            linear: point.linear.restricted(&free),
            basis: DMatrix::from_fn(coordinates.len(), free.len(), |i, j| {
                f64::from(u8::from(free[j] == i))
            }),
            inertia: point.linear.mass.clone(),
        });
        Self {
            points: points.collect(),
            coordinates,
            held: held.to_vec(),
            rigid: Vec::new(),
        }
    }

    /// Coordinates that are not held.
    pub(super) fn free(&self) -> Vec<usize> {
        (0..self.coordinates.len())
            .filter(|dof| !self.held.contains(dof))
            .collect()
    }
}

/// Mass, damping and stiffness whose modes are sought, and what all coordinates do in theirs.
#[derive(Clone, Debug)]
pub(super) struct Pencil {
    pub(super) mass: DMatrix<f64>,
    pub(super) damping: DMatrix<f64>,
    pub(super) stiffness: DMatrix<f64>,
    pub(super) basis: DMatrix<f64>,
}

impl Pencil {
    /// Of a point, of what has inertia. A floating mechanism vibrates without momentum, $`R^TM\,\delta = 0`$ for the motions $`R`$ of the
    /// whole: exact at rest, and to first order in the squares of the frequencies when it moves, as shapes at rest are.
    pub(super) fn new(
        frozen: &Frozen,
        point: &FrozenPoint,
        terms: Terms,
    ) -> Result<Self, LinearError> {
        let linear = &point.linear;
        let whole = Self {
            mass: linear.mass.clone(),
            damping: linear.damping.clone(),
            stiffness: linear.stiffness_with(terms),
            basis: point.basis.clone(),
        };
        if frozen.rigid.is_empty() {
            return whole.condensed(point.time);
        }
        // the coordinates of the point that are those of the whole
        let rigid: Vec<usize> = (0..whole.basis.ncols())
            .filter(|&j| (frozen.rigid.iter()).any(|&dof| whole.basis[(dof, j)] != 0.0))
            .collect();
        let size = whole.mass.nrows();
        let motions = DMatrix::identity(size, size).select_columns(&rigid);
        whole.without(&motions, &rigid)?.condensed(point.time)
    }
}
