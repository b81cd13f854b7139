//! Whether somebody wants a reduction to end: asked every now and then, since that of a large mesh takes its time.

/// Says whether the work should end. Once it has said so, it goes on saying so.
pub type Stop<'a> = &'a dyn Fn() -> bool;

/// Nobody ends the work.
pub const NEVER: Stop<'static> = &|| false;
