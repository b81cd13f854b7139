//! Finite elements with deformation parameters in absolute nodal coordinates: a formulation of its own.
//!
//! It shares nothing with `tree` and `flex` but vectors and integrators, so that their agreement is a
//! check. Source: Jonker & Aarts, *Multibody System Dynamics* 6 (2001). Theory: `docs/theory/nodal.md`.

mod assembly;
mod ball;
mod beam;
mod carried;
mod dynamics;
mod element;
mod equations;
mod error;
mod exchange;
mod factor;
mod forces;
mod fronts;
mod inertia;
mod joints;
mod linear;
mod mechanism;
mod node;
mod pass;
mod perturbation;
mod products;
mod role;
mod saddle;
mod shape;
mod statics;
mod tangent;

pub use assembly::{Assembly, End};
pub use beam::{BeamSection, SecondOrderTerms};
pub use carried::Carriers;
pub use dynamics::{Dynamics, Excitation, Unforced};
pub use element::ElementId;
pub use equations::{Energy, Equations};
pub use error::NodalError;
pub use exchange::Motion;
pub use forces::{AppliedForces, Forces, Readings, View};
pub use linear::State;
pub use mechanism::Mechanism;
pub use node::{Followed, NodeId, NodeKind, NodeState};
pub use perturbation::{displaced_nodes, labels, linearize_state};
pub use products::Products;
pub use role::{Drive, Role};
pub use shape::{BeamFigure, Figure, FigureKind};
pub use statics::StaticBalance;
pub use tangent::Weighted;
