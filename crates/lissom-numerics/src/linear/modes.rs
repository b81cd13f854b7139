//! Natural frequencies, damping and mode shapes of linearised equations at one state.
//!
//! Without damping they solve $`\det(\bar K - \omega^2 M) = 0`$ (Jonker & Aarts (33)), see `spectrum.rs`. With
//! damping, the eigenvalues of the first-order form are improved one by one on
//! $`(\lambda^2 M + \lambda C + \bar K)\,\phi = 0`$.

use nalgebra::{Complex, DMatrix, DVector};

use super::error::LinearError;
use super::spectrum::Spectrum;

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
        let Spectrum { squares, shapes } = Spectrum::new(mass, stiffness)?;
        if squares.iter().any(|square| square.im != 0.0) {
            return Err(LinearError::Flutter);
        }
        let mut shapes = shapes.map(|x| x.re);
        for mut shape in shapes.column_iter_mut() {
            let sign = shape[shape.iamax()].signum();
            shape *= sign;
        }
        Ok(Self {
            squares: squares.iter().map(|square| square.re).collect(),
            shapes,
        })
    }

    /// Natural frequencies; NaN for a mode that grows.
    pub fn frequencies(&self) -> Vec<f64> {
        self.squares.iter().map(|square| square.sqrt()).collect()
    }
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
