//! Elimination of many elastic coordinates at once, without factoring their inertia.
//!
//! When the elastic mass matrix of a body is constant, its inverse $`\Lambda`$ is known beforehand, and what
//! hangs on the body at a node changes the inertia felt by the elastic coordinates by no more than rank six.
//! With the node's constant influence $`\Pi_t`$ and $`\Gamma`$ the inertia felt at the node,
//! \[Jain & Rodriguez 1992, eq. (B3)\], corrected:
//!
//! ```math
//! D_f^{-1} = \Lambda - \Upsilon\,\Gamma\,(1 + \Omega\Gamma)^{-1}\,\Upsilon^*, \qquad
//! \Upsilon = \Lambda\Pi_t^*, \quad \Omega = \Pi_t\Lambda\Pi_t^* .
//! ```
//!
//! The print has $`\Gamma^{-1}`$, but $`\Gamma`$ is singular for every body with an outboard joint and zero at
//! the tip. $`W = \Gamma(1 + \Omega\Gamma)^{-1}`$ is found by orthogonalisation, which needs no pivot.

use crate::flex::Node;
use lissom_spatial::Scalar;
use lissom_spatial::{ArticulatedInertia, Force, Matrix, Motion, Symmetric, Transform, Vector};

/// A 6 × 6 matrix by rows, angular first.
type Six<T> = [[T; 6]; 6];

/// The inverse of a constant elastic mass matrix.
#[derive(Clone, Debug)]
pub(super) enum InverseMass {
    /// Mass-normalised modes and the like.
    Diagonal(Vec<f64>),
    /// n × n by rows.
    Dense(Vec<f64>),
}

/// What (B3) needs of one body.
#[derive(Clone, Debug)]
pub(super) struct IndirectInverse<T> {
    inverse_mass: InverseMass,
    /// $`\Upsilon`$, one motion per elastic coordinate; zero without an outboard node.
    spread: Vec<Motion<f64>>,
    /// $`\Omega`$.
    compliance: Six<f64>,
    /// $`W`$ of the factored configuration.
    correction: Six<T>,
    /// $`P_{fr}`$ of the factored configuration.
    coupling: Vec<Force<T>>,
    /// Right-hand side, then solution, of one solve.
    solution: Vec<T>,
}

impl<T: Scalar> IndirectInverse<T> {
    /// For a body with this elastic mass matrix that carries something at `node`, or nothing. `None` when
    /// the matrix is not positive definite.
    pub(super) fn new(mass: &[f64], node: Option<&Node>) -> Option<Self> {
        let n = mass.len().isqrt();
        let inverse_mass = invert(mass, n)?;
        let mut spread = vec![Motion::zero(); n];
        let mut compliance = [[0.0; 6]; 6];
        if let Some(node) = node {
            let influence: Vec<Motion<f64>> = (0..n)
                .map(|alpha| {
                    Motion::new(
                        Vector(node.rotation[alpha]),
                        Vector(node.displacement[alpha]),
                    )
                })
                .collect();
            for alpha in 0..n {
                match &inverse_mass {
                    InverseMass::Diagonal(d) => spread[alpha] = influence[alpha].scale(d[alpha]),
                    InverseMass::Dense(m) => {
                        for beta in 0..n {
                            spread[alpha] += influence[beta].scale(m[alpha * n + beta]);
                        }
                    }
                }
                let (a, b) = (
                    six_of_motion(influence[alpha]),
                    six_of_motion(spread[alpha]),
                );
                for i in 0..6 {
                    for j in 0..6 {
                        compliance[i][j] += a[i] * b[j];
                    }
                }
            }
        }
        Some(Self {
            inverse_mass,
            spread,
            compliance,
            correction: [[T::zero(); 6]; 6],
            coupling: vec![Force::zero(); n],
            solution: vec![T::zero(); n],
        })
    }

    /// Notes the inertia `felt` at the body's origin through a node at `position` whose small rotation is
    /// turned into angular velocity by `turn`.
    pub(super) fn attach(
        &mut self,
        felt: &ArticulatedInertia<T>,
        turn: Matrix<T>,
        position: Vector<T>,
    ) {
        // Γ for the rates of the node's own displacement and small rotation
        let at_node = felt.to_parent(&Transform::new(Matrix::identity(), -position));
        let gamma = six_of_inertia(&ArticulatedInertia {
            angular: at_node.angular.rotate(turn.transpose()),
            coupling: turn.transpose() * at_node.coupling,
            linear: at_node.linear,
        });
        // A = 1 + ΓΩ
        let mut a = [[T::zero(); 6]; 6];
        for i in 0..6 {
            for j in 0..6 {
                let mut sum = T::constant(if i == j { 1.0 } else { 0.0 });
                for l in 0..6 {
                    sum += gamma[i][l] * self.compliance[l][j];
                }
                a[i][j] = sum;
            }
        }
        self.correction = solve_by_orthogonalization(a, gamma);
    }

    /// Eliminates the elastic coordinates: `gain` holds $`P_{fr}`$ and becomes $`D_f^{-1}P_{fr}`$, and `felt`
    /// loses their share.
    pub(super) fn eliminate(&mut self, felt: &mut ArticulatedInertia<T>, gain: &mut [Force<T>]) {
        let n = gain.len();
        self.coupling.copy_from_slice(gain);
        // Y = Υ* P_fr, then W Y
        let mut gathered = [[T::zero(); 6]; 6];
        for alpha in 0..n {
            let (u, p) = (
                six_of_motion(self.spread[alpha]),
                six_of_force(self.coupling[alpha]),
            );
            for i in 0..6 {
                for j in 0..6 {
                    gathered[i][j] += p[j] * u[i];
                }
            }
        }
        let corrected = product(&self.correction, &gathered);
        for alpha in 0..n {
            let mut row = match &self.inverse_mass {
                InverseMass::Diagonal(d) => self.coupling[alpha].scale(T::constant(d[alpha])),
                InverseMass::Dense(m) => {
                    let mut row = Force::zero();
                    for beta in 0..n {
                        row += self.coupling[beta].scale(T::constant(m[alpha * n + beta]));
                    }
                    row
                }
            };
            let u = six_of_motion(self.spread[alpha]);
            let taken = std::array::from_fn(|j| {
                let mut sum = T::zero();
                for i in 0..6 {
                    sum += corrected[i][j] * u[i];
                }
                sum
            });
            row -= force_of_six(taken);
            gain[alpha] = row;
            // P_rf D_f⁻¹ P_fr is symmetric as a sum; one triangle of it is taken off
            let p = self.coupling[alpha];
            felt.angular = felt.angular - Symmetric::upper(&p.moment.outer(row.moment));
            felt.coupling = felt.coupling - p.moment.outer(row.force);
            felt.linear = felt.linear - Symmetric::upper(&p.force.outer(row.force));
        }
    }

    /// $`D_f^{-1}`$ times `right`, kept; returns what it adds to the force on the body.
    pub(super) fn solve(&mut self, right: &[T]) -> Force<T> {
        let n = right.len();
        let mut gathered = [T::zero(); 6];
        for alpha in 0..n {
            let u = six_of_motion(self.spread[alpha]);
            for i in 0..6 {
                gathered[i] += right[alpha] * u[i];
            }
        }
        let corrected: [T; 6] = std::array::from_fn(|i| {
            let mut sum = T::zero();
            for j in 0..6 {
                sum += self.correction[i][j] * gathered[j];
            }
            sum
        });
        let mut force = Force::zero();
        for alpha in 0..n {
            let mut x = match &self.inverse_mass {
                InverseMass::Diagonal(d) => right[alpha] * d[alpha],
                InverseMass::Dense(m) => {
                    let mut sum = T::zero();
                    for beta in 0..n {
                        sum += right[beta] * m[alpha * n + beta];
                    }
                    sum
                }
            };
            let u = six_of_motion(self.spread[alpha]);
            for i in 0..6 {
                x -= corrected[i] * u[i];
            }
            self.solution[alpha] = x;
            force += self.coupling[alpha].scale(x);
        }
        force
    }

    /// Elastic accelerations when the body accelerates by `total`: the kept solution less `gain` times it.
    pub(super) fn accelerations(&self, total: Motion<T>, gain: &[Force<T>], elastic: &mut [T]) {
        for (alpha, a) in elastic.iter_mut().enumerate() {
            *a = self.solution[alpha] - total.dot(gain[alpha]);
        }
    }
}

/// Inverse of a symmetric positive definite matrix.
fn invert(mass: &[f64], n: usize) -> Option<InverseMass> {
    let is_diagonal = (0..n * n).all(|i| i / n == i % n || mass[i] == 0.0);
    if is_diagonal {
        let diagonal: Vec<f64> = (0..n).map(|i| mass[i * n + i]).collect();
        let positive = diagonal.iter().all(|&m| m > 0.0);
        return positive.then(|| InverseMass::Diagonal(diagonal.iter().map(|m| 1.0 / m).collect()));
    }
    let factor = nalgebra::DMatrix::from_row_slice(n, n, mass).cholesky()?;
    Some(InverseMass::Dense(factor.inverse().as_slice().to_vec()))
}

/// Solves $`A X = B`$ by modified Gram–Schmidt: unconditional, so it needs no comparison of values.
fn solve_by_orthogonalization<T: Scalar>(a: Six<T>, b: Six<T>) -> Six<T> {
    // columns of A become orthonormal; R collects the coefficients, B is projected alongside
    let column = |m: &Six<T>, j: usize| -> [T; 6] { std::array::from_fn(|i| m[i][j]) };
    let mut q: [[T; 6]; 6] = std::array::from_fn(|j| column(&a, j));
    let mut right: [[T; 6]; 6] = std::array::from_fn(|j| column(&b, j));
    let mut r = [[T::zero(); 6]; 6];
    let mut projected = [[T::zero(); 6]; 6];
    let dot = |x: &[T; 6], y: &[T; 6]| {
        let mut sum = T::zero();
        for i in 0..6 {
            sum += x[i] * y[i];
        }
        sum
    };
    for k in 0..6 {
        let norm = dot(&q[k], &q[k]).sqrt();
        r[k][k] = norm;
        let unit = q[k].map(|x| x / norm);
        for j in k + 1..6 {
            r[k][j] = dot(&unit, &q[j]);
            for i in 0..6 {
                q[j][i] -= r[k][j] * unit[i];
            }
        }
        for (j, column) in right.iter_mut().enumerate() {
            projected[k][j] = dot(&unit, column);
            for i in 0..6 {
                column[i] -= projected[k][j] * unit[i];
            }
        }
    }
    let mut x = [[T::zero(); 6]; 6];
    for j in 0..6 {
        for k in (0..6).rev() {
            let mut sum = projected[k][j];
            for l in k + 1..6 {
                sum -= r[k][l] * x[l][j];
            }
            x[k][j] = sum / r[k][k];
        }
    }
    // W is symmetric; rounding is not
    std::array::from_fn(|i| std::array::from_fn(|j| (x[i][j] + x[j][i]) * 0.5))
}

fn product<T: Scalar>(a: &Six<T>, b: &Six<T>) -> Six<T> {
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let mut sum = T::zero();
            for l in 0..6 {
                sum += a[i][l] * b[l][j];
            }
            sum
        })
    })
}

fn six_of_motion<T: Scalar>(m: Motion<T>) -> [T; 6] {
    let ([a, b, c], [d, e, f]) = (m.angular.0, m.linear.0);
    [a, b, c, d, e, f]
}

fn six_of_force<T: Scalar>(m: Force<T>) -> [T; 6] {
    let ([a, b, c], [d, e, f]) = (m.moment.0, m.force.0);
    [a, b, c, d, e, f]
}

fn force_of_six<T: Scalar>([a, b, c, d, e, f]: [T; 6]) -> Force<T> {
    Force::new(Vector([a, b, c]), Vector([d, e, f]))
}

fn six_of_inertia<T: Scalar>(inertia: &ArticulatedInertia<T>) -> Six<T> {
    let (angular, linear) = (inertia.angular.full().0, inertia.linear.full().0);
    let coupling = inertia.coupling.0;
    std::array::from_fn(|i| {
        std::array::from_fn(|j| match (i < 3, j < 3) {
            (true, true) => angular[i][j],
            (true, false) => coupling[i][j - 3],
            (false, true) => coupling[j][i - 3],
            (false, false) => linear[i - 3][j - 3],
        })
    })
}
