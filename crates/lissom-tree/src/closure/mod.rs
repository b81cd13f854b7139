//! Kinematic loops: closures over the tree, and the equations of motion that keep them closed.
//!
//! | job | file |
//! |---|---|
//! | residual, Jacobian and bias of all closures at a state | `constraint.rs`: [`Constraints`] |
//! | one equation of a closure | `equation.rs` |
//! | which coordinates move a closure | `support.rs` |
//! | what slides along a beam | `sliding.rs` |
//! | which equations are independent, how many degrees of freedom remain | `rank.rs`: [`row_rank`], [`mobility`] |
//! | accelerations and projection under every method | `loops.rs`: [`Loops`] |
//! | what is looked at after every step | `loops/watch.rs` |
//! | what is remembered from one evaluation to the next | `loops/memory.rs` |
//! | independent coordinates | `complement.rs` |
//! | multipliers | `multipliers.rs` |
//! | singular values loop by loop, forces that closures balance | `decomposition.rs`: [`unbalanced`] |
//! | from approximate to closed configurations, direct and inverse kinematics | `assembly.rs`: [`close`] |
//!
//! The equations are in `docs/theory/loops.md`.

mod assembly;
mod complement;
mod constraint;
mod decomposition;
mod definition;
mod equation;
mod error;
mod loops;
mod multipliers;
mod rank;
mod sliding;
mod solver;
mod support;

pub use assembly::{
    AssemblyError, Closed, CoordinateLimit, Diagnosis, MarkerTarget, Targets, assemble,
    choose_components, close, close_nearby, diagnose,
};
pub use complement::ReducedEquations;
pub use constraint::Constraints;
pub use decomposition::unbalanced;
pub use definition::{AssemblyHints, Closure, ClosureEnd, ClosureKind, ClosureMethod, HeldStart};
pub use error::{ClosureError, Repartition, Singularity, Trouble};
pub use loops::{Loops, Unclosed, articulated_body};
pub use rank::{Mobility, Rank, mobility, pivot_columns, row_rank};

use crate::System;
use crate::tree::{CompositeBody, InverseDynamics};

/// Memory of the recursions that a method uses.
#[derive(Clone, Debug)]
struct Workspace {
    inverse: InverseDynamics<f64>,
    composite: CompositeBody<f64>,
}

impl Workspace {
    fn new(system: &System) -> Self {
        Self {
            inverse: InverseDynamics::new(system),
            composite: CompositeBody::new(system),
        }
    }
}
