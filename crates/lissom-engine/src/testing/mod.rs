//! Random mechanisms for property tests: every kind of body, joint and attachment, from a seed.
//!
//! A [`Variety`] says what may occur; [`Variety::mechanism`] writes a model as a user would, and
//! [`random_state`] a state in which joints turn freely and bodies bend as far as their theory allows. The
//! numbers come from a generator of this module, so that a seed means the same tree for ever.

mod random;
mod state;
mod variety;

pub use random::Random;
pub use state::{RandomState, random_state};
pub use variety::{RandomBody, RandomJoint, Variety};
