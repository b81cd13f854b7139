//! From the text of a model file to a description that holds together.
//!
//! ```text
//! text ──parse──► ModelSpec ──check──► nothing left to say against it
//! ```
//!
//! [`ModelSpec`] is what the user wrote, as plain public structs: the same structs are filled from a TOML
//! file and by hand from Rust. Problems are data ([`ModelError`]) and are reported all at once, each with
//! the path of the offending key; [`ModelError::locate`] finds that path in the text.

mod check;
mod error;
mod parse;
mod path;
mod schema;
pub mod spec;
mod spelling;
mod template;
mod topology;

pub use error::{ErrorKind, ModelError};
pub use parse::Override;
pub use path::{Path, Step};
pub use schema::json_schema;
pub use spec::ModelSpec;
pub use template::TEMPLATE;
pub use topology::tree_order;
