//! Controllers and actuators in the loop of linearised equations, with their states.
//!
//! At a point of a motion they give efforts $`u`$ on joints beyond those that are there, and their states $`z`$ change, both linear in
//! deviations:
//!
//! ```math
//! u = U_q\,\delta q + U_v\,\delta\dot q + U_z z, \qquad
//! \dot z = Z_q\,\delta q + Z_v\,\delta\dot q + Z z + z_0 , \qquad M\,\delta\ddot q + \dots = B_u u .
//! ```
//!
//! Closed, the efforts of deviations are part of stiffness and damping, and those of states push with $`T = B_u U_z`$.

use nalgebra::{DMatrix, DVector};

use super::between::add_product;
use super::linearization::Linearization;
use super::weights::Weights;

/// States $`z`$ of controllers and actuators in the loop: $`\dot z = Z z + Z_q\,\delta q + Z_v\,\delta\dot q`$, which push with $`T z`$.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopStates {
    /// $`Z`$.
    pub own: DMatrix<f64>,
    /// $`Z_q`$: one column per degree of freedom.
    pub position: DMatrix<f64>,
    /// $`Z_v`$: one column per degree of freedom.
    pub rate: DMatrix<f64>,
    /// $`T`$: one row per degree of freedom.
    pub force: DMatrix<f64>,
}

/// What controllers and actuators do at a point of a motion where nothing deviates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Actuation {
    /// Of every actuator: what is asked of it.
    pub asked: Vec<f64>,
    /// Of every actuator: which limits hold it back.
    pub saturations: Vec<Saturation>,
    /// Mass matrix of the rigid mechanism between the axes of all controllers, by rows; empty where no law asks for it.
    pub mass: Vec<f64>,
    /// Of every stop: whether it presses.
    pub pressed: Vec<bool>,
}

/// Which limits of an actuator hold it back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saturation {
    /// The largest effort.
    pub effort: bool,
    /// The largest rate.
    pub rate: bool,
}

/// What is linear in deviations of the degrees of freedom, in their rates and in states of controllers: one row each.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// By deviations.
    pub position: DMatrix<f64>,
    /// By their rates.
    pub rate: DMatrix<f64>,
    /// By the states.
    pub state: DMatrix<f64>,
}

/// Controllers and actuators at a point of a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Loops {
    /// Efforts on joints, $`U`$.
    pub effort: Rows,
    /// $`B_u`$: one column per effort.
    pub input: DMatrix<f64>,
    /// Rates of the states, $`Z`$.
    pub change: Rows,
    /// $`z_0`$.
    pub drift: Vec<f64>,
}

impl Rows {
    /// Zeros: so many rows, degrees of freedom and states.
    pub fn zeros(rows: usize, dofs: usize, states: usize) -> Self {
        Self {
            position: DMatrix::zeros(rows, dofs),
            rate: DMatrix::zeros(rows, dofs),
            state: DMatrix::zeros(rows, states),
        }
    }

    /// Adds a multiple of a row of others to one of its own.
    pub fn add_row(&mut self, own: usize, share: f64, others: &Self, other: usize) {
        for (own_rows, rows) in [
            (&mut self.position, &others.position),
            (&mut self.rate, &others.rate),
            (&mut self.state, &others.state),
        ] {
            let mut row = own_rows.row_mut(own);
            row += rows.row(other) * share;
        }
    }

    /// Adds a multiple of the rows to a sum.
    fn add_to(&self, sum: &mut [f64], share: f64, [position, rate, state]: [&[f64]; 3]) {
        add_product(&self.position, share, position, sum);
        add_product(&self.rate, share, rate, sum);
        add_product(&self.state, share, state, sum);
    }
}

impl Loops {
    /// Number of states.
    pub fn state_count(&self) -> usize {
        self.drift.len()
    }

    /// Closes the loops of equations at the point.
    pub fn close(&self, linear: &mut Linearization) {
        linear.structural -= &self.input * &self.effort.position;
        linear.damping -= &self.input * &self.effort.rate;
        linear.loops = (self.state_count() > 0).then(|| LoopStates {
            own: self.change.state.clone(),
            position: self.change.position.clone(),
            rate: self.change.rate.clone(),
            force: &self.input * &self.effort.state,
        });
    }
}

/// Efforts, and rates of states, between the points of a motion.
#[derive(Clone, Debug, Default)]
pub struct LoopsBetween {
    /// On the joints.
    pub effort: Vec<f64>,
    /// Of the states.
    pub rate: Vec<f64>,
}

impl LoopsBetween {
    /// For the loops at the points of a motion; none where nothing closes a loop.
    pub(super) fn new(points: &[Loops]) -> Self {
        let first = points.first();
        Self {
            effort: vec![0.0; first.map_or(0, |own| own.input.ncols())],
            rate: vec![0.0; first.map_or(0, Loops::state_count)],
        }
    }

    /// Evaluates them for deviations, rates and states, and adds what the efforts do to forces. Allocates nothing.
    pub(super) fn push(
        &mut self,
        points: &[Loops],
        weights: Weights,
        deviated: [&[f64]; 3],
        force: &mut [f64],
    ) {
        self.effort.fill(0.0);
        self.rate.fill(0.0);
        if points.is_empty() {
            return;
        }
        for (point, weight) in weights.iter() {
            let Loops {
                effort,
                change,
                drift,
                ..
            } = &points[point];
            effort.add_to(&mut self.effort, weight, deviated);
            change.add_to(&mut self.rate, weight, deviated);
            for (rate, drift) in self.rate.iter_mut().zip(drift) {
                *rate += weight * drift;
            }
        }
        for (point, weight) in weights.iter() {
            add_product(&points[point].input, weight, &self.effort, force);
        }
    }
}

impl LoopStates {
    /// The same of some of the degrees of freedom, the others held at rest.
    pub(super) fn restricted(&self, dofs: &[usize]) -> Self {
        Self {
            own: self.own.clone(),
            position: self.position.select_columns(dofs),
            rate: self.rate.select_columns(dofs),
            force: self.force.select_rows(dofs),
        }
    }

    /// The same in other coordinates, $`\delta q = R p`$, whose forces are $`L^Tf`$.
    pub(super) fn projected(&self, left: &DMatrix<f64>, right: &DMatrix<f64>) -> Self {
        Self {
            own: self.own.clone(),
            position: &self.position * right,
            rate: &self.rate * right,
            force: left.tr_mul(&self.force),
        }
    }

    /// Whether something is true of all matrices.
    pub(super) fn all(&self, is_so: impl Fn(&DMatrix<f64>) -> bool) -> bool {
        let Self {
            own,
            position,
            rate,
            force,
        } = self;
        [own, position, rate, force].into_iter().all(is_so)
    }

    /// What motions, one per column, do to the states, and the states to them: three rows per state, none larger than one where all is
    /// rounding to a share of the largest entries.
    pub(super) fn felt(&self, motions: &DMatrix<f64>, share: f64) -> DMatrix<f64> {
        let states = self.own.nrows();
        let mut felt = DMatrix::zeros(3 * states, motions.ncols());
        let matrices = [&self.position, &self.rate, &self.force.transpose()];
        for (part, matrix) in matrices.into_iter().enumerate() {
            let rounding = share * matrix.amax() * motions.amax();
            if rounding > 0.0 {
                let rows = matrix * motions / rounding;
                felt.rows_mut(part * states, states).copy_from(&rows);
            }
        }
        felt
    }

    /// The same with what follows deviations counted from where it would be if these stayed, $`z' = z + Z^{-1}Z_q\,\delta q`$, and what it then
    /// gives as part of the stiffness: filters and actuators follow at once, whatever is slow is in $`z'`$. States that change by
    /// deviations alone, as integrals do, are no part of it.
    pub(super) fn quasi_static(&self, stiffness: &mut DMatrix<f64>) -> Self {
        let following: Vec<usize> = (0..self.own.nrows())
            .filter(|&at| self.own.row(at).iter().any(|&x| x != 0.0))
            .collect();
        if following.is_empty() {
            return self.clone();
        }
        let own = self.own.select_rows(&following).select_columns(&following);
        let position = self.position.select_rows(&following);
        let given = own.lu().solve(&position);
        let Some(given) = given.filter(|given| given.iter().all(|x| x.is_finite())) else {
            return self.clone();
        };
        *stiffness += self.force.select_columns(&following) * &given;
        let mut reduced = self.clone();
        reduced.position -= self.own.select_columns(&following) * &given;
        for (row, &at) in following.iter().enumerate() {
            reduced.position.row_mut(at).fill(0.0);
            let mut rate = reduced.rate.row_mut(at);
            rate += given.row(row);
        }
        reduced
    }
}

/// Stiffness and forces that stay if nothing changes, states of controllers included: $`-Z z = Z_q\,\delta q + z_0`$. States that nothing
/// changes stay at zero.
pub(super) fn steady(
    points: &[Loops],
    weights: Weights,
    stiffness: &DMatrix<f64>,
    force: &DVector<f64>,
) -> (DMatrix<f64>, DVector<f64>) {
    let (dofs, states) = (
        stiffness.nrows(),
        points.first().map_or(0, Loops::state_count),
    );
    let size = dofs + states;
    let mut matrix = stiffness.clone().resize(size, size, 0.0);
    let mut right = force.clone().resize_vertically(size, 0.0);
    if points.is_empty() {
        return (matrix, right);
    }
    for (point, weight) in weights.iter() {
        let own = &points[point];
        let mut add = |at: (usize, usize), part: DMatrix<f64>| {
            let mut view = matrix.view_mut(at, part.shape());
            view -= part * weight;
        };
        add((0, 0), &own.input * &own.effort.position);
        add((0, dofs), &own.input * &own.effort.state);
        add((dofs, 0), own.change.position.clone());
        add((dofs, dofs), own.change.state.clone());
        for (right, drift) in right.rows_mut(dofs, states).iter_mut().zip(&own.drift) {
            *right += weight * drift;
        }
    }
    for at in dofs..size {
        if matrix.row(at).iter().all(|&x| x == 0.0) && right[at] == 0.0 {
            matrix[(at, at)] = 1.0;
        }
    }
    (matrix, right)
}
