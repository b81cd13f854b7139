//! The second-order field of a beam at its mass nodes and the cells of an [`AxialStrain`], four at a time, as the
//! recursions read them.
//!
//! What field and strain add to the equations are sums along the beam. Four neighbours are kept side by
//! side, so that a processor can work on them at once; points without mass and cells without stiffness fill
//! the last group.

use std::ops::Range;

use super::body::{AxialStrain, FlexibleBody, MassNode};
use super::carried::{Carried, CarriedBlock, CarriedKind, carried};
use super::second_order::{Component, SecondOrderField};
use super::spanned::SpannedField;

/// Points or cells of a group.
pub(crate) const GROUP: usize = 4;

/// A number for each point or cell of a group.
pub(crate) type Group = [f64; GROUP];

/// One number for each of `count` points or cells, by groups.
fn packed(count: usize, value: impl Fn(usize) -> f64) -> impl Iterator<Item = Group> {
    (0..count.div_ceil(GROUP)).map(move |group| {
        std::array::from_fn(|i| {
            let at = group * GROUP + i;
            if at < count { value(at) } else { 0.0 }
        })
    })
}

/// What the second-order field adds to the kinetic energy of a body, to the order that the fidelity keeps or its source knows.
#[derive(Clone, Debug)]
pub(crate) enum ShorteningInertia {
    /// That of the quadratic displacement field.
    Full(PackedField),
    /// Only products of the shortening with the motion of the undeformed beam.
    SecondOrder(ShorteningSums),
    /// That of the quadratic displacement field of a body of any shape, which is known by integrals.
    Integrals(SpannedField),
}

/// The Hessian of the shortening, $`-S`$, summed over the mass of a beam.
#[derive(Clone, Debug)]
pub(crate) struct ShorteningSums {
    /// Coordinates that bend along y, and along z.
    pub(crate) planes: [Range<usize>; 2],
    /// $`-\int S\,dm`$, the y block by rows, then the z block.
    pub(crate) total: Vec<f64>,
    /// $`-\int x\,S\,dm`$ likewise.
    pub(crate) with_position: Vec<f64>,
}

impl ShorteningSums {
    /// Sums the mass nodes of `body`.
    pub(crate) fn new(body: &FlexibleBody, field: &SecondOrderField) -> Self {
        let [y, z, _] = field.coordinates.clone();
        let entries = y.len() * y.len() + z.len() * z.len();
        let mut sums = Self {
            planes: [y, z],
            total: vec![0.0; entries],
            with_position: vec![0.0; entries],
        };
        for MassNode { node, mass, .. } in &body.mass_nodes {
            let axial = field
                .entries(&node.second_order)
                .filter(|(block, _)| block.component == Component::Displacement(0))
                .flat_map(|(_, entries)| entries);
            for (entry, &h) in axial.enumerate() {
                sums.total[entry] += mass * h;
                sums.with_position[entry] += mass * node.position[0] * h;
            }
        }
        sums
    }
}

/// The vectors that the sections of a beam carry, by groups of mass nodes.
#[derive(Clone, Debug)]
pub(crate) struct PackedField {
    /// The axis first.
    pub(crate) lines: Vec<PackedLine>,
}

/// One vector along a beam that is quadratic in the elastic coordinates.
#[derive(Clone, Debug)]
pub(crate) struct PackedLine {
    /// Whether it is the place of the mass, rather than a direction about it.
    pub(crate) is_place: bool,
    /// Component that the undeformed vector has.
    pub(crate) undeformed_component: usize,
    /// The undeformed vector.
    pub(crate) undeformed: Vec<Group>,
    /// Masses that products of two such vectors are weighted with.
    pub(crate) weights: Vec<Group>,
    /// Which component every elastic coordinate changes to first order, if it does.
    pub(crate) component: Vec<Option<usize>>,
    /// Elastic coordinates by the component that they change to first order.
    pub(crate) linear: [Vec<usize>; 3],
    /// First-order change per unit of every elastic coordinate: coordinates × groups by rows.
    pub(crate) shapes: Vec<Group>,
    /// Elastic coordinates by the component that they change to second order, in rising order.
    pub(crate) quadratic: [Vec<usize>; 3],
    /// First group that each of these changes to second order: none inboard of an element is moved by its nodes.
    pub(crate) first_groups: [Vec<usize>; 3],
    /// The second-order parts.
    pub(crate) blocks: Vec<PackedBlock>,
}

/// One second-order part of one component.
#[derive(Clone, Debug)]
pub(crate) struct PackedBlock {
    /// Component of the vector.
    pub(crate) component: usize,
    /// Coordinates of the rows.
    pub(crate) rows: Range<usize>,
    /// Coordinates of the columns: those of the rows, or none of them.
    pub(crate) columns: Range<usize>,
    /// Entries of the Hessian by rows: groups × entries by rows.
    pub(crate) entries: Vec<Group>,
    /// Columns beyond which a row is zero everywhere, counted from the first of the block: nodes of finite elements meet their neighbours only.
    pub(crate) columns_of_row: Vec<Range<usize>>,
    /// Rows beyond which a column is zero everywhere.
    pub(crate) rows_of_column: Vec<Range<usize>>,
    /// First group in which a row is not zero.
    pub(crate) first_of_row: Vec<usize>,
    /// First group in which a column is not zero.
    pub(crate) first_of_column: Vec<usize>,
}

impl PackedField {
    /// Groups the mass nodes of `body`.
    pub(crate) fn new(body: &FlexibleBody, field: &SecondOrderField) -> Self {
        let lines = carried(body, field);
        Self {
            lines: lines
                .iter()
                .map(|line| PackedLine::new(body, line))
                .collect(),
        }
    }

    /// Number of groups.
    pub(crate) fn groups(&self) -> usize {
        self.lines.first().map_or(0, PackedLine::groups)
    }
}

impl PackedLine {
    fn new(body: &FlexibleBody, carried: &Carried) -> Self {
        let (nodes, kind) = (&body.mass_nodes, carried.kind);
        let points = nodes.len();
        let component: Vec<Option<usize>> = (0..body.len())
            .map(|alpha| {
                let changes = |axis: usize| {
                    (nodes.iter()).any(|node| kind.influence(node, alpha)[axis] != 0.0)
                };
                (0..3).find(|&axis| changes(axis))
            })
            .collect();
        let shape = |alpha: usize, axis: Option<usize>| {
            packed(points, move |point| {
                axis.map_or(0.0, |axis| kind.influence(&nodes[point], alpha)[axis])
            })
        };
        let by_component = |component: &[Option<usize>]| {
            [0, 1, 2].map(|axis| {
                let own = (0..component.len()).filter(|&alpha| component[alpha] == Some(axis));
                own.collect()
            })
        };
        let blocks: Vec<PackedBlock> = carried.blocks.iter().map(PackedBlock::new).collect();
        let mut changed = [const { Vec::new() }; 3];
        for block in &blocks {
            let own: &mut Vec<(usize, usize)> = &mut changed[block.component];
            own.extend(block.rows.clone().zip(block.first_of_row.iter().copied()));
            if block.rows != block.columns {
                let columns = block.columns.clone();
                own.extend(columns.zip(block.first_of_column.iter().copied()));
            }
        }
        for coordinates in &mut changed {
            coordinates.sort_unstable();
            // each gradient is written once
            debug_assert!(coordinates.is_sorted_by(|(a, _), (b, _)| a < b));
        }
        Self {
            is_place: kind == CarriedKind::Centre,
            undeformed_component: nodes.first().map_or(0, |node| kind.undeformed(node).0),
            undeformed: packed(points, |point| kind.undeformed(&nodes[point]).1).collect(),
            weights: packed(points, |point| kind.weight(&nodes[point])).collect(),
            linear: by_component(&component),
            shapes: (component.iter().enumerate())
                .flat_map(|(alpha, &axis)| shape(alpha, axis))
                .collect(),
            component,
            quadratic: changed
                .each_ref()
                .map(|own| own.iter().map(|&(alpha, _)| alpha).collect()),
            first_groups: changed.map(|own| own.into_iter().map(|(_, first)| first).collect()),
            blocks,
        }
    }

    /// Number of groups.
    pub(crate) fn groups(&self) -> usize {
        self.weights.len()
    }
}

impl PackedBlock {
    fn new(block: &CarriedBlock) -> Self {
        let (height, width) = (block.rows.len(), block.columns.len());
        let size = height * width;
        let is_zero = |row: usize, column: usize| {
            let mut points = block.entries.iter();
            points.all(|entries| entries[row * width + column] == 0.0)
        };
        // points in which a row or column is not zero, by groups
        let first_group = |entries: &mut dyn Iterator<Item = usize>| {
            let first_point = |entry: usize| {
                let mut points = block.entries.iter();
                points.position(|entries| entries[entry] != 0.0)
            };
            let first = entries.filter_map(first_point).min();
            first.unwrap_or(block.entries.len()) / GROUP
        };
        let rows: Vec<Vec<Group>> = (0..size)
            .map(|entry| packed(block.entries.len(), |point| block.entries[point][entry]).collect())
            .collect();
        Self {
            component: block.component,
            rows: block.rows.clone(),
            columns: block.columns.clone(),
            entries: (0..block.entries.len().div_ceil(GROUP))
                .flat_map(|group| rows.iter().map(move |row| row[group]))
                .collect(),
            columns_of_row: (0..height)
                .map(|row| span(width, |column| !is_zero(row, column)))
                .collect(),
            rows_of_column: (0..width)
                .map(|column| span(height, |row| !is_zero(row, column)))
                .collect(),
            first_of_row: (0..height)
                .map(|row| first_group(&mut (row * width..(row + 1) * width)))
                .collect(),
            first_of_column: (0..width)
                .map(|column| first_group(&mut (column..size).step_by(width)))
                .collect(),
        }
    }
}

/// The shortest range below `count` that holds everything of which `is_in` is true.
fn span(count: usize, is_in: impl Fn(usize) -> bool) -> Range<usize> {
    let first = (0..count).find(|&i| is_in(i)).unwrap_or(count);
    let last = (first..count).rfind(|&i| is_in(i));
    first..last.map_or(first, |last| last + 1)
}

/// [`AxialStrain`] by groups of cells. All cells of a beam have the same number of points.
#[derive(Clone, Debug)]
pub(crate) struct PackedStrain {
    /// Elastic coordinates with a part in $`u'`$, in $`v'`$ and in $`w'`$.
    pub(crate) coordinates: [Range<usize>; 3],
    /// $`k_c`$ of the cells.
    pub(crate) stiffness: Vec<Group>,
    /// $`w_g`$ of the points of a cell, the same in every cell.
    pub(crate) weights: Vec<f64>,
    /// Slope per unit of every elastic coordinate: groups × points of a cell × coordinates.
    pub(crate) slopes: Vec<Group>,
}

impl PackedStrain {
    /// Groups the cells of `strain`.
    pub(crate) fn new(strain: &AxialStrain) -> Self {
        let cells = strain.cells.len();
        let points = strain.cells.first().map_or(0, Range::len);
        let n = strain.component.len();
        debug_assert!(strain.cells.iter().all(|cell| cell.len() == points));
        let rows: Vec<Vec<Group>> = (0..points * n)
            .map(|row| {
                let (point, alpha) = (row / n, row % n);
                packed(cells, |cell| {
                    strain.slopes[(strain.cells[cell].start + point) * n + alpha]
                })
                .collect()
            })
            .collect();
        Self {
            coordinates: [0, 1, 2].map(|component| {
                let has = |c: &Option<usize>| *c == Some(component);
                let first = strain.component.iter().position(has).unwrap_or(0);
                first..first + strain.component.iter().filter(|c| has(c)).count()
            }),
            stiffness: packed(cells, |cell| strain.stiffness[cell]).collect(),
            weights: strain.weights[..points].to_vec(),
            slopes: (0..cells.div_ceil(GROUP))
                .flat_map(|group| rows.iter().map(move |row| row[group]))
                .collect(),
        }
    }
}
