//! What is looked at after every step: whether the equations kept still hold all others, whether the coordinates chosen
//! still determine the motion, and whether the step passed over a configuration where they do not.
//!
//! A condition number tells of singular configurations near a step, not of one that a step has jumped over. There a
//! determinant changes its sign: that of the equations over the dependent coordinates. It is the
//! same at both ends of every step that does not pass a zero of it, whatever the size of the step.

use super::super::complement::most_moved;
use super::super::error::{Repartition, Singularity, Trouble};
use super::super::rank::pivot_rows;
use super::{Loops, Method, SINGULAR, Watched, largest};
use crate::Linkage;
use crate::tree::{difference, displace};

/// Violation, per metre of reach, from which an equation that was redundant at the start is redundant no longer.
const REDUNDANT: f64 = 1e-8;
/// The same, relative to that of the equations kept, where violations are only damped.
const BEYOND_THE_OTHERS: f64 = 1e3;
/// Condition number from which a failure of the integrator is put down to the configuration.
const NEARLY_SINGULAR: f64 = 1e3;
/// Equations and coordinates are chosen anew when the condition number has grown so much since the last choice.
const WORTH_CHOOSING: f64 = 10.0;
/// On beams other coordinates become dependent where these are determined so many times better. All functions but those of a
/// node vanish as a support comes to it, and the next step may end there.
const BETTER_ON_BEAMS: f64 = 2.0;
/// Halvings of a step by which a singular configuration is located: to 1e-12 of it.
const HALVINGS: usize = 40;
/// How many steps beyond the last one a singular configuration may be that made the next one fail.
const STEPS_AHEAD: u8 = 3;

impl Loops {
    /// Looks at the configuration of a state that has been projected: chooses equations and independent coordinates anew where that
    /// helps, and says why the run cannot go on if it cannot. States are to come in the order of time.
    pub fn watch(
        &mut self,
        linkage: &Linkage,
        time: f64,
        position: &[f64],
        velocity: &[f64],
    ) -> Option<Trouble> {
        if !self.projects() {
            self.prepare(linkage, position, velocity);
        }
        if let Some(trouble) = self.off_beam(linkage).or_else(|| self.opened(linkage)) {
            return Some(trouble);
        }
        let mut ill_conditioned = false;
        if self.last.time < time && self.side() * self.last.side < 0.0 {
            if let Some(trouble) = self.passed(linkage, time, position, velocity) {
                return Some(trouble);
            }
            self.prepare(linkage, position, velocity);
            ill_conditioned = true;
        }
        let mut condition = self.condition();
        if ill_conditioned
            || condition >= WORTH_CHOOSING * self.chosen_condition
            || self.reference_is_ill_conditioned()
        {
            self.choose_anew(linkage, time, position, velocity, condition);
            condition = self.condition();
            self.chosen_condition = condition;
        } else if self.automatic && self.constraints.slides() && condition >= BETTER_ON_BEAMS {
            condition = self.choose_better(linkage, time, position, velocity, condition);
        }
        self.worst = self.close_to_singular(linkage, condition);
        self.last.step = time - self.last.time;
        self.last.time = time;
        self.last.side = self.side();
        self.last.position.copy_from_slice(position);
        self.last.velocity.copy_from_slice(velocity);
        let worst = self.worst.as_ref()?;
        (worst.condition >= SINGULAR).then(|| Trouble::Singular {
            time_s: time,
            singularity: worst.clone(),
        })
    }

    /// Chooses independent coordinates for a state of supports on beams where those at hand no longer determine it: one that is to be
    /// [projected](Self::project), which they might move anywhere, or one behind a node, where functions of the element before it
    /// hold nothing. States are those at which an integrator may start afresh.
    pub fn choose_on_beams(
        &mut self,
        linkage: &Linkage,
        time: f64,
        position: &[f64],
        velocity: &[f64],
    ) {
        if !self.automatic || !self.constraints.slides() {
            return;
        }
        let condition = if self.prepare(linkage, position, velocity) {
            self.condition()
        } else {
            f64::INFINITY
        };
        if condition < WORTH_CHOOSING * self.chosen_condition {
            return;
        }
        self.choose_anew(linkage, time, position, velocity, condition);
        self.chosen_condition = self.condition();
        // the side of the last state by the coordinates that are dependent now
        let last = self.last.clone();
        self.last.side = if self.prepare(linkage, &last.position, &last.velocity) {
            self.side()
        } else {
            0.0
        };
    }

    /// Up to when the motion was good that has come to a trouble.
    pub fn good_until(&self, trouble: &Trouble) -> f64 {
        match trouble {
            Trouble::Singular { time_s, .. } => *time_s,
            Trouble::LeftBeam { .. }
            | Trouble::Unclosed { .. }
            | Trouble::NoLongerRedundant { .. } => self.last.time,
        }
    }

    /// What to say of a state that could not be [projected](Self::project).
    pub fn unclosed(&mut self, linkage: &Linkage, position: &[f64], velocity: &[f64]) -> Trouble {
        self.evaluate(linkage, position, velocity);
        let (row, violation) = largest(self.constraints.residual());
        Trouble::Unclosed {
            equation: self.constraints.name(&linkage.closures, row),
            violation,
        }
    }

    /// The first equation that no longer follows from those that are kept.
    fn opened(&self, linkage: &Linkage) -> Option<Trouble> {
        let residual = self.constraints.residual();
        let mut closed = REDUNDANT * self.constraints.reach().max(1.0);
        if !self.projects() {
            let kept = (self.rows.iter()).fold(0.0, |m: f64, &row| m.max(residual[row].abs()));
            closed = closed.max(BEYOND_THE_OTHERS * kept);
        }
        let row = *(self.redundant.iter()).find(|&&row| residual[row].abs() > closed)?;
        Some(Trouble::NoLongerRedundant {
            equation: self.constraints.name(&linkage.closures, row),
            violation: residual[row].abs(),
        })
    }

    /// The singular configuration that the way from the last state led over. `None` if another choice of equations, or
    /// of coordinates where it is free, is not singular there.
    fn passed(
        &mut self,
        linkage: &Linkage,
        time: f64,
        position: &[f64],
        velocity: &[f64],
    ) -> Option<Trouble> {
        let from = self.last.clone();
        let way = difference(&linkage.system, &from.position, position);
        let span = time - from.time;
        // by positions and velocities at both ends, as a cubic
        let step = |share: f64| -> Vec<f64> {
            let square = share * share;
            (way.iter().zip(&from.velocity).zip(velocity))
                .map(|((way, before), after)| {
                    (3.0 - 2.0 * share) * square * way
                        + span * (share - 2.0 * square + square * share) * before
                        + span * (square * share - square) * after
                })
                .collect()
        };
        self.locate(linkage, &from, step)
            .map(|(share, singularity)| Trouble::Singular {
                time_s: from.time + span * share,
                singularity,
            })
    }

    /// The singular configuration to which the last state was heading, with its instant: for a run that found no next one.
    pub fn heading_for(&self, linkage: &Linkage) -> Option<(f64, Singularity)> {
        let from = &self.last;
        if from.side == 0.0 || !from.step.is_finite() {
            return None;
        }
        let mut loops = self.clone();
        (1..=STEPS_AHEAD).find_map(|steps| {
            let span = f64::from(steps) * from.step;
            let step = |share: f64| -> Vec<f64> {
                (from.velocity.iter().map(|rate| share * span * rate)).collect()
            };
            if !loops.is_beyond(linkage, from, &step(1.0)) {
                return None;
            }
            let (share, singularity) = loops.locate(linkage, from, step)?;
            Some((from.time + span * share, singularity))
        })
    }

    /// Whether a step from a configuration leads to the other side of a singular one.
    fn is_beyond(&mut self, linkage: &Linkage, from: &Watched, step: &[f64]) -> bool {
        let mut trial = from.position.clone();
        displace(&linkage.system, &mut trial, step);
        let at_rest = vec![0.0; step.len()];
        !self.prepare(linkage, &trial, &at_rest) || self.side() * from.side <= 0.0
    }

    /// Where on the way from a configuration to one beyond it that is singular, and what is so there.
    fn locate(
        &mut self,
        linkage: &Linkage,
        from: &Watched,
        step: impl Fn(f64) -> Vec<f64>,
    ) -> Option<(f64, Singularity)> {
        let (mut early, mut late) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (early + late);
            if self.is_beyond(linkage, from, &step(middle)) {
                late = middle;
            } else {
                early = middle;
            }
        }
        let mut there = from.position.clone();
        displace(&linkage.system, &mut there, &step(late));
        let at_rest = vec![0.0; from.velocity.len()];
        self.evaluate(linkage, &there, &at_rest);
        self.choose_rows(linkage);
        self.choose_columns();
        self.factor(linkage, &there, &at_rest);
        (self.condition() >= NEARLY_SINGULAR).then(|| (late, self.singularity(linkage)))
    }

    /// Chooses equations and coordinates for the state last evaluated and records a change of the independent ones.
    fn choose_anew(
        &mut self,
        linkage: &Linkage,
        time: f64,
        position: &[f64],
        velocity: &[f64],
        condition_before: f64,
    ) {
        let before = self.independent_entries().to_vec();
        self.choose_rows(linkage);
        self.choose_columns();
        self.factor(linkage, position, velocity);
        self.record_choice(linkage, time, &before, condition_before);
    }

    /// Chooses other coordinates if these are determined much better, and tells the condition number of those that are chosen.
    fn choose_better(
        &mut self,
        linkage: &Linkage,
        time: f64,
        position: &[f64],
        velocity: &[f64],
        condition: f64,
    ) -> f64 {
        let before = self.independent_entries().to_vec();
        let Method::Complement(complement) = &self.method else {
            return condition;
        };
        let dependent = complement.dependent.clone();
        self.choose_columns();
        self.factor(linkage, position, velocity);
        let better = self.condition();
        if better <= condition / BETTER_ON_BEAMS {
            self.record_choice(linkage, time, &before, condition);
            self.chosen_condition = better;
            return better;
        }
        if let Method::Complement(complement) = &mut self.method {
            complement.partition(dependent, &self.joints, &self.elastic);
        }
        self.factor(linkage, position, velocity);
        condition
    }

    /// Independent entries of the velocity vector; none for multipliers.
    fn independent_entries(&self) -> &[usize] {
        match &self.method {
            Method::Complement(complement) => &complement.independent,
            Method::Multipliers(_) => &[],
        }
    }

    /// Records a change of the independent coordinates, if there was one.
    fn record_choice(
        &mut self,
        linkage: &Linkage,
        time: f64,
        before: &[usize],
        condition_before: f64,
    ) {
        let names = |independent: &[usize]| -> Vec<String> {
            (independent.iter())
                .filter(|at| !self.elastic.contains(at))
                .map(|&at| linkage.velocities[at].name.clone())
                .collect()
        };
        if before == self.independent_entries() {
            return;
        }
        let (before, after) = (names(before), names(self.independent_entries()));
        let condition_after = self.condition();
        self.repartitions.push(Repartition {
            time_s: time,
            before,
            after,
            condition_before,
            condition_after,
        });
    }

    /// Chooses, of equations that follow from each other, those that say most.
    fn choose_rows(&mut self, linkage: &Linkage) {
        if self.redundant.is_empty() {
            return;
        }
        let free = [&self.joints[..], &self.elastic[..]].concat();
        let columns = match &self.method {
            Method::Complement(complement) if !self.automatic => &complement.dependent,
            _ => &free,
        };
        let jacobian = self.constraints.jacobian();
        let rows = pivot_rows(jacobian, self.change.len(), columns, self.rows.len());
        if rows.len() < self.rows.len() || rows == self.rows {
            return;
        }
        self.redundant = (0..self.constraints.len())
            .filter(|row| !rows.contains(row))
            .collect();
        self.multipliers.fill(0.0);
        match &mut self.method {
            Method::Complement(complement) => complement.keep(&rows),
            Method::Multipliers(multipliers) => {
                multipliers.keep(&linkage.system, &rows, &self.constraints);
            }
        }
        self.rows = rows;
    }

    /// Chooses the dependent coordinates, where that is free.
    fn choose_columns(&mut self) {
        match &mut self.method {
            Method::Complement(complement) if self.automatic => {
                complement.choose(&self.constraints, &self.joints, &self.elastic);
            }
            Method::Complement(_) => {}
            Method::Multipliers(multipliers) => {
                multipliers.choose_reference(&self.constraints, &self.joints, &self.elastic);
            }
        }
    }

    /// On which side of a singular configuration the state last factored is.
    pub(super) fn side(&mut self) -> f64 {
        match &mut self.method {
            Method::Complement(complement) => complement.side(),
            Method::Multipliers(multipliers) => multipliers.side(),
        }
    }

    fn reference_is_ill_conditioned(&self) -> bool {
        match &self.method {
            Method::Complement(_) => false,
            Method::Multipliers(multipliers) => {
                multipliers.reference_is_ill_conditioned(WORTH_CHOOSING)
            }
        }
    }

    /// Condition number of the state last factored.
    pub(super) fn condition(&mut self) -> f64 {
        match &mut self.method {
            Method::Complement(complement) => complement.condition().0,
            Method::Multipliers(multipliers) => {
                multipliers.condition(&self.given, self.change.len()).0
            }
        }
    }

    /// What gains freedom at the state last factored, if its condition number is one to tell of.
    pub(super) fn close_to_singular(
        &mut self,
        linkage: &Linkage,
        condition: f64,
    ) -> Option<Singularity> {
        (condition >= NEARLY_SINGULAR).then(|| self.singularity(linkage))
    }

    /// What gains freedom at the state last factored.
    fn singularity(&mut self, linkage: &Linkage) -> Singularity {
        match &mut self.method {
            Method::Complement(complement) => {
                let (condition, worst) = complement.condition();
                complement.singularity(linkage, condition, worst)
            }
            Method::Multipliers(multipliers) => {
                let n = self.change.len();
                let (condition, direction) = multipliers.condition(&self.given, n);
                Singularity {
                    condition,
                    coordinates: most_moved(linkage, direction.iter().copied().enumerate()),
                }
            }
        }
    }
}
