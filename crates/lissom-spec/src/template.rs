//! The model that `lissom new` writes.

/// A planar arm of two flexible links with a payload, commented for a reader who sees the format for the
/// first time.
pub const TEMPLATE: &str = include_str!("template.toml");
