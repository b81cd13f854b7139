//! Equations linearised along a motion, as data: points, and what lies between them.
//!
//! Jonker & Aarts (24)–(32), (41). What lies between the points is interpolated by cubics, which do not reach across
//! instants at which the motion is not smooth: its points lie on [both sides](with_breaks) of them. All of it is in
//! coordinates of joints and deformations; positions in ground axes, which turn with an arm, are not interpolated.

use nalgebra::{DMatrix, DVector};

use lissom_spatial::{Dual, Vector};

use super::error::LinearError;
use super::linearization::{Labels, Linearization};
use super::loops::{self, Actuation, Loops, LoopsBetween};
use super::weights::{Weights, are_sides_of_a_break, interval};
use crate::statics::solve::Scaled;

/// Which terms of the linearised equations are taken: the cases of Table I.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Inertia and velocity terms; without them the solution is quasi-static.
    pub inertia: bool,
    /// Dynamic stiffening $`N_0`$.
    pub dynamic: bool,
    /// Geometric stiffening $`G_0`$.
    pub geometric: bool,
}

impl Terms {
    /// The five cases of Table I, the first one complete.
    pub const CASES: [Self; 5] = [
        Self::of(true, true, true),
        Self::of(false, true, true),
        Self::of(true, false, false),
        Self::of(false, false, false),
        Self::of(true, true, false),
    ];

    const fn of(inertia: bool, dynamic: bool, geometric: bool) -> Self {
        Self {
            inertia,
            dynamic,
            geometric,
        }
    }
}

/// What is interpolated between the points of linearisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// The factor of $`M_0`$, $`C_0`$ and the stiffness, by cubics.
    Matrices,
    /// $`A_{ss} = [0, 1; -M^{-1}K, -M^{-1}C]`$ and $`B_{ss} = [0; M^{-1}]`$ linearly, as printed; needs many points.
    StateSpace,
}

/// Position of a marker along the nominal motion with its first and second derivatives, eq (30).
#[derive(Clone, Debug)]
pub struct Output {
    /// Nominal position, $`y_0`$.
    pub position: Vector<f64>,
    /// First-order transfer function, three rows.
    pub first: DMatrix<f64>,
    /// Second-order transfer function of each component, where it was asked for.
    pub second: Option<[DMatrix<f64>; 3]>,
}

/// What sensors read along the nominal motion with first derivatives: one row per channel, one column per degree of freedom.
#[derive(Clone, Debug, PartialEq)]
pub struct SensorRows {
    /// Nominal readings.
    pub reading: Vec<f64>,
    /// Derivatives by the degrees of freedom.
    pub position: DMatrix<f64>,
    /// Derivatives by their rates.
    pub rate: DMatrix<f64>,
    /// Derivatives by their accelerations.
    pub acceleration: DMatrix<f64>,
}

impl SensorRows {
    /// Of channels that do not change with any degree of freedom.
    pub fn constant(reading: Vec<f64>, dofs: usize) -> Self {
        let zeros = DMatrix::zeros(reading.len(), dofs);
        Self {
            reading,
            position: zeros.clone(),
            rate: zeros.clone(),
            acceleration: zeros,
        }
    }

    /// Writes derivatives into some columns: those of readings along the directions of dual numbers.
    pub fn put_columns<const N: usize>(
        derivative: &mut DMatrix<f64>,
        columns: impl IntoIterator<Item = usize>,
        readings: &[Dual<f64, N>],
    ) {
        for (slot, column) in columns.into_iter().enumerate() {
            for (row, reading) in readings.iter().enumerate() {
                derivative[(row, column)] = reading.tangent[slot];
            }
        }
    }

    /// In a chart, where they were taken by velocities that deviate by $`\delta v = \dot\delta + W\delta`$: with $`W`$ and its rate.
    pub fn in_chart(&mut self, turning: &DMatrix<f64>, turning_rate: &DMatrix<f64>) {
        self.position += &self.rate * turning + &self.acceleration * turning_rate;
        self.rate += &self.acceleration * turning;
    }

    /// By other degrees of freedom $`u`$, of which $`\delta = N u`$, $`\dot\delta = N\dot u + V u`$ and
    /// $`\ddot\delta = N\ddot u + V_1\dot u + V_2 u`$: with $`N`$, $`V`$, $`V_1`$, $`V_2`$.
    #[must_use]
    pub fn reduced(
        &self,
        basis: &DMatrix<f64>,
        rate: &DMatrix<f64>,
        acceleration: [&DMatrix<f64>; 2],
    ) -> Self {
        let [by_rate, by_position] = acceleration;
        Self {
            reading: self.reading.clone(),
            position: &self.position * basis + &self.rate * rate + &self.acceleration * by_position,
            rate: &self.rate * basis + &self.acceleration * by_rate,
            acceleration: &self.acceleration * basis,
        }
    }
}

/// How all coordinates follow from the independent ones where loops close: to first order
/// $`\delta = N u`$ and $`\dot\delta = N\dot u + V u`$.
#[derive(Clone, Debug)]
pub struct Dependence {
    /// $`N`$.
    pub basis: DMatrix<f64>,
    /// $`V`$.
    pub rate: DMatrix<f64>,
}

/// The equations linearised at one instant of the nominal motion.
#[derive(Clone, Debug)]
pub struct Point {
    /// Instant.
    pub time: f64,
    /// Nominal positions of the degrees of freedom; longer than there are degrees of freedom where some are
    /// orientations.
    pub position: Vec<f64>,
    /// Nominal velocities of the degrees of freedom.
    pub velocity: Vec<f64>,
    /// Coefficients of eq (21).
    pub linear: Linearization,
    /// Nominal inputs $`u_0`$ on the joints with actuators, those that follow from others included.
    pub input: Vec<f64>,
    /// What drives the deviations: $`\sigma_0`$ at the elastic degrees of freedom, and what the nominal inputs
    /// leave at the actuated ones.
    pub excitation: Vec<f64>,
    /// One per marker.
    pub outputs: Vec<Output>,
    /// What sensors read.
    pub sensors: SensorRows,
    /// Nominal coordinates of the joints with actuators, those that follow from others included; of a point by itself, which does
    /// not know which coordinates were chosen, none.
    pub joints: Vec<f64>,
    /// What controllers and actuators do; of a point by itself nothing.
    pub actuation: Actuation,
    /// What the other coordinates do, where loops solve for some.
    pub dependence: Option<Dependence>,
}

/// Which of all coordinates of a mechanism, those that loops solve for included, equations are in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChosenCoordinates {
    /// The degrees of freedom: independent coordinates.
    pub independent: Vec<usize>,
    /// Those of joints with actuators, in the order of their inputs; some may follow from others.
    pub joints: Vec<usize>,
}

/// Equations linearised along a nominal motion.
#[derive(Clone, Debug)]
pub struct LinearizedTrajectory {
    labels: Labels,
    points: Vec<Point>,
    coordinates: ChosenCoordinates,
    /// Degrees of freedom with actuators, and the joints that they are.
    actuated: Vec<usize>,
    actuated_joints: Vec<usize>,
    elastic: Vec<usize>,
}

impl LinearizedTrajectory {
    /// Points of rising instants, of which there is at least one, in some coordinates. Two points whose instants are
    /// neighbouring numbers are the two sides of a break of the motion, see [`with_breaks`].
    pub fn new(labels: Labels, points: Vec<Point>, coordinates: ChosenCoordinates) -> Self {
        let dof = |at: &usize| coordinates.independent.iter().position(|own| own == at);
        let joints = coordinates.joints.iter().enumerate();
        let (actuated, actuated_joints): (Vec<usize>, Vec<usize>) = joints
            .filter_map(|(joint, at)| Some((dof(at)?, joint)))
            .unzip();
        let elastic = (0..labels.coordinates.len())
            .filter(|dof| !actuated.contains(dof))
            .collect();
        Self {
            labels,
            points,
            coordinates,
            actuated,
            actuated_joints,
            elastic,
        }
    }

    /// The coordinates that the equations are in.
    pub fn coordinates(&self) -> &ChosenCoordinates {
        &self.coordinates
    }

    /// Names of degrees of freedom, inputs and markers.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The points of linearisation.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Degrees of freedom with actuators.
    pub fn actuated(&self) -> &[usize] {
        &self.actuated
    }

    /// The joints that the degrees of freedom with actuators are, by their numbers among all joints with actuators.
    pub fn actuated_joints(&self) -> &[usize] {
        &self.actuated_joints
    }

    /// Derivatives of the coordinates of all joints with actuators by the degrees of freedom at a point, one row each.
    pub fn joint_rows(&self, point: &Point) -> DMatrix<f64> {
        let ChosenCoordinates {
            independent,
            joints,
        } = &self.coordinates;
        match &point.dependence {
            Some(dependence) => dependence.basis.select_rows(joints),
            None => DMatrix::from_fn(joints.len(), independent.len(), |joint, dof| {
                f64::from(u8::from(joints[joint] == independent[dof]))
            }),
        }
    }

    /// Derivatives of the rates of all joints with actuators by the degrees of freedom at a point, one row each; those by the rates are
    /// [`Self::joint_rows`].
    pub fn joint_rate_rows(&self, point: &Point) -> DMatrix<f64> {
        let ChosenCoordinates {
            independent,
            joints,
        } = &self.coordinates;
        match &point.dependence {
            Some(dependence) => dependence.rate.select_rows(joints),
            None => DMatrix::zeros(joints.len(), independent.len()),
        }
    }

    /// Deviations and their rates at the end of equations in other coordinates, after which these begin.
    pub fn carried(&self, before: &Self, state: &[f64]) -> Vec<f64> {
        let Some(all) = (before.points.last()).and_then(|point| point.dependence.as_ref()) else {
            return state.to_vec();
        };
        let (deviation, rates) = state.split_at(state.len() / 2);
        let [deviation, rates] = [deviation, rates].map(DVector::from_column_slice);
        let moved = [
            &all.basis * &deviation,
            &all.basis * rates + &all.rate * deviation,
        ];
        let pick = |all: DVector<f64>| -> Vec<f64> {
            let independent = self.coordinates.independent.iter();
            independent.map(|&at| all[at]).collect()
        };
        moved.map(pick).concat()
    }

    /// Degrees of freedom without.
    pub fn elastic(&self) -> &[usize] {
        &self.elastic
    }

    /// The point that begins the interval that holds `time`.
    pub(super) fn interval(&self, time: f64) -> usize {
        interval(self.points.len(), |point| self.points[point].time, time).0
    }

    /// Weights of cubic interpolation at `time`, within what is smooth around it.
    pub(super) fn cubic(&self, time: f64) -> Weights {
        Weights::cubic(self.points.len(), |point| self.points[point].time, time)
    }

    /// Weights of linear interpolation at `time`.
    pub(super) fn linear(&self, time: f64) -> Weights {
        Weights::linear(self.points.len(), |point| self.points[point].time, time)
    }

    /// Nominal inputs at an instant, by cubic interpolation.
    pub fn input(&self, time: f64, input: &mut [f64]) {
        self.nominal(time, |point, i| point.input[i], input);
    }

    /// What drives the deviations at an instant, by cubic interpolation.
    pub(super) fn excitation(&self, time: f64, excitation: &mut [f64]) {
        self.nominal(time, |point, i| point.excitation[i], excitation);
    }

    /// Numbers of the points, by cubic interpolation.
    pub fn nominal(&self, time: f64, of: impl Fn(&Point, usize) -> f64, values: &mut [f64]) {
        let weights = self.cubic(time);
        for (i, value) in values.iter_mut().enumerate() {
            *value = (weights.iter())
                .map(|(point, weight)| weight * of(&self.points[point], i))
                .sum();
        }
    }

    /// What controllers and actuators, of which there is one entry per point or none, do at deviations, rates and states of theirs.
    pub fn loops_at(&self, loops: &[Loops], time: f64, deviated: [&[f64]; 3]) -> LoopsBetween {
        let mut between = LoopsBetween::new(loops);
        let mut force = vec![0.0; deviated[0].len()];
        between.push(loops, self.cubic(time), deviated, &mut force);
        between
    }

    /// The same with some of the inputs only, by their numbers.
    #[must_use]
    pub fn with_inputs(&self, inputs: &[usize]) -> Self {
        let mut chosen = self.clone();
        let labels = inputs
            .iter()
            .map(|&input| self.labels.inputs[input].clone());
        chosen.labels.inputs = labels.collect();
        for point in &mut chosen.points {
            point.linear.input = point.linear.input.select_columns(inputs);
        }
        chosen
    }

    /// The same with every second point only, within what is smooth between breaks: what the interpolation error is measured
    /// with. `None` where no point can be left out.
    #[must_use]
    pub fn every_second(&self) -> Option<Self> {
        let last = self.points.len().saturating_sub(1);
        let mut kept = Vec::new();
        let mut since_break = 0;
        for (index, point) in self.points.iter().enumerate() {
            let ends =
                index == last || are_sides_of_a_break(point.time, self.points[index + 1].time);
            if since_break % 2 == 0 || ends {
                kept.push(point.clone());
            }
            since_break = if ends { 0 } else { since_break + 1 };
        }
        (kept.len() < self.points.len()).then(|| Self {
            points: kept,
            ..self.clone()
        })
    }

    /// Deviations that stay if nothing changes, eqs (32) and (41), then states of controllers in `loops`, of which there is one per
    /// point or none. Some degrees of freedom are held where they are nominally.
    ///
    /// # Errors
    ///
    /// When the stiffness of the others is singular, as it is for actuated degrees of freedom without feedback.
    pub fn steady(
        &self,
        time: f64,
        terms: Terms,
        loops: &[Loops],
        held: &[usize],
    ) -> Result<Vec<f64>, LinearError> {
        let dofs = self.points[0].linear.mass.nrows();
        let weights = self.cubic(time);
        let mut stiffness = DMatrix::zeros(dofs, dofs);
        for (point, weight) in weights.iter() {
            stiffness += self.points[point].stiffness(terms) * weight;
        }
        let mut right = DVector::zeros(dofs);
        self.excitation(time, right.as_mut_slice());
        let (mut stiffness, mut right) = loops::steady(loops, weights, &stiffness, &right);
        for &dof in held {
            stiffness.row_mut(dof).fill(0.0);
            stiffness.column_mut(dof).fill(0.0);
            stiffness[(dof, dof)] = 1.0;
            right[dof] = 0.0;
        }
        // the solver knows no equations without unknowns
        if right.is_empty() {
            return Ok(Vec::new());
        }
        let scales = vec![1.0; right.len()];
        let scaled = Scaled::new(stiffness, &scales);
        let factored = (scaled.is_finite()).then(|| scaled.factored(right.amax()));
        match factored.filter(|factored| !factored.is_singular()) {
            Some(factored) => Ok(factored.correction(&-right).as_slice().to_vec()),
            None => Err(LinearError::NotHeld { time_s: time }),
        }
    }

    /// Mass matrix of the actuated degrees of freedom at a point.
    pub fn actuated_mass(&self, point: usize) -> DMatrix<f64> {
        let mass = &self.points[point].linear.mass;
        mass.select_rows(&self.actuated)
            .select_columns(&self.actuated)
    }

    /// Mass and stiffness of the elastic degrees of freedom at a point, the actuators held: what the
    /// constrained natural frequencies of eq (33) come from.
    pub fn constrained(&self, point: usize, terms: Terms) -> (DMatrix<f64>, DMatrix<f64>) {
        let own = self.points[point].linear.restricted(&self.elastic);
        let stiffness = own.stiffness_with(terms);
        (own.mass, stiffness)
    }
}

/// Rising instants with those added at which a motion is not smooth, each with the last number before it.
pub fn with_breaks(times: &[f64], breaks: &[f64]) -> Vec<f64> {
    let inside = |time: &&f64| {
        let (first, last) = (times.first(), times.last());
        first.is_some_and(|first| first < *time) && last.is_some_and(|last| *time < last)
    };
    let both_sides = breaks
        .iter()
        .filter(inside)
        .flat_map(|&time| [time.next_down(), time]);
    let mut all: Vec<f64> = times.iter().copied().chain(both_sides).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

impl Point {
    /// Stiffness with the terms taken.
    pub fn stiffness(&self, terms: Terms) -> DMatrix<f64> {
        self.linear.stiffness_with(terms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point with nothing but a nominal input.
    fn point(time: f64, input: f64) -> Point {
        Point {
            time,
            position: Vec::new(),
            velocity: Vec::new(),
            linear: Linearization {
                mass: DMatrix::zeros(0, 0),
                damping: DMatrix::zeros(0, 0),
                structural: DMatrix::zeros(0, 0),
                dynamic: DMatrix::zeros(0, 0),
                geometric: DMatrix::zeros(0, 0),
                input: DMatrix::zeros(0, 0),
                loops: None,
            },
            input: vec![input],
            excitation: Vec::new(),
            outputs: Vec::new(),
            sensors: SensorRows::constant(Vec::new(), 1),
            joints: Vec::new(),
            actuation: Actuation::default(),
            dependence: None,
        }
    }

    /// Closed form: springs that differ by fifteen decades hold, a third one that depends on them but for rounding does not.
    #[test]
    fn stiffness_that_rounding_makes_is_none() {
        let steady = |stiffness: DMatrix<f64>| {
            let n = stiffness.nrows();
            let point = Point {
                excitation: vec![2.0; n],
                linear: Linearization {
                    structural: stiffness,
                    mass: DMatrix::identity(n, n),
                    damping: DMatrix::zeros(n, n),
                    dynamic: DMatrix::zeros(n, n),
                    geometric: DMatrix::zeros(n, n),
                    input: DMatrix::zeros(n, 0),
                    loops: None,
                },
                ..point(0.0, 0.0)
            };
            let points = vec![point];
            LinearizedTrajectory::new(Labels::default(), points, ChosenCoordinates::default())
                .steady(0.0, Terms::CASES[0], &[], &[])
        };
        let found = steady(DMatrix::from_diagonal(&DVector::from_row_slice(&[
            1e12, 1e-3,
        ])));
        assert_eq!(found.unwrap(), [2e-12, 2e3]);
        let direction = [0.1, 0.2, 0.7];
        let rank_two = DMatrix::from_fn(3, 3, |i, j| {
            direction[i] * direction[j] + f64::from(i == j && i == 0) * 0.7
        });
        assert!(
            rank_two
                .clone()
                .lu()
                .u()
                .diagonal()
                .iter()
                .all(|&pivot| pivot != 0.0),
            "{rank_two}"
        );
        assert!(matches!(steady(rank_two), Err(LinearError::NotHeld { .. })));
    }

    /// Closed form: cubics on both sides of a jump, of which one has three points only and is a parabola.
    #[test]
    fn breaks_are_not_smoothed() {
        let input = |time: f64| {
            if time < 0.3 {
                time * time * time - 2.0 * time
            } else {
                1.0 + 5.0 * time * time
            }
        };
        let times = with_breaks(
            &[0.0, 0.1, 0.2, 0.25, 0.4, 0.5],
            &[-1.0, 0.0, 0.3, 0.5, 2.0],
        );
        assert_eq!(times.len(), 8);
        let points = times.iter().map(|&time| point(time, input(time)));
        let trajectory = LinearizedTrajectory::new(
            Labels::default(),
            points.collect(),
            ChosenCoordinates::default(),
        );
        for i in 0..=500 {
            let time = 1e-3 * f64::from(i);
            let mut found = [0.0];
            trajectory.input(time, &mut found);
            assert!(
                (found[0] - input(time)).abs() < 1e-14,
                "at {time}: {found:?}"
            );
        }
    }
}
