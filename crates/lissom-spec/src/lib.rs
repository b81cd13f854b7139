//! The model file: what a user wrote, as plain public structs, with everything that is wrong with it.
//!
//! ```text
//! text ──parse──► ModelSpec ──check──► nothing left to say against it
//! ```
//!
//! [`ModelSpec`] is filled from a TOML file and by hand from Rust alike. Problems are data ([`ModelError`]) and are
//! reported all at once, each with the path of the offending key; [`ModelError::locate`] finds that path in the text.

mod attachments;
mod bounds;
mod check;
mod error;
mod fidelity;
mod parse;
mod path;
mod refinement;
mod schema;
pub mod spec;
mod spelling;
mod template;
mod topology;

pub use attachments::{Attachment, Turns};
pub use bounds::Bounds;
pub use check::limits::MOST_BEAM_FREEDOMS;
pub use error::{ErrorKind, FrameFault, ModelError};
pub use fidelity::{Elasticity, Fidelity, Inertia, ShorteningTerms, Tip};
pub use parse::{Override, WrittenNumbers};
pub use path::{Path, Step};
pub use refinement::{Discretization, Refined};
pub use schema::json_schema;
pub use spec::ModelSpec;
pub use spelling::nearest;
pub use template::TEMPLATE;
pub use topology::{SpanningTree, TreeJoint, carries_effort, is_acted_on, spanning_tree};
