//! Natural frequencies, damping and mode shapes of linearised equations, and their tracking.
//!
//! Without damping, $`\det(\bar K - \omega^2 M) = 0`$ (Jonker & Aarts (33)) is solved as an eigenproblem of
//! $`(\bar K + sM)^{-1}M`$, whose largest eigenvalues belong to the lowest modes and come out best. With
//! damping, the eigenvalues of the first-order form are improved one by one on
//! $`(\lambda^2 M + \lambda C + \bar K)\,\phi = 0`$.

use nalgebra::{Complex, DMatrix, DVector, SymmetricEigen};

use super::error::LinearError;

/// Iterations allowed for each eigenvalue; two or three are usual.
const ITERATIONS_PER_MODE: usize = 100;
/// Stiffness matrices with a skew part below this share are symmetric but for rounding.
const SYMMETRIC: f64 = 1e-11;

/// Modes without damping, by rising $`\omega^2`$.
#[derive(Clone, Debug, PartialEq)]
pub struct UndampedModes {
    /// $`\omega^2`$, negative for a mode that grows.
    pub squares: Vec<f64>,
    /// One column per mode, with $`\phi^T M\phi = 1`$ and the largest component positive.
    pub shapes: DMatrix<f64>,
}

impl UndampedModes {
    /// Modes of a mass and a stiffness matrix; the stiffness may be indefinite and unsymmetric.
    ///
    /// # Errors
    ///
    /// When the mass matrix is not definite, no eigenvalues are found, or some are complex (flutter).
    pub fn new(mass: &DMatrix<f64>, stiffness: &DMatrix<f64>) -> Result<Self, LinearError> {
        let size = mass.nrows();
        let skew = (stiffness - stiffness.transpose()).norm();
        let symmetric = skew <= SYMMETRIC * stiffness.norm();
        let shift = Self::shift(mass, stiffness);
        let mut pairs = if symmetric {
            Self::symmetric_pairs(mass, stiffness, shift)?
        } else {
            Self::general_pairs(mass, stiffness, shift)?
        };
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut squares = Vec::with_capacity(size);
        let mut shapes = DMatrix::zeros(size, size);
        for (column, (square, mut shape)) in pairs.into_iter().enumerate() {
            let norm = (shape.transpose() * mass * &shape)[(0, 0)].sqrt();
            let sign = shape[shape.iamax()].signum();
            shape *= sign / norm;
            shapes.set_column(column, &shape);
            squares.push(square);
        }
        Ok(Self { squares, shapes })
    }

    /// Natural frequencies; NaN for a mode that grows.
    pub fn frequencies(&self) -> Vec<f64> {
        self.squares.iter().map(|square| square.sqrt()).collect()
    }

    /// A shift that makes the stiffness definite: none if it is, else beyond the lowest eigenvalue.
    fn shift(mass: &DMatrix<f64>, stiffness: &DMatrix<f64>) -> f64 {
        let symmetric = (stiffness + stiffness.transpose()) * 0.5;
        if symmetric.clone().cholesky().is_some() {
            return 0.0;
        }
        let Some(factor) = mass.clone().cholesky() else {
            return 0.0;
        };
        let reduced = factor.l().solve_lower_triangular(&symmetric);
        let reduced = reduced.and_then(|half| factor.l().solve_lower_triangular(&half.transpose()));
        let lowest = reduced.map_or(0.0, |matrix| SymmetricEigen::new(matrix).eigenvalues.min());
        // a little beyond the lowest eigenvalue, and beyond rounding of a zero one
        2.0 * lowest.abs() + f64::EPSILON.sqrt() * symmetric.norm() / mass.norm()
    }

    fn symmetric_pairs(
        mass: &DMatrix<f64>,
        stiffness: &DMatrix<f64>,
        shift: f64,
    ) -> Result<Vec<(f64, DVector<f64>)>, LinearError> {
        let size = mass.nrows();
        let symmetric = (stiffness + stiffness.transpose()) * 0.5;
        let factor = (symmetric + mass * shift)
            .cholesky()
            .ok_or(LinearError::NoModes {
                reason: "mass matrix is not positive definite; give every motion inertia",
            })?
            .l();
        let solve = |right: &DMatrix<f64>| {
            factor
                .solve_lower_triangular(right)
                .ok_or(LinearError::NoModes {
                    reason: "stiffness matrix is singular to rounding",
                })
        };
        let reduced = solve(&solve(mass)?.transpose())?;
        let reduced = (&reduced + reduced.transpose()) * 0.5;
        let eigen =
            SymmetricEigen::try_new(reduced, f64::EPSILON, ITERATIONS_PER_MODE * (size + 1))
                .ok_or(LinearError::NoModes {
                    reason: "the eigenvalue iteration does not converge",
                })?;
        let mut pairs = Vec::with_capacity(size);
        for (index, &inverse) in eigen.eigenvalues.iter().enumerate() {
            // an eigenvalue that is not positive belongs to a motion without mass
            let square = if inverse > 0.0 {
                1.0 / inverse - shift
            } else {
                f64::INFINITY
            };
            let vector = eigen.eigenvectors.column(index).into_owned();
            let shape = factor.tr_solve_lower_triangular(&vector).unwrap_or(vector);
            pairs.push((square, shape));
        }
        Ok(pairs)
    }

    fn general_pairs(
        mass: &DMatrix<f64>,
        stiffness: &DMatrix<f64>,
        shift: f64,
    ) -> Result<Vec<(f64, DVector<f64>)>, LinearError> {
        let size = mass.nrows();
        let shifted = stiffness + mass * shift;
        let ratio = shifted.lu().solve(mass).ok_or(LinearError::NoModes {
            reason: "stiffness matrix is singular to rounding",
        })?;
        let mut pairs = Vec::with_capacity(size);
        for value in ratio.complex_eigenvalues().iter() {
            // nearly equal frequencies may come out as a pair that is complex by rounding
            if value.im.abs() > f64::EPSILON.sqrt() * value.norm() {
                return Err(LinearError::Flutter);
            }
            let square = 1.0 / value.re - shift;
            pairs.push((square, null_vector(&(stiffness - mass * square))));
        }
        Ok(pairs)
    }
}

/// A vector that a nearly singular matrix takes to nearly zero, by inverse iteration.
fn null_vector(matrix: &DMatrix<f64>) -> DVector<f64> {
    let size = matrix.nrows();
    // off the eigenvalue by rounding only, so that the factors exist
    let nudge = DMatrix::identity(size, size) * (f64::EPSILON * matrix.norm());
    let factor = (matrix + nudge).lu();
    let mut vector = DVector::from_fn(size, |i, _| 1.0 + 0.1 * i as f64);
    for _ in 0..3 {
        if let Some(next) = factor.solve(&vector) {
            vector = next.normalize();
        }
    }
    vector
}

/// A mode with damping.
#[derive(Clone, Debug, PartialEq)]
pub struct DampedMode {
    /// $`\lambda`$, with a part of $`e^{\lambda t}`$ each; one of each conjugate pair.
    pub eigenvalue: Complex<f64>,
    /// $`\phi`$ of unit length.
    pub shape: DVector<Complex<f64>>,
}

impl DampedMode {
    /// $`|\lambda|`$.
    pub fn frequency(&self) -> f64 {
        self.eigenvalue.norm()
    }

    /// $`-\mathrm{Re}\,\lambda/|\lambda|`$, negative for a mode that grows.
    pub fn damping_ratio(&self) -> f64 {
        -self.eigenvalue.re / self.eigenvalue.norm()
    }

    /// All modes of $`M\ddot q + C\dot q + Kq = 0`$ with positive or no imaginary part, by rising
    /// frequency.
    ///
    /// # Errors
    ///
    /// When the mass matrix is singular.
    pub fn all(
        mass: &DMatrix<f64>,
        damping: &DMatrix<f64>,
        stiffness: &DMatrix<f64>,
    ) -> Result<Vec<Self>, LinearError> {
        let size = mass.nrows();
        let factor = mass.clone().lu();
        let singular = LinearError::NoModes {
            reason: "mass matrix is singular",
        };
        let by_position = factor.solve(stiffness).ok_or(singular.clone())?;
        let by_velocity = factor.solve(damping).ok_or(singular)?;
        let mut matrix = DMatrix::zeros(2 * size, 2 * size);
        for i in 0..size {
            matrix[(i, size + i)] = 1.0;
        }
        matrix
            .view_mut((size, 0), (size, size))
            .copy_from(&-by_position);
        matrix
            .view_mut((size, size), (size, size))
            .copy_from(&-by_velocity);
        let mut modes: Vec<Self> = matrix
            .complex_eigenvalues()
            .iter()
            .filter(|value| value.im >= 0.0)
            .map(|&value| Self::improved(mass, damping, stiffness, value))
            .collect();
        modes.sort_by(|a, b| a.frequency().total_cmp(&b.frequency()));
        Ok(modes)
    }

    /// Inverse iteration on the quadratic eigenproblem from a good eigenvalue.
    fn improved(
        mass: &DMatrix<f64>,
        damping: &DMatrix<f64>,
        stiffness: &DMatrix<f64>,
        start: Complex<f64>,
    ) -> Self {
        let complex = |m: &DMatrix<f64>| m.map(|x| Complex::new(x, 0.0));
        let (mass, damping, stiffness) = (complex(mass), complex(damping), complex(stiffness));
        let size = mass.nrows();
        let mut eigenvalue = start;
        let mut shape = DVector::from_fn(size, |i, _| Complex::new(1.0 + 0.1 * i as f64, 0.0));
        for _ in 0..3 {
            let matrix = &mass * (eigenvalue * eigenvalue) + &damping * eigenvalue + &stiffness;
            let nudge = Complex::new(f64::EPSILON * matrix.norm(), 0.0);
            let factor = (&matrix + DMatrix::identity(size, size) * nudge).lu();
            for _ in 0..2 {
                if let Some(next) = factor.solve(&shape) {
                    let length = next.norm();
                    shape = next / Complex::new(length, 0.0);
                }
            }
            // Newton on the Rayleigh quotient of the quadratic form
            let adjoint = shape.adjoint();
            let value = (&adjoint * &matrix * &shape)[(0, 0)];
            let slope = &mass * (eigenvalue * 2.0) + &damping;
            let slope = (&adjoint * slope * &shape)[(0, 0)];
            let change = value / slope;
            if change.norm() <= 1e-3 * eigenvalue.norm() {
                eigenvalue -= change;
            }
        }
        Self { eigenvalue, shape }
    }
}

/// For each mode before, the mode now that is most like it, by modal assurance
/// $`(\phi_a^T M\phi_b)^2/(\phi_a^T M\phi_a\;\phi_b^T M\phi_b)`$, so that curves of frequencies do not swap.
pub fn follow_modes(mass: &DMatrix<f64>, before: &DMatrix<f64>, now: &DMatrix<f64>) -> Vec<usize> {
    let norm = |shape: &DVector<f64>| (shape.transpose() * mass * shape)[(0, 0)];
    let columns = |m: &DMatrix<f64>| -> Vec<DVector<f64>> {
        m.column_iter().map(nalgebra::Matrix::into_owned).collect()
    };
    let (before, now) = (columns(before), columns(now));
    let mut likeness = Vec::new();
    for (i, a) in before.iter().enumerate() {
        for (j, b) in now.iter().enumerate() {
            let product = (a.transpose() * mass * b)[(0, 0)];
            likeness.push((product * product / (norm(a) * norm(b)), i, j));
        }
    }
    // surest pairs first
    likeness.sort_by(|x, y| y.0.total_cmp(&x.0));
    let mut follower = vec![None; before.len()];
    let mut taken = vec![false; now.len()];
    for (_, i, j) in likeness {
        if follower[i].is_none() && !taken[j] {
            follower[i] = Some(j);
            taken[j] = true;
        }
    }
    follower
        .into_iter()
        .enumerate()
        .map(|(i, j)| j.unwrap_or(i))
        .collect()
}
