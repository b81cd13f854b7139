//! What the command can do, one module per verb.

pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod eval;
pub(crate) mod new;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod schema;
mod understanding;
pub(crate) mod validate;
