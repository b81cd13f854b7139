//! Trees of flexible bodies in relative coordinates: bodies before any motion, the recursions over them, and
//! the closures that make loops of them.
//!
//! | module | does |
//! |---|---|
//! | [`flex`] | one flexible body before any motion: beams, elements, nodes |
//! | [`System`] | the tree the recursions run on, valid or absent |
//! | [`tree`] | the recursions: inverse dynamics, mass matrix, accelerations in O(N) |
//! | [`Linkage`] | a tree with its closures and the names of its coordinates |
//! | [`closure`] | kinematic loops: their equations, rank, and how they are kept closed |

pub mod closure;
pub mod flex;
#[cfg(not(test))] // unit tests compile what they use
mod instances;
mod joint;
mod linkage;
mod system;
pub mod tree;

pub use closure::{Closure, ClosureEnd, ClosureKind, ClosureMethod};
pub use joint::{Joint, JointKind};
pub use linkage::{Linkage, Marker};
pub use lissom_numerics::{Coordinate, CoordinateKind};
pub use system::{Body, Layout, Place, System};
