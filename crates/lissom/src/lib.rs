#![doc = include_str!("../README.md")]
//!
//! # Modules, in reading order
//!
//! | module | does |
//! |---|---|
//! | [`spatial`] | scalars, twists, wrenches, inertias, poses, rotations (`lissom-spatial`) |
//! | [`integrate`], [`linear`], [`statics`] | solvers that see vectors only (`lissom-numerics`) |
//! | [`flex`], [`tree`], [`closure`] | flexible bodies, recursions, loops (`lissom-tree`) |
//! | [`nodal`] | finite elements in nodal coordinates, a second formulation that knows nothing of the first (`lissom-nodal`) |
//! | [`model`] | from the text of a model (`lissom-spec`) to a [`model::Model`] |
//! | [`simulate`] | loads over time, equations of motion, run, audit, recording |
//! | [`nodal`] | a model as a nodal mechanism, and its run: where both formulations start from one file |
//! | [`diagnose`] | what there is to know of a mechanism before anything is done with it |
//! | [`evaluate`] | the equations of a mechanism at one state |
//! | [`analysis`] | linear analyses of a model in either formulation |
//! | [`compare`] | fidelities side by side: differences of runs, and which terms matter |
//! | [`scene`] | what has to be known of a model to draw its recorded motion |

pub mod analysis;
pub mod compare;
pub mod diagnose;
pub mod evaluate;
mod mechanism;
pub mod model;
pub mod nodal_model;
pub mod scene;
pub mod simulate;
mod simulation;
#[cfg(feature = "testing")]
pub mod testing;

pub use diagnose::Diagnosis;
pub use lissom_core::{
    Kind, Quantity, RunError, Signal, SignalId, Signals, Source, Stage, State, StateError, study,
};
pub use lissom_nodal as nodal;
pub use lissom_numerics::{integrate, linear, statics};
pub use lissom_spatial as scalar;
pub use lissom_spatial as spatial;
pub use lissom_tree::{closure, flex, tree};
pub use mechanism::{BuildError, Mechanism};
pub use simulation::{Inputs, Simulation};

/// The examples of the README of the repository, which are tests like those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct RepositoryReadme;
