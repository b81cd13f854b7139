//! From a checked spec to the tree that the recursions run on, with everything that acts on it.

mod bases;
mod build;
mod gauge;
mod places;
mod rigid;

pub use bases::ChosenFunctions;
pub(crate) use bases::chosen_bases;
pub use build::{BuildError, LoadedBeam, Model, StartChange};
pub(crate) use build::{beam_of, places_in_use};
pub(crate) use places::tip_name;
pub use places::{
    AxisPlace, BallJoint, CarryingJoint, Places, PrescribedMotion, Transmission, TreeAxis,
};
pub(crate) use rigid::rigid_counterpart;
