//! What the recursions cost: chains, loops and an arm to measure on, a scalar that counts operations, and a
//! stopwatch; and how the accuracy of a sliding beam falls with the step.

pub mod chain;
pub mod counted;
pub mod linear;
pub mod loops;
pub mod shuttle_arm;
pub mod sliding;
pub mod stopwatch;
