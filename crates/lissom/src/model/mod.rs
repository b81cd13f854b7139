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
mod check;
mod closure;
mod coordinate;
mod error;
mod fidelity;
mod joint;
mod parse;
mod path;
mod schema;
pub mod spec;
mod spelling;
mod system;
mod template;
mod topology;

pub use action::{
    ControlLaw, ControlledJoint, Controller, JointResistance, Limit, LimitedQuantity, Load,
    LoadTarget, Marker, NominalMotion, PrescribedMotion, Resistance, Transmission,
};
pub(crate) use build::beam_of;
pub use build::{BuildError, Model};
pub use closure::{AssemblyHints, Closure, ClosureEnd, ClosureKind, ClosureMethod, HeldStart};
pub use coordinate::{Coordinate, CoordinateKind};
pub use error::{ErrorKind, ModelError};
pub use fidelity::{Elasticity, Fidelity, Inertia, ShorteningTerms, Tip};
pub use joint::{Joint, JointKind};
pub use parse::Override;
pub use path::{Path, Step};
pub use schema::json_schema;
pub use spec::ModelSpec;
pub use spelling::nearest;
pub use system::{Body, Layout, Place, System};
pub use template::TEMPLATE;
pub use topology::{SpanningTree, TreeJoint, spanning_tree};
