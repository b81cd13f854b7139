//! Kinematic loops: closures over the tree, and the equations of motion that keep them closed.
//!
//! | job | file |
//! |---|---|
//! | residual, Jacobian and bias of all closures at a state | [`constraint`](Constraints) |
//! | which equations are independent, how many degrees of freedom remain | [`rank`](row_rank) |
//! | from approximate to closed configurations, direct and inverse kinematics | [`assembly`](close) |
//!
//! The theory is in `docs/theory/loops.md`.

mod assembly;
mod constraint;
mod rank;
mod solver;

pub use assembly::{
    AssemblyError, Closed, Diagnosis, MarkerTarget, Targets, assemble, close, diagnose,
};
pub use constraint::Constraints;
pub use rank::{Mobility, Rank, mobility, row_rank};
