//! What the recursions cost: chains, loops and an arm to measure on, a scalar that counts operations, and a
//! stopwatch; what integrators spend for their error; how the accuracy of a sliding beam falls with the step; a day of
//! simulated time; and many short runs on two threads.

pub mod batches;
pub mod chain;
pub mod counted;
pub mod day;
pub mod linear;
pub mod loops;
pub mod meshes;
pub mod nodal;
pub mod shuttle_arm;
pub mod sliding;
pub mod stiff;
pub mod stopwatch;
pub mod sweeps;
