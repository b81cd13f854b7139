//! Multipliers: the forces of the closures from the inertia that the tree shows at its ends.
//!
//! With $`\dot v_0`$ the accelerations of the open tree, by articulated bodies,
//!
//! ```math
//! J M^{-1} J^T \lambda = -\gamma - J\dot v_0 - 2\zeta\Omega\,J v - \Omega^2\Phi , \qquad
//! \dot v = \dot v_0 + M^{-1} J^T \lambda ,
//! ```
//!
//! the last two terms with Baumgarte's stabilisation only. The matrix comes from one articulated-body solve per
//! equation, or from the recursion of [`OperationalSpace`](crate::tree::OperationalSpace). The same matrices project
//! a state: among all changes that close the loops $`M^{-1} J^T (J M^{-1} J^T)^{-1}`$ gives the one of least kinetic
//! energy, which unlike the shortest one does not depend on the units of the coordinates.

use super::Constraints;
use super::rank::{dot, pivot_columns, pivot_condition};
use crate::System;
use crate::tree::{ArticulatedBody, Kinematics, OperationalSpace};
use lissom_numerics::integrate::Lu;

#[derive(Clone, Debug)]
pub(super) struct Multipliers {
    rows: Vec<usize>,
    /// Natural frequency and damping ratio.
    stabilization: Option<(f64, f64)>,
    operational: Option<Operational>,
    reference: Reference,
    /// Independent rows of $`J`$, and of $`(M^{-1}J^T)^T`$.
    jacobian: Vec<f64>,
    columns: Vec<f64>,
    matrix: Vec<f64>,
    factor: Lu<f64>,
    values: Vec<f64>,
    force: Vec<f64>,
    scratch: Vec<f64>,
}

/// As many columns of $`J`$ as it has independent rows. Their determinant has a sign, which $`J M^{-1} J^T`$ has not, and
/// loses it where $`J`$ loses a rank.
#[derive(Clone, Debug)]
struct Reference {
    columns: Vec<usize>,
    factor: Lu<f64>,
    /// Largest pivot over the smallest when they were chosen.
    chosen_ratio: f64,
}

/// $`J M^{-1} J^T`$ by recursion.
#[derive(Clone, Debug)]
struct Operational {
    space: OperationalSpace<f64>,
    /// Independent equation by place in `rows`, and end, of every push.
    pushes: Vec<(usize, usize)>,
    matrix: Vec<f64>,
}

impl Operational {
    fn new(system: &System, rows: &[usize], constraints: &Constraints<f64>) -> Self {
        let mut pushes = Vec::new();
        let mut bodies = Vec::new();
        for (i, &row) in rows.iter().enumerate() {
            for end in 0..2 {
                if let Some(body) = constraints.pushed_body(row, end) {
                    pushes.push((i, end));
                    bodies.push(body);
                }
            }
        }
        Self {
            space: OperationalSpace::new(system, &bodies),
            matrix: vec![0.0; pushes.len() * pushes.len()],
            pushes,
        }
    }
}

impl Multipliers {
    pub(super) fn new(system: &System, rows: Vec<usize>) -> Self {
        let (m, n) = (rows.len(), system.velocity_count());
        Self {
            stabilization: None,
            operational: None,
            reference: Reference {
                columns: Vec::new(),
                factor: Lu::new(m),
                chosen_ratio: f64::INFINITY,
            },
            jacobian: vec![0.0; m * n],
            columns: vec![0.0; m * n],
            matrix: vec![0.0; m * m],
            factor: Lu::new(m),
            values: vec![0.0; m],
            force: vec![0.0; n],
            scratch: vec![0.0; m * n],
            rows,
        }
    }

    pub(super) fn stabilized(mut self, frequency: f64, damping_ratio: f64) -> Self {
        self.stabilization = Some((frequency, damping_ratio));
        self
    }

    pub(super) fn is_stabilized(&self) -> bool {
        self.stabilization.is_some()
    }

    pub(super) fn by_recursion(mut self, system: &System, constraints: &Constraints<f64>) -> Self {
        self.operational = Some(Operational::new(system, &self.rows, constraints));
        self
    }

    /// Keeps other equations, as many as before.
    pub(super) fn keep(&mut self, system: &System, rows: &[usize], constraints: &Constraints<f64>) {
        self.rows.copy_from_slice(rows);
        if self.operational.is_some() {
            self.operational = Some(Operational::new(system, &self.rows, constraints));
        }
    }

    /// Forms and factors $`J M^{-1} J^T`$ with the factored mass matrix of the prepared state; tells whether it
    /// could be.
    pub(super) fn prepare(
        &mut self,
        system: &System,
        kinematics: &Kinematics<f64>,
        constraints: &Constraints<f64>,
        articulated: &mut ArticulatedBody<f64>,
    ) -> bool {
        let n = system.velocity_count();
        let m = self.rows.len();
        for (row, own) in self.rows.iter().zip(self.jacobian.chunks_exact_mut(n)) {
            own.copy_from_slice(constraints.row(*row));
        }
        if let Some(operational) = &mut self.operational {
            let Operational {
                space,
                pushes,
                matrix,
            } = operational;
            let rows = &self.rows;
            space.update(
                system,
                kinematics,
                articulated,
                |a| constraints.push(rows[pushes[a].0], pushes[a].1),
                matrix,
            );
            self.matrix.fill(0.0);
            for (a, &(i, _)) in pushes.iter().enumerate() {
                for (b, &(j, _)) in pushes.iter().enumerate() {
                    self.matrix[i * m + j] += matrix[a * pushes.len() + b];
                }
            }
        } else {
            articulated.solve_columns(system, kinematics, &self.jacobian, &mut self.columns);
            for i in 0..m {
                for j in 0..=i {
                    let value = dot(
                        &self.jacobian[i * n..(i + 1) * n],
                        &self.columns[j * n..(j + 1) * n],
                    );
                    self.matrix[i * m + j] = value;
                    self.matrix[j * m + i] = value;
                }
            }
        }
        let matrix = &self.matrix;
        self.factor.factor(|i, j| matrix[i * m + j]).is_ok()
    }

    /// The change of least kinetic energy that changes every equation by `wanted`.
    pub(super) fn correct(
        &mut self,
        system: &System,
        kinematics: &Kinematics<f64>,
        articulated: &mut ArticulatedBody<f64>,
        wanted: impl Fn(usize) -> f64,
        change: &mut [f64],
    ) {
        for (value, &row) in self.values.iter_mut().zip(&self.rows) {
            *value = wanted(row);
        }
        self.factor.solve(&mut self.values);
        self.respond(system, kinematics, articulated, change);
    }

    /// Turns accelerations of the open tree into those of the closed one and writes the multipliers.
    #[expect(
        clippy::too_many_arguments,
        reason = "what is constant, what varies, what is written"
    )]
    pub(super) fn accelerate(
        &mut self,
        system: &System,
        kinematics: &Kinematics<f64>,
        constraints: &Constraints<f64>,
        articulated: &mut ArticulatedBody<f64>,
        change: &mut [f64],
        acceleration: &mut [f64],
        multipliers: &mut [f64],
    ) -> bool {
        if !self.prepare(system, kinematics, constraints, articulated) {
            return false;
        }
        let n = acceleration.len();
        for (i, &row) in self.rows.iter().enumerate() {
            let jacobian = &self.jacobian[i * n..(i + 1) * n];
            let mut value = -constraints.bias()[row] - dot(jacobian, acceleration);
            if let Some((frequency, damping_ratio)) = self.stabilization {
                value -= 2.0 * damping_ratio * frequency * constraints.rate()[row]
                    + frequency * frequency * constraints.residual()[row];
            }
            self.values[i] = value;
        }
        self.factor.solve(&mut self.values);
        self.respond(system, kinematics, articulated, change);
        for (a, &x) in acceleration.iter_mut().zip(change.iter()) {
            *a += x;
        }
        for (&row, &value) in self.rows.iter().zip(&self.values) {
            multipliers[row] = value;
        }
        true
    }

    /// $`M^{-1} J^T`$ times the multipliers.
    fn respond(
        &mut self,
        system: &System,
        kinematics: &Kinematics<f64>,
        articulated: &mut ArticulatedBody<f64>,
        change: &mut [f64],
    ) {
        let n = change.len();
        let combine = |matrix: &[f64], values: &[f64], sum: &mut [f64]| {
            sum.fill(0.0);
            for (row, &value) in matrix.chunks_exact(n).zip(values) {
                for (s, &x) in sum.iter_mut().zip(row) {
                    *s += x * value;
                }
            }
        };
        if self.operational.is_some() {
            combine(&self.jacobian, &self.values, &mut self.force);
            articulated.solve(system, kinematics, &self.force, change);
        } else {
            combine(&self.columns, &self.values, change);
        }
    }

    /// Chooses the columns whose determinant is looked at, at the state that `constraints` holds.
    pub(super) fn choose_reference(
        &mut self,
        constraints: &Constraints<f64>,
        joints: &[usize],
        elastic: &[usize],
    ) {
        let rows: Vec<&[f64]> = self.rows.iter().map(|&row| constraints.row(row)).collect();
        let columns = pivot_columns(&rows, &[joints, elastic]);
        if columns.len() == self.rows.len() {
            let reference = &mut self.reference;
            reference.columns = columns;
            let columns = &reference.columns;
            let factored = reference.factor.factor(|i, j| rows[i][columns[j]]);
            reference.chosen_ratio = match factored {
                Ok(()) => reference.factor.pivot_ratio(),
                Err(_) => f64::INFINITY,
            };
        }
    }

    /// Those columns, and the ratio of their pivots when they were chosen.
    pub(super) fn reference(&self) -> (&[usize], f64) {
        (&self.reference.columns, self.reference.chosen_ratio)
    }

    /// Looks at the determinant of these columns, as many as there are equations, or at none.
    pub(super) fn set_reference(&mut self, columns: Vec<usize>, chosen_ratio: f64) {
        self.reference.columns = columns;
        self.reference.chosen_ratio = chosen_ratio;
    }

    /// Sign of the determinant of those columns at the prepared configuration; zero if there is none.
    pub(super) fn side(&mut self) -> f64 {
        let n = self.force.len();
        let Reference {
            columns, factor, ..
        } = &mut self.reference;
        if columns.len() != self.rows.len() {
            return 0.0;
        }
        let jacobian = &self.jacobian;
        match factor.factor(|i, j| jacobian[i * n + columns[j]]) {
            Ok(()) => factor.determinant_sign(),
            Err(_) => 0.0,
        }
    }

    /// Whether the columns have become so much worse since they were chosen.
    pub(super) fn reference_is_ill_conditioned(&self, times: f64) -> bool {
        self.reference.factor.pivot_ratio() >= times * self.reference.chosen_ratio
    }

    /// How far the equations are from losing a rank, and the direction of the velocities that is held least.
    pub(super) fn condition(&mut self, given: &[usize], n: usize) -> (f64, &[f64]) {
        self.scratch.copy_from_slice(&self.jacobian);
        for row in self.scratch.chunks_exact_mut(n) {
            for &at in given {
                row[at] = 0.0;
            }
        }
        pivot_condition(&mut self.scratch, n)
    }
}
