//! One flexible body, before any motion: from a beam, a set of nodes or integrals over any shape to a [`FlexibleBody`].
//!
//! The deformation of a body is measured in its own frame. A material point at `r` moves to
//!
//! ```math
//! p(\eta) = r + \sum_\alpha \psi_\alpha(r)\,\eta_\alpha
//!             + \tfrac12 \sum_{\alpha\beta} H_{\alpha\beta}(r)\,\eta_\alpha\eta_\beta ,
//! ```
//!
//! where the last term is the shortening of a bent beam and what couples its bending and torsion, or what the source of
//! a body of another shape says of it; bodies of lumps have none.

mod beam;
mod body;
mod carried;
mod centreline;
mod damping;
mod deformation;
mod eigen;
mod eigenfunctions;
mod elements;
mod equivalent_points;
mod error;
mod foreshortening;
mod groups;
mod integrals;
mod nodal;
mod packed;
mod quadrature;
mod reduced;
mod second_order;
mod shape;
mod share;
mod spanned;
mod stepped;
mod strain;
mod symmetric;

pub use beam::{Basis, Beam, CutBeam, Functions, Membrane, ModeCounts, Segment};
pub use body::{
    AxialStrain, FlexibleBody, MassNode, ModalIntegrals, Node, ProductBlock, RigidMotions,
};
pub(crate) use carried::{CarriedKind, carried};
pub use centreline::{Centreline, Section};
pub use damping::Damping;
pub use deformation::Deformation;
pub use eigenfunctions::Boundary;
#[cfg(test)]
pub(crate) use equivalent_points::EquivalentPoint;
pub(crate) use equivalent_points::equivalent_points;
pub use error::FlexError;
pub use nodal::{NodalBody, NodalMass};
pub(crate) use packed::{
    GROUP, Group, PackedBlock, PackedField, PackedLine, PackedStrain, ShorteningInertia,
    ShorteningSums,
};
pub(crate) use reduced::SUMS;
pub use reduced::{ReducedBody, SecondOrderIntegrals};
pub use second_order::{Component, SecondOrderBlock, SecondOrderField};
pub(crate) use spanned::SpannedField;
