//! Identities that the recursions must satisfy on random trees in which everything occurs.
//!
//! Derivatives are exact: dual numbers go through the same kernels. Where a test says "material points",
//! the truth is a second formulation that shares nothing with the recursions but the poses of the bodies.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic too")]

mod derivatives;
mod equivalences;
mod lagrange;
mod material_points;
mod momentum;
mod rigid_limit;
mod round_trip;
mod scalars;
mod tools;
