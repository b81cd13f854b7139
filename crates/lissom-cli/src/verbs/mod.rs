//! What the command can do, one module per verb.

pub(crate) mod body;
pub(crate) mod check;
pub(crate) mod compare;
mod configuration;
pub(crate) mod converge;
pub(crate) mod equilibrium;
pub(crate) mod eval;
pub(crate) mod fit;
pub(crate) mod inverse;
mod linear;
pub(crate) mod linearize;
pub(crate) mod map;
pub(crate) mod modes;
pub(crate) mod new;
pub(crate) mod perturb;
pub(crate) mod report;
pub(crate) mod response;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod sweep;
pub(crate) mod validate;
