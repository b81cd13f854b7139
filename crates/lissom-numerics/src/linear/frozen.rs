//! Linearised equations frozen at instants of a motion, each in coordinates of its own: what modes are found of.

use nalgebra::{DMatrix, DVector};

use super::error::{GoOn, LinearError};
use super::linearization::{Label, Linearization};
use super::loops::LoopStates;
use super::lowest::{Lowest, alone};
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
    /// Mass matrix in all coordinates, in which shapes of different points are compared; without entries where the coordinates of the point
    /// are its lowest modes.
    pub inertia: DMatrix<f64>,
    /// Where they are, work of the stiffness on every one of them without signs, see [`Lowest::gross`].
    pub gross: Option<DVector<f64>>,
}

impl FrozenPoint {
    /// The equations of the lowest modes, in coordinates that are told by those of the motion: one row each.
    pub fn of_lowest(time: f64, lowest: Lowest) -> Self {
        let size = lowest.basis.ncols();
        let none = || DMatrix::zeros(size, size);
        Self {
            time,
            linear: Linearization {
                mass: DMatrix::identity(size, size),
                damping: lowest.damping,
                structural: lowest.stiffness,
                dynamic: none(),
                geometric: none(),
                input: DMatrix::zeros(size, 0),
                loops: None,
            },
            basis: lowest.basis,
            inertia: DMatrix::zeros(0, 0),
            gross: Some(lowest.gross),
        }
    }
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
            gross: None,
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
    /// States of controllers and actuators in the loop, which follow at once where they can: that is part of the stiffness.
    pub(super) loops: Option<LoopStates>,
    /// Work of the stiffness on every coordinate without signs, where the coordinates are modes of a larger pencil.
    pub(super) gross: Option<DVector<f64>>,
}

impl Pencil {
    /// Of a point, of what has inertia. A floating mechanism vibrates without momentum, $`R^TM\,\delta = 0`$ for the motions $`R`$ of the
    /// whole: exact at rest, and to first order in the squares of the frequencies when it moves, as shapes at rest are.
    pub(super) fn new(
        frozen: &Frozen,
        point: &FrozenPoint,
        terms: Terms,
        go_on: &mut GoOn<'_>,
    ) -> Result<Self, LinearError> {
        let whole = Self::whole(point, terms);
        if point.gross.is_some() {
            return Ok(whole);
        }
        if frozen.rigid.is_empty() {
            return whole.condensed(point.time, go_on);
        }
        let rigid = whole.rigid(frozen);
        let motions = alone(whole.mass.nrows(), &rigid);
        (whole.without(&motions, &rigid)?).condensed(point.time, go_on)
    }

    /// The same in a space that contains the `count` lowest modes; none if they are not found. Motions without inertia follow by
    /// themselves: no mode that is low moves them otherwise.
    pub(super) fn of_lowest(
        frozen: &Frozen,
        point: &FrozenPoint,
        terms: Terms,
        count: usize,
        go_on: &mut GoOn<'_>,
    ) -> Result<Option<Self>, LinearError> {
        let whole = Self::whole(point, terms);
        whole.lowest(&whole.rigid(frozen), count, go_on)
    }

    fn whole(point: &FrozenPoint, terms: Terms) -> Self {
        let mut stiffness = point.linear.stiffness_with(terms);
        let loops = point.linear.loops.as_ref();
        Self {
            loops: loops.map(|loops| loops.quasi_static(&mut stiffness)),
            mass: point.linear.mass.clone(),
            damping: point.linear.damping.clone(),
            stiffness,
            basis: point.basis.clone(),
            gross: point.gross.clone(),
        }
    }

    /// The coordinates that are those of a floating whole.
    fn rigid(&self, frozen: &Frozen) -> Vec<usize> {
        (0..self.basis.ncols())
            .filter(|&j| (frozen.rigid.iter()).any(|&dof| self.basis[(dof, j)] != 0.0))
            .collect()
    }
}
