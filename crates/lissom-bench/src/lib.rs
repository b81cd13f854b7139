//! What the recursions cost: chains and loops to measure on, a scalar that counts operations, and a stopwatch.

pub mod chain;
pub mod counted;
pub mod loops;
pub mod stopwatch;
