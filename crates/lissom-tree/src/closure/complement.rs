//! The natural orthogonal complement: accelerations in as many independent speeds as there are degrees of
//! freedom \[Angeles & Lee 1988; Fattah 1995, chapters 4 to 6\].
//!
//! Velocities split into *independent* and *dependent* ones,
//!
//! ```math
//! K\,v_d = \begin{bmatrix} -J_i v_i \\ \dot c - B_i v_i \end{bmatrix}, \qquad
//! K = \begin{bmatrix} J_d \\ B_d \end{bmatrix} ,
//! ```
//!
//! where $`\dot c = B v`$ are components of a marker's twist in Cartesian space, and absent in joint space. Then
//! $`v = N u`$ with $`u = (\dot c, v_i)`$, and every acceleration that keeps the loops closed is
//! $`\dot v = N a + s`$ with $`J s = -\gamma`$. The forces of the closures do no work on the columns of $`N`$, so that
//!
//! ```math
//! N^T M N\,a = N^T(\tau - c - M s) .
//! ```
//!
//! Neither $`\dot N`$ nor $`\dot B`$ is needed: $`a`$ only has to reach all admissible accelerations.
//!
//! Where many modes move a heavy body, $`N^T M N`$ is the small inertia of the modes plus the large one of the body, and rounding
//! of the large part hides the small one: with 19 modes a link of a planar 3-RRR its condition number is $`10^{10}`$. The residual
//! $`\tau - c - M\dot v`$ does not suffer: inverse dynamics adds up the acceleration of the body before it multiplies by its
//! inertia, and a correction divides by the same inertia. So the solution is refined by it, with the factor at hand, until
//! only rounding remains.

mod condition;

pub(in crate::closure) use self::condition::most_moved;
use super::rank::pivot_columns;
use super::{Constraints, Workspace};
use crate::tree::{
    Kinematics, StageInertia, bias_accelerations, frame_motion, inverse_dynamics, marker_jacobian,
    marker_motion, mass_matrix,
};
use crate::{Linkage, Place};
use lissom_numerics::integrate::Lu;
use lissom_spatial::Motion;

/// Ratio of pivots of the reduced mass matrix above which accelerations are refined. Condition numbers are larger than this ratio, some
/// $`10^7`$ here: what rounding leaves of accelerations is then no more than the tightest tolerances of runs.
const WORTH_REFINING: f64 = 1e3;
/// Corrections of the accelerations; each gains as many digits as the factor has.
const MOST_CORRECTIONS: usize = 4;

#[derive(Clone, Debug)]
pub(super) struct Complement {
    /// Independent equations.
    rows: Vec<usize>,
    /// Dependent entries of the velocity vector, and independent ones.
    pub(super) dependent: Vec<usize>,
    pub(super) independent: Vec<usize>,
    /// Prescribed entries.
    given: Vec<usize>,
    marker: Option<MarkerRows>,
    matrix: Vec<f64>,
    factor: Lu<f64>,
    /// Largest column sum of the equations over the independent entries, which a good choice does not exceed by much.
    independent_norm: f64,
    /// Dependent entries per independent speed, one speed after the other.
    gain: Vec<f64>,
    mass: Vec<f64>,
    /// $`M N`$, one speed after the other.
    product: Vec<f64>,
    reduced: Vec<f64>,
    reduced_factor: Lu<f64>,
    /// Accelerations in the independent speeds.
    speeds: Vec<f64>,
    right: Vec<f64>,
    /// Force that the accelerations leave unexplained.
    residual: Vec<f64>,
}

/// Components of a marker's twist that are independent.
#[derive(Clone, Debug)]
struct MarkerRows {
    body: usize,
    place: Place,
    components: Vec<usize>,
    influence: Vec<Motion<f64>>,
    jacobian: Vec<f64>,
}

/// The equations of motion of a closed mechanism in its independent speeds $`u`$, of which $`v = N u`$ follows:
/// $`N^T M N\,\dot u + b = N^T\tau`$.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReducedEquations {
    /// Components of a marker's twist that are the first speeds, angular ones (0 to 2) before linear ones (3 to 5);
    /// none in joint space.
    pub components: Vec<usize>,
    /// Entries of the velocity vector that are the other speeds.
    pub independent: Vec<usize>,
    /// $`N`$, one row per entry of the velocity vector.
    pub complement: Vec<f64>,
    /// $`N^T M N`$ by rows.
    pub mass_matrix: Vec<f64>,
    /// $`b`$.
    pub bias: Vec<f64>,
}

impl MarkerRows {
    /// Acceleration of the marker when no coordinate accelerates, angular before linear, in ground axes.
    fn bias(
        &mut self,
        linkage: &Linkage,
        kinematics: &Kinematics<f64>,
        position: &[f64],
        velocity: &[f64],
    ) -> [f64; 6] {
        let system = &linkage.system;
        let mut accelerations = vec![Motion::zero(); system.bodies().len()];
        bias_accelerations(system, kinematics, &mut accelerations);
        let motion = frame_motion(
            system,
            kinematics,
            &accelerations,
            self.body,
            &self.place,
            position,
            velocity,
            &mut self.influence,
        );
        // derivatives of components in the frame itself become those in ground axes
        let (twist, bias) = (motion.twist, motion.bias);
        let linear = motion.pose.rotation * (bias.linear + twist.angular.cross(twist.linear));
        let angular = motion.pose.rotation * bias.angular;
        let ([a, b, c], [x, y, z]) = (angular.0, linear.0);
        [a, b, c, x, y, z]
    }
}

impl Complement {
    pub(super) fn new(
        velocities: usize,
        rows: Vec<usize>,
        dependent: Vec<usize>,
        independent: Vec<usize>,
        given: Vec<usize>,
    ) -> Self {
        let (s, speeds) = (
            dependent.len(),
            independent.len() + dependent.len() - rows.len(),
        );
        Self {
            matrix: vec![0.0; s * s],
            factor: Lu::new(s),
            independent_norm: 0.0,
            gain: vec![0.0; s * speeds],
            mass: vec![0.0; velocities * velocities],
            product: vec![0.0; velocities * speeds],
            reduced: vec![0.0; speeds * speeds],
            reduced_factor: Lu::new(speeds),
            speeds: vec![0.0; speeds],
            right: vec![0.0; s],
            residual: vec![0.0; velocities],
            marker: None,
            rows,
            dependent,
            independent,
            given,
        }
    }

    /// Makes components of the twist of a place on `body` independent.
    pub(super) fn with_marker(
        mut self,
        linkage: &Linkage,
        body: usize,
        place: Place,
        components: Vec<usize>,
    ) -> Self {
        self.marker = Some(MarkerRows {
            influence: vec![Motion::zero(); linkage.system.bodies()[body].modes()],
            jacobian: vec![0.0; 6 * linkage.system.velocity_count()],
            body,
            place,
            components,
        });
        self
    }

    /// Factors $`K`$ at the prepared configuration; tells whether it could be.
    pub(super) fn prepare(
        &mut self,
        linkage: &Linkage,
        kinematics: &Kinematics<f64>,
        constraints: &Constraints<f64>,
        position: &[f64],
        velocity: &[f64],
    ) -> bool {
        let n = velocity.len();
        let s = self.dependent.len();
        for (i, &row) in self.rows.iter().enumerate() {
            let jacobian = constraints.row(row);
            for (j, &column) in self.dependent.iter().enumerate() {
                self.matrix[i * s + j] = jacobian[column];
            }
        }
        if let Some(marker) = &mut self.marker {
            let motion = marker_motion(
                &linkage.system,
                kinematics,
                marker.body,
                &marker.place,
                position,
                velocity,
                &mut marker.influence,
            );
            marker_jacobian(
                &linkage.system,
                kinematics,
                marker.body,
                motion.pose.translation,
                &marker.influence,
                &mut marker.jacobian,
            );
            for (i, &component) in marker.components.iter().enumerate() {
                let first = (self.rows.len() + i) * s;
                for (j, &column) in self.dependent.iter().enumerate() {
                    self.matrix[first + j] = marker.jacobian[component * n + column];
                }
            }
        }
        self.independent_norm = (self.independent.iter()).fold(0.0, |norm: f64, &column| {
            let entries = self.rows.iter().map(|&row| constraints.row(row)[column]);
            norm.max(entries.map(f64::abs).sum())
        });
        let matrix = &self.matrix;
        self.factor.factor(|i, j| matrix[i * s + j]).is_ok()
    }

    /// The change of the dependent entries that changes every equation by `wanted`; the others stay.
    pub(super) fn correct(&mut self, wanted: impl Fn(usize) -> f64, change: &mut [f64]) {
        change.fill(0.0);
        self.right.fill(0.0);
        for (right, &row) in self.right.iter_mut().zip(&self.rows) {
            *right = wanted(row);
        }
        self.factor.solve(&mut self.right);
        for (&at, &x) in self.dependent.iter().zip(&self.right) {
            change[at] = x;
        }
    }

    /// Accelerations under `force` in the prepared state, entries of prescribed joints given; tells whether
    /// they follow.
    #[expect(
        clippy::too_many_arguments,
        reason = "what is constant, what varies, what is written"
    )]
    pub(super) fn accelerate(
        &mut self,
        linkage: &Linkage,
        kinematics: &Kinematics<f64>,
        constraints: &Constraints<f64>,
        workspace: &mut Workspace,
        added: Option<&StageInertia>,
        force: &[f64],
        acceleration: &mut [f64],
    ) -> bool {
        // s: closed loops with no independent entry accelerating
        self.right.fill(0.0);
        for (right, &row) in self.right.iter_mut().zip(&self.rows) {
            let jacobian = constraints.row(row);
            *right = -constraints.bias()[row];
            for &at in &self.given {
                *right -= jacobian[at] * acceleration[at];
            }
        }
        self.factor.solve(&mut self.right);
        for (&at, &a) in self.dependent.iter().zip(&self.right) {
            acceleration[at] = a;
        }
        for &at in &self.independent {
            acceleration[at] = 0.0;
        }
        self.unexplained(linkage, kinematics, workspace, force, acceleration);
        if let Some(added) = added {
            added.add_force(&linkage.system, acceleration, &mut self.residual);
        }

        self.update_reduced(linkage, kinematics, constraints, workspace, added);
        let speeds = self.speeds.len();
        for i in 0..speeds {
            self.speeds[i] = -self.along(i, &self.residual);
        }
        let reduced = &self.reduced;
        if self
            .reduced_factor
            .factor(|i, j| reduced[i * speeds + j])
            .is_err()
        {
            return false;
        }
        self.reduced_factor.solve(&mut self.speeds);
        self.add_independent(acceleration);
        if self.reduced_factor.pivot_ratio() > WORTH_REFINING {
            self.refine(linkage, kinematics, workspace, added, force, acceleration);
        }
        true
    }

    /// Adds the accelerations that the independent ones bring about.
    fn add_independent(&self, acceleration: &mut [f64]) {
        let s = self.dependent.len();
        let first_independent = self.speeds.len() - self.independent.len();
        for (speed, &a) in self.speeds.iter().enumerate() {
            for (&at, &g) in self.dependent.iter().zip(&self.gain[speed * s..]) {
                acceleration[at] += g * a;
            }
            if let Some(i) = speed.checked_sub(first_independent) {
                acceleration[self.independent[i]] += a;
            }
        }
    }

    /// Corrects accelerations by the forces that they leave unexplained, as long as corrections become smaller.
    fn refine(
        &mut self,
        linkage: &Linkage,
        kinematics: &Kinematics<f64>,
        workspace: &mut Workspace,
        added: Option<&StageInertia>,
        force: &[f64],
        acceleration: &mut [f64],
    ) {
        let size = |speeds: &[f64]| speeds.iter().fold(0.0_f64, |most, a| most.max(a.abs()));
        let largest = size(&self.speeds);
        let mut before = largest;
        for _ in 0..MOST_CORRECTIONS {
            self.unexplained(linkage, kinematics, workspace, force, acceleration);
            if let Some(added) = added {
                added.add_force(&linkage.system, acceleration, &mut self.residual);
            }
            for i in 0..self.speeds.len() {
                self.speeds[i] = -self.along(i, &self.residual);
            }
            self.reduced_factor.solve(&mut self.speeds);
            let correction = size(&self.speeds);
            // rounding is all that is left, or the factor has no digit to gain with
            if correction >= 0.5 * before {
                break;
            }
            self.add_independent(acceleration);
            if correction <= f64::EPSILON * largest {
                break;
            }
            before = correction;
        }
    }

    /// $`N`$, $`M N`$ and $`N^T M N`$ at the prepared configuration.
    fn update_reduced(
        &mut self,
        linkage: &Linkage,
        kinematics: &Kinematics<f64>,
        constraints: &Constraints<f64>,
        workspace: &mut Workspace,
        added: Option<&StageInertia>,
    ) {
        let n = self.residual.len();
        let s = self.dependent.len();
        self.update_gain(constraints, n);
        mass_matrix(
            &linkage.system,
            kinematics,
            &mut workspace.composite,
            &mut self.mass,
        );
        if let Some(added) = added {
            added.add_to_matrix(&linkage.system, &mut self.mass);
        }
        let speeds = self.speeds.len();
        let first_independent = speeds - self.independent.len();
        for speed in 0..speeds {
            let gain = &self.gain[speed * s..(speed + 1) * s];
            let independent = speed
                .checked_sub(first_independent)
                .map(|i| self.independent[i]);
            let column = &mut self.product[speed * n..(speed + 1) * n];
            for (row, entry) in self.mass.chunks_exact(n).zip(column.iter_mut()) {
                let mut sum = independent.map_or(0.0, |at| row[at]);
                for (&at, &g) in self.dependent.iter().zip(gain) {
                    sum += row[at] * g;
                }
                *entry = sum;
            }
        }
        for i in 0..speeds {
            for j in 0..=i {
                let value = self.along(i, &self.product[j * n..(j + 1) * n]);
                self.reduced[i * speeds + j] = value;
                self.reduced[j * speeds + i] = value;
            }
        }
    }

    /// The product of a column of $`N`$ with a vector.
    fn along(&self, speed: usize, vector: &[f64]) -> f64 {
        let s = self.dependent.len();
        let gain = &self.gain[speed * s..(speed + 1) * s];
        let first_independent = self.speeds.len() - self.independent.len();
        let independent = speed
            .checked_sub(first_independent)
            .map(|i| self.independent[i]);
        let mut sum = independent.map_or(0.0, |at| vector[at]);
        for (&at, &g) in self.dependent.iter().zip(gain) {
            sum += vector[at] * g;
        }
        sum
    }

    /// The equations in the independent speeds themselves at the prepared state, prescribed entries not accelerating:
    /// unlike [`accelerate`](Self::accelerate), with the rate of the marker's Jacobian, so that they hold for the
    /// derivatives of the speeds.
    pub(super) fn reduce(
        &mut self,
        linkage: &Linkage,
        kinematics: &Kinematics<f64>,
        constraints: &Constraints<f64>,
        workspace: &mut Workspace,
        position: &[f64],
        velocity: &[f64],
    ) -> ReducedEquations {
        let n = velocity.len();
        let mut drift = vec![0.0; n];
        for (right, &row) in self.right.iter_mut().zip(&self.rows) {
            *right = -constraints.bias()[row];
        }
        if let Some(marker) = &mut self.marker {
            let bias = marker.bias(linkage, kinematics, position, velocity);
            for (right, &component) in self.right[self.rows.len()..]
                .iter_mut()
                .zip(&marker.components)
            {
                *right = -bias[component];
            }
        }
        self.factor.solve(&mut self.right);
        for (&at, &a) in self.dependent.iter().zip(&self.right) {
            drift[at] = a;
        }
        self.unexplained(linkage, kinematics, workspace, &vec![0.0; n], &drift);
        self.update_reduced(linkage, kinematics, constraints, workspace, None);
        let (s, speeds) = (self.dependent.len(), self.speeds.len());
        let first_independent = speeds - self.independent.len();
        let mut complement = vec![0.0; n * speeds];
        for speed in 0..speeds {
            for (&at, &g) in self.dependent.iter().zip(&self.gain[speed * s..]) {
                complement[at * speeds + speed] = g;
            }
            if let Some(i) = speed.checked_sub(first_independent) {
                complement[self.independent[i] * speeds + speed] = 1.0;
            }
        }
        let components = self.marker.iter().flat_map(|marker| &marker.components);
        ReducedEquations {
            components: components.copied().collect(),
            independent: self.independent.clone(),
            complement,
            mass_matrix: self.reduced.clone(),
            bias: (0..speeds).map(|i| self.along(i, &self.residual)).collect(),
        }
    }

    /// Multipliers of the independent equations that explain the accelerations: $`K^T(\lambda, 0) = r_s`$.
    pub(super) fn multipliers(
        &mut self,
        linkage: &Linkage,
        kinematics: &Kinematics<f64>,
        workspace: &mut Workspace,
        force: &[f64],
        acceleration: &[f64],
        multipliers: &mut [f64],
    ) {
        self.unexplained(linkage, kinematics, workspace, force, acceleration);
        for (right, &at) in self.right.iter_mut().zip(&self.dependent) {
            *right = self.residual[at];
        }
        self.factor.solve_transposed(&mut self.right);
        for (&row, &value) in self.rows.iter().zip(&self.right) {
            multipliers[row] = value;
        }
    }

    /// Leaves the force that `acceleration` needs beyond `force` in `residual`.
    fn unexplained(
        &mut self,
        linkage: &Linkage,
        kinematics: &Kinematics<f64>,
        workspace: &mut Workspace,
        force: &[f64],
        acceleration: &[f64],
    ) {
        inverse_dynamics(
            &linkage.system,
            kinematics,
            acceleration,
            &mut workspace.inverse,
            &mut self.residual,
        );
        for (r, &f) in self.residual.iter_mut().zip(force) {
            *r -= f;
        }
    }

    /// The columns of $`N`$ without their ones.
    fn update_gain(&mut self, constraints: &Constraints<f64>, n: usize) {
        let s = self.dependent.len();
        let m = self.rows.len();
        for (speed, gain) in self.gain.chunks_exact_mut(s.max(1)).enumerate() {
            if let Some(i) = speed.checked_sub(s - m) {
                let at = self.independent[i];
                for (g, &row) in gain.iter_mut().zip(&self.rows) {
                    *g = -constraints.row(row)[at];
                }
                if let Some(marker) = &self.marker {
                    for (g, &component) in gain[m..].iter_mut().zip(&marker.components) {
                        *g = -marker.jacobian[component * n + at];
                    }
                }
            } else {
                gain.fill(0.0);
                gain[m + speed] = 1.0;
            }
            self.factor.solve(gain);
        }
    }

    /// Sign of the determinant of $`K`$ at the prepared configuration.
    pub(super) fn side(&self) -> f64 {
        self.factor.determinant_sign()
    }

    /// Keeps other equations, as many as before.
    pub(super) fn keep(&mut self, rows: &[usize]) {
        self.rows.copy_from_slice(rows);
    }

    /// Makes these of the free entries dependent, as many as before, and the others independent.
    pub(super) fn partition(&mut self, dependent: Vec<usize>, joints: &[usize], elastic: &[usize]) {
        self.independent = joints
            .iter()
            .chain(elastic)
            .copied()
            .filter(|at| !dependent.contains(at))
            .collect();
        self.dependent = dependent;
    }

    /// Partitions the free entries anew by pivoting: joints are dependent before elastic coordinates.
    pub(super) fn choose(
        &mut self,
        constraints: &Constraints<f64>,
        joints: &[usize],
        elastic: &[usize],
    ) {
        let rows: Vec<&[f64]> = self.rows.iter().map(|&row| constraints.row(row)).collect();
        let dependent = pivot_columns(&rows, &[joints, elastic]);
        if dependent.len() < self.rows.len() {
            return;
        }
        self.partition(dependent, joints, elastic);
    }
}
