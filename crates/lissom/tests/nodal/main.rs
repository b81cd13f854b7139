//! The nodal formulation: elements, transfer functions, dynamics, linearisation, perturbation.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic too")]

mod models;
mod spin_up;
mod linear;
mod statics;
mod perturbation;
