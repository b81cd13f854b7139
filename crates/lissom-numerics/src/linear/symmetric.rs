//! All modes of $`K x = \omega^2 M x`$ with symmetric matrices, low and high ones alike.
//!
//! With $`K + sM = GG^T`$ the eigenproblem is that of $`G^{-1}MG^{-T}`$, whose eigenvalues are $`1/(\omega^2 + s)`$. A shift $`s`$ of
//! $`\sqrt\varepsilon`$ times the largest $`\omega^2`$ leaves the lowest modes all their digits and rounds the highest by
//! $`\sqrt\varepsilon`$ at most, also where nothing resists some motions. Rayleigh's quotient of the shapes then squares what is left of
//! the error.

use nalgebra::DMatrix;

use super::blocked::BlockedCholesky;
use super::error::{GoOn, LinearError};
use super::tridiagonal::eigen;

/// Steps in which a shift may grow until the shifted stiffness is definite, by ten each: from $`\sqrt\varepsilon`$ to beyond one.
const STEPS: i32 = 10;

const NOT_FINITE: LinearError = LinearError::NoModes {
    reason: "mass or stiffness is not finite",
};
/// What a mass matrix with a direction without inertia gives.
pub(super) const MASSLESS: LinearError = LinearError::NoModes {
    reason: "mass matrix is not positive definite; give every motion inertia",
};

/// Modes of symmetric matrices by rising $`\omega^2`$.
#[derive(Clone, Debug)]
pub(super) struct Symmetric {
    /// $`\omega^2`$; zero where it is no more than what the shift leaves of it.
    pub(super) squares: Vec<f64>,
    /// One column per mode, $`\Phi^TM\Phi = 1`$.
    pub(super) shapes: DMatrix<f64>,
}

impl Symmetric {
    /// Of a mass matrix and the symmetric part of a stiffness.
    ///
    /// # Errors
    /// When the mass matrix is not definite, a number is not finite, or the iteration does not converge or is stopped.
    pub(super) fn new(
        mass: &DMatrix<f64>,
        stiffness: &DMatrix<f64>,
        go_on: &mut GoOn<'_>,
    ) -> Result<Self, LinearError> {
        let size = mass.nrows();
        if stiffness.iter().chain(mass).any(|x| !x.is_finite()) {
            return Err(NOT_FINITE);
        }
        // the eigenvalue iteration knows no matrix without entries
        if size == 0 {
            return Ok(Self {
                squares: Vec::new(),
                shapes: DMatrix::zeros(0, 0),
            });
        }
        let stiffness = (stiffness + stiffness.transpose()) * 0.5;
        let inertia = BlockedCholesky::new(mass.clone(), go_on)?.ok_or(MASSLESS)?;
        let largest = reduced(&inertia, &stiffness, go_on)?.norm();
        let (factor, shift) = shifted(mass, &stiffness, largest, go_on)?;
        let inverse = reduced(&factor, mass, go_on)?;
        let (_, mut shapes) = eigen(inverse, go_on)?;
        factor.solve_upper(&mut shapes, go_on)?;
        // what the shift leaves of a zero
        let nothing = size as f64 * f64::EPSILON * shift;
        let [forces, momenta] = [&stiffness, mass].map(|matrix| matrix * &shapes);
        let mut found: Vec<(f64, usize)> = (0..size)
            .map(|mode| {
                let mut shape = shapes.column_mut(mode);
                let weight = shape.dot(&momenta.column(mode));
                let square = shape.dot(&forces.column(mode)) / weight;
                shape /= weight.sqrt();
                (if square.abs() <= nothing { 0.0 } else { square }, mode)
            })
            .collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let order: Vec<usize> = found.iter().map(|&(_, mode)| mode).collect();
        Ok(Self {
            squares: found.into_iter().map(|(square, _)| square).collect(),
            shapes: shapes.select_columns(&order),
        })
    }

    /// The largest $`|\omega^2|`$.
    pub(super) fn highest_square(&self) -> f64 {
        (self.squares.iter()).fold(0.0, |most, square| most.max(square.abs()))
    }

    /// A matrix in the coordinates of the modes, $`\Phi^TA\Phi`$.
    pub(super) fn project(&self, matrix: &DMatrix<f64>) -> DMatrix<f64> {
        self.shapes.transpose() * (matrix * &self.shapes)
    }
}

/// $`L^{-1}AL^{-T}`$ of a symmetric matrix.
fn reduced(
    factor: &BlockedCholesky,
    matrix: &DMatrix<f64>,
    go_on: &mut GoOn<'_>,
) -> Result<DMatrix<f64>, LinearError> {
    let mut half = matrix.clone();
    factor.solve_lower(&mut half, go_on)?;
    let mut whole = half.transpose();
    factor.solve_lower(&mut whole, go_on)?;
    if whole.iter().any(|x| !x.is_finite()) {
        return Err(MASSLESS);
    }
    Ok((&whole + whole.transpose()) * 0.5)
}

/// Factor of the shifted stiffness, and the shift.
fn shifted(
    mass: &DMatrix<f64>,
    stiffness: &DMatrix<f64>,
    largest: f64,
    go_on: &mut GoOn<'_>,
) -> Result<(BlockedCholesky, f64), LinearError> {
    // without any stiffness every shift will do
    let least = if largest > 0.0 {
        f64::EPSILON.sqrt() * largest
    } else {
        1.0
    };
    for step in 0..STEPS {
        let mut shift = least * 10.0_f64.powi(step);
        if BlockedCholesky::new(stiffness + mass * shift, go_on)?.is_none() {
            continue;
        }
        // one that just suffices for what grows would hide the rest behind it
        if step > 0 {
            shift *= 10.0;
        }
        if let Some(factor) = BlockedCholesky::new(stiffness + mass * shift, go_on)? {
            return Ok((factor, shift));
        }
    }
    Err(MASSLESS)
}
