//! [`FeError`]: why a mesh cannot be read or reduced.

/// Why a mesh cannot be read or reduced, with the remedy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FeError {
    /// The text is not that of a mesh.
    #[error("line {line}: {message}")]
    Text {
        /// Line, from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// There is nothing to reduce.
    #[error(
        "the mesh has no solid elements; mesh the volume with tetrahedra (4 or 10 nodes) or hexahedra (8 or 20 nodes)"
    )]
    NoSolids,
    /// An element is turned inside out or has no volume.
    #[error(
        "element {element} ({kind}) at ({}) is inverted or has no volume: the determinant of its Jacobian is {determinant:.3e} somewhere in it; \
         mend the mesh there, or number its nodes the other way round", place(.at)
    )]
    Inverted {
        /// Number of the element in the file.
        element: usize,
        /// Its kind.
        kind: &'static str,
        /// Its first node.
        at: [f64; 3],
        /// Smallest determinant.
        determinant: f64,
    },
    /// Elements of no material.
    #[error(
        "{count} elements {} have no material, the first is element {element}; add a material for the group, or one without a group for all that is left",
        group.as_ref().map_or_else(|| "outside every physical group".to_owned(), |group| format!("of group {group:?}"))
    )]
    NoMaterial {
        /// The group, if they have one.
        group: Option<String>,
        /// How many.
        count: usize,
        /// The first of them.
        element: usize,
    },
    /// A group that is not in the mesh.
    #[error("the mesh has no physical group {group:?}; its groups are {}", known.join(", "))]
    UnknownGroup {
        /// The group.
        group: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// Two materials for one group.
    #[error("two materials name the group {group:?}; leave one of them out")]
    TwoMaterials {
        /// The group.
        group: String,
    },
    /// An interface without nodes.
    #[error(
        "interface {interface:?} has no nodes of solid elements; put its surface into the physical group {group:?}, and mesh it together with the volume"
    )]
    EmptyInterface {
        /// The interface.
        interface: String,
        /// Its group.
        group: String,
    },
    /// An interface that cannot hold a frame.
    #[error(
        "the {count} nodes of interface {interface:?} lie on a line, which lets the body rotate about it; take a surface, or three nodes at least"
    )]
    InterfaceOnLine {
        /// The interface.
        interface: String,
        /// Its nodes.
        count: usize,
    },
    /// Two interfaces share a node.
    #[error("interfaces {first:?} and {second:?} share nodes; keep them apart, or make them one")]
    SharedNodes {
        /// One.
        first: String,
        /// The other.
        second: String,
    },
    /// The mesh falls apart.
    #[error("the mesh falls into {parts} parts that share no nodes, one of {elements} elements around ({}); merge coincident nodes, or mesh the parts as one", place(.at))]
    Unconnected {
        /// How many parts.
        parts: usize,
        /// Elements of a part that does not hang together with the first element.
        elements: usize,
        /// A node of it.
        at: [f64; 3],
    },
    /// More modes than unknowns.
    #[error("{modes} modes were asked for, the mesh has {unknowns} unknowns; ask for fewer modes")]
    TooManyModes {
        /// Those asked for.
        modes: usize,
        /// Those there are.
        unknowns: usize,
    },
    /// The stiffness is not that of a body that is held.
    #[error("the stiffness of the mesh is not positive definite near ({}); is the mesh connected there by more than an edge?", place(.at))]
    NotHeld {
        /// Where the factorisation failed.
        at: [f64; 3],
    },
}

fn place(at: &[f64; 3]) -> String {
    let [x, y, z] = at;
    format!("{x:.6}, {y:.6}, {z:.6}")
}
