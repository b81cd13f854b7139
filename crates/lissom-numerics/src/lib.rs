//! Numerical methods that see vectors and traits only, never bodies.
//!
//! | module | does |
//! |---|---|
//! | [`integrate`] | solvers of differential equations of first and second order |
//! | [`statics`] | equilibrium under load: damped Newton, continuation of the load, stability |
//! | [`linear`] | linearised equations as data: modes, points along a motion, the perturbation method |
//! | [`least_squares`](fn@least_squares) | parameters for which residuals are smallest, with their covariance |
//! | [`Random`] | random numbers by seed, stream and place |
//! | [`normal_quantile`], [`student_quantile`] | quantiles of distributions |
//! | [`PivotedQr`] | factors of rectangular matrices, their rank and least squares |
//! | [`Coordinate`] | name and unit of an entry of a state |
//! | [`Memory`] | what a computation remembers beside its state |

mod coordinate;
mod distribution;
pub mod integrate;
mod least_squares;
pub mod linear;
mod memory;
mod qr;
mod random;
pub mod statics;

pub use coordinate::{Coordinate, CoordinateKind};
pub use distribution::{normal_quantile, student_quantile};
pub use least_squares::{
    Combination, Held, LeastSquares, LeastSquaresError, Unknown, least_squares,
};
pub use memory::{Memory, RecallError};
pub use qr::PivotedQr;
pub use random::Random;
