//! Modes followed from one instant to the next.
//!
//! Between two instants the matrices are taken to change linearly, and the modes of this family are followed in as many steps as it
//! takes to be sure. With the shapes $`X`$ before and $`X'`$ after a step, $`P_{ij} = (X^{-1}X')_{ij}\,(X'^{-1}X)_{ji}`$ says how much of mode $`i`$ has gone into
//! mode $`j`$: its rows and columns add up to one, lengths and phases of shapes do not matter, left shapes of unsymmetric stiffness
//! are in the inverses, and for symmetric matrices it is the modal assurance. Modes go where the sum of $`P`$ is largest; one with $`P`$ near one has
//! gone there surely. Others are in groups, which are sure when $`P`$ over the group adds up to its size: then
//!
//! - equal frequencies have no shapes of their own, and keep those they had, aligned with the new group;
//! - two real squares that have become conjugate ones, or the other way, have coalesced on the way: which of them is
//!   which is then a convention, and the instant is told;
//! - anything else is looked at in smaller steps, of which there are only so many: where matrices jump, or modes are nothing but
//!   rounding, smaller steps tell no more, and the modes are told that were not followed.

use std::collections::BTreeSet;

use nalgebra::{Complex, DMatrix, Dyn, LU};

use super::assignment::assign;
use super::error::{GoOn, LinearError};
use super::frozen::Pencil;
use super::spectrum::Spectrum;

/// How far from one the part of a mode, or the mean part of a group, may be that has gone where it is thought to.
const SURE: f64 = 0.3;
/// Part of a mode in another from which both are in one group.
const LINK: f64 = 0.05;
/// Squares that differ by a smaller share are equal: rounding and the shift of the eigenproblem leave them so.
const EQUAL: f64 = 1e-7;
/// Squares that are a smaller share of the highest are all zero, whatever rounding has made of them.
const ZERO: f64 = 10.0 * f64::EPSILON;
/// The smallest step, as a share of the interval.
const SMALLEST: f64 = 1.0 / 16_384.0;
/// Spectra between instants that may be taken at first, and that every interval adds to those that are left.
pub(super) const SPECTRA: (usize, usize) = (256, 32);

/// What happened to modes between two instants that the curves do not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// Two frequencies have become one, with growth and decay (flutter).
    Coalescence,
    /// The reverse: from here on which is which is a convention.
    Separation,
    /// Modes that cannot be told apart at any resolution.
    Ambiguity,
    /// Modes whose equations change too much between two instants: tracking them was given up, and their numbers may have swapped.
    Untracked,
}

impl Crossing {
    /// The word for it in answers that programs read.
    pub fn key(self) -> &'static str {
        match self {
            Self::Coalescence => "coalescence",
            Self::Separation => "separation",
            Self::Ambiguity => "ambiguity",
            Self::Untracked => "untracked",
        }
    }
}

/// Modes by their numbers, in coordinates of the interval.
#[derive(Clone, Debug)]
pub(super) struct Numbered {
    pub(super) squares: Vec<Complex<f64>>,
    pub(super) shapes: DMatrix<Complex<f64>>,
}

/// A crossing of modes, at a share of the interval.
#[derive(Clone, Debug)]
pub(super) struct Met {
    pub(super) share: f64,
    pub(super) modes: Vec<usize>,
    pub(super) kind: Crossing,
}

/// What follows the modes across an interval.
pub(super) struct Interval<'a> {
    pub(super) before: &'a Pencil,
    /// In the coordinates of the one before.
    pub(super) after: &'a Pencil,
    /// Only the modes with numbers below are looked at closely.
    pub(super) count: usize,
    /// Whether equal frequencies before have not been followed from anywhere, so that their shapes may be chosen.
    pub(super) first: bool,
}

impl Interval<'_> {
    /// Modes after the interval, those before, whose shapes may have been chosen, and what happened between. Takes the spectra that
    /// it needs off those that are left, and asks before each whether to go on.
    pub(super) fn follow(
        &self,
        mut before: Numbered,
        after: Spectrum,
        spectra_left: &mut usize,
        go_on: &mut GoOn<'_>,
    ) -> Result<(Numbered, Numbered, Vec<Met>), LinearError> {
        let mut met: Vec<Met> = Vec::new();
        let mut untracked = BTreeSet::new();
        let mut begun = false;
        let mut now = before.clone();
        let mut at = 0.0;
        let mut ahead = vec![(1.0, after)];
        while let Some((share, spectrum)) = ahead.last() {
            let choosing = self.first && !begun;
            let is_smallest = share - at <= SMALLEST;
            let is_last = is_smallest || *spectra_left == 0;
            let step = Step::new(&mut now, spectrum, self.count, choosing);
            let Some((next, events)) = step.taken(is_last) else {
                go_on()?;
                *spectra_left -= 1;
                let middle = f64::midpoint(at, *share);
                ahead.push((middle, self.spectrum(middle, go_on)?));
                continue;
            };
            if !begun {
                before.shapes = now.shapes;
                begun = true;
            }
            for (part, modes, kind) in events {
                if kind == Crossing::Ambiguity && !is_smallest {
                    untracked.extend(modes);
                } else {
                    let share = at + part * (share - at);
                    met.push(Met { share, modes, kind });
                }
            }
            now = next;
            at = *share;
            ahead.pop();
        }
        if !untracked.is_empty() {
            met.push(Met {
                share: 1.0,
                modes: untracked.into_iter().collect(),
                kind: Crossing::Untracked,
            });
        }
        Ok((now, before, met))
    }

    fn spectrum(&self, share: f64, go_on: &mut GoOn<'_>) -> Result<Spectrum, LinearError> {
        let between = |a: &DMatrix<f64>, b: &DMatrix<f64>| a * (1.0 - share) + b * share;
        Spectrum::new(
            &between(&self.before.mass, &self.after.mass),
            &between(&self.before.stiffness, &self.after.stiffness),
            go_on,
        )
    }
}

/// One step of the family.
struct Step<'a> {
    now: &'a mut Numbered,
    next: &'a Spectrum,
    count: usize,
    choosing: bool,
    /// Size of a square that is zero.
    zero: f64,
    /// $`X^{-1}X'`$ and its inverse; none if shapes coincide.
    change: Option<[DMatrix<Complex<f64>>; 2]>,
}

/// Part of the step at which something happened to which modes.
type Event = (f64, Vec<usize>, Crossing);

impl<'a> Step<'a> {
    fn new(now: &'a mut Numbered, next: &'a Spectrum, count: usize, choosing: bool) -> Self {
        let finite = |m: &DMatrix<Complex<f64>>| m.iter().all(|x| x.re.is_finite());
        let solve = |factor: LU<Complex<f64>, Dyn, Dyn>, right: &DMatrix<Complex<f64>>| {
            factor.solve(right).filter(finite)
        };
        let forth = solve(now.shapes.clone().lu(), &next.shapes);
        let back = solve(next.shapes.clone().lu(), &now.shapes);
        let squares = now.squares.iter().chain(&next.squares);
        Self {
            zero: ZERO * squares.fold(0.0, |most: f64, square| most.max(square.norm())),
            change: forth.zip(back).map(|(forth, back)| [forth, back]),
            now,
            next,
            count,
            choosing,
        }
    }

    /// Numbers the modes after the step; none if that takes smaller ones, which the `last` step does not ask for.
    fn taken(mut self, last: bool) -> Option<(Numbered, Vec<Event>)> {
        let size = self.now.squares.len();
        let Some([forth, back]) = self.change.take() else {
            if !last {
                return None;
            }
            // shapes that coincide leave the order
            let modes = (0..self.count).collect();
            let events = vec![(1.0, modes, Crossing::Ambiguity)];
            return Some((self.numbered(&(0..size).collect::<Vec<_>>()), events));
        };
        let part = DMatrix::from_fn(size, size, |i, j| forth[(i, j)] * back[(j, i)]);
        let mut order = assign(&part.map(|x| x.re));
        let one = Complex::new(1.0, 0.0);
        let next = &self.next.squares;
        let zero = self.zero;
        let same = |i: usize, k: usize| i != k && equal(&[next[order[i]], next[order[k]]], zero);
        // what has become equal has no shapes of its own, whatever was found
        let unsure: Vec<usize> = (0..size)
            .filter(|&i| (part[(i, order[i])] - one).norm() > SURE || (0..size).any(|k| same(i, k)))
            .collect();
        let mut events = Vec::new();
        let mut aligned = Vec::new();
        for group in groups(&unsure, |i, k| {
            let [there, back] = [(i, order[k]), (k, order[i])].map(|at| part[at].norm());
            there > LINK || back > LINK || same(i, k)
        }) {
            if group.iter().all(|&i| i >= self.count) {
                continue;
            }
            let sum: Complex<f64> = (group.iter())
                .flat_map(|&i| group.iter().map(move |&k| (i, k)))
                .map(|(i, k)| part[(i, order[k])])
                .sum();
            let whole = group.len() as f64;
            let together = (sum - whole).norm() <= SURE * whole;
            let kind = self.kind(&group, &order);
            match kind {
                Some(Kind::Equal) if together => aligned.push(group),
                Some(Kind::Chosen) if together => {
                    if self.choosing {
                        self.choose(&group, &mut order, &forth);
                    }
                }
                Some(Kind::Meets(crossing)) if together => {
                    let [i, k] = [group[0], group[1]];
                    // the square of the difference is smooth
                    let gap = |a: Complex<f64>, b: Complex<f64>| ((a - b) * (a - b)).re;
                    let old = gap(self.now.squares[i], self.now.squares[k]);
                    let new = gap(self.next.squares[order[i]], self.next.squares[order[k]]);
                    self.convention(&group, &mut order, crossing);
                    events.push((old / (old - new), group, crossing));
                }
                _ if last => events.push((1.0, group, Crossing::Ambiguity)),
                _ => return None,
            }
        }
        let mut next = self.numbered(&order);
        for group in aligned {
            self.align(&group, &order, &back, &mut next);
        }
        Some((next, events))
    }

    fn numbered(&self, order: &[usize]) -> Numbered {
        Numbered {
            squares: order.iter().map(|&j| self.next.squares[j]).collect(),
            shapes: self.next.shapes.select_columns(order),
        }
    }

    /// How a group that is sure as a whole can be told apart.
    fn kind(&self, group: &[usize], order: &[usize]) -> Option<Kind> {
        let old: Vec<Complex<f64>> = group.iter().map(|&i| self.now.squares[i]).collect();
        let new: Vec<Complex<f64>> = group.iter().map(|&i| self.next.squares[order[i]]).collect();
        let real = |squares: &[Complex<f64>]| squares.iter().all(|x| x.im == 0.0);
        let conjugate = |squares: &[Complex<f64>]| squares[0].im * squares[1].im < 0.0;
        if equal(&new, self.zero) && real(&old) {
            return Some(Kind::Equal);
        }
        if equal(&old, self.zero) && real(&new) {
            return Some(Kind::Chosen);
        }
        if group.len() != 2 {
            return None;
        }
        if real(&old) && conjugate(&new) {
            Some(Kind::Meets(Crossing::Coalescence))
        } else if conjugate(&old) && real(&new) {
            Some(Kind::Meets(Crossing::Separation))
        } else {
            None
        }
    }

    /// Numbers of a pair that has coalesced: the lower frequency becomes the square with positive imaginary part, and back.
    fn convention(&self, group: &[usize], order: &mut [usize], crossing: Crossing) {
        let [i, k] = [group[0], group[1]];
        let (old, new) = (&self.now.squares, &self.next.squares);
        let swapped = match crossing {
            Crossing::Coalescence => {
                (old[i].re < old[k].re) != (new[order[i]].im > new[order[k]].im)
            }
            _ => (old[i].im > old[k].im) != (new[order[i]].re < new[order[k]].re),
        };
        if swapped {
            order.swap(i, k);
        }
    }

    /// Equal frequencies that have not been followed from anywhere rise by their numbers, with the shapes that they turn into.
    fn choose(&mut self, group: &[usize], order: &mut [usize], forth: &DMatrix<Complex<f64>>) {
        let mut places: Vec<usize> = group.iter().map(|&i| order[i]).collect();
        places.sort_by(|&a, &b| self.next.squares[a].re.total_cmp(&self.next.squares[b].re));
        let old = self.now.shapes.clone();
        for (&i, &place) in group.iter().zip(&places) {
            order[i] = place;
            let mut shape = old.column(i) * Complex::new(0.0, 0.0);
            for &k in group {
                shape += old.column(k) * forth[(k, place)];
            }
            self.now.shapes.set_column(i, &shape);
        }
    }

    /// Lays the shapes that a group of equal frequencies had into its new ones, by the rotation that is nearest to their
    /// projection.
    fn align(
        &self,
        group: &[usize],
        order: &[usize],
        back: &DMatrix<Complex<f64>>,
        next: &mut Numbered,
    ) {
        let parts = DMatrix::from_fn(group.len(), group.len(), |k, i| {
            back[(order[group[k]], group[i])].re
        });
        let svd = parts.svd(true, true);
        let (Some(left), Some(right)) = (svd.u, svd.v_t) else {
            return;
        };
        let turn = (left * right).map(|x| Complex::new(x, 0.0));
        let own: Vec<usize> = group.iter().map(|&i| order[i]).collect();
        let aligned = self.next.shapes.select_columns(&own) * turn;
        for (&i, shape) in group.iter().zip(aligned.column_iter()) {
            next.shapes.set_column(i, &shape);
        }
    }
}

enum Kind {
    /// Frequencies are equal after the step.
    Equal,
    /// They were before.
    Chosen,
    /// Real squares have become conjugate, or the other way.
    Meets(Crossing),
}

/// Whether squares are real and equal, or none of them is more than `zero`.
fn equal(squares: &[Complex<f64>], zero: f64) -> bool {
    if squares.iter().any(|x| x.im != 0.0) {
        return false;
    }
    let low = squares.iter().fold(f64::INFINITY, |low, x| low.min(x.re));
    let high = (squares.iter()).fold(f64::NEG_INFINITY, |high, x| high.max(x.re));
    let largest = low.abs().max(high.abs());
    largest <= zero || high - low <= EQUAL * largest
}

/// Sets of numbers that are linked.
fn groups(members: &[usize], linked: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut rest = members.to_vec();
    let mut groups = Vec::new();
    while !rest.is_empty() {
        let mut group = vec![rest.remove(0)];
        let mut looked = 0;
        while looked < group.len() {
            let from = group[looked];
            let (more, others): (Vec<usize>, Vec<usize>) =
                rest.into_iter().partition(|&to| linked(from, to));
            group.extend(more);
            rest = others;
            looked += 1;
        }
        group.sort_unstable();
        groups.push(group);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::error::unwatched;

    /// Closed form: two modes that veer turn by an eighth of a turn on the first half of the way, which no single step tells. Without spectra
    /// for smaller ones that is told, with them the modes are followed.
    #[test]
    fn steps_end_with_the_spectra() {
        let pencil = |time: f64| Pencil {
            mass: DMatrix::identity(2, 2),
            damping: DMatrix::zeros(2, 2),
            stiffness: DMatrix::from_row_slice(2, 2, &[1.0 + time, 0.1, 0.1, 2.0 - time]),
            basis: DMatrix::identity(2, 2),
            loops: None,
            gross: None,
        };
        let spectrum =
            |of: &Pencil| Spectrum::new(&of.mass, &of.stiffness, &mut unwatched).unwrap();
        let [before, after] = [pencil(0.0), pencil(0.5)];
        let followed = |mut spectra: usize| {
            let interval = Interval {
                before: &before,
                after: &after,
                count: 2,
                first: false,
            };
            let Spectrum { squares, shapes } = spectrum(&before);
            let start = Numbered { squares, shapes };
            let (_, _, met) = interval
                .follow(start, spectrum(&after), &mut spectra, &mut || Ok(()))
                .unwrap();
            (met, spectra)
        };
        let (met, left) = followed(0);
        assert_eq!((met.len(), left), (1, 0));
        assert_eq!((met[0].kind, met[0].share), (Crossing::Untracked, 1.0));
        assert_eq!(met[0].modes, [0, 1]);
        let (met, left) = followed(100);
        assert!(met.is_empty() && left < 100, "{met:?}");
    }
}
