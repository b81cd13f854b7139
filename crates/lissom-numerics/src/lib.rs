//! Numerical methods that see vectors and traits only, never bodies.
//!
//! | module | does |
//! |---|---|
//! | [`integrate`] | solvers of differential equations of first and second order |
//! | [`statics`] | equilibrium under load: damped Newton, continuation of the load, stability |
//! | [`linear`] | linearised equations as data: modes, points along a motion, the perturbation method |
//! | [`Memory`] | what a computation remembers beside its state |

pub mod integrate;
pub mod linear;
mod memory;
pub mod statics;

pub use memory::{Memory, RecallError};
