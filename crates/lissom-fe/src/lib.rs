//! From a mesh of solid elements, a frame of beams or matrices of another program to a body reduced to elastic coordinates.
//!
//! | module | does |
//! |---|---|
//! | `mesh`, `gmsh`, `abaqus`, `nastran` | nodes, elements and named groups; from the text of a Gmsh, Abaqus or Nastran file |
//! | `matrix`, `table`, `imported` | mass and stiffness of another program over a table of nodes |
//! | `finite_elements`, `solids`, `beams` | what a reduction asks of a body of elements; solids and beams say it |
//! | `frame`, `curve`, `bars` | beams from what the model says of a frame, and their lines; beams of a mesh file |
//! | `shape` | shape functions and quadrature of the elements |
//! | `elements` | mass, stiffness and third derivative of the strain energy of a mesh |
//! | `ties` | unknowns: free nodes, and interfaces whose frames move with them |
//! | `structure` | stiffness and mass over unknowns, seen from a frame of reference |
//! | `cholesky`, `dense` | sparse factorisation by nested dissection, and of its dense fronts |
//! | `modes` | lowest modes by block Krylov iteration |
//! | `basis`, `hinged` | the shapes in which a structure deforms, and the frame of one that hinges at both ends |
//! | `surface` | what a body looks like, with stress |
//! | `block` | a mesh to try reductions on |
//! | `stop` | whether somebody wants the work to end |
//! | `reduce`, `second_order` | modal integrals and second-order displacements |
//!
//! There are no files and no threads here.

mod abaqus;
mod bars;
mod basis;
mod beams;
mod block;
mod cholesky;
mod curve;
mod dense;
mod elements;
mod error;
mod finite_elements;
mod frame;
mod gmsh;
mod hinged;
mod imported;
mod matrix;
mod mesh;
mod modes;
mod nastran;
mod quadrature;
mod reduce;
mod second_order;
mod shape;
mod solids;
mod stop;
mod structure;
mod surface;
mod table;
#[cfg(test)]
mod tests;
mod ties;

pub use abaqus::parse as parse_abaqus;
pub use basis::{Attached, Chosen};
pub use block::{block, block_spec};
pub use error::{FeError, MemberFault};
pub use frame::reduce_frame;
pub use gmsh::parse as parse_gmsh;
pub use imported::{Matrices, reduce_matrices};
pub use matrix::Matrix;
pub use mesh::{Bar, Group, Lump, Mesh, Solid};
pub use nastran::{Dmig, dmig_matrices, is_dmig, parse as parse_nastran, parse_dmig};
pub use reduce::{Reduction, Residual, Source, reduce};
pub use shape::Kind;
pub use stop::{NEVER, Stop};
pub use table::{parse_nodes, parse_unknowns};
