//! In which order a sparse square matrix is eliminated, and in which dense blocks: found once, from where its entries are.
//!
//! Unknowns that are eliminated together form a *front* with all rows that have an entry there. Any of these rows may
//! become a pivot row, so that row exchanges stay inside the front, whatever the values are; the rows that are left go on to
//! the front in which the next of their unknowns is eliminated. This is the row merging of George & Ng, *SIAM J. Sci. Stat.
//! Comput.* 8 (1987), which bounds the fill of every sequence of row exchanges:
//!
//! ```text
//!            pivots   others
//!  rows of   [ L\U  |  U    ]   pivot rows stay
//!  children  [ -----+------ ]
//!  and new   [  L   |  rest ]   rows that are left: part of the parent
//! ```
//!
//! Groups of unknowns (those of a node, the stresses of an element) are chosen greedily: next is the one whose front has the fewest
//! columns, and groups that meet no other row are eliminated with it. In a tree of elements that is from the tips to the root, so that
//! storage and operations grow with the number of elements. Or they are eliminated as they are given: from the root on the rows of
//! neighbours meet in a front, and every pivot is the best of more, but where many elements meet, or loops follow each other, ever more
//! columns do so too.

use std::collections::BTreeSet;

/// Row groups beyond which the front of a group is not measured: it comes behind all others, and is measured when fewer are left.
const MANY: usize = 64;

/// How many times the storage of the greedy order the given one may take.
const DEAR: usize = 4;

/// Which group of columns is eliminated next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The next one that is given, by itself; greedily where that would be dear.
    Given,
    /// The one whose front has the fewest columns, with all that meet no other rows.
    FewestColumns,
}

/// Rows that have entries in the same groups of columns.
#[derive(Clone, Debug, Default)]
pub(super) struct RowGroup {
    /// The rows.
    pub(super) rows: Vec<usize>,
    /// Groups of columns, in any order.
    pub(super) groups: Vec<usize>,
}

/// One dense block of the elimination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Front {
    /// Unknowns that are eliminated here: the first of its columns.
    pub(super) pivots: usize,
    /// First of its columns among those of all fronts, and their number.
    pub(super) first_column: usize,
    pub(super) columns: usize,
    /// First of its rows among those of all fronts, and their number.
    pub(super) first_row: usize,
    pub(super) rows: usize,
    /// First of its entries, by rows.
    pub(super) first_entry: usize,
    /// Front that gets the rows that are left, and the first of its rows that they become.
    pub(super) parent: Option<(usize, usize)>,
}

/// The fronts of a matrix, in the order of elimination.
#[derive(Clone, Debug)]
pub(super) struct Fronts {
    pub(super) size: usize,
    pub(super) blocks: Vec<Front>,
    /// Columns of all fronts.
    pub(super) columns: Vec<usize>,
    /// For each of these, its place in the parent; unused for pivots.
    pub(super) places: Vec<usize>,
    /// Rows of all fronts as they begin; `usize::MAX` for those that come from other fronts.
    pub(super) rows: Vec<usize>,
    /// Number of entries of all fronts.
    pub(super) entries: usize,
    /// Front and place there of each row of the matrix.
    row_place: Vec<(usize, usize)>,
}

/// Rows that are not eliminated yet.
struct Pending {
    groups: Vec<usize>,
    rows: usize,
    origin: Origin,
}

/// Where rows come from.
#[derive(Clone, Copy)]
enum Origin {
    /// A group of rows of the matrix.
    Matrix(usize),
    /// What is left of a front.
    Front(usize),
}

impl Fronts {
    /// Of a matrix with these groups of columns, each column in one, and these groups of rows, each row in one.
    pub(super) fn new(columns: &[Vec<usize>], rows: &[RowGroup], order: Order) -> Self {
        let greedy = Self::in_order(columns, rows, Order::FewestColumns, usize::MAX);
        let most = DEAR * greedy.entries;
        let given = (order == Order::Given).then(|| Self::in_order(columns, rows, order, most));
        given
            .filter(|given| given.entries <= most)
            .unwrap_or(greedy)
    }

    /// In one order; incomplete where it takes more than the most entries.
    fn in_order(columns: &[Vec<usize>], rows: &[RowGroup], order: Order, most: usize) -> Self {
        let size = columns.iter().map(Vec::len).sum();
        let mut elimination = Elimination::new(columns, rows, order);
        let mut this = Self {
            size,
            blocks: Vec::new(),
            columns: Vec::new(),
            places: Vec::new(),
            rows: Vec::new(),
            entries: 0,
            row_place: vec![(0, 0); size],
        };
        while this.entries <= most
            && let Some((_, group)) = elimination.waiting.pop_first()
        {
            this.add(&mut elimination, columns, rows, group);
        }
        this.find_places();
        this
    }

    /// Eliminates a group, with all that meet no other rows.
    fn add(
        &mut self,
        elimination: &mut Elimination,
        columns: &[Vec<usize>],
        rows: &[RowGroup],
        group: usize,
    ) {
        let front = self.blocks.len();
        let (merged, [pivots, others]) = elimination.merge(group);
        let first_column = self.columns.len();
        let count = |groups: &[usize]| groups.iter().map(|&g| columns[g].len()).sum::<usize>();
        for &group in pivots.iter().chain(&others) {
            self.columns.extend(&columns[group]);
        }
        let first_row = self.rows.len();
        for &pending in &merged {
            match elimination.pending[pending].origin {
                Origin::Matrix(at) => {
                    for &row in &rows[at].rows {
                        self.row_place[row] = (front, self.rows.len() - first_row);
                        self.rows.push(row);
                    }
                }
                Origin::Front(child) => {
                    self.blocks[child].parent = Some((front, self.rows.len() - first_row));
                    let left = elimination.pending[pending].rows;
                    self.rows.resize(self.rows.len() + left, usize::MAX);
                }
            }
        }
        let entry = Front {
            pivots: count(&pivots),
            first_column,
            columns: self.columns.len() - first_column,
            first_row,
            rows: self.rows.len() - first_row,
            first_entry: self.entries,
            parent: None,
        };
        self.entries += entry.rows * entry.columns;
        let left = entry.rows.saturating_sub(entry.pivots);
        self.blocks.push(entry);
        elimination.go_on(&merged, &pivots, others, left, front);
    }

    /// Where the columns of every front stand in its parent.
    fn find_places(&mut self) {
        self.places = vec![usize::MAX; self.columns.len()];
        let mut place = vec![usize::MAX; self.size];
        for index in 0..self.blocks.len() {
            let Some((parent, _)) = self.blocks[index].parent else {
                continue;
            };
            for (at, &column) in self.columns_of(parent).iter().enumerate() {
                place[column] = at;
            }
            let front = self.blocks[index];
            let all = front.first_column..front.first_column + front.columns;
            for at in all.skip(front.pivots) {
                self.places[at] = place[self.columns[at]];
            }
        }
    }

    fn columns_of(&self, front: usize) -> &[usize] {
        let front = &self.blocks[front];
        &self.columns[front.first_column..front.first_column + front.columns]
    }

    /// Where an entry of the matrix is stored: of a row and a column of its pattern.
    pub(super) fn slot(&self, row: usize, column: usize) -> usize {
        let (front, at) = self.row_place[row];
        let columns = self.columns_of(front);
        let place = columns.iter().position(|&other| other == column);
        let place = place.expect("invariant: the pattern of a row holds its entries");
        self.blocks[front].first_entry + at * columns.len() + place
    }

    /// Multiplications of one elimination, about.
    pub(super) fn operations(&self) -> usize {
        let of = |front: &Front| {
            (0..front.pivots.min(front.rows))
                .map(|k| (front.rows - k) * (front.columns - k))
                .sum::<usize>()
        };
        self.blocks.iter().map(of).sum()
    }
}

/// The elimination as it goes on: which rows are left, and which groups they meet.
struct Elimination {
    order: Order,
    sizes: Vec<usize>,
    pending: Vec<Pending>,
    /// Pending rows that meet each group.
    meeting: Vec<BTreeSet<usize>>,
    /// Groups that are not eliminated yet, by the number of columns of their front.
    waiting: BTreeSet<(usize, usize)>,
    width: Vec<usize>,
    /// When each group was last counted.
    counted: Vec<usize>,
    count: usize,
}

impl Elimination {
    fn new(columns: &[Vec<usize>], rows: &[RowGroup], order: Order) -> Self {
        let mut this = Self {
            order,
            sizes: columns.iter().map(Vec::len).collect(),
            pending: Vec::new(),
            meeting: vec![BTreeSet::new(); columns.len()],
            waiting: BTreeSet::new(),
            width: vec![0; columns.len()],
            counted: vec![0; columns.len()],
            count: 0,
        };
        for (at, group) in rows.iter().enumerate() {
            let mut groups: Vec<usize> = (group.groups.iter().copied())
                .filter(|&group| !columns[group].is_empty())
                .collect();
            groups.sort_unstable();
            groups.dedup();
            this.wait(groups, group.rows.len(), Origin::Matrix(at));
        }
        for group in 0..columns.len() {
            if !columns[group].is_empty() {
                this.width[group] = this.front_width(group);
                this.waiting.insert((this.width[group], group));
            }
        }
        this
    }

    fn wait(&mut self, groups: Vec<usize>, rows: usize, origin: Origin) {
        if rows == 0 {
            return;
        }
        for &group in &groups {
            self.meeting[group].insert(self.pending.len());
        }
        self.pending.push(Pending {
            groups,
            rows,
            origin,
        });
    }

    /// Groups that all rows which meet a group have entries in, in ascending order.
    fn front_groups(&mut self, group: usize) -> Vec<usize> {
        self.count += 1;
        let mut all = vec![group];
        self.counted[group] = self.count;
        for &pending in &self.meeting[group] {
            for &other in &self.pending[pending].groups {
                if self.counted[other] != self.count {
                    self.counted[other] = self.count;
                    all.push(other);
                }
            }
        }
        all.sort_unstable();
        all
    }

    /// By what groups are chosen.
    fn front_width(&mut self, group: usize) -> usize {
        if self.order == Order::Given {
            return 0;
        }
        if self.meeting[group].len() > MANY {
            return usize::MAX;
        }
        let groups = self.front_groups(group);
        groups.iter().map(|&group| self.sizes[group]).sum()
    }

    /// The rows that meet a group; the groups that they alone meet, and the others.
    fn merge(&mut self, group: usize) -> (Vec<usize>, [Vec<usize>; 2]) {
        let merged: Vec<usize> = self.meeting[group].iter().copied().collect();
        let groups = self.front_groups(group);
        let alone = |&other: &usize| match self.order {
            Order::Given => other == group,
            Order::FewestColumns => {
                let mut rows = self.meeting[other].iter();
                rows.all(|row| merged.binary_search(row).is_ok())
            }
        };
        let (pivots, others) = groups.into_iter().partition(alone);
        (merged, [pivots, others])
    }

    /// Takes merged rows away and leaves what is left of them for the groups that were not eliminated.
    fn go_on(
        &mut self,
        merged: &[usize],
        pivots: &[usize],
        others: Vec<usize>,
        left: usize,
        front: usize,
    ) {
        for &group in pivots {
            self.waiting.remove(&(self.width[group], group));
            self.meeting[group].clear();
        }
        for &group in &others {
            for row in merged {
                self.meeting[group].remove(row);
            }
        }
        self.wait(others.clone(), left, Origin::Front(front));
        for group in others {
            let width = self.front_width(group);
            if width != self.width[group] {
                self.waiting.remove(&(self.width[group], group));
                self.width[group] = width;
                self.waiting.insert((width, group));
            }
        }
    }
}
