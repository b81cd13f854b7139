//! From the text of a model file to a system that cannot be wrong.
//!
//! ```text
//! text ──parse──► ModelSpec ──check──► nothing left to say against it ──build──► Model (System and what acts on it)
//! ```
//!
//! [`ModelSpec`] is what the user wrote, as plain public structs: the same structs are filled from a TOML
//! file and by hand from Rust. Problems are data ([`ModelError`]) and are reported all at once, each with
//! the path of the offending key; [`ModelError::locate`] finds that path in the text.

mod build;
mod places;

pub(crate) use build::beam_of;
pub use build::{BuildError, Model};
pub use lissom_core::{
    Actions, AxisId, ControlLaw, ControlledAxis, Controller, Efforts, Gear, JointId,
    JointResistance, Limit, LimitedQuantity, Load, LoadTarget, MarkerId, Resistance, Toward,
};
pub use lissom_spec::{
    Elasticity, ErrorKind, Fidelity, Inertia, ModelError, ModelSpec, Override, Path,
    ShorteningTerms, SpanningTree, Step, TEMPLATE, Tip, TreeJoint, is_acted_on, json_schema,
    nearest, spanning_tree, spec,
};
pub use lissom_tree::closure::{AssemblyHints, HeldStart};
pub use lissom_tree::{
    Body, Closure, ClosureEnd, ClosureKind, ClosureMethod, Coordinate, CoordinateKind, Joint,
    JointKind, Layout, Linkage, Marker, Place, System,
};
pub(crate) use places::tip_name;
pub use places::{
    AxisPlace, BallJoint, CarryingJoint, Places, PrescribedMotion, Transmission, TreeAxis,
};
