//! A mechanism at one state: [`Mechanism::evaluate`](crate::Mechanism::evaluate), kinematics, and what it is at a marker.

pub use crate::end_effector::{EndEffector, end_effector};
pub use lissom_engine::evaluate::*;
