//! [`FeError`]: why a mesh cannot be read or reduced.

/// Why a mesh cannot be read or reduced, with the remedy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FeError {
    /// Whoever asked for the reduction ended it.
    #[error("the reduction was stopped")]
    Stopped,
    /// The text is not that of a mesh.
    #[error("line {line}: {message}")]
    Text {
        /// Line, from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// A hinged basis without two hinges.
    #[error(
        "the basis `hinged` is for a body that passive revolute, universal or spherical joints, without motor, spring, friction, limits or drive, hold at its first interface and at one more, and \
         nothing else, at least one of them with an axis across the line between them; take `craig_bampton`"
    )]
    NoHinges,
    /// A share of the deformation that modes do not reach.
    #[error(
        "{modes} modes leave out {left:.1e} of the deformation under accelerations, {accuracy:e} was asked for; ask for less, or give `modes` or `frequency_rad_per_s`"
    )]
    Inaccurate {
        /// The share that may be left out.
        accuracy: f64,
        /// Modes that were tried.
        modes: usize,
        /// The share that they leave out.
        left: f64,
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
    /// A node that an element has twice.
    #[error(
        "element {element} ({kind}) has node {node} twice; take tetrahedra where hexahedra would shrink to wedges"
    )]
    RepeatedNode {
        /// Number of the element in the file.
        element: usize,
        /// Its kind.
        kind: &'static str,
        /// Number of the node in the file.
        node: usize,
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
    #[error("the mesh has no physical group {group:?}; {}", groups(known))]
    UnknownGroup {
        /// The group.
        group: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// Two materials for one element.
    #[error(
        "element {element} is in the groups {:?} and {:?}, and a material is given for each; leave one of them out",
        groups[0], groups[1]
    )]
    MaterialsOfElement {
        /// The element.
        element: usize,
        /// The groups.
        groups: [String; 2],
    },
    /// A material of a group without elements.
    #[error(
        "a material is given for the group {group:?}, which has no solid elements; name the group of a volume"
    )]
    IdleMaterial {
        /// The group.
        group: String,
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
    /// Beams with what does not go with them.
    #[error(
        "the mesh has beams, which go neither with solid elements nor with materials of the model; write the matrices of the whole, and leave `material` out"
    )]
    BesideBeams,
    /// An interface of beams that is not one node.
    #[error(
        "interface {interface:?} has {count} nodes of beams; let it be one, for example by the group \"GRID 1\" of node 1"
    )]
    InterfaceOfBeams {
        /// The interface.
        interface: String,
        /// Its nodes.
        count: usize,
    },
    /// A mass that nothing carries.
    #[error(
        "the mass at node {node} hangs on no element; put it on a node of one, or make it a payload of the body at an interface"
    )]
    LooseMass {
        /// Number of the node.
        node: usize,
    },
    /// A mass that turns on a node that does not.
    #[error(
        "the mass at node {node} has an offset or moments of inertia, and nodes of solid elements do not turn; make it a payload of the body \
         at an interface"
    )]
    TurningMass {
        /// Number of the node.
        node: usize,
    },
    /// A matrix with different triangles.
    #[error(
        "the matrix is not symmetric: row {row}, column {column} holds {value:e}, row {column}, column {row} holds {mirrored:e}; mass and stiffness of an \
         undamped body at rest are symmetric"
    )]
    NotSymmetric {
        /// Row, from 1.
        row: usize,
        /// Column, from 1.
        column: usize,
        /// Its entry.
        value: f64,
        /// The mirrored one.
        mirrored: f64,
    },
    /// A matrix of one triangle that has both.
    #[error(
        "the matrix is said to be symmetric, so that one triangle stands for both, and has entries in row {row}, column {column} and in row {column}, column {row}; \
         write one triangle, or say that it is general (form 1 of DMIG)"
    )]
    BothTriangles {
        /// Row, from 1.
        row: usize,
        /// Column, from 1.
        column: usize,
    },
    /// Matrices that do not go with each other.
    #[error(
        "the stiffness matrix has {stiffness} rows, another one {other}; write all of them over the same unknowns"
    )]
    Sizes {
        /// Rows of the stiffness.
        stiffness: usize,
        /// Rows of the other.
        other: usize,
    },
    /// Matrices that do not go with the nodes.
    #[error(
        "the matrices have {rows} rows and there are {nodes} nodes, which is neither three nor six for each; name a file with a line node.direction per row as `unknowns`"
    )]
    Rows {
        /// Rows.
        rows: usize,
        /// Nodes.
        nodes: usize,
    },
    /// Matrices that do not go with their unknowns.
    #[error("the matrices have {rows} rows, and there are {unknowns} lines of unknowns")]
    Unknowns {
        /// Rows.
        rows: usize,
        /// Lines.
        unknowns: usize,
    },
    /// An unknown of a node that is not there.
    #[error("row {row} of the matrices is of node {node}, which is not in the mesh")]
    NoNode {
        /// Row, from 1.
        row: usize,
        /// Number of the node.
        node: usize,
    },
    /// An unknown twice.
    #[error("direction {direction} of node {node} has two rows in the matrices")]
    TwoRows {
        /// Number of the node.
        node: usize,
        /// Direction, from 1.
        direction: usize,
    },
    /// An unknown that is missing.
    #[error(
        "direction {direction} of node {node} has no row in the matrices; write them without supports, with all three displacements of every node"
    )]
    NoRow {
        /// Number of the node.
        node: usize,
        /// Direction, from 1.
        direction: usize,
    },
    /// A mass below zero.
    #[error("direction {direction} of node {node} has the mass {mass:e}, which is negative")]
    NegativeMass {
        /// Number of the node.
        node: usize,
        /// Direction, from 1.
        direction: usize,
        /// Its mass.
        mass: f64,
    },
    /// A mass by which something would move with a negative energy.
    #[error(
        "the mass matrix has {value:e} in row {row} and column {column}, more than the root of the product of {} and {} on its diagonal, so that a motion of both \
         would have a negative energy; is it the mass matrix, in the units of its file?", diagonal[0], diagonal[1]
    )]
    IndefiniteMass {
        /// Row, from 1.
        row: usize,
        /// Column, from 1.
        column: usize,
        /// Its entry.
        value: f64,
        /// What the diagonal has in that row and in that column.
        diagonal: [f64; 2],
    },
    /// A mass that depends on the direction.
    #[error(
        "the mass matrix moves {} kg along x, {} kg along y and {} kg along z: it is singular, or not that of a free body", masses[0], masses[1], masses[2]
    )]
    Masses {
        /// Mass along x, y, z.
        masses: [f64; 3],
    },
    /// A stiffness that holds the body.
    #[error(
        "the stiffness matrix resists a rigid {} {motion}, first in direction {direction} of node {node}; write it without supports and constraints, \
         and check unit and order of the nodes", if *.rotates { "rotation about" } else { "displacement along" }
    )]
    Supported {
        /// Axis of the motion.
        motion: &'static str,
        /// Whether it is a rotation.
        rotates: bool,
        /// Number of a node that is held.
        node: usize,
        /// Direction, from 1.
        direction: usize,
    },
    /// The stiffness falls apart.
    #[error("the stiffness matrix falls into {parts} parts that nothing couples, one of {nodes} nodes around ({}); join them, or make them bodies of their own", place(.at))]
    Uncoupled {
        /// How many parts.
        parts: usize,
        /// Nodes of a part that does not hang together with the first node.
        nodes: usize,
        /// One of them.
        at: [f64; 3],
    },
    /// More modes than there are.
    #[error(
        "{modes} modes were asked for, the body has {found}; {}",
        if *found == 0 { "the mass is singular: give mass to nodes that are not held" } else { "ask for fewer modes" }
    )]
    TooManyModes {
        /// Those asked for.
        modes: usize,
        /// Those there are.
        found: usize,
    },
    /// Shapes that move nothing.
    #[error(
        "the mass is singular: {shapes} of the {of} shapes of the basis move no mass; give mass to the nodes around the interfaces (sections given by `properties` need `section_inertia_y_kg_m` or \
         `section_inertia_z_kg_m` where something twists them), or take clamped_free modes"
    )]
    Massless {
        /// How many.
        shapes: usize,
        /// Of how many.
        of: usize,
    },
    /// A node that no body reaches.
    #[error("a node of the mesh lies at ({:e}, {:e}, {:e}) m, more than 1e9 m away; check unit_m and the file", at[0], at[1], at[2])]
    Far {
        /// Where.
        at: [f64; 3],
    },
    /// Masses and stiffnesses are too far apart for numbers.
    #[error(
        "no mode of the mesh is a number: its masses or stiffnesses are too small or too large; check unit_m, density_kg_per_m3 and youngs_modulus_pa"
    )]
    NoModes,
    /// A frequency below all modes.
    #[error(
        "no mode lies below frequency_rad_per_s = {frequency}, the lowest has {lowest:.5} rad/s; raise it, or ask for a number of `modes`"
    )]
    NoneBelow {
        /// The frequency.
        frequency: f64,
        /// That of the lowest mode.
        lowest: f64,
    },
    /// A frequency above too many modes.
    #[error(
        "more than {} modes lie below frequency_rad_per_s = {frequency}; lower it, or check unit_m, density_kg_per_m3 and youngs_modulus_pa",
        crate::modes::MOST_BELOW
    )]
    TooManyBelow {
        /// The frequency.
        frequency: f64,
    },
    /// The stiffness is not that of a body that is held.
    #[error(
        "the stiffness of the mesh is not positive definite near ({}), or is rounding alone there; is the mesh connected by more than an edge, and not many thousand times longer than thick?",
        place(.at)
    )]
    NotHeld {
        /// Where the factorisation failed.
        at: [f64; 3],
    },
    /// A member of a frame.
    #[error("member {} from {from:?} to {to:?}: {fault}", index + 1)]
    Member {
        /// Its number, from 0.
        index: usize,
        /// Where it begins.
        from: String,
        /// Where it ends.
        to: String,
        /// What is wrong with it.
        fault: MemberFault,
    },
    /// A place that a frame does not have.
    #[error("the frame has no node or place called {name:?}")]
    UnknownPlace {
        /// Its name.
        name: String,
    },
}

/// What is wrong with a member of a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemberFault {
    /// A node that is not there.
    #[error("there is no node {name:?}")]
    UnknownNode {
        /// Its name.
        name: String,
    },
    /// It begins where it ends.
    #[error("it has no length; its nodes are at one place")]
    NoLength,
    /// An arc through three points on a line.
    #[error(
        "its nodes and `arc_through_m` lie on a line; leave the key out, or take a point beside the chord"
    )]
    FlatArc,
    /// A curve that stays where it is.
    #[error("two points of its curve that follow each other are at one place; leave one out")]
    RepeatedPoint,
    /// A direction that says nothing about the section.
    #[error(
        "somewhere it runs along the direction of its section's z axis; give `z_direction`, across the member everywhere"
    )]
    AlongDirection,
    /// Nothing says what it looks like.
    #[error("it has no section")]
    NoSection,
    /// Nothing says what it is made of.
    #[error("it has no material")]
    NoMaterial,
    /// Sections of different kinds.
    #[error("nothing lies between two sections of different kinds; put a step there")]
    DifferentSections,
}

fn place(at: &[f64; 3]) -> String {
    let [x, y, z] = at;
    format!("{x:.6}, {y:.6}, {z:.6}")
}

/// The groups that there are, or how to have some.
fn groups(known: &[String]) -> String {
    if known.is_empty() {
        return "it has none: name surfaces and volumes (in Gmsh as physical groups, saved without Mesh.SaveAll and not in partitions)".to_owned();
    }
    format!("its groups are {}", known.join(", "))
}
