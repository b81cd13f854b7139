//! Mechanisms with loops: every way to keep them closed, against each other and against closed forms.

mod kinematics;
mod mechanisms;
mod memory;
mod methods;
mod mobility;
mod reduced;
mod runs;
mod shipped;
pub(crate) use mechanisms::four_bar_angles;
