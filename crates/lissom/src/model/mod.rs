//! From text to a system that cannot be wrong.

mod fidelity;
mod joint;
mod system;

pub use fidelity::{Fidelity, Inertia, NodeRotation, ShorteningTerms};
pub use joint::{Joint, JointKind};
pub use system::{Body, Layout, Place, System};
