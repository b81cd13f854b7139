//! Second-order motion of the sections of a beam, at any places along it, and which coordinates make that of any body.
//!
//! A section at $`x`$ turns by $`\theta = (\phi, -w', v')`$ to first order, and $`\theta' = (\phi', -w'', v'')`$ are its twist and
//! curvatures in its own axes. A rod that is not stretched, $`r' = R\,e_x`$ and $`R' = R\,\theta'^\times`$, then has to second
//! order, from the root (where values have the index 0) outwards,
//!
//! ```math
//! \begin{aligned}
//! u_2' &= -\tfrac12(v'^2 + w'^2), \qquad
//! v_2' = -\tfrac12\phi_0 w_0' - \textstyle\int_0^x \phi\,w''\,ds, \qquad
//! w_2' = \tfrac12\phi_0 v_0' + \textstyle\int_0^x \phi\,v''\,ds,\\
//! R &= \mathrm{Exp}(\theta + \vartheta_2), \qquad
//! \vartheta_2 = \tfrac12\textstyle\int_0^x \theta\times\theta'\,ds,\\
//! \theta\times\theta' &= (v'w'' - w'v'',\; v'\phi' - \phi v'',\; w'\phi' - \phi w'') .
//! \end{aligned}
//! ```
//!
//! $`u_2`$ is the shortening of a bent beam \[Pan, Scott & Ulsoy 1990, eqs (11)–(18); Kane, Ryan & Banerjee 1987\]; the
//! others couple bending and torsion. Strain energy stays quadratic in $`v''`$, $`w''`$ and $`\phi'`$.

use std::ops::Range;

use super::groups::Group;
use super::quadrature::{gauss_legendre, whole_number};
use super::shape::Shape;

/// Gauss points of every interval: exact for the slopes of Hermite elements, and to rounding for modes
/// on intervals as short as [`LONGEST_PHASE`] makes them.
const POINTS: usize = 8;

/// Longest interval, as the phase of the fastest product of two functions.
const LONGEST_PHASE: f64 = 2.0;

/// Which elastic coordinates of a body make which second-order displacements and rotations. Their sizes are in
/// [`Node::second_order`](super::Node::second_order).
#[derive(Clone, Debug, PartialEq)]
pub struct SecondOrderField {
    /// Elastic coordinates of a beam that bend along y, that bend along z, and that twist; none for other bodies.
    pub coordinates: [Range<usize>; 3],
    /// The parts of the field. Coordinates occur once at most among the blocks of one component.
    pub blocks: Vec<SecondOrderBlock>,
}

/// The part of one component that comes from two groups of coordinates, $`\tfrac12\eta^T H\eta`$ with a Hessian $`H`$ that
/// has entries in these rows and columns, and by symmetry in their mirror image, only.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondOrderBlock {
    /// What it adds to.
    pub component: Component,
    /// Coordinates of the rows.
    pub rows: Range<usize>,
    /// Coordinates of the columns: those of the rows, or none of them.
    pub columns: Range<usize>,
}

/// A component of the motion of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// Of the displacement of its centre.
    Displacement(usize),
    /// Of the rotation vector.
    Rotation(usize),
}

impl SecondOrderBlock {
    /// Number of entries, rows × columns.
    pub fn len(&self) -> usize {
        self.rows.len() * self.columns.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether rows and columns are the same coordinates.
    pub fn is_diagonal(&self) -> bool {
        self.rows == self.columns
    }
}

impl SecondOrderField {
    pub(super) fn new(groups: &[Group; 4]) -> Self {
        let [y, z, _, twist] = groups.each_ref().map(|group| group.coordinates.clone());
        let block = |component, rows: &Range<usize>, columns: &Range<usize>| SecondOrderBlock {
            component,
            rows: rows.clone(),
            columns: columns.clone(),
        };
        let mut blocks = vec![
            block(Component::Displacement(0), &y, &y),
            block(Component::Displacement(0), &z, &z),
            block(Component::Displacement(1), &twist, &z),
            block(Component::Displacement(2), &twist, &y),
            block(Component::Rotation(0), &y, &z),
            block(Component::Rotation(1), &y, &twist),
            block(Component::Rotation(2), &z, &twist),
        ];
        blocks.retain(|block| !block.is_empty());
        Self {
            coordinates: [y, z, twist],
            blocks,
        }
    }

    /// Of a body of any shape: every two of `n` coordinates make every displacement, then every rotation.
    pub(super) fn whole(n: usize) -> Self {
        let displacements = (0..3).map(Component::Displacement);
        let components = displacements.chain((0..3).map(Component::Rotation));
        Self {
            coordinates: [0..0, 0..0, 0..0],
            blocks: components
                .map(|component| SecondOrderBlock {
                    component,
                    rows: 0..n,
                    columns: 0..n,
                })
                .collect(),
        }
    }

    /// Whether the beam twists.
    pub(crate) fn twists(&self) -> bool {
        !self.coordinates[2].is_empty()
    }

    /// The blocks with their entries among those of a node.
    pub fn entries<'a>(
        &'a self,
        of_node: &'a [f64],
    ) -> impl Iterator<Item = (&'a SecondOrderBlock, &'a [f64])> {
        let mut rest = of_node;
        self.blocks.iter().map(move |block| {
            let (own, others) = rest.split_at(block.len());
            rest = others;
            (block, own)
        })
    }

    /// Entries of all blocks at every place. `breaks` are the places where the beam changes.
    pub(super) fn at(&self, places: &[f64], breaks: &[f64], groups: &[Group; 4]) -> Vec<Vec<f64>> {
        let functions = [&groups[0], &groups[1], &groups[3]];
        let rule = gauss_legendre(POINTS);
        let fastest = functions
            .iter()
            .flat_map(|group| &group.wave_numbers)
            .fold(0.0, |a: f64, &b| a.max(b));

        // march from the root to each place in turn, stopping wherever the functions are not smooth
        let mut stops: Vec<(f64, Option<usize>)> = breaks.iter().map(|&x| (x, None)).collect();
        for group in functions {
            stops.extend(group.shapes.breaks().into_iter().map(|x| (x, None)));
        }
        stops.extend(
            places
                .iter()
                .enumerate()
                .map(|(index, &x)| (x, Some(index))),
        );
        stops.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut found = vec![Vec::new(); places.len()];
        let mut march = March::new(self, &functions);
        let mut start = 0.0;
        for (end, place) in stops {
            let length = end - start;
            if length > 0.0 {
                let intervals = whole_number((2.0 * fastest * length / LONGEST_PHASE).max(1.0));
                let step = length / intervals as f64;
                for interval in 0..intervals {
                    let middle = start + (interval as f64 + 0.5) * step;
                    march.advance(&functions, middle, step, &rule);
                }
                start = end;
            }
            if let Some(index) = place {
                found[index].clone_from(&march.value);
            }
        }
        found
    }
}

/// The integrals from the root to where a march along the beam has come.
struct March<'a> {
    field: &'a SecondOrderField,
    /// Entries of all blocks.
    value: Vec<f64>,
    /// Their slopes along the beam, for those that are integrals of integrals; zero for the others.
    slope: Vec<f64>,
}

impl<'a> March<'a> {
    fn new(field: &'a SecondOrderField, functions: &[&Group; 3]) -> Self {
        let size = field.blocks.iter().map(SecondOrderBlock::len).sum();
        let mut march = Self {
            field,
            value: vec![0.0; size],
            slope: vec![0.0; size],
        };
        let root = functions.map(|group| group.shapes.at(0.0));
        march.for_entries(&root, |block, [row, column], _, slope| {
            *slope = match block.component {
                Component::Displacement(1) => -0.5 * row.value * column.slope,
                Component::Displacement(2) => 0.5 * row.value * column.slope,
                _ => 0.0,
            }
        });
        march
    }

    /// Goes on by `step` around `middle`.
    fn advance(&mut self, functions: &[&Group; 3], middle: f64, step: f64, rule: &[(f64, f64)]) {
        for (value, slope) in self.value.iter_mut().zip(&self.slope) {
            *value += step * slope;
        }
        for &(xi, weight) in rule {
            let weight = 0.5 * step * weight;
            let to_end = 0.5 * step * (1.0 - xi);
            let shapes = functions.map(|group| group.shapes.at(middle + 0.5 * step * xi));
            self.for_entries(&shapes, |block, [row, column], value, slope| {
                match block.component {
                    Component::Displacement(0) => *value -= weight * row.slope * column.slope,
                    Component::Displacement(axis) => {
                        let bent = weight * row.value * column.strain;
                        let bent = if axis == 1 { -bent } else { bent };
                        *slope += bent;
                        *value += to_end * bent;
                    }
                    Component::Rotation(0) => {
                        *value +=
                            0.5 * weight * (row.slope * column.strain - column.slope * row.strain);
                    }
                    Component::Rotation(_) => {
                        *value +=
                            0.5 * weight * (row.slope * column.slope - column.value * row.strain);
                    }
                }
            });
        }
    }

    /// Calls `change` for every entry with the functions of its row and column, its value and its slope.
    fn for_entries(
        &mut self,
        shapes: &[Vec<Shape>; 3],
        change: impl Fn(&SecondOrderBlock, [&Shape; 2], &mut f64, &mut f64),
    ) {
        let of = |coordinates: &Range<usize>| {
            let group = self.field.coordinates.iter().position(|c| c == coordinates);
            group.map_or(&[][..], |group| shapes[group].as_slice())
        };
        let mut entries = self.value.iter_mut().zip(&mut self.slope);
        for block in &self.field.blocks {
            let (rows, columns) = (of(&block.rows), of(&block.columns));
            for row in rows {
                for (column, (value, slope)) in columns.iter().zip(&mut entries) {
                    change(block, [row, column], value, slope);
                }
            }
        }
    }
}
