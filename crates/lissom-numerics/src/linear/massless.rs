//! Motions without inertia follow the others: $`Z^TMZ = 0`$, $`z = -(Z^TKZ)^{-1}Z^TK\,y`$ (static condensation, here exact).

use nalgebra::DMatrix;

use super::error::{GoOn, LinearError};
use super::frozen::Pencil;
use super::loops::LoopStates;
use super::tridiagonal::eigen;

/// Eigenvalues of a mass matrix of unit diagonal that are rounding, in rounding of its size.
const MASSLESS: f64 = 10.0;
/// Velocity terms on a motion without inertia, as a share of the largest, that are none.
const UNDAMPED: f64 = 1e-12;

impl Pencil {
    /// The motions that have inertia; the others follow. `time` is the instant.
    ///
    /// # Errors
    /// When nothing determines how the others follow, they are damped, or it is stopped.
    pub(super) fn condensed(self, time: f64, go_on: &mut GoOn<'_>) -> Result<Self, LinearError> {
        let size = self.mass.nrows();
        let unit = |i: usize| {
            let own = self.mass[(i, i)];
            if own > 0.0 { own.sqrt().recip() } else { 1.0 }
        };
        let scaled = DMatrix::from_fn(size, size, |i, j| unit(i) * self.mass[(i, j)] * unit(j));
        if size == 0 || scaled.iter().any(|x| !x.is_finite()) {
            return Ok(self);
        }
        let least = MASSLESS * size as f64 * f64::EPSILON;
        let factor = scaled.clone().cholesky();
        if factor.is_some_and(|factor| factor.l_dirty().diagonal().iter().all(|x| x * x > least)) {
            return Ok(self);
        }
        let (values, vectors) = eigen(scaled, go_on)?;
        let (heavy, light): (Vec<usize>, Vec<usize>) = (0..size).partition(|&i| values[i] > least);
        if light.is_empty() {
            return Ok(self);
        }
        let singular = LinearError::SingularMass { time_s: time };
        if light.iter().any(|&i| values[i] < -least) {
            return Err(singular);
        }
        let shapes = |of: &[usize]| {
            let mut shapes = vectors.select_columns(of);
            for (i, mut row) in shapes.row_iter_mut().enumerate() {
                row *= unit(i);
            }
            shapes
        };
        let (own, rest) = (shapes(&heavy), shapes(&light));
        let damped = (&self.damping * &rest)
            .amax()
            .max((rest.transpose() * &self.damping).amax());
        if damped > UNDAMPED * self.damping.amax() * rest.amax() {
            return Err(LinearError::NoModes {
                reason: "velocity terms act on a motion without inertia; give it inertia",
            });
        }
        let controlled = |loops: &LoopStates| loops.felt(&rest, UNDAMPED).amax() > 1.0;
        if self.loops.as_ref().is_some_and(controlled) {
            return Err(LinearError::NoModes {
                reason: "a controller with states acts on a motion without inertia; give it inertia",
            });
        }
        let follows = |stiffness: &DMatrix<f64>| {
            let felt = rest.transpose() * stiffness;
            let solved = (&felt * &rest).lu().solve(&(felt * &own))?;
            Some(&own - &rest * solved)
        };
        let right = follows(&self.stiffness).ok_or(singular.clone())?;
        let left = follows(&self.stiffness.transpose()).ok_or(singular)?;
        let project = |matrix: &DMatrix<f64>| left.transpose() * matrix * &right;
        Ok(Self {
            mass: project(&self.mass),
            damping: project(&self.damping),
            stiffness: project(&self.stiffness),
            basis: &self.basis * &right,
            loops: (self.loops.as_ref()).map(|loops| loops.projected(&left, &right)),
            gross: None,
        })
    }
}
