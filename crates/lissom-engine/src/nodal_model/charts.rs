//! Which axes are degrees of freedom where loops close: charts of the configurations of a nodal model.
//!
//! A chart says which axes are dependent and which are independent. The first one is chosen where the model starts, see `loops`. Where an
//! axis reaches its dead point, the others move infinitely fast per its own rate: it can no longer be independent. Then axes exchange their
//! places. With $`G_{ij}`$ the rate of the dependent axis $`i`$ per unit rate of the independent axis $`j`$, exchanging the two
//! multiplies the determinant of the equations of the loops over the dependent axes by $`|G_{ij}|`$. Exchanging where $`|G|`$ is
//! largest until no entry exceeds one by much gives as good a choice as there is, up to a factor (the principle of maximum
//! volume). Displacements are measured by the size of the mechanism.
//!
//! Charts are made when they are first needed, and kept: what a chart is follows from the model alone.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use lissom_core::AxisId;
use lissom_nodal::{Drive, ElementId, Equations, Mechanism, Motion, NodalError, NodeId, Role};
use lissom_spec::spec::{ClosureSpec, ModelSpec};

use super::{NodalAxis, NodalModel};

/// Axes exchange their places where one moves by so much more than those on which it depends, compared with where they were chosen.
const WORTH_EXCHANGING: f64 = 4.0;
/// And then until none moves by more than this.
const WELL_CONDITIONED: f64 = 1.5;
/// Recordings are interpolated, and may be stored in single precision.
const ALIKE: f64 = 1e-4;

/// How axes may exchange their places.
#[derive(Clone, Debug)]
pub(super) struct Charts {
    axes: Vec<LoopAxis>,
    /// Axes of every loop, in ascending order; loops that have some in common are one.
    loops: Vec<Vec<usize>>,
    /// Dependent axes of the first chart, in ascending order.
    dependent: Vec<usize>,
    /// Largest gain for which the first chart is left as it is.
    limit: f64,
    further: OnceLock<Box<FurtherChart>>,
    /// The mechanism with its loops open, every axis a degree of freedom; `None` where more than axes are dependent.
    open: Option<Mechanism>,
}

/// An axis of a loop, independent or dependent.
#[derive(Clone, Debug)]
struct LoopAxis {
    axis: AxisId,
    name: String,
    element: ElementId,
    deformation: usize,
    turns: bool,
    /// One rad, or the size of the mechanism.
    unit: f64,
}

/// A chart that is not the first, and the one that was made after it.
#[derive(Clone, Debug)]
struct FurtherChart {
    dependent: Vec<usize>,
    mechanism: Mechanism,
    next: OnceLock<Box<FurtherChart>>,
}

/// A chart: the mechanism in one choice of degrees of freedom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chart<'m> {
    /// Dependent axes, by their place among those of loops, in ascending order.
    pub(super) dependent: &'m [usize],
    pub(super) mechanism: &'m Mechanism,
    /// Largest gain for which the chart is left as it is.
    limit: f64,
}

impl Charts {
    /// Of a mechanism in its first chart; `None` if no axis is dependent, or the model says which ones are independent.
    pub(super) fn of(
        spec: &ModelSpec,
        mechanism: &Mechanism,
        axes: &[NodalAxis],
        loop_of: &BTreeMap<(ElementId, usize), usize>,
        closings: impl Iterator<Item = (ElementId, usize)>,
    ) -> Result<Option<Self>, NodalError> {
        if matches!(spec.simulation.closure, Some(ClosureSpec::JointSpace(_))) {
            return Ok(None);
        }
        let (mut all, mut dependent) = (Vec::new(), Vec::new());
        let mut loops: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, axis) in axes.iter().enumerate() {
            let NodalAxis {
                name,
                element,
                deformation,
            } = axis;
            if name.is_motor {
                continue;
            }
            match mechanism.role(*element, *deformation) {
                Role::Prescribed | Role::Fixed => continue,
                Role::Free => dependent.push(all.len()),
                Role::Dof | Role::Actuated => {}
            }
            if let Some(own) = loop_of.get(&(*element, *deformation)) {
                loops.entry(*own).or_default().push(all.len());
            }
            all.push(LoopAxis {
                axis: AxisId(at),
                name: name.coordinate(),
                element: *element,
                deformation: *deformation,
                turns: !name.translates,
                unit: 1.0,
            });
        }
        if dependent.is_empty() {
            return Ok(None);
        }
        let mut equations = Equations::new(mechanism)?;
        let size = size(&equations);
        for axis in all.iter_mut().filter(|axis: &&mut LoopAxis| !axis.turns) {
            axis.unit = size;
        }
        let mut charts = Self {
            axes: all,
            loops: loops.into_values().collect(),
            dependent,
            limit: f64::INFINITY,
            further: OnceLock::new(),
            open: None,
        };
        let released = charts.axes.iter().map(LoopAxis::released);
        let opened = closings.map(|(element, index)| (element, index, Role::Free));
        // unbalanced where balls or deformations of beams are dependent too
        charts.open = mechanism.with_roles(released.chain(opened)).ok();
        let gain = charts.largest_gain(&mut equations);
        charts.limit = WORTH_EXCHANGING * gain.clamp(1.0, WORTH_EXCHANGING);
        Ok(Some(charts))
    }

    /// Tells the rate of every dependent axis per unit rate of every independent one of its loop, where the equations are placed: which
    /// is dependent, which independent, and the gain. Leaves velocities unset; allocates nothing.
    fn gains(&self, equations: &mut Equations<'_>, mut tell: impl FnMut(usize, usize, f64)) {
        let mechanism = equations.mechanism();
        let dof = |axis: &usize| self.axes[*axis].dof(mechanism);
        let of_round = |own: &Vec<usize>, round: usize| {
            let mut independent = own.iter().copied().filter(|axis| dof(axis).is_some());
            independent.nth(round)
        };
        let most = self.loops.iter().map(Vec::len).max().unwrap_or(0);
        for round in 0..most {
            // one axis of every loop at a time: they move nothing in common
            let moved = self.loops.iter().filter_map(|own| of_round(own, round));
            equations.set_unit_velocities(moved.filter_map(|axis| dof(&axis)));
            for own in &self.loops {
                let Some(independent) = of_round(own, round) else {
                    continue;
                };
                for &axis in own.iter().filter(|axis| dof(axis).is_none()) {
                    let gain = self.axes[axis].gain(&self.axes[independent], equations);
                    tell(axis, independent, gain);
                }
            }
        }
    }

    /// Largest rate of a dependent axis per unit rate of an independent one, where the equations are placed. Leaves their velocities
    /// unset; allocates nothing.
    pub(super) fn largest_gain(&self, equations: &mut Equations<'_>) -> f64 {
        let mut most = 0.0_f64;
        self.gains(equations, |_, _, gain| most = most.max(gain.abs()));
        most
    }

    /// The axes that had better be dependent where the equations are placed, with the largest gain that is left. Those that are well
    /// independent stay so, and `held` ones are independent in any case. Leaves velocities unset.
    pub(super) fn best(&self, equations: &mut Equations<'_>, held: &[AxisId]) -> (Vec<usize>, f64) {
        let mechanism = equations.mechanism();
        let is_independent = |axis: &usize| self.axes[*axis].dof(mechanism).is_some();
        let (mut independent, mut dependent): (Vec<usize>, Vec<usize>) =
            (0..self.axes.len()).partition(is_independent);
        let mut gains = vec![vec![0.0; independent.len()]; dependent.len()];
        self.gains(equations, |moved, by, gain| {
            let (row, column) = (
                dependent.binary_search(&moved),
                independent.binary_search(&by),
            );
            if let (Ok(row), Ok(column)) = (row, column) {
                gains[row][column] = gain;
            }
        });
        let is_held = |axis: usize| held.contains(&self.axes[axis].axis);
        // first those that are held, whatever they depend on; then, since every exchange enlarges the volume, no choice comes
        // twice, and this many are never needed
        for _ in 0..4 * self.axes.len() {
            let held_row = dependent.iter().position(|&axis| is_held(axis));
            let rows = held_row.map_or(0..dependent.len(), |row| row..row + 1);
            let best = largest(&gains, rows, |column| !is_held(independent[column]));
            let Some((row, column, size)) = best else {
                break;
            };
            if held_row.is_none() && size <= WELL_CONDITIONED {
                break;
            }
            exchange(&mut gains, row, column);
            std::mem::swap(&mut independent[column], &mut dependent[row]);
        }
        let left = largest(&gains, 0..dependent.len(), |_| true);
        dependent.sort_unstable();
        (dependent, left.map_or(0.0, |(.., size)| size))
    }

    /// Whether dependent axes are where values known by their names have them.
    pub(super) fn agree(
        &self,
        equations: &Equations<'_>,
        value: &dyn Fn(&str) -> Option<f64>,
    ) -> bool {
        self.axes.iter().all(|axis| {
            let found = equations.deformation(axis.element, axis.deformation);
            let off = value(&axis.name).map_or(0.0, |known| known - found);
            // in units of which a turn is no difference
            let off = if axis.turns {
                (0.5 * off).sin()
            } else {
                off / axis.unit
            };
            off.abs() < ALIKE
        })
    }

    /// Dependent axes where one has exchanged its place in the first chart.
    fn neighbours(&self) -> impl Iterator<Item = Vec<usize>> {
        let is_independent = move |axis: &usize| !self.dependent.contains(axis);
        (0..self.axes.len())
            .filter(is_independent)
            .flat_map(move |independent| {
                (0..self.dependent.len()).map(move |at| {
                    let mut dependent = self.dependent.clone();
                    dependent[at] = independent;
                    dependent.sort_unstable();
                    dependent
                })
            })
    }

    /// The dependent axes where others are independent.
    pub(super) fn dependent(
        &self,
        is_independent: impl Fn((ElementId, usize)) -> bool,
    ) -> Vec<usize> {
        let depends = |at: &usize| {
            let axis = &self.axes[*at];
            !is_independent((axis.element, axis.deformation))
        };
        (0..self.axes.len()).filter(depends).collect()
    }

    /// Number of axes of loops.
    pub(super) fn len(&self) -> usize {
        self.axes.len()
    }

    /// Names of the independent axes of a chart.
    pub(super) fn independent(&self, chart: Chart<'_>) -> Vec<String> {
        let is_independent = |axis: &&LoopAxis| axis.dof(chart.mechanism).is_some();
        let independent = self.axes.iter().filter(is_independent);
        independent.map(|axis| axis.name.clone()).collect()
    }
}

impl LoopAxis {
    /// Its role where it is independent.
    fn released(&self) -> (ElementId, usize, Role) {
        (self.element, self.deformation, Role::Actuated)
    }

    fn dof(&self, mechanism: &Mechanism) -> Option<usize> {
        mechanism.deformation_dof(self.element, self.deformation)
    }

    /// Its rate per unit rate of another axis, which alone is independent.
    fn gain(&self, by: &Self, equations: &Equations<'_>) -> f64 {
        equations.unit_rate(self.element, self.deformation) * by.unit / self.unit
    }
}

impl Chart<'_> {
    /// Whether a gain is so large that other axes had better be independent.
    pub(super) fn is_bad(&self, gain: f64) -> bool {
        gain.is_nan() || gain > self.limit
    }
}

impl NodalModel {
    /// The mechanism with its loops open, every axis a degree of freedom, where axes may exchange their places.
    pub(super) fn open(&self) -> Option<&Mechanism> {
        self.charts.as_ref()?.open.as_ref()
    }

    /// The chart in which the model starts.
    pub(super) fn first_chart(&self) -> Chart<'_> {
        Chart {
            dependent: self.charts.as_ref().map_or(&[], |charts| &charts.dependent),
            mechanism: &self.mechanism,
            limit: (self.charts.as_ref()).map_or(f64::INFINITY, |charts| charts.limit),
        }
    }

    /// The chart in which these axes follow; the first one if no axes can be chosen.
    pub(super) fn chart(&self, dependent: &[usize]) -> Result<Chart<'_>, NodalError> {
        let first = self.first_chart();
        let Some(charts) = &self.charts else {
            return Ok(first);
        };
        if first.dependent == dependent {
            return Ok(first);
        }
        let mut slot = &charts.further;
        loop {
            match slot.get() {
                Some(chart) if chart.dependent == dependent => {
                    return Ok(Chart {
                        dependent: &chart.dependent,
                        mechanism: &chart.mechanism,
                        limit: WORTH_EXCHANGING,
                    });
                }
                Some(chart) => slot = &chart.next,
                None => {
                    let roles = charts.axes.iter().enumerate().map(|(at, axis)| {
                        let follows = dependent.contains(&at);
                        let role = if follows { Role::Free } else { Role::Actuated };
                        (axis.element, axis.deformation, role)
                    });
                    let mechanism = self.mechanism.with_roles(roles)?;
                    slot.get_or_init(|| {
                        Box::new(FurtherChart {
                            dependent: dependent.to_vec(),
                            mechanism,
                            next: OnceLock::new(),
                        })
                    });
                }
            }
        }
    }
}

impl NodalModel {
    /// A motion of the open mechanism in a chart that suits it, with equations that stand there: the one in which the model starts,
    /// or the best one as seen from any other in which it can be placed.
    pub(super) fn charted(
        &self,
        open: &Equations<'_>,
        motion: &Motion,
        drives: &[Drive],
    ) -> Result<(Chart<'_>, Equations<'_>, Motion), NodalError> {
        let first = self.first_chart();
        let in_first = open.exchanged(first.mechanism, motion, drives);
        let Some(charts) = &self.charts else {
            return in_first.map(|(equations, motion)| (first, equations, motion));
        };
        let mut refused = match in_first {
            Err(error) => error,
            Ok((mut equations, moved)) => {
                if !first.is_bad(charts.largest_gain(&mut equations)) {
                    equations.set_velocity(&moved.velocity, drives);
                    return Ok((first, equations, moved));
                }
                return self.best_charted(charts, (open, motion), &mut equations, drives);
            }
        };
        for dependent in charts.neighbours() {
            let chart = self.chart(&dependent)?;
            match open.exchanged(chart.mechanism, motion, drives) {
                Err(error) => refused = error,
                Ok((mut equations, _)) => {
                    return self.best_charted(charts, (open, motion), &mut equations, drives);
                }
            }
        }
        Err(refused)
    }

    fn best_charted(
        &self,
        charts: &Charts,
        (open, motion): (&Equations<'_>, &Motion),
        seen_from: &mut Equations<'_>,
        drives: &[Drive],
    ) -> Result<(Chart<'_>, Equations<'_>, Motion), NodalError> {
        let (dependent, _) = charts.best(seen_from, &[]);
        let best = self.chart(&dependent)?;
        let (equations, motion) = open.exchanged(best.mechanism, motion, drives)?;
        Ok((best, equations, motion))
    }
}

/// Row, column and size of the largest entry that is not zero in some rows and columns.
fn largest(
    gains: &[Vec<f64>],
    rows: Range<usize>,
    counts: impl Fn(usize) -> bool,
) -> Option<(usize, usize, f64)> {
    let mut most: Option<(usize, usize, f64)> = None;
    for row in rows {
        for (column, entry) in gains[row].iter().enumerate() {
            let size = entry.abs();
            if counts(column) && size > most.map_or(0.0, |(.., size)| size) {
                most = Some((row, column, size));
            }
        }
    }
    most
}

/// Gains after a follower and a leader have exchanged their places.
fn exchange(gains: &mut [Vec<f64>], row: usize, column: usize) {
    let pivot = gains[row][column];
    let mut by_new = gains[row].clone();
    for (at, entry) in by_new.iter_mut().enumerate() {
        *entry = if at == column {
            1.0 / pivot
        } else {
            -*entry / pivot
        };
    }
    for (at, entries) in gains.iter_mut().enumerate() {
        let share = entries[column];
        for (other, entry) in entries.iter_mut().enumerate() {
            *entry = match (at == row, other == column) {
                (true, _) => by_new[other],
                (false, true) => share / pivot,
                (false, false) => *entry + share * by_new[other],
            };
        }
    }
}

/// Diagonal of the box around the points of a mechanism where it stands.
fn size(equations: &Equations<'_>) -> f64 {
    let mechanism = equations.mechanism();
    let nodes = (0..mechanism.node_count()).filter_map(|at| mechanism.node(at));
    let (mut least, mut most) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for node in nodes.filter(|&node: &NodeId| !mechanism.is_orientation(node)) {
        let at = equations.node(node).position;
        for i in 0..3 {
            least[i] = least[i].min(at[i]);
            most[i] = most[i].max(at[i]);
        }
    }
    let square: f64 = (0..3).map(|i| (most[i] - least[i]).powi(2)).sum();
    if square > 0.0 { square.sqrt() } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By construction: with two followers f = G l, solving for another pair gives the gains after the exchange.
    #[test]
    fn exchanged_gains_are_those_of_the_relation_solved_anew() {
        let before = vec![vec![2.0, -3.0], vec![0.5, 4.0]];
        let mut after = before.clone();
        exchange(&mut after, 0, 1);
        // leaders (l1, f1), followers (l2, f2): l2 = (2 l1 - f1)/3, f2 = 0.5 l1 + 4 l2
        let by_hand = [[2.0 / 3.0, -1.0 / 3.0], [0.5 + 8.0 / 3.0, -4.0 / 3.0]];
        for (row, expected) in after.iter().zip(by_hand) {
            for (gain, expected) in row.iter().zip(expected) {
                assert!((gain - expected).abs() < 1e-15);
            }
        }
    }
}
