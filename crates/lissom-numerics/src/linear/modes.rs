//! Natural frequencies, damping and mode shapes of linearised equations at one state.
//!
//! Without velocity terms they solve $`\det(\bar K - \omega^2 M) = 0`$ (Jonker & Aarts (33)), see `spectrum.rs`; with them
//! $`(\lambda^2 M + \lambda C + \bar K)\,\phi = 0`$, see `quadratic.rs`.

use nalgebra::{Complex, DMatrix, DVector};

use super::error::{LinearError, unwatched};
use super::frozen::Pencil;
use super::quadratic::{Growth, solved};
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
    /// Modes of a mass and a stiffness matrix; the stiffness may be indefinite and unsymmetric. Motions without inertia follow
    /// the others.
    ///
    /// # Errors
    ///
    /// When the mass matrix is indefinite, no eigenvalues are found, or some are complex (flutter).
    pub fn new(mass: &DMatrix<f64>, stiffness: &DMatrix<f64>) -> Result<Self, LinearError> {
        let size = mass.nrows();
        let whole = Pencil {
            mass: mass.clone(),
            damping: DMatrix::zeros(size, size),
            stiffness: stiffness.clone(),
            basis: DMatrix::identity(size, size),
            loops: None,
            gross: None,
        };
        let heavy = whole.condensed(0.0, &mut unwatched)?;
        let Spectrum { squares, shapes } =
            Spectrum::new(&heavy.mass, &heavy.stiffness, &mut unwatched)?;
        if squares.iter().any(|square| square.im != 0.0) {
            return Err(LinearError::Flutter);
        }
        let mut shapes = heavy.basis * shapes.map(|x| x.re);
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
    /// $`\lambda`$ of $`e^{\lambda t}`$; one of each conjugate pair, and both of two real ones.
    pub eigenvalue: Complex<f64>,
    /// Whether it grows.
    pub growth: Growth,
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
    /// When the mass matrix is not definite, or no eigenvalues are found.
    pub fn all(
        mass: &DMatrix<f64>,
        damping: &DMatrix<f64>,
        stiffness: &DMatrix<f64>,
    ) -> Result<Vec<Self>, LinearError> {
        let (symmetric, _, roots) = solved(mass, damping, stiffness, &mut unwatched)?;
        let shapes = symmetric.shapes.map(|x| Complex::new(x, 0.0));
        let mode = |index: usize| {
            let root = roots.root(index);
            let shape = &shapes * root.shape;
            let length = shape.norm();
            Self {
                eigenvalue: root.value,
                growth: root.growth,
                shape: shape / Complex::new(length, 0.0),
            }
        };
        Ok((0..roots.values().len()).map(mode).collect())
    }
}
