//! Equilibrium under load: damped Newton's iteration and continuation of the load. Formulations say how the forces on
//! their coordinates balance ([`Balance`]); this module knows none of them.
//!
//! With the load scaled by $`\mu`$ from 0 to 1, coordinates $`q`$ and forces of closures $`\lambda`$ solve
//!
//! ```math
//! r(q, \lambda; \mu) = 0 , \qquad \Phi(q) = 0 .
//! ```
//!
//! The whole load is tried first, then parts of it, each from the equilibrium under the part before. A step of Newton's
//! iteration is shortened until the correction that the same matrix would make next is smaller: the natural monotonicity
//! test, which does not depend on units of forces \[Deuflhard, *Newton Methods for Nonlinear Problems*, 2004, ch. 3\].
//! Where the matrix is singular it is solved in the sense of least squares, so that redundant closures share their load and
//! coordinates that nothing holds or pushes stay where they are.

mod continuation;
mod error;
mod newton;
mod pseudo_transient;
pub(crate) mod solve;
mod stability;

use nalgebra::{DMatrix, DVector};

pub use continuation::{Equilibrium, equilibrium};
pub use error::{Failure, NoEquilibrium};
pub use stability::{Stability, stability};

/// Forces of a mechanism at rest, and how they change.
///
/// Unknowns are changes of coordinates, then forces of closures; equations are the forces on the coordinates, then the
/// closures.
pub trait Balance {
    /// Where the mechanism is: coordinates and forces of closures.
    type Place: Clone;
    /// Why it cannot be somewhere.
    type Error;

    /// A large change of every unknown, in its unit: a radian, a length of the body. Infinite for forces of closures,
    /// which may be as large as they come.
    fn scales(&self) -> &[f64];

    /// What every equation lacks at a place under a part of the load. Returns the largest force at work, beside
    /// which that is to be small.
    ///
    /// # Errors
    /// When the mechanism cannot be there.
    fn evaluate(
        &mut self,
        place: &Self::Place,
        load: f64,
        residual: &mut DVector<f64>,
    ) -> Result<f64, Self::Error>;

    /// Derivatives of all equations by all unknowns.
    ///
    /// # Errors
    /// When the mechanism cannot be there.
    fn stiffness(&mut self, place: &Self::Place, load: f64) -> Result<DMatrix<f64>, Self::Error>;

    /// Where a share of a change leads.
    fn displaced(&self, place: &Self::Place, change: &DVector<f64>, share: f64) -> Self::Place;

    /// Name of a coordinate or closure.
    fn name(&self, unknown: usize) -> String;
}
