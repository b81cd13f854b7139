//! Which equations of a mechanism are independent, and how many degrees of freedom remain.
//!
//! Rows are taken in the order of their size once what the rows before have is taken off (a
//! Gram–Schmidt process with pivoting, which reveals the rank): a row of which nothing remains is redundant.
//! Planar loops written in space, parallel axes and equal lengths make such rows, and no count of bodies and
//! joints shows them.

use std::collections::BTreeMap;

use crate::closure::Constraints;
use crate::flex::FlexibleBody;
use crate::tree::Kinematics;
use crate::{Linkage, System};

/// Part of the largest row below which what remains of a row is rounding. Jacobians are accurate to some
/// 1e-14 of their size, and a configuration is closed to about 1e-12; redundancy that only holds to more than
/// this is no redundancy but a nearly singular configuration.
const RANK_TOLERANCE: f64 = 1e-9;

/// Size of a row, in metres or radians per unit of velocity, that is rounding by itself: where all equations hold whatever moves,
/// no row is large enough to tell.
const NOTHING: f64 = 1e-13;

/// Which rows of a matrix are independent.
#[derive(Clone, Debug, PartialEq)]
pub struct Rank {
    /// Independent rows, ascending.
    pub independent: Vec<usize>,
    /// The others, ascending.
    pub redundant: Vec<usize>,
    /// Largest pivot over the smallest: how far from losing a rank, at least 1.
    pub condition: f64,
}

/// Entries of a row by ascending columns; those that are absent are zero.
pub(super) type SparseRow = Vec<(usize, f64)>;

/// Independent rows of a matrix given by rows of `columns` entries each. Of rows that are equally good the
/// first is taken.
pub fn row_rank(matrix: &[f64], columns: usize) -> Rank {
    let rows: Vec<SparseRow> = (matrix.chunks_exact(columns.max(1)))
        .map(|row| row.iter().copied().enumerate().collect())
        .collect();
    sparse_rank(&rows, columns)
}

/// The same of a matrix of which only some entries are stored.
pub(super) fn sparse_rank(rows: &[SparseRow], columns: usize) -> Rank {
    let square = |row: &SparseRow| row.iter().map(|(_, x)| x * x).sum::<f64>();
    let sizes = rows.iter().map(|row| square(row).sqrt());
    let largest = sizes.fold(0.0, f64::max);
    let mut smallest = largest;
    let mut is_independent = vec![false; rows.len()];
    for block in blocks(rows, columns) {
        let mut rest: Vec<Vec<f64>> = block
            .rows
            .iter()
            .map(|&i| block.entries(&rows[i]))
            .collect();
        let mut open: Vec<usize> = (0..rest.len()).collect();
        let mut pivots = Pivots {
            largest,
            smallest,
            ..Pivots::default()
        };
        pivots.take(&mut rest, &mut open, usize::MAX, 0.0);
        smallest = smallest.min(pivots.smallest);
        for row in pivots.chosen {
            is_independent[block.rows[row]] = true;
        }
    }
    let (independent, redundant): (Vec<usize>, Vec<usize>) =
        (0..rows.len()).partition(|&row| is_independent[row]);
    Rank {
        condition: if independent.is_empty() {
            1.0
        } else {
            largest / smallest
        },
        independent,
        redundant,
    }
}

/// Rows and columns of a matrix that have no entries with any others, both ascending.
pub(super) struct Block {
    pub(super) rows: Vec<usize>,
    pub(super) columns: Vec<usize>,
}

impl Block {
    /// What a row has in the columns of the block.
    pub(super) fn entries(&self, row: &SparseRow) -> Vec<f64> {
        let mut entries = vec![0.0; self.columns.len()];
        for &(column, x) in row {
            if let Ok(place) = self.columns.binary_search(&column) {
                entries[place] = x;
            }
        }
        entries
    }
}

/// The blocks of a matrix, by their first rows: loops that have no joints in common are solved by themselves, so that the work grows
/// with their number. Rows and columns of zeros are in none.
pub(super) fn blocks(entries: &[SparseRow], columns: usize) -> Vec<Block> {
    let rows = entries.len();
    // every row's block, by the first row that was found of it
    let mut leader: Vec<usize> = (0..rows).collect();
    fn lead(leader: &mut [usize], mut row: usize) -> usize {
        while leader[row] != row {
            leader[row] = leader[leader[row]];
            row = leader[row];
        }
        row
    }
    let mut first_in: Vec<Option<usize>> = vec![None; columns];
    let mut is_zero = vec![true; rows];
    for (row, own) in entries.iter().enumerate() {
        for &(column, _) in own.iter().filter(|(_, x)| *x != 0.0) {
            is_zero[row] = false;
            let other = *first_in[column].get_or_insert(row);
            let [a, b] = [row, other].map(|row| lead(&mut leader, row));
            leader[a.max(b)] = a.min(b);
        }
    }
    let mut found: Vec<Block> = Vec::new();
    let mut block_of = vec![usize::MAX; rows];
    for row in (0..rows).filter(|&row| !is_zero[row]) {
        let leading = lead(&mut leader, row);
        if leading == row {
            block_of[row] = found.len();
            found.push(Block {
                rows: Vec::new(),
                columns: Vec::new(),
            });
        }
        found[block_of[leading]].rows.push(row);
    }
    for (column, first) in first_in.into_iter().enumerate() {
        if let Some(row) = first {
            let leading = lead(&mut leader, row);
            found[block_of[leading]].columns.push(column);
        }
    }
    found
}

/// Sets to zero what is rounding beside the entries of a `whole` that a matrix is a part of, which its rank would not show by itself.
pub(super) fn clear_rounding<'a>(
    part: impl Iterator<Item = &'a mut f64>,
    whole: impl Iterator<Item = f64>,
) {
    let largest = whole.fold(0.0_f64, |most, x| most.max(x.abs()));
    for x in part {
        if x.abs() < RANK_TOLERANCE * largest {
            *x = 0.0;
        }
    }
}

/// A column of an earlier group is taken before all others unless it is smaller than this fraction of the largest:
/// a sleeve barely moves the equation of a support that its own boom bends away from.
const WORTH_TAKING: f64 = 0.03;

/// As many independent columns as there are rows, or as there are, ascending; those of earlier groups are
/// taken before those of later ones if they are not much smaller.
pub fn pivot_columns(rows: &[&[f64]], groups: &[&[usize]]) -> Vec<usize> {
    let entries: Vec<usize> = groups.concat();
    let mut rest: Vec<Vec<f64>> = entries
        .iter()
        .map(|&at| rows.iter().map(|row| row[at]).collect())
        .collect();
    let mut pivots = Pivots::default();
    let mut first = 0;
    for group in groups {
        let mut open: Vec<usize> = (first..first + group.len()).collect();
        // what the groups before have is already taken off
        pivots.take(&mut rest, &mut open, rows.len(), WORTH_TAKING);
        first += group.len();
    }
    let mut open: Vec<usize> = (0..entries.len())
        .filter(|i| !pivots.chosen.contains(i))
        .collect();
    pivots.take(&mut rest, &mut open, rows.len(), 0.0);
    let mut chosen: Vec<usize> = pivots.chosen.iter().map(|&i| entries[i]).collect();
    chosen.sort_unstable();
    chosen
}

/// `most` rows of a matrix, given by rows of `width` entries, that are as independent as they can be over some columns;
/// fewer if there are none, ascending.
pub(super) fn pivot_rows(
    matrix: &[f64],
    width: usize,
    columns: &[usize],
    most: usize,
) -> Vec<usize> {
    let mut rest: Vec<Vec<f64>> = matrix
        .chunks_exact(width.max(1))
        .map(|row| columns.iter().map(|&at| row[at]).collect())
        .collect();
    let mut open: Vec<usize> = (0..rest.len()).collect();
    let mut pivots = Pivots::default();
    pivots.take(&mut rest, &mut open, most, 0.0);
    pivots.chosen.sort_unstable();
    pivots.chosen
}

/// Rows chosen so far.
#[derive(Default)]
struct Pivots {
    chosen: Vec<usize>,
    largest: f64,
    smallest: f64,
}

impl Pivots {
    /// Chooses among the `open` rows until `most` are chosen or nothing remains that is at least `share` of the
    /// largest of all, and takes what the chosen ones have off all others.
    fn take(&mut self, rest: &mut [Vec<f64>], open: &mut Vec<usize>, most: usize, share: f64) {
        while self.chosen.len() < most && !open.is_empty() {
            let mut best = (0, 0.0);
            for (slot, &row) in open.iter().enumerate() {
                let size = dot(&rest[row], &rest[row]).sqrt();
                // rounding does not choose between rows of the same size
                if size > best.1 * (1.0 + RANK_TOLERANCE) {
                    best = (slot, size);
                }
            }
            let (slot, size) = best;
            let of_all = || {
                (rest.iter().enumerate())
                    .filter(|(row, _)| !self.chosen.contains(row))
                    .fold(0.0_f64, |most, (_, row)| most.max(dot(row, row).sqrt()))
            };
            if share > 0.0 && size < share * of_all() {
                return;
            }
            if size <= RANK_TOLERANCE * self.largest || size <= NOTHING {
                return;
            }
            self.largest = self.largest.max(size);
            self.smallest = size;
            let pivot = open.remove(slot);
            self.chosen.push(pivot);
            let direction: Vec<f64> = rest[pivot].iter().map(|x| x / size).collect();
            for (row, other) in rest.iter_mut().enumerate() {
                if self.chosen.contains(&row) {
                    continue;
                }
                let along = dot(other, &direction);
                for (x, d) in other.iter_mut().zip(&direction) {
                    *x -= along * d;
                }
            }
        }
    }
}

/// Largest pivot over the smallest of a matrix by rows, which is overwritten, and what remains of the row of
/// the smallest: the direction that the rows hold least. Allocates nothing.
pub(super) fn pivot_condition(matrix: &mut [f64], columns: usize) -> (f64, &[f64]) {
    let rows = matrix.len() / columns.max(1);
    let (mut largest, mut smallest) = (0.0_f64, f64::INFINITY);
    for i in 0..rows {
        let mut best = (i, -1.0);
        for row in i..rows {
            let own = &matrix[row * columns..(row + 1) * columns];
            let square = dot(own, own);
            if square > best.1 {
                best = (row, square);
            }
        }
        let (pivot, square) = best;
        for column in 0..columns {
            matrix.swap(i * columns + column, pivot * columns + column);
        }
        let size = square.sqrt();
        largest = largest.max(size);
        smallest = size;
        let (above, below) = matrix.split_at_mut((i + 1) * columns);
        let direction = &above[i * columns..];
        for other in below.chunks_exact_mut(columns) {
            let along = dot(other, direction) / square;
            for (x, d) in other.iter_mut().zip(direction) {
                *x -= along * d;
            }
        }
    }
    let condition = if rows == 0 {
        1.0
    } else if smallest > 0.0 {
        largest / smallest
    } else {
        f64::INFINITY
    };
    (condition, &matrix[rows.saturating_sub(1) * columns..])
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// What closures leave of a tree's freedom at one configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Mobility {
    /// Velocities of the tree, elastic ones included.
    pub coordinates: usize,
    /// Scalar equations of the closures.
    pub equations: usize,
    /// Independent ones among them.
    pub rank: usize,
    /// Velocities that would remain in the tree if no link could bend, and how many the closures leave of them.
    pub rigid: [usize; 2],
    /// Names of those that follow from the others.
    pub redundant: Vec<String>,
    /// Largest pivot of the Jacobian over the smallest.
    pub condition: f64,
}

impl Mobility {
    /// Degrees of freedom that remain, elastic ones included.
    pub fn degrees_of_freedom(&self) -> usize {
        self.coordinates - self.rank
    }

    /// Degrees of freedom that would remain if no link could bend.
    pub fn rigid_degrees_of_freedom(&self) -> usize {
        self.rigid[1]
    }
}

/// Degrees of freedom of a model at a position vector, by the rank of its closures' Jacobian.
pub fn mobility(linkage: &Linkage, position: &[f64]) -> Mobility {
    let system = &linkage.system;
    let n = system.velocity_count();
    let (constraints, rows) = closure_rows(linkage, position);
    let rank = sparse_rank(&rows, n);
    let directions = rigid_directions(system);
    let mut of_rigid = along(&rows, &directions, n);
    clear_rounding(
        of_rigid.iter_mut().flatten().map(|(_, x)| x),
        rows.iter().flatten().map(|(_, x)| *x),
    );
    let rigid_rank = sparse_rank(&of_rigid, directions.len());
    Mobility {
        coordinates: n,
        rigid: [
            directions.len(),
            directions.len() - rigid_rank.independent.len(),
        ],
        equations: constraints.len(),
        rank: rank.independent.len(),
        redundant: rank
            .redundant
            .iter()
            .map(|&row| constraints.name(&linkage.closures, row))
            .collect(),
        condition: rank.condition,
    }
}

/// The closures of a linkage at a position vector, and the rows of their Jacobian; none where nothing could move.
pub(super) fn closure_rows(
    linkage: &Linkage,
    position: &[f64],
) -> (Constraints<f64>, Vec<SparseRow>) {
    let system = &linkage.system;
    let mut constraints = Constraints::packed(system, &linkage.closures);
    let mut kinematics = Kinematics::new(system);
    let at_rest = vec![0.0; system.velocity_count()];
    kinematics.update(system, position, &at_rest);
    constraints.update(
        system,
        &linkage.closures,
        &mut kinematics,
        position,
        &at_rest,
    );
    let equations = if at_rest.is_empty() {
        0
    } else {
        constraints.len()
    };
    let rows = (0..equations).map(|row| constraints.entries(row).collect());
    let rows = rows.collect();
    (constraints, rows)
}

/// A direction of the velocity vector by its entries that are not zero.
type Direction = Vec<(usize, f64)>;

/// Directions in which the bodies of a tree move without deformation: of joints, and of beams that only supports hold.
fn rigid_directions(system: &System) -> Vec<Direction> {
    let layout = system.layout();
    let mut directions = Vec::new();
    for (k, body) in system.bodies().iter().enumerate() {
        let first = layout.joint_velocity[k];
        let joint = first..first + body.joint.kind.velocities();
        directions.extend(joint.map(|at| vec![(at, 1.0)]));
        let rigid = (body.flexible.as_ref()).map_or_else(Vec::new, FlexibleBody::rigid_directions);
        let first = layout.elastic_velocity[k];
        let placed = |direction: Direction| direction.into_iter().map(|(at, x)| (first + at, x));
        directions.extend(
            rigid
                .into_iter()
                .map(|direction| placed(direction).collect()),
        );
    }
    directions
}

/// Rows over `n` velocities as rows over directions of them.
fn along(rows: &[SparseRow], directions: &[Direction], n: usize) -> Vec<SparseRow> {
    let mut part_of = vec![Vec::new(); n];
    for (index, direction) in directions.iter().enumerate() {
        for &(at, share) in direction {
            part_of[at].push((index, share));
        }
    }
    let of_row = |row: &SparseRow| {
        let mut sums = BTreeMap::new();
        for &(at, x) in row {
            for &(index, share) in &part_of[at] {
                *sums.entry(index).or_insert(0.0) += x * share;
            }
        }
        sums.into_iter().collect()
    };
    rows.iter().map(of_row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redundant_rows_are_found_and_the_first_of_equals_is_kept() {
        let matrix = [
            1.0, 2.0, 0.0, //
            0.0, 1.0, 1.0, //
            1.0, 3.0, 1.0, //
            0.0, 0.0, 0.0, //
            1.0, 2.0, 0.0,
        ];
        let rank = row_rank(&matrix, 3);
        assert_eq!(rank.independent.len(), 2);
        assert!(rank.redundant.contains(&3));
        // rows 0 and 4 are the same
        assert!(rank.redundant.contains(&4));
    }

    /// Identity: rows of blocks that are mixed have the rank and the condition that they have in one block.
    #[test]
    fn blocks_have_the_rank_of_the_whole() {
        let mixed = [
            2.0, 0.0, 1.0, 0.0, //
            0.0, 3.0, 0.0, 0.0, //
            4.0, 0.0, 2.0, 0.0, //
            0.0, 1.0, 0.0, 0.0,
        ];
        let rows: Vec<SparseRow> = (mixed.chunks_exact(4))
            .map(|row| row.iter().copied().enumerate().collect())
            .collect();
        let found = blocks(&rows, 4);
        assert_eq!(found.len(), 2);
        assert_eq!(
            (&found[0].rows[..], &found[0].columns[..]),
            (&[0, 2][..], &[0, 2][..])
        );
        assert_eq!(
            (&found[1].rows[..], &found[1].columns[..]),
            (&[1, 3][..], &[1][..])
        );
        let rank = row_rank(&mixed, 4);
        assert_eq!(
            (&rank.independent[..], &rank.redundant[..]),
            (&[1, 2][..], &[0, 3][..])
        );
        let mut whole = vec![
            vec![2.0, 0.0, 1.0],
            vec![0.0, 3.0, 0.0],
            vec![4.0, 0.0, 2.0],
            vec![0.0, 1.0, 0.0],
        ];
        let mut open = vec![0, 1, 2, 3];
        let mut pivots = Pivots::default();
        pivots.take(&mut whole, &mut open, usize::MAX, 0.0);
        assert_eq!(open, rank.redundant);
        assert_eq!(pivots.largest / pivots.smallest, rank.condition);
    }

    #[test]
    fn a_nearly_singular_matrix_keeps_its_rank_and_shows_its_condition() {
        let rank = row_rank(&[1.0, 0.0, 1.0, 1e-6], 2);
        assert_eq!(rank.independent, [0, 1]);
        assert!(rank.condition > 1e5);
    }

    #[test]
    fn no_rows_have_no_rank() {
        let rank = row_rank(&[], 4);
        assert!(rank.independent.is_empty() && rank.redundant.is_empty());
    }
}
