//! From a mesh of solid elements to a body reduced to elastic coordinates.
//!
//! | module | does |
//! |---|---|
//! | `mesh`, `gmsh`, `abaqus` | nodes, elements and named groups; from the text of a Gmsh or Abaqus file |
//! | `shape` | shape functions and quadrature of the elements |
//! | `elements` | mass, stiffness and third derivative of the strain energy of a mesh |
//! | `ties` | unknowns: free nodes, and interfaces that move as rigid bodies |
//! | `cholesky` | sparse factorisation by nested dissection |
//! | `modes` | lowest modes by block Krylov iteration |
//! | `reduce` | bases, modal integrals and second-order displacements |
//!
//! There are no files and no threads here.

mod abaqus;
mod cholesky;
mod elements;
mod error;
mod gmsh;
mod mesh;
mod modes;
mod reduce;
mod second_order;
mod shape;
#[cfg(test)]
mod tests;
mod ties;

pub use abaqus::parse as parse_abaqus;
pub use error::FeError;
pub use gmsh::parse as parse_gmsh;
pub use mesh::{Group, Mesh, Solid};
pub use reduce::{Reduction, Residual, Source, reduce};
pub use shape::Kind;
