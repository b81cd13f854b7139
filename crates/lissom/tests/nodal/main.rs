//! The nodal formulation: elements, transfer functions, dynamics, linearisation, perturbation.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic too")]

mod boundaries;
mod dynamics;
mod kinematics;
mod linear;
mod memory;
mod models;
mod perturbation;
