//! Linearised equations of motion as data: matrices with names, modes, points along a motion, the perturbation
//! method. Formulations fill these structs; this module knows none of them.
//!
//! | job | where |
//! |---|---|
//! | $`M_0`$, $`C_0`$, $`K_0`$, $`N_0`$, $`G_0`$, $`B`$ at one state | [`Linearization`] |
//! | natural frequencies, damping, mode shapes at a state | [`UndampedModes`], [`DampedMode`] |
//! | the same followed along a motion | [`Frozen`], [`TrackedModes`] |
//! | the lowest modes of many coordinates | [`Lowest`] |
//! | $`\dot x = Ax + Bu`$, $`y = Cx + Du`$ | [`StateSpace`] |
//! | frequency response and transmission zeros | [`Transfer`] |
//! | points along a motion, interpolation, outputs to second order | [`LinearizedTrajectory`] |
//! | the time-varying system | [`Perturbed`] |
//! | controllers and actuators in the loop | [`Loops`], [`LoopStates`] |
//!
//! Source: Jonker & Aarts, *Multibody System Dynamics* 6 (2001). Theory: `docs/theory/nodal.md`.

mod assignment;
mod balance;
mod between;
mod blocked;
mod crossings;
mod error;
mod frozen;
mod inversion;
mod large;
mod linearization;
mod loops;
mod lowest;
mod massless;
mod modes;
mod perturbation;
mod quadratic;
mod rigid;
mod schur;
mod spectrum;
mod state_space;
mod symmetric;
mod tracking;
mod trajectory;
mod transfer;
mod tridiagonal;
mod weights;

pub use nalgebra::Complex;

pub use crossings::Crossing;
pub use error::{GoOn, LinearError, asking, unwatched};
pub use frozen::{Frozen, FrozenPoint};
pub use inversion::{Compensation, Driven, Inversion, invert};
pub use large::asks_for_few;
pub use linearization::{Label, Labels, Linearization};
pub use loops::{Actuation, LoopStates, Loops, LoopsBetween, Rows, Saturation};
pub use lowest::{Lowest, Products};
pub use modes::{DampedMode, UndampedModes};
pub use perturbation::Perturbed;
pub use quadratic::Growth;
pub use state_space::{SignalNames, StateSpace};
pub use tracking::{Encounter, ModeAt, TrackedModes};
pub use trajectory::{
    ChosenCoordinates, Dependence, Interpolation, LinearizedTrajectory, Output, Point, SensorRows,
    Terms, with_breaks,
};
pub use transfer::Transfer;

#[cfg(test)]
mod tests;
