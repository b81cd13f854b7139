//! Mechanisms in either formulation, and what is asked of them.
//!
//! The only crate that sees both formulations: [`Mechanism`] chooses one when it is built, and hands it to the studies of
//! `lissom-core`, which see neither. Users enter by the crate `lissom`, whose studies work with whole mechanisms; tests and benches reach what
//! stands behind it here.
//!
//! | module | does |
//! |---|---|
//! | [`model`] | from a checked spec to a [`model::Model`]: bodies reduced, coordinates laid out for a tree |
//! | [`simulate`] | what a tree says to the studies: equations of motion, equilibrium, derivatives |
//! | [`nodal_model`] | from a checked spec to a nodal mechanism, and what that says to the studies |
//! | [`Mechanism`] | a spec in its formulation |
//! | `analysis` | linear analyses of a mechanism |
//! | [`diagnose`] | what there is to know of a mechanism before anything is done with it |
//! | [`evaluate`] | the equations of a mechanism at one state |
//! | [`Evaluator`] | the same at many states, one quantity at a time |
//! | [`scene`] | what has to be known of a model to draw its recorded motion |

mod analysis;
mod build_error;
pub mod diagnose;
pub mod evaluate;
mod evaluator;
mod formulation;
mod mechanism;
pub mod model;
pub mod nodal_model;
pub mod scene;
pub mod simulate;
#[cfg(feature = "testing")]
pub mod testing;

pub use analysis::ModesOptions;
pub use build_error::BuildError;
pub use evaluator::{Evaluator, RowQuantity, StateRows};
pub use mechanism::Mechanism;
