//! Dynamics of robot manipulators whose links bend.

pub mod flex;
pub mod integrate;
pub mod model;
mod readable;
pub mod scalar;
pub mod simulate;
pub mod spatial;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tree;
