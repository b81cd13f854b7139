//! What the sections of a beam carry along: their centres, and directions fixed to them.
//!
//! The mass of a section at $`(y, z)`$ sits at $`c + y\,d_y + z\,d_z`$, with the centre $`c`$ on the axis and the directions
//! $`d = R\,e`$ of the section. As its centre is that of its mass and y and z are its principal axes, sums over the
//! section are those of three vectors: $`\int p\,p^T dm = m\,cc^T + m_y\,d_yd_y^T + m_z\,d_zd_z^T`$. All three are quadratic in
//! the elastic coordinates, with
//!
//! ```math
//! d = e + \theta\times e + \vartheta_2\times e + \tfrac12\,\theta\times(\theta\times e) .
//! ```

use std::ops::Range;

use super::body::{FlexibleBody, MassNode};
use super::second_order::{Component, SecondOrderField};
use lissom_spatial::Vector;

/// A vector that every section of a beam carries along, quadratic in the elastic coordinates.
pub(crate) struct Carried {
    /// Which vector.
    pub(crate) kind: CarriedKind,
    /// Its parts of second order. Coordinates occur once at most among the blocks of one component.
    pub(crate) blocks: Vec<CarriedBlock>,
}

/// Which vector a section carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CarriedKind {
    /// The place of its centre.
    Centre,
    /// Its direction along y (1) or z (2).
    Direction(usize),
}

/// The part of one component of a vector that comes from two groups of coordinates, as in
/// [`SecondOrderBlock`](super::SecondOrderBlock).
pub(crate) struct CarriedBlock {
    /// Component of the vector.
    pub(crate) component: usize,
    /// Coordinates of the rows.
    pub(crate) rows: Range<usize>,
    /// Coordinates of the columns.
    pub(crate) columns: Range<usize>,
    /// Entries of the Hessian, rows × columns by rows, at every mass node.
    pub(crate) entries: Vec<Vec<f64>>,
}

impl CarriedKind {
    /// The vector in the undeformed beam: its only component, and its size there.
    pub(crate) fn undeformed(self, mass_node: &MassNode) -> (usize, f64) {
        match self {
            Self::Centre => (0, mass_node.node.position[0]),
            Self::Direction(axis) => (axis, 1.0),
        }
    }

    /// Mass that its square is weighted with.
    pub(crate) fn weight(self, mass_node: &MassNode) -> f64 {
        match self {
            Self::Centre => mass_node.mass,
            Self::Direction(axis) => mass_node.second_moment[axis][axis],
        }
    }

    /// Its first-order change per unit of a coordinate.
    pub(crate) fn influence(self, mass_node: &MassNode, alpha: usize) -> [f64; 3] {
        match self {
            Self::Centre => mass_node.node.displacement[alpha],
            Self::Direction(axis) => {
                Vector(mass_node.node.rotation[alpha])
                    .cross(Vector::axis(axis))
                    .0
            }
        }
    }
}

/// The vectors of a beam that have a second-order part. Sections of beams without torsion functions turn to first
/// order: what that leaves out of their rotary inertia is less than the shortening by the square of their radius of
/// gyration over the length.
pub(crate) fn carried(body: &FlexibleBody, field: &SecondOrderField) -> Vec<Carried> {
    let mut all = vec![centre(body, field)];
    if field.twists() {
        let directions = [1, 2].map(|axis| direction(body, field, axis));
        all.extend(directions.into_iter().flatten());
    }
    all
}

fn centre(body: &FlexibleBody, field: &SecondOrderField) -> Carried {
    let mut blocks: Vec<CarriedBlock> = Vec::new();
    for (index, block) in field.blocks.iter().enumerate() {
        let Component::Displacement(component) = block.component else {
            continue;
        };
        let at_node = |mass_node: &MassNode| {
            let entries = field.entries(&mass_node.node.second_order).nth(index);
            entries.map_or_else(Vec::new, |(_, entries)| entries.to_vec())
        };
        blocks.push(CarriedBlock {
            component,
            rows: block.rows.clone(),
            columns: block.columns.clone(),
            entries: body.mass_nodes.iter().map(at_node).collect(),
        });
    }
    Carried {
        kind: CarriedKind::Centre,
        blocks,
    }
}

/// A direction of the sections; none where nothing resists its turning.
fn direction(body: &FlexibleBody, field: &SecondOrderField, axis: usize) -> Option<Carried> {
    let kind = CarriedKind::Direction(axis);
    if body.mass_nodes.iter().all(|node| kind.weight(node) == 0.0) {
        return None;
    }
    let groups = &field.coordinates;
    let pairs = (0..3).flat_map(|row| (row..3).map(move |column| [row, column]));
    let mut blocks = Vec::new();
    for [rows, columns] in pairs.map(|pair| pair.map(|group| groups[group].clone())) {
        let hessians: Vec<Vec<Vector<f64>>> = (body.mass_nodes.iter())
            .map(|mass_node| turned(field, mass_node, Vector::axis(axis), &rows, &columns))
            .collect();
        for component in 0..3 {
            let entries: Vec<Vec<f64>> = (hessians.iter())
                .map(|hessian| hessian.iter().map(|entry| entry[component]).collect())
                .collect();
            if entries.iter().flatten().any(|&entry| entry != 0.0) {
                blocks.push(CarriedBlock {
                    component,
                    rows: rows.clone(),
                    columns: columns.clone(),
                    entries,
                });
            }
        }
    }
    Some(Carried { kind, blocks })
}

/// Hessian of $`\vartheta_2\times e + \tfrac12\theta\times(\theta\times e)`$ at a mass node, rows × columns by rows.
fn turned(
    field: &SecondOrderField,
    mass_node: &MassNode,
    e: Vector<f64>,
    rows: &Range<usize>,
    columns: &Range<usize>,
) -> Vec<Vector<f64>> {
    let node = &mass_node.node;
    let mut hessian = Vec::with_capacity(rows.len() * columns.len());
    for row in rows.clone() {
        for column in columns.clone() {
            let [a, b] = [row, column].map(|alpha| Vector(node.rotation[alpha]));
            let both = a.cross(b.cross(e)) + b.cross(a.cross(e));
            hessian.push(both.scale(0.5));
        }
    }
    for (block, entries) in field.entries(&node.second_order) {
        let Component::Rotation(component) = block.component else {
            continue;
        };
        if (&block.rows, &block.columns) == (rows, columns) {
            for (entry, &rotation) in hessian.iter_mut().zip(entries) {
                *entry += Vector::axis(component).cross(e).scale(rotation);
            }
        }
    }
    hessian
}
