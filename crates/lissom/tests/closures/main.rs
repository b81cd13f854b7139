//! Mechanisms with loops: every way to keep them closed, against each other and against closed forms.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic too")]

mod kinematics;
mod mechanisms;
mod memory;
mod methods;
mod reduced;
mod runs;
mod shipped;
