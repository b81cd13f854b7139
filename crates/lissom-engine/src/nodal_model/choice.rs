//! Which freedoms are dependent where loops close: rates of closings by freedoms, eliminated with pivots.
//!
//! A closing moves with the freedoms on the way around its loop alone. Loops that have none in common are blocks of their own, so that the
//! work grows with their number and not with its cube.

use std::collections::{BTreeMap, BTreeSet};

use super::loops::Closing;
use super::unfold::Unfolding;
use super::{NodalAxis, NodalBall};
use lissom_nodal::{Assembly, Drive, ElementId, Equations, Mechanism, Role};
use lissom_spec::spec::{ClosureSpec, ModelSpec};

/// Pivots below this part of the largest rate count as zero: rounding leaves 1e-14, an independent closure of a
/// mechanism that can be used much more.
const DEPENDENT: f64 = 1e-9;
/// Rates that differ by less than this part are alike: which of two symmetric joints is dependent is not for rounding to say.
const ALIKE: f64 = 1e-9;
/// Rates of closures, of unit rates of joints, that are rounding.
const UNMOVED: f64 = 1e-12;
/// What may depend on the others where a loop is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dependent {
    Deformation(ElementId, usize),
    /// All of a spherical or free joint.
    Ball(ElementId),
    /// One coordinate of a spherical or free joint that is taken apart, by its place among those.
    Part(usize, usize),
}

impl Dependent {
    /// Makes it dependent in an assembly.
    pub(super) fn release(self, assembly: &mut Assembly) {
        match self {
            Self::Deformation(element, index) => {
                assembly.set_deformation(element, index, Role::Free);
            }
            Self::Ball(element) => assembly.set_deformations(element, Role::Free),
            // those stand for what `unfold` puts in the joint's place
            Self::Part(..) => {}
        }
    }
}

/// A spherical or free joint that may be dependent, with its columns in a block.
pub(super) type Ball = (Dependent, Vec<usize>);

/// Freedoms of one loop that may be dependent, with their columns in its block.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    /// Spherical joints that nothing drives.
    pub(super) willing: Vec<Ball>,
    /// All spherical and free joints.
    pub(super) balls: Vec<Ball>,
    /// Axes that nothing drives, axes that something drives, then deformations of beams.
    single: [Vec<(Dependent, usize)>; 3],
}

impl Candidates {
    /// Of every block.
    pub(super) fn of(
        open: &Mechanism,
        (axes, balls): (&[NodalAxis], &[NodalBall]),
        spec: &ModelSpec,
        choice: &Choice,
    ) -> Vec<Self> {
        let mut all = vec![Self::default(); choice.blocks.len()];
        let asked: BTreeSet<&str> = match &spec.simulation.closure {
            Some(ClosureSpec::JointSpace(settings)) => {
                let names = settings.independent.iter().flatten();
                names.map(String::as_str).collect()
            }
            _ => BTreeSet::new(),
        };
        let inputs = spec.input.iter().filter_map(|input| input.joint.as_deref());
        let controlled = spec.controller.iter().flat_map(|law| spec.driven_by(law));
        let driven: BTreeSet<&str> = inputs.chain(controlled).collect();
        let mut is_of_joint = vec![false; open.dof_count()];
        for axis in axes {
            let Some(dof) = open.deformation_dof(axis.element, axis.deformation) else {
                continue;
            };
            is_of_joint[dof] = true;
            let Some((block, column)) = choice.place(dof) else {
                continue;
            };
            let leads = if asked.is_empty() { &driven } else { &asked };
            let stays = leads.contains(axis.name.joint.as_str());
            let candidate = Dependent::Deformation(axis.element, axis.deformation);
            all[block].single[usize::from(stays)].push((candidate, column));
        }
        for ball in balls {
            let dofs = ball.dofs(open);
            for &dof in &dofs {
                is_of_joint[dof] = true;
            }
            let places: Vec<_> = dofs.iter().filter_map(|&dof| choice.place(dof)).collect();
            let is_whole = places.len() == open.deformations_of(ball.element);
            let Some(&(block, _)) = places.first().filter(|_| is_whole) else {
                continue;
            };
            let columns = places.into_iter().map(|(_, column)| column).collect();
            let candidate = (Dependent::Ball(ball.element), columns);
            if !ball.translates && !driven.contains(ball.joint.as_str()) {
                all[block].willing.push(candidate.clone());
            }
            all[block].balls.push(candidate);
        }
        for dof in (0..open.dof_count()).filter(|&dof| !is_of_joint[dof]) {
            if let (Some((element, index)), Some((block, column))) =
                (open.dof_deformation(dof), choice.place(dof))
            {
                let candidate = Dependent::Deformation(element, index);
                all[block].single[2].push((candidate, column));
            }
        }
        all
    }
}

/// Rates of closings by freedoms, being eliminated.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) blocks: Vec<Block>,
    /// Block of every freedom, and its column there; degrees of freedom first, then drives.
    places: Vec<Option<(usize, usize)>>,
    /// Largest rate before the elimination, and what counts as zero beside it.
    largest: f64,
    pub(super) smallest: f64,
}

/// Closings that have freedoms in common, directly or by others, with these freedoms.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    closings: Vec<usize>,
    freedoms: Vec<usize>,
    /// One row per closing, one column per freedom.
    pub(super) rows: Vec<Vec<f64>>,
    used: Vec<bool>,
}

impl Choice {
    pub(super) fn new(equations: &mut Equations<'_>, closings: &[Closing]) -> Self {
        let mechanism = equations.mechanism();
        let dofs = mechanism.dof_count();
        let mut blocks = blocks(mechanism, closings);
        let mut places = vec![None; dofs + mechanism.drive_count()];
        for (index, block) in blocks.iter().enumerate() {
            for (column, &freedom) in block.freedoms.iter().enumerate() {
                places[freedom] = Some((index, column));
            }
        }
        let mut by_dof = vec![0.0; dofs];
        let most = blocks.iter().map(|block| block.closings.len()).max();
        for round in 0..most.unwrap_or(0) {
            // one closing of every block at a time: no freedom moves two of these
            let closing = |block: &Block| Some(closings[*block.closings.get(round)?].deformation());
            equations.rates_by_dofs(blocks.iter().filter_map(closing), &mut by_dof);
            for block in &mut blocks {
                if round < block.closings.len() {
                    let rate = |&freedom: &usize| match by_dof.get(freedom) {
                        Some(&rate) => rate,
                        None => equations.drive_effort(freedom - dofs),
                    };
                    let row = block.freedoms.iter().map(rate).collect();
                    block.rows.push(row);
                }
            }
        }
        let rates = blocks.iter().flat_map(|block| block.rows.iter().flatten());
        let largest = rates.fold(0.0_f64, |most, rate| most.max(rate.abs()));
        Self {
            blocks,
            places,
            largest,
            smallest: (DEPENDENT * largest).max(UNMOVED),
        }
    }

    /// Block of a freedom, and its column there; `None` for one that moves no closing.
    pub(super) fn place(&self, freedom: usize) -> Option<(usize, usize)> {
        self.places[freedom]
    }

    /// The block that every degree of freedom belongs to that moves a closing.
    pub(super) fn loop_of(&self, open: &Mechanism) -> BTreeMap<(ElementId, usize), usize> {
        let of = |dof: usize| Some((open.dof_deformation(dof)?, self.place(dof)?.0));
        (0..open.dof_count()).filter_map(of).collect()
    }

    /// Which closings were used.
    pub(super) fn used(&self, count: usize) -> Vec<bool> {
        let mut used = vec![false; count];
        for block in &self.blocks {
            for (&closing, &own) in block.closings.iter().zip(&block.used) {
                used[closing] = own;
            }
        }
        used
    }

    /// Makes `balls` dependent first, each as a whole or not at all, then single coordinates, those of joints that are taken apart among
    /// them; or tells a closing that something moves, but nothing that may be dependent.
    pub(super) fn choose(
        &mut self,
        candidates: &[Candidates],
        balls: fn(&Candidates) -> &[Ball],
        unfolding: Option<&Unfolding<'_>>,
    ) -> Result<Vec<Dependent>, usize> {
        let mut chosen = Vec::new();
        let smallest = self.smallest;
        for (index, (block, own)) in self.blocks.iter_mut().zip(candidates).enumerate() {
            for (ball, columns) in balls(own) {
                let before = block.clone();
                let mut rest = columns.clone();
                while block.take_best(&mut rest, smallest).is_some() {}
                if rest.is_empty() {
                    chosen.push(*ball);
                } else {
                    *block = before;
                }
            }
            let mut tiers: Vec<&[(Dependent, usize)]> =
                own.single.iter().map(Vec::as_slice).collect();
            let parts = unfolding.map(|unfolding| {
                unfolding.unfold(index, &mut block.rows);
                let is_willing = |element| {
                    let mut willing = own.willing.iter();
                    willing.any(|(ball, _)| *ball == Dependent::Ball(element))
                };
                unfolding.parts(index, is_willing)
            });
            if let Some([willing, unwilling]) = &parts {
                tiers.insert(1, unwilling);
                tiers.insert(0, willing);
            }
            for tier in tiers {
                let mut columns: Vec<usize> = tier.iter().map(|(_, column)| *column).collect();
                while let Some(taken) = block.take_best(&mut columns, smallest) {
                    let of = |(_, column): &&(Dependent, usize)| *column == taken;
                    chosen.extend(tier.iter().find(of).map(|(candidate, _)| *candidate));
                }
            }
        }
        let contradicted = self
            .blocks
            .iter()
            .filter_map(|own| own.contradicted(smallest));
        match contradicted.min() {
            Some(closing) => Err(closing),
            None => Ok(chosen),
        }
    }

    /// A closing whose ends are carried along by prescribed motions alone, which hold them together as it does: which of the two is to give way is not
    /// said. Leaves velocities unset.
    pub(super) fn held_twice(
        &self,
        equations: &mut Equations<'_>,
        closings: &[Closing],
    ) -> Option<usize> {
        let open = equations.mechanism();
        if open.dof_count() > 0 || self.largest > UNMOVED {
            return None;
        }
        let mut first: Option<usize> = None;
        let mut drives = vec![Drive::default(); open.drive_count()];
        for drive in 0..drives.len() {
            drives[drive].rate = 1.0;
            equations.set_velocity(&[], &drives);
            drives[drive].rate = 0.0;
            let moves = |closing: &Closing| {
                let (element, index) = closing.deformation();
                equations.gross_rate(element, index) > UNMOVED
            };
            let found = closings.iter().position(moves);
            first = [first, found].into_iter().flatten().min();
        }
        first
    }
}

/// The closings that something moves, in blocks that have no freedoms in common.
fn blocks(open: &Mechanism, closings: &[Closing]) -> Vec<Block> {
    let carriers = open.carriers();
    let everything = open.dof_count() + open.drive_count();
    let mut blocks: Vec<Block> = Vec::new();
    let mut block_of: Vec<Option<usize>> = vec![None; everything];
    let mut begin = 0;
    for of_element in closings.chunk_by(|a, b| a.deformation().0 == b.deformation().0) {
        let (element, _) = of_element[0].deformation();
        let own = begin..begin + of_element.len();
        begin = own.end;
        let freedoms = match &carriers {
            Some(carriers) => carriers.freedoms_across(element),
            None => (0..everything).collect(),
        };
        if freedoms.is_empty() {
            continue;
        }
        let mut met: Vec<usize> = freedoms.iter().filter_map(|&own| block_of[own]).collect();
        met.sort_unstable();
        met.dedup();
        let index = met.first().copied().unwrap_or_else(|| {
            blocks.push(Block::default());
            blocks.len() - 1
        });
        let mut block = std::mem::take(&mut blocks[index]);
        for &other in met.iter().skip(1) {
            let other = std::mem::take(&mut blocks[other]);
            block.closings.extend(other.closings);
            block.freedoms.extend(other.freedoms);
        }
        block.closings.extend(own);
        block.freedoms.extend(freedoms);
        block.closings.sort_unstable();
        block.freedoms.sort_unstable();
        block.freedoms.dedup();
        for &freedom in &block.freedoms {
            block_of[freedom] = Some(index);
        }
        blocks[index] = block;
    }
    blocks.retain(|block| !block.closings.is_empty());
    for block in &mut blocks {
        block.used = vec![false; block.closings.len()];
    }
    blocks
}

impl Block {
    /// Eliminates with the largest entry in any of the columns, of those alike the first, and takes its column away.
    fn take_best(&mut self, columns: &mut Vec<usize>, smallest: f64) -> Option<usize> {
        let mut best: Option<(usize, usize, f64)> = None;
        for (row, entries) in self.rows.iter().enumerate().filter(|(i, _)| !self.used[*i]) {
            for (at, &column) in columns.iter().enumerate() {
                let size = entries[column].abs();
                let is_larger = |(_, _, most): (usize, usize, f64)| size > (1.0 + ALIKE) * most;
                if size > smallest && best.is_none_or(is_larger) {
                    best = Some((row, at, size));
                }
            }
        }
        let (row, at, _) = best?;
        let column = columns.remove(at);
        self.used[row] = true;
        let pivot = self.rows[row].clone();
        for (other, entries) in self.rows.iter_mut().enumerate() {
            if !self.used[other] {
                let factor = entries[column] / pivot[column];
                for (entry, from) in entries.iter_mut().zip(&pivot) {
                    *entry -= factor * from;
                }
                entries[column] = 0.0;
            }
        }
        Some(column)
    }

    /// A closing that something moves, but nothing that may be dependent.
    fn contradicted(&self, smallest: f64) -> Option<usize> {
        let moved = |row: &usize| {
            let entries = self.rows[*row].iter();
            !self.used[*row] && entries.fold(0.0_f64, |m, x| m.max(x.abs())) > smallest
        };
        (0..self.rows.len())
            .find(moved)
            .map(|row| self.closings[row])
    }
}
