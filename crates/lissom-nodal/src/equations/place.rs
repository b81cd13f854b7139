//! The transfer function of order zero, eq (8): where the nodes are for these degrees of freedom.

use lissom_spatial::{Quaternion, Vector};

use super::Equations;
use crate::ball::Ball;
use crate::element::ElementKind;
use crate::error::NodalError;
use crate::factor::SingularColumn;
use crate::mechanism::{Place, Slot};
use crate::node::{NodeKind, Placement};
use crate::role::Drive;

/// Newton's iterations for one placement.
const MOST_ITERATIONS: usize = 25;
/// Newton's iterations for a part of the way: where more are needed, half of the part is sooner reached.
const MOST_OF_PART: usize = 10;
/// Newton's iteration squares its error: after a correction below this, rounding is what is left.
const LAST_CORRECTION: f64 = 1e-8;
/// Largest turn in one iteration, in radians: beyond it the conditions are not nearly linear.
const LARGEST_TURN: f64 = 0.7;
/// Smallest part of the way that continuation tries.
const SMALLEST_PART: f64 = 1.0 / 4096.0;
/// Iterations that it spends: some eighty parts that are reached. Ways that need more lead far away, as the trial steps of integrators and of the
/// search for equilibria do, which are shortened when they fail.
const MOST_OF_WAY: usize = 400;

impl Equations<'_> {
    /// Finds the configuration for these positions and drives, eq (8): Newton's iteration from the
    /// configuration before. If that is far, from where the elements of a tree carry their nodes, or in parts of the way.
    ///
    /// # Errors
    ///
    /// At a singular configuration, or when none is found. The next place is then sought from where this one was: beyond a dead
    /// point there may be another branch, on which nothing that was tried in vain may leave the mechanism.
    pub fn place(&mut self, position: &[f64], drives: &[Drive]) -> Result<(), NodalError> {
        for (wanted, drive) in self.wanted_drives.iter_mut().zip(drives) {
            *wanted = drive.value;
        }
        let wanted = std::mem::take(&mut self.wanted_drives);
        let outcome = self.travel(position, &wanted);
        self.wanted_drives = wanted;
        outcome
    }

    fn travel(&mut self, position: &[f64], drives: &[f64]) -> Result<(), NodalError> {
        self.save();
        if self.reach(position, drives, MOST_ITERATIONS).is_ok() {
            return Ok(());
        }
        self.restore();
        if self.carry(position, drives).is_ok_and(|carried| carried)
            && self.reach(position, drives, MOST_ITERATIONS).is_ok()
        {
            return Ok(());
        }
        self.restore();
        self.start_placements.copy_from_slice(&self.placements);
        self.start_references.copy_from_slice(&self.references);
        self.start_position.copy_from_slice(&self.reached_position);
        self.start_drives.copy_from_slice(&self.reached_drives);
        let (mut done, mut part) = (0.0_f64, 0.5_f64);
        let spent_before = self.iterations;
        while done < 1.0 {
            let goal = (done + part).min(1.0);
            self.blend(position, drives, goal);
            let (part_position, part_drives) = (
                std::mem::take(&mut self.part_position),
                std::mem::take(&mut self.part_drives),
            );
            let outcome = self.reach(&part_position, &part_drives, MOST_OF_PART);
            if outcome.is_ok() {
                self.save();
                done = goal;
                part *= 2.0;
            } else {
                self.restore();
                part *= 0.5;
            }
            self.part_position = part_position;
            self.part_drives = part_drives;
            let spent = self.iterations - spent_before;
            if part < SMALLEST_PART || (spent >= MOST_OF_WAY && outcome.is_err()) {
                self.placements.copy_from_slice(&self.start_placements);
                self.references.copy_from_slice(&self.start_references);
                self.reached_position.copy_from_slice(&self.start_position);
                self.reached_drives.copy_from_slice(&self.start_drives);
                self.evaluated = false;
                return outcome;
            }
        }
        Ok(())
    }

    pub(super) fn save(&mut self) {
        self.saved_placements.copy_from_slice(&self.placements);
        self.saved_references.copy_from_slice(&self.references);
    }

    fn restore(&mut self) {
        self.placements.copy_from_slice(&self.saved_placements);
        self.evaluated = false;
        self.references.copy_from_slice(&self.saved_references);
    }

    /// Positions and drives at a part of the way.
    fn blend(&mut self, position: &[f64], drives: &[f64], part: f64) {
        for (i, x) in self.part_drives.iter_mut().enumerate() {
            *x = self.start_drives[i] + part * (drives[i] - self.start_drives[i]);
        }
        for (i, x) in self.part_position.iter_mut().enumerate() {
            *x = self.start_position[i] + part * (position[i] - self.start_position[i]);
        }
        for dof in &self.mechanism.dofs {
            if self.mechanism.rotation_of(dof.place) != Some(0) {
                continue;
            }
            let range = dof.position..dof.position + 4;
            let (from, to) = (
                &self.start_position[range.clone()],
                &position[range.clone()],
            );
            let same: f64 = from.iter().zip(to).map(|(a, b)| a * b).sum();
            // a quaternion and its negative are one orientation: take the shorter way
            let sign = if same < 0.0 { -1.0 } else { 1.0 };
            for (i, x) in self.part_position[range].iter_mut().enumerate() {
                *x = from[i] + part * (sign * to[i] - from[i]);
            }
        }
    }

    /// Places the nodal coordinates that are given.
    pub(super) fn set_given(&mut self, position: &[f64], drives: &[f64]) {
        for (index, slots) in self.mechanism.slots.iter().enumerate() {
            let kind = self.mechanism.nodes[index].kind;
            for component in 0..3 {
                let value = match slots[component] {
                    Slot::Dof(dof) => {
                        let first = self.mechanism.dofs[dof].position;
                        if kind == NodeKind::Orientation {
                            let q = Quaternion(std::array::from_fn(|i| position[first + i]));
                            let length = q.0.iter().map(|x| x * x).sum::<f64>().sqrt();
                            let orientation = Quaternion(q.0.map(|x| x / length));
                            if self.placements[index].orientation != orientation {
                                self.placements[index].orientation = orientation;
                                self.evaluated = false;
                            }
                            continue;
                        }
                        position[first]
                    }
                    Slot::Drive(drive) => drives[drive],
                    Slot::Still | Slot::Unknown(_) => continue,
                };
                let placement = &mut self.placements[index];
                if kind == NodeKind::PlanarAngle {
                    if placement.angle != value {
                        *placement = Placement::at_angle(value);
                        self.evaluated = false;
                    }
                } else if placement.position[component] != value {
                    placement.position[component] = value;
                    self.evaluated = false;
                }
            }
        }
    }

    /// Goes to positions and drives from where the nodes stand, in at most so many iterations.
    fn reach(&mut self, position: &[f64], drives: &[f64], most: usize) -> Result<(), NodalError> {
        self.iterate(position, drives, most)?;
        self.reached_position.copy_from_slice(position);
        self.reached_drives.copy_from_slice(drives);
        Ok(())
    }

    fn iterate(&mut self, position: &[f64], drives: &[f64], most: usize) -> Result<(), NodalError> {
        self.set_given(position, drives);
        let (mut snapped, mut converged) = (false, false);
        // the deformation that is furthest from its value, and by how much
        let mut worst = (0, 0.0);
        for iteration in 1..=most {
            self.iterations += 1;
            if !self.evaluated {
                self.evaluate()?;
                self.evaluated = true;
            }
            if converged {
                return self.refuse_folded();
            }
            worst = self.miss(position, drives);
            self.factor.solve(&mut self.correction, &mut self.solution);
            if !self.correction.iter().all(|x| x.is_finite()) {
                return Err(self.unreachable((worst.0, f64::NAN), iteration));
            }
            let is_last = self.correct();
            converged = is_last && snapped;
            if is_last && !snapped {
                self.snap();
                snapped = true;
            }
        }
        Err(self.unreachable(worst, most))
    }

    /// Writes what each condition lacks to the correction, and tells the deformation that lacks most.
    fn miss(&mut self, position: &[f64], drives: &[f64]) -> (usize, f64) {
        let (mut worst, mut missing) = ((0, 0.0_f64), [0.0; 6]);
        for (row, &deformation) in self.mechanism.rows.iter().enumerate() {
            let lack = match self.mechanism.ball_of(deformation) {
                Some((ball, index, local)) => {
                    if local % 3 == 0 {
                        missing = self.missing(ball, index, position);
                    }
                    missing[local]
                }
                None => self.wanted(deformation, position, drives) - self.pass.value[deformation],
            };
            self.correction[row] = lack;
            if lack.abs() > worst.1 {
                worst = (deformation, lack.abs());
            }
        }
        worst
    }

    fn unreachable(&self, (deformation, miss): (usize, f64), iterations: usize) -> NodalError {
        NodalError::Unreachable {
            condition: (self.mechanism).place_name(Place::Deformation(deformation)),
            miss,
            iterations,
        }
    }

    /// The value that a deformation is to have.
    pub(super) fn wanted(&self, deformation: usize, position: &[f64], drives: &[f64]) -> f64 {
        match self.mechanism.conditions[deformation].slot {
            Slot::Dof(dof) => position[self.mechanism.dofs[dof].position],
            Slot::Drive(drive) => drives[drive],
            Slot::Still | Slot::Unknown(_) => self.mechanism.assembled[deformation],
        }
    }

    /// What brings a joint that turns in any way to its positions; nothing of what is free.
    pub(super) fn missing(&self, ball: &Ball, element: usize, position: &[f64]) -> [f64; 6] {
        let mechanism = self.mechanism;
        let sites = ball.sites(&self.pass.nodes, &mechanism.elements[element].nodes);
        let (mut turn, mut offset) = ball.place(sites);
        let first = mechanism.first[element];
        for (local, condition) in mechanism.conditions[first..mechanism.first[element + 1]]
            .iter()
            .enumerate()
        {
            let Slot::Dof(dof) = condition.slot else {
                continue;
            };
            let at = mechanism.dofs[dof].position;
            match local {
                0 => turn = Quaternion(std::array::from_fn(|i| position[at + i])),
                1 | 2 => {}
                _ => offset[local - 3] = position[at],
            }
        }
        ball.missing(sites, (turn, offset))
    }

    /// A beam whose chord points against its ends meets its conditions as well as one that does not: such a
    /// configuration is the wrong one of two.
    fn refuse_folded(&self) -> Result<(), NodalError> {
        for element in &self.mechanism.elements {
            if let ElementKind::Beam(beam) = &element.kind
                && beam.is_folded(std::array::from_fn(|i| &self.pass.nodes[element.nodes[i]]))
            {
                return Err(NodalError::Folded {
                    element: element.name.clone(),
                });
            }
        }
        Ok(())
    }

    /// Moves the unknown coordinates by the correction; whether it was the last one needed.
    fn correct(&mut self) -> bool {
        let mut largest = 0.0_f64;
        let mut turn = 0.0_f64;
        for (&(node, _), correction) in self.mechanism.unknowns.iter().zip(&self.correction) {
            largest = largest.max(correction.abs());
            if self.mechanism.nodes[node].kind.turns() {
                turn = turn.max(correction.abs());
            }
        }
        let share = if turn > LARGEST_TURN {
            LARGEST_TURN / turn
        } else {
            1.0
        };
        self.evaluated = false;
        for (index, slots) in self.mechanism.slots.iter().enumerate() {
            let mut increment = Vector([0.0; 3]);
            for component in 0..3 {
                if let Slot::Unknown(unknown) = slots[component] {
                    increment[component] = share * self.correction[unknown];
                }
            }
            if increment.0 != [0.0; 3] {
                self.placements[index].displace(self.mechanism.nodes[index].kind, increment);
            }
        }
        largest < LAST_CORRECTION
    }

    /// Brings the unknown coordinates to a grid near where they were found. What rounding leaves of the way there is gone then: the
    /// last correction begins at the same numbers, and ends at the same, from wherever the place was sought.
    fn snap(&mut self) {
        for (index, slots) in self.mechanism.slots.iter().enumerate() {
            let is_unknown = |component: &usize| matches!(slots[*component], Slot::Unknown(_));
            if (0..3).any(|component| is_unknown(&component)) {
                let kind = self.mechanism.nodes[index].kind;
                self.placements[index].snap(kind, (0..3).filter(is_unknown));
            }
        }
    }

    /// Deformations and gradients where the nodes stand, and the factors of their matrix; hinges count their angles on.
    pub(super) fn evaluate(&mut self) -> Result<(), NodalError> {
        self.stand();
        for (index, element) in self.mechanism.elements.iter().enumerate() {
            if let ElementKind::Hinge(hinge) = &element.kind {
                let nodes = [element.nodes[0], element.nodes[1]].map(|i| &self.pass.nodes[i]);
                self.references[index] = hinge.angle(nodes, self.references[index]);
            }
        }
        self.factor_gradients()
    }

    /// Nodes of the evaluation stand where they are placed.
    pub(super) fn stand(&mut self) {
        for (node, placement) in self.pass.nodes.iter_mut().zip(&self.placements) {
            node.position = placement.position;
            node.rotation = placement.orientation.matrix();
        }
    }

    /// Deformations and gradients where the nodes stand, with hinges at the angles that they have, and the factors of
    /// their matrix.
    pub(super) fn factor_gradients(&mut self) -> Result<(), NodalError> {
        let mechanism = self.mechanism;
        self.pass.shape(mechanism, &self.references);
        self.factor.clear();
        let mut slots = self.slots.iter();
        for &deformation in &mechanism.rows {
            let sites = mechanism.elements[mechanism.element_of[deformation]]
                .nodes
                .len();
            let slopes = self.pass.gradient[deformation][..sites].iter();
            for (slope, &slot) in slopes.flat_map(|slope| slope.0).zip(&mut slots) {
                if slot != usize::MAX {
                    self.factor.add(slot, slope);
                }
            }
        }
        self.factor
            .factor()
            .map_err(|SingularColumn { column, ratio }| {
                let (node, component) = mechanism.unknowns[column];
                NodalError::SingularConfiguration {
                    coordinate: mechanism.place_name(Place::Coordinate(node, component)),
                    condition: mechanism.place_name(Place::Deformation(mechanism.rows[column])),
                    ratio,
                }
            })
    }
}
