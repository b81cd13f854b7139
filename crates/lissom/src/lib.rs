#![doc = include_str!("../README.md")]
//!
//! # Modules, in reading order
//!
//! | module | does | knows of |
//! |---|---|---|
//! | [`scalar`] | the numbers the recursions compute with: `f64`, lanes, dual numbers | nothing |
//! | [`spatial`] | twists, wrenches, inertias, poses, rotations | `scalar` |
//! | [`integrate`] | solvers of differential equations that see vectors only | nothing |
//! | [`flex`] | one flexible body before any motion: beams, elements, nodes | `spatial`, `scalar` |
//! | [`model`] | from the text of a model to a [`model::System`] that cannot be wrong | `flex`, `integrate`, `spatial`, `scalar` |
//! | [`linear`] | linearised equations as data: modes, points along a motion, the perturbation method | `integrate`, `spatial` |
//! | [`statics`] | equilibrium under load: damped Newton, continuation of the load, stability | nothing |
//! | [`nodal`] | finite elements in nodal coordinates: a second formulation that knows nothing of the first | `statics`, `linear`, `integrate`, `spatial`, `scalar` |
//! | [`tree`] | the recursions: inverse dynamics, mass matrix, accelerations in O(N) | `model`, `flex`, `spatial`, `scalar` |
//! | [`closure`] | kinematic loops: their equations, rank, and how they are kept closed | `tree` and what it knows, `integrate` |
//! | [`simulate`] | loads over time, equations of motion, run, audit, recording | all of these |
//! | [`mesh`] | a model as a nodal mechanism, and its run: where both formulations start from one file | `model`, `nodal`, `simulate` |
//! | [`analysis`] | linear analyses of a model in either formulation | all of these |
//! | [`scene`] | what has to be known of a model to draw its recorded motion | all of these |

pub mod analysis;
pub mod closure;
pub mod flex;
pub mod integrate;
pub mod linear;
pub mod mesh;
pub mod model;
pub mod nodal;
mod readable;
pub mod scalar;
pub mod scene;
pub mod simulate;
pub mod spatial;
pub mod statics;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tree;

/// The examples of the README of the repository, which are tests like those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct RepositoryReadme;
