//! Recursions over a tree of rigid and flexible bodies, in joint and elastic coordinates.
//!
//! \[Jain & Rodriguez 1992\] with the nonlinear terms of \[Damaren & Sharf 1995\]. Bodies stand parents
//! first, so an outward pass counts up and an inward pass counts down. One call of
//! [`Kinematics::update`] prepares a state; the algorithms read it:
//!
//! | job | function | equations |
//! |---|---|---|
//! | forces of a motion | [`inverse_dynamics`] | Jain & Rodriguez (44), (45) |
//! | mass matrix | [`mass_matrix`] | (50) |
//! | its diagonal, O(N) | [`mass_diagonal`] | |
//! | what has no inertia, O(N) | [`without_inertia`] | |
//! | accelerations, O(N) | [`ArticulatedBody`] | (63), (64) |
//! | the same for bodies with many modes | chosen by [`ArticulatedBody`] | (B3), corrected |
//! | the same with what implicit stages add, O(N) | [`StageInertia`], [`ArticulatedBody::factor_stage`] | |
//! | $`M^{-1}`$ as an operator | [`ArticulatedBody::solve`] | Lemma 4 |
//! | $`J M^{-1} J^T`$ at the ends of closures, O(N) | [`OperationalSpace`] | section VIII |
//! | velocity of a marker | [`marker_jacobian`] | (5), (11) |
//! | a frame up to its acceleration, and a wrench on it | [`frame_motion`], [`add_generalized_force`] | |
//! | sections of a beam, and what the mass between them needs | [`BeamSections`] | |
//! | energy and momentum | [`Energy`], [`momentum`] | |
//!
//! # Conventions
//!
//! A body's frame $`F_k`$ sits at its inboard node, or floats with the body when no material point is at
//! rest in it (free-free modes). With $`X`$ the motion transform from the parent frame, velocities are
//!
//! ```math
//! V_k = X\,(V_p + \Pi\,\dot\eta_p) + H\,\beta_k + B\,\dot\eta_k ,
//! ```
//!
//! where $`\Pi`$ is the twist that the parent's elastic rates give a frame carried by the outboard node,
//! seen at the parent's origin, and $`B`$ is minus the same for the inboard node of a floating frame.
//! Accelerations are component-wise derivatives of $`V`$ in $`F_k`$; in these terms
//!
//! ```math
//! A_k = X\,(A_p + \Pi\,\ddot\eta_p) + H\,\dot\beta_k + B\,\ddot\eta_k + \zeta_k ,
//! ```
//!
//! with the velocity product $`\zeta_k`$, and gravity is an upward acceleration of the ground. The papers
//! number bodies from the tip and use inertial derivatives; forces, mass matrix and accelerations of the
//! coordinates are the same.

mod any_shape;
mod articulated_body;
mod body_inertia;
mod displacement;
mod energy;
mod frame;
mod heavy_loads;
mod indirect_inverse;
mod inverse_dynamics;
mod jacobian;
mod kinematics;
mod lumped_nodes;
mod mass_matrix;
mod massless;
mod material_points;
mod membrane;
mod node;
mod operational_space;
mod points;
mod sections;
mod shortening;
mod stage_inertia;
mod stiffness;

use lissom_spatial::simd;

pub use articulated_body::ArticulatedBody;
pub use displacement::{difference, displace, displace_entries, node_rotation};
pub use energy::{Energy, center_of_mass, energy, momentum};
pub(crate) use frame::add_relative_force;
pub use frame::{FrameMotion, add_generalized_force, bias_accelerations, frame_motion};
pub use inverse_dynamics::{InverseDynamics, inverse_dynamics, inverse_dynamics_from};
pub use jacobian::{MarkerMotion, apply_wrench, marker_jacobian, marker_motion, specific_force};
pub use kinematics::Kinematics;
pub use mass_matrix::{CompositeBody, mass_diagonal, mass_matrix};
pub use massless::without_inertia;
pub use material_points::{HeldForces, MaterialPoints};
pub use node::keeps_second_order;
pub use operational_space::{OperationalSpace, Push};
pub use sections::BeamSections;
pub use stage_inertia::StageInertia;
pub use stiffness::{add_elastic_stiffness, add_tension_stiffness};
