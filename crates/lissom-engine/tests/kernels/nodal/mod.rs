//! The nodal formulation: elements, transfer functions, dynamics, linearisation.

mod boundaries;
mod dynamics;
mod follower;
mod kinematics;
mod linear;
mod memory;
mod models;
mod sparse;
