//! Six-dimensional vector algebra with a type per quantity, over every [`Scalar`]; knows nothing of robots.
//!
//! A [`Scalar`] is what a recursion computes with: `f64`, [`Lanes`] (several runs side by side), [`Dual`] (exact
//! derivatives).
//!
//! Angular parts come first. A [`Motion`] (twist, acceleration) and a [`Force`] (wrench, momentum) are
//! dual: their product is a power. Every quantity is expressed in the frame of the body it belongs to
//! and taken at that frame's origin; a [`Transform`] carries it to another frame.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | $`V = [\omega; v]`$ | [`Motion`] | twist of a frame, at its origin |
//! | $`f = [n; f]`$ | [`Force`] | moment about the origin and force |
//! | $`M`$ | [`RigidInertia`] | mass, first moment, rotational inertia about the origin (10 numbers) |
//! | $`P`$ | [`ArticulatedInertia`] | any symmetric map from motion to force (21 numbers) |
//! | $`\phi^*`$ | [`Transform`] | pose of a child frame in its parent frame, with the maps it induces |
//! | $`x^\times`$ | [`Vector::cross`] | cross product |

mod inertia;
mod motion;
mod readable;
mod real;
mod rotation;
mod scalar;
pub mod simd;
mod transform;
mod vector;

pub use inertia::{ArticulatedInertia, RigidInertia};
pub use motion::{Force, Motion};
pub use readable::{readable, rounded};
pub use real::Real;
pub use rotation::{Quaternion, RotationVector, inverse_rate_matrix, rotation_vector_of};
pub use scalar::{Dual, Lanes, Pivot, Scalar};
pub use transform::Transform;
pub use vector::{Matrix, Symmetric, Vector};
