//! One flexible body, before any motion: from a beam or a set of nodes to a [`FlexibleBody`].
//!
//! The deformation of a body is measured in its own frame. A material point at `r` moves to
//!
//! ```math
//! p(\eta) = r + \sum_\alpha \psi_\alpha(r)\,\eta_\alpha
//!             - \tfrac12\, \eta^T S(r)\, \eta\; e_x ,
//! ```
//!
//! where the last term, the axial shortening of a bent beam, is there for beams only.

mod beam;
mod body;
mod centreline;
mod damping;
mod deformation;
mod eigen;
mod eigenfunctions;
mod elements;
mod error;
mod foreshortening;
mod groups;
mod integrals;
mod nodal;
mod packed;
mod quadrature;
mod shape;
mod share;
mod shortening;
mod strain;

pub use beam::{Basis, Beam, Membrane, ModeCounts, Segment};
pub use body::{
    AxialStrain, FlexibleBody, MassNode, ModalIntegrals, Node, ProductBlock, RigidMotions,
    Shortening,
};
pub use centreline::{Centreline, Section};
pub use damping::Damping;
pub use deformation::Deformation;
pub use eigenfunctions::Boundary;
pub use error::FlexError;
pub use nodal::{NodalBody, NodalMass};
pub(crate) use packed::{
    GROUP, Group, PackedShortening, PackedStrain, ShorteningInertia, ShorteningSums,
};
