//! From the text of a model file to a system that cannot be wrong.
//!
//! ```text
//! text ──parse──► ModelSpec ──check──► nothing left to say against it ──build──► Model (System and what acts on it)
//! ```
//!
//! [`ModelSpec`] is what the user wrote, as plain public structs: the same structs are filled from a TOML
//! file and by hand from Rust. Problems are data ([`ModelError`]) and are reported all at once, each with
//! the path of the offending key; [`ModelError::locate`] finds that path in the text.

mod action;
mod build;
mod coordinate;
mod fidelity;
mod joint;
pub mod spec;
mod system;
mod topology;

pub use action::{
    JointResistance, Limit, LimitedQuantity, Load, LoadTarget, Marker, PrescribedMotion,
    Resistance, Transmission,
};
pub use build::{BuildError, Model};
pub use coordinate::{Coordinate, CoordinateKind};
pub use fidelity::{Fidelity, Inertia, NodeRotation, ShorteningTerms};
pub use joint::{Joint, JointKind};
pub use spec::ModelSpec;
pub use system::{Body, Layout, Place, System};
