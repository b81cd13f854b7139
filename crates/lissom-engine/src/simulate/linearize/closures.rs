//! Closures of a tree differentiated by dual numbers, and what that makes of derivatives of accelerations.

use nalgebra::{DMatrix, DVector};

use super::{DIRECTIONS, LinearizeError, Linearizer, MotionState, Tangent};
use lissom_numerics::integrate::Flow;
use lissom_tree::closure::{Constraints, row_rank};

/// Derivatives of closures, in some of their equations and the coordinates of the state.
pub(super) struct Closures {
    /// $`J`$.
    pub(super) jacobian: DMatrix<f64>,
    /// $`J_1`$, of the rates $`J v`$ by displacements.
    pub(super) rate: DMatrix<f64>,
    /// $`J_2`$, of $`J\dot v + \dot J v`$ by velocities.
    pub(super) bias_by_velocity: DMatrix<f64>,
    /// $`J_3`$, of the same by displacements.
    pub(super) acceleration: DMatrix<f64>,
}

impl Closures {
    /// Of the equations `rows` at a state.
    pub(super) fn of(linearizer: &mut Linearizer<'_>, state: &MotionState, rows: &[usize]) -> Self {
        let model = linearizer.model;
        let free = linearizer.equations.free_velocities.clone();
        let n = linearizer.equations.state_velocities();
        let m = rows.len();
        let mut constraints =
            Constraints::<Tangent>::new(&model.linkage.system, &model.linkage.closures);
        let (mut jacobian, mut rate) = (DMatrix::zeros(m, n), DMatrix::zeros(m, n));
        let (mut by_velocity, mut acceleration) = (DMatrix::zeros(m, n), DMatrix::zeros(m, n));
        for first in (0..free.len()).step_by(DIRECTIONS) {
            let directions = DIRECTIONS.min(free.len() - first);
            linearizer.load_tangent(state);
            for slot in 0..directions {
                linearizer.seed_position(state, first + slot, slot);
            }
            tangent_closures(linearizer, &mut constraints);
            for (i, &row) in rows.iter().enumerate() {
                let entries = constraints.row(row);
                for (column, &at) in free.iter().enumerate() {
                    jacobian[(i, column)] = entries[at].value;
                }
                for slot in 0..directions {
                    let mut sum = constraints.bias()[row].tangent[slot];
                    for (entry, a) in entries.iter().zip(&state.acceleration) {
                        sum += entry.tangent[slot] * a;
                    }
                    acceleration[(i, first + slot)] = sum;
                    rate[(i, first + slot)] = constraints.rate()[row].tangent[slot];
                }
            }
            linearizer.load_tangent(state);
            for slot in 0..directions {
                linearizer.seed_velocity(first + slot, slot, 1.0);
            }
            tangent_closures(linearizer, &mut constraints);
            for (i, &row) in rows.iter().enumerate() {
                for slot in 0..directions {
                    by_velocity[(i, first + slot)] = constraints.bias()[row].tangent[slot];
                }
            }
        }
        Self {
            jacobian,
            rate,
            bias_by_velocity: by_velocity,
            acceleration,
        }
    }

    /// In a chart of which velocities are no rates: `turning` is $`W`$ and its rate.
    pub(super) fn in_chart(mut self, turning: &DMatrix<f64>, turning_rate: &DMatrix<f64>) -> Self {
        self.acceleration += &self.bias_by_velocity * turning + &self.jacobian * turning_rate;
        self.rate += &self.jacobian * turning;
        self.bias_by_velocity += &self.jacobian * turning;
        self
    }
}

/// Closures at a state.
pub(super) fn closures_at(
    linearizer: &mut Linearizer<'_>,
    state: &MotionState,
) -> Constraints<f64> {
    linearizer.load_plain(state);
    let linkage = &linearizer.model.linkage;
    let (system, plain) = (&linkage.system, &mut linearizer.plain);
    plain
        .kinematics
        .update(system, &plain.position, &plain.velocity);
    let mut constraints = Constraints::<f64>::new(system, &linkage.closures);
    constraints.update(
        system,
        &linkage.closures,
        &mut plain.kinematics,
        &plain.position,
        &plain.velocity,
    );
    constraints
}

/// Closures at the dual state of a linearizer.
pub(super) fn tangent_closures(
    linearizer: &mut Linearizer<'_>,
    constraints: &mut Constraints<Tangent>,
) {
    let model = linearizer.model;
    let tangent = &mut linearizer.tangent;
    tangent
        .kinematics
        .update_motion(&model.linkage.system, &tangent.position, &tangent.velocity);
    constraints.update(
        &model.linkage.system,
        &model.linkage.closures,
        &mut tangent.kinematics,
        &tangent.position,
        &tangent.velocity,
    );
}

/// $`\partial(J^T\lambda)/\partial q`$ of the equations `rows` with these multipliers.
pub(super) fn curvature(
    linearizer: &mut Linearizer<'_>,
    state: &MotionState,
    rows: &[usize],
    multipliers: &[f64],
) -> DMatrix<f64> {
    let model = linearizer.model;
    let free = linearizer.equations.free_velocities.clone();
    let n = linearizer.equations.state_velocities();
    let mut constraints =
        Constraints::<Tangent>::new(&model.linkage.system, &model.linkage.closures);
    let mut curvature = DMatrix::zeros(n, n);
    for first in (0..free.len()).step_by(DIRECTIONS) {
        let directions = DIRECTIONS.min(free.len() - first);
        linearizer.load_tangent(state);
        for slot in 0..directions {
            linearizer.seed_position(state, first + slot, slot);
        }
        tangent_closures(linearizer, &mut constraints);
        for (&row, multiplier) in rows.iter().zip(multipliers) {
            let entries = constraints.row(row);
            for slot in 0..directions {
                for (i, &at) in free.iter().enumerate() {
                    curvature[(i, first + slot)] += entries[at].tangent[slot] * multiplier;
                }
            }
        }
    }
    curvature
}

impl Linearizer<'_> {
    /// Derivatives of the accelerations that keep the loops closed, under a generalised force: by displacements, by velocities, by the
    /// force. `None` where closures or mass matrix are singular. With $`r`$ what is needed and $`J^T\lambda`$ what the closures give of it,
    ///
    /// ```math
    /// M\,\delta\dot v - J^T\delta\lambda = \delta f - (r_q - (J^T\lambda)_q)\,\delta q - r_v\,\delta v, \quad
    /// J\,\delta\dot v = -J_3\,\delta q - J_2\,\delta v .
    /// ```
    ///
    /// # Errors
    /// When the watcher stops.
    pub(crate) fn closed_derivatives(
        &mut self,
        state: &MotionState,
        force: &[f64],
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Option<[DMatrix<f64>; 3]>, LinearizeError> {
        let n = state.velocity.len();
        let rows = row_rank(closures_at(self, state).jacobian(), n).independent;
        let m = rows.len();
        let mut needed = self.residual(state);
        for (needed, force) in needed.iter_mut().zip(force) {
            *needed -= force;
        }
        let mass = self.mass();
        let [by_position, by_velocity] = self.force_derivatives(state, watch)?;
        let closures = Closures::of(self, state, &rows);
        let mut matrix = DMatrix::zeros(n + m, n + m);
        matrix.view_mut((0, 0), (n, n)).copy_from(&mass);
        matrix
            .view_mut((n, 0), (m, n))
            .copy_from(&closures.jacobian);
        matrix
            .view_mut((0, n), (n, m))
            .copy_from(&closures.jacobian.transpose());
        let factor = matrix.lu();
        let mut carried = DVector::zeros(n + m);
        carried.rows_mut(0, n).copy_from_slice(&needed);
        let Some(multipliers) = factor.solve(&carried) else {
            return Ok(None);
        };
        let multipliers = &multipliers.as_slice()[n..];
        let curvature = curvature(self, state, &rows, multipliers);
        let along = |forces: DMatrix<f64>, closing: DMatrix<f64>| {
            let mut right = DMatrix::zeros(n + m, n);
            right.rows_mut(0, n).copy_from(&forces);
            right.rows_mut(n, m).copy_from(&closing);
            let found = factor.solve(&right)?;
            Some(found.rows(0, n).into_owned())
        };
        let found = [
            along(curvature - by_position, -closures.acceleration),
            along(-by_velocity, -closures.bias_by_velocity),
            along(DMatrix::identity(n, n), DMatrix::zeros(m, n)),
        ];
        let [Some(position), Some(velocity), Some(force)] = found else {
            return Ok(None);
        };
        Ok(Some([position, velocity, force]))
    }
}
