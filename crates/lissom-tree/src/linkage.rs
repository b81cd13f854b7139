//! [`Linkage`]: a tree with what closes its loops, and the names of its coordinates.

use crate::closure::{Closure, ClosureMethod};
use crate::system::{Place, System};
use lissom_numerics::Coordinate;

/// A tree of bodies, the closures that make loops of it, and the places and coordinates that have names.
#[derive(Clone, Debug)]
pub struct Linkage {
    /// The tree.
    pub system: System,
    /// What makes loops of the tree.
    pub closures: Vec<Closure>,
    /// How the equations of the loops are formed.
    pub closure_method: ClosureMethod,
    /// Entries of the velocity vector whose motion is given as a function of time.
    pub prescribed: Vec<usize>,
    /// Places whose motion is recorded and where forces may act.
    pub markers: Vec<Marker>,
    /// Name and unit of every entry of the position vector.
    pub positions: Vec<Coordinate>,
    /// Name and unit of every entry of the velocity vector.
    pub velocities: Vec<Coordinate>,
}

/// A place whose motion is recorded and where a force may act.
#[derive(Clone, Debug)]
pub struct Marker {
    /// Name, unique among markers.
    pub name: String,
    /// Index of the body; `None` is the ground.
    pub body: Option<usize>,
    /// Where on the body.
    pub place: Place,
}
