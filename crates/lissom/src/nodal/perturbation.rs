//! Small vibrations about a nominal rigid motion: Jonker & Aarts (23)–(30), (36)–(41).
//!
//! The rigidified mechanism follows the nominal motion with all elastic degrees of freedom at zero. That
//! gives the nominal inputs $`u_0`$ and the stress resultants $`\sigma_0`$ of the rigid links, eq (23), which
//! drive the linearised equations
//! $`M_0\,\delta\ddot q + C_0\,\delta\dot q + (K_0 + N_0 + G_0)\,\delta q = (\delta u, \sigma_0)`$, eq (24), sampled along the
//! motion and interpolated.

use nalgebra::{DMatrix, DVector};

use crate::integrate::FirstOrder;
use crate::spatial::Vector;

use super::dynamics::{Acting, Actions, Excitation};
use super::equations::Equations;
use super::error::NodalError;
use super::factor::{cholesky, cholesky_solve};
use super::linear::{Linearization, State};
use super::node::NodeId;
use super::role::Drive;

/// A nominal rigid motion.
pub trait Nominal {
    /// Writes the motion of the actuated degrees of freedom, in their order.
    fn rigid(&mut self, time: f64, motion: &mut [Drive]);

    /// Writes what is prescribed.
    fn drive(&mut self, time: f64, drives: &mut [Drive]);

    /// Writes loads at nodes, which hold zeros.
    fn load(&mut self, time: f64, loads: &mut [Vector<f64>]);
}

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

/// What is interpolated linearly between the points of linearisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// $`M_0`$, $`C_0`$ and the stiffness.
    Matrices,
    /// $`A_{ss} = [0, 1; -M^{-1}K, -M^{-1}C]`$ and $`B_{ss} = [0; M^{-1}]`$, as printed; needs many points.
    StateSpace,
}

/// A node's position along the nominal motion with its first and second derivatives, eq (30).
#[derive(Clone, Debug)]
pub struct Output {
    /// Nominal position, $`y_0`$.
    pub position: Vector<f64>,
    /// First-order transfer function, three rows.
    pub first: DMatrix<f64>,
    /// Second-order transfer function of each component.
    pub second: [DMatrix<f64>; 3],
}

/// The equations linearised at one instant of the nominal motion.
#[derive(Clone, Debug)]
pub struct Point {
    /// Instant.
    pub time: f64,
    /// Nominal positions of the degrees of freedom.
    pub position: Vec<f64>,
    /// Coefficients of eq (21).
    pub linear: Linearization,
    /// Nominal inputs $`u_0`$ of the actuated degrees of freedom.
    pub input: Vec<f64>,
    /// $`\sigma_0`$ at the elastic degrees of freedom, zero at the actuated ones.
    pub excitation: Vec<f64>,
    /// One per output node.
    pub outputs: Vec<Output>,
}

/// Equations linearised along a nominal motion.
#[derive(Clone, Debug)]
pub struct Along {
    points: Vec<Point>,
    actuated: Vec<usize>,
    elastic: Vec<usize>,
}

impl Along {
    /// Linearises at `times`, which rise, with the positions of `outputs` as outputs.
    ///
    /// # Errors
    ///
    /// When the nominal motion meets a singular configuration.
    pub fn new(
        equations: &mut Equations<'_>,
        nominal: &mut dyn Nominal,
        times: &[f64],
        outputs: &[NodeId],
    ) -> Result<Self, NodalError> {
        let mechanism = equations.mechanism();
        let (actuated, elastic) = (mechanism.actuated_dofs(), mechanism.elastic_dofs());
        let mut points = Vec::with_capacity(times.len());
        for &time in times {
            points.push(linearize_at(equations, nominal, time, &actuated, outputs)?);
        }
        Ok(Self {
            points,
            actuated,
            elastic,
        })
    }

    /// The points of linearisation.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Degrees of freedom with actuators.
    pub fn actuated(&self) -> &[usize] {
        &self.actuated
    }

    /// Degrees of freedom without.
    pub fn elastic(&self) -> &[usize] {
        &self.elastic
    }

    /// Interval that holds `time`, the nearest outside, and the share of it that has passed.
    fn interval(&self, time: f64) -> (usize, f64) {
        let last = self.points.len().saturating_sub(2);
        let after = self.points.partition_point(|point| point.time <= time);
        let index = after.saturating_sub(1).min(last);
        let Some(next) = self.points.get(index + 1) else {
            return (index, 0.0);
        };
        let start = self.points[index].time;
        (
            index,
            ((time - start) / (next.time - start)).clamp(0.0, 1.0),
        )
    }

    /// Four points and weights of cubic interpolation at `time`.
    fn cubic(&self, time: f64) -> ([usize; 4], [f64; 4]) {
        let count = self.points.len();
        let (index, share) = self.interval(time);
        if count < 4 {
            let next = (index + 1).min(count - 1);
            return ([index, next, index, index], [1.0 - share, share, 0.0, 0.0]);
        }
        let first = index.saturating_sub(1).min(count - 4);
        let time = time.clamp(self.points[0].time, self.points[count - 1].time);
        let nodes: [usize; 4] = std::array::from_fn(|i| first + i);
        let weights = std::array::from_fn(|i| {
            let mut weight = 1.0;
            for j in 0..4 {
                if j != i {
                    let (own, other) = (self.points[first + i].time, self.points[first + j].time);
                    weight *= (time - other) / (own - other);
                }
            }
            weight
        });
        (nodes, weights)
    }

    /// Nominal inputs at an instant, by cubic interpolation.
    pub fn input(&self, time: f64, input: &mut [f64]) {
        let (nodes, weights) = self.cubic(time);
        for (i, value) in input.iter_mut().enumerate() {
            *value = (0..4)
                .map(|k| weights[k] * self.points[nodes[k]].input[i])
                .sum();
        }
    }

    /// Displacement of an output node, eq (29): to first order, or with the second-order term.
    pub fn displacement(
        &self,
        output: usize,
        time: f64,
        deviation: &[f64],
        second_order: bool,
    ) -> Vector<f64> {
        let (index, share) = self.interval(time);
        let deviation = DVector::from_column_slice(deviation);
        let mut sum = Vector([0.0; 3]);
        for (point, weight) in [(index, 1.0 - share), (index + 1, share)] {
            let Some(point) = self.points.get(point) else {
                continue;
            };
            let output = &point.outputs[output];
            let first = &output.first * &deviation;
            for component in 0..3 {
                let mut value = first[component];
                if second_order {
                    value += 0.5 * deviation.dot(&(&output.second[component] * &deviation));
                }
                sum[component] += weight * value;
            }
        }
        sum
    }

    /// Deviations that stay if nothing accelerates, eqs (32) and (41): with $`\delta u = -K_p\,\delta e`$ at the
    /// actuated degrees of freedom.
    ///
    /// # Errors
    ///
    /// When the stiffness is singular, as it is for actuated degrees of freedom without feedback.
    pub fn steady(
        &self,
        time: f64,
        terms: Terms,
        feedback: Option<&DMatrix<f64>>,
    ) -> Result<Vec<f64>, NodalError> {
        let (index, share) = self.interval(time);
        let mut stiffness = self.points[index].stiffness(terms) * (1.0 - share);
        if let Some(next) = self.points.get(index + 1) {
            stiffness += next.stiffness(terms) * share;
        }
        if let Some(gain) = feedback {
            for (i, &row) in self.actuated.iter().enumerate() {
                for (j, &column) in self.actuated.iter().enumerate() {
                    stiffness[(row, column)] += gain[(i, j)];
                }
            }
        }
        let (nodes, weights) = self.cubic(time);
        let right = DVector::from_fn(stiffness.nrows(), |i, _| {
            (0..4)
                .map(|k| weights[k] * self.points[nodes[k]].excitation[i])
                .sum()
        });
        match stiffness.lu().solve(&right) {
            Some(solution) => Ok(solution.as_slice().to_vec()),
            None => Err(NodalError::NoEquilibrium {
                load: 1.0,
                dof: "an actuated degree of freedom without position feedback".to_owned(),
                residual: right.amax(),
            }),
        }
    }

    /// Mass matrix of the actuated degrees of freedom at a point.
    pub fn actuated_mass(&self, point: usize) -> DMatrix<f64> {
        let mass = &self.points[point].linear.mass;
        DMatrix::from_fn(self.actuated.len(), self.actuated.len(), |i, j| {
            mass[(self.actuated[i], self.actuated[j])]
        })
    }

    /// Mass and stiffness of the elastic degrees of freedom at a point, the actuators held: what the
    /// constrained natural frequencies of eq (33) come from.
    pub fn constrained(&self, point: usize, terms: Terms) -> (DMatrix<f64>, DMatrix<f64>) {
        let pick = |matrix: &DMatrix<f64>| {
            DMatrix::from_fn(self.elastic.len(), self.elastic.len(), |i, j| {
                matrix[(self.elastic[i], self.elastic[j])]
            })
        };
        let point = &self.points[point];
        (pick(&point.linear.mass), pick(&point.stiffness(terms)))
    }
}

impl Point {
    /// Stiffness with the terms taken.
    pub fn stiffness(&self, terms: Terms) -> DMatrix<f64> {
        let mut stiffness = self.linear.structural.clone();
        if terms.dynamic {
            stiffness += &self.linear.dynamic;
        }
        if terms.geometric {
            stiffness += &self.linear.geometric;
        }
        stiffness
    }
}

fn linearize_at(
    equations: &mut Equations<'_>,
    nominal: &mut dyn Nominal,
    time: f64,
    actuated: &[usize],
    output_nodes: &[NodeId],
) -> Result<Point, NodalError> {
    let mechanism = equations.mechanism();
    let dofs = mechanism.dof_count();
    let mut rigid = vec![Drive::default(); actuated.len()];
    let mut drives = mechanism.assembled_drives();
    let mut loads = vec![Vector([0.0; 3]); mechanism.node_count()];
    nominal.rigid(time, &mut rigid);
    nominal.drive(time, &mut drives);
    nominal.load(time, &mut loads);
    let mut position = mechanism.assembled_position();
    let (mut velocity, mut acceleration) = (vec![0.0; dofs], vec![0.0; dofs]);
    for (&dof, motion) in actuated.iter().zip(&rigid) {
        position[mechanism.dofs[dof].position] = motion.value;
        velocity[dof] = motion.rate;
        acceleration[dof] = motion.acceleration;
    }
    let state = State {
        position: &position,
        velocity: &velocity,
        acceleration: &acceleration,
        drives: &drives,
        loads: &loads,
    };
    let linear = equations.linearize(&state)?;
    equations.set_velocity(&velocity, &drives);
    equations.set_acceleration(&acceleration, &drives);
    let mut residual = vec![0.0; dofs];
    equations.residual(&vec![0.0; dofs], &loads, &mut residual);
    let mut excitation: Vec<f64> = residual.iter().map(|x| -x).collect();
    let mut input = Vec::with_capacity(actuated.len());
    for &dof in actuated {
        input.push(residual[dof]);
        excitation[dof] = 0.0;
    }
    let outputs = outputs_at(equations, output_nodes);
    Ok(Point {
        time,
        position,
        linear,
        input,
        excitation,
        outputs,
    })
}

fn outputs_at(equations: &mut Equations<'_>, nodes: &[NodeId]) -> Vec<Output> {
    let dofs = equations.mechanism().dof_count();
    if nodes.is_empty() {
        return Vec::new();
    }
    let transfer = equations.first_order_transfer().to_vec();
    let mut outputs: Vec<Output> = nodes
        .iter()
        .map(|&node| Output {
            position: equations.node(node).position,
            first: DMatrix::from_fn(3, dofs, |i, j| transfer[node.index() * dofs + j][i]),
            second: std::array::from_fn(|_| DMatrix::zeros(dofs, dofs)),
        })
        .collect();
    let mut second = vec![Vector([0.0; 3]); equations.mechanism().node_count()];
    let (mut a, mut b) = (vec![0.0; dofs], vec![0.0; dofs]);
    for i in 0..dofs {
        a[i] = 1.0;
        for j in 0..=i {
            b[j] = 1.0;
            equations.second_order_transfer(&a, &b, &mut second);
            b[j] = 0.0;
            for (output, node) in outputs.iter_mut().zip(nodes) {
                for component in 0..3 {
                    let value = second[node.index()][component];
                    output.second[component][(i, j)] = value;
                    output.second[component][(j, i)] = value;
                }
            }
        }
        a[i] = 0.0;
    }
    outputs
}

/// Inputs that deviations of the actuated degrees of freedom ask for, $`\delta u`$.
pub trait Feedback {
    /// Writes one effort per actuated degree of freedom, from deviations of positions and velocities.
    fn effort(&mut self, time: f64, deviation: &[f64], rate: &[f64], effort: &mut [f64]);
}

/// No feedback: $`\delta u = 0`$.
#[derive(Clone, Copy, Debug)]
pub struct OpenLoop;

impl Feedback for OpenLoop {
    fn effort(&mut self, _: f64, _: &[f64], _: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
    }
}

/// $`\delta u = -K_p\,\delta e - K_v\,\delta\dot e`$ with $`K_p = \bar M^{ee}\Omega^2`$ and $`K_v = 2\bar M^{ee}\beta\,\Omega`$, eqs
/// (36)–(40), the mass matrix interpolated linearly along the motion.
#[derive(Clone, Debug)]
pub struct Servo {
    times: Vec<f64>,
    masses: Vec<DMatrix<f64>>,
    frequency: f64,
    damping: f64,
}

impl Servo {
    /// The same frequency and damping ratio for all actuated degrees of freedom.
    pub fn new(along: &Along, frequency: f64, damping: f64) -> Self {
        Self {
            times: along.points.iter().map(|point| point.time).collect(),
            masses: (0..along.points.len())
                .map(|point| along.actuated_mass(point))
                .collect(),
            frequency,
            damping,
        }
    }

    /// $`K_p`$ at an instant.
    pub fn position_gain(&self, time: f64) -> DMatrix<f64> {
        let (index, share) = self.interval(time);
        let next = (index + 1).min(self.masses.len() - 1);
        (&self.masses[index] * (1.0 - share) + &self.masses[next] * share)
            * (self.frequency * self.frequency)
    }

    fn interval(&self, time: f64) -> (usize, f64) {
        let after = self.times.partition_point(|&t| t <= time);
        let index = after.saturating_sub(1);
        match self.times.get(index + 1) {
            None => (index, 0.0),
            Some(next) => {
                let start = self.times[index];
                (index, ((time - start) / (next - start)).clamp(0.0, 1.0))
            }
        }
    }
}

impl Feedback for Servo {
    fn effort(&mut self, time: f64, deviation: &[f64], rate: &[f64], effort: &mut [f64]) {
        let (index, share) = self.interval(time);
        let next = (index + 1).min(self.masses.len() - 1);
        let (position, velocity) = (
            self.frequency * self.frequency,
            2.0 * self.damping * self.frequency,
        );
        for (i, effort) in effort.iter_mut().enumerate() {
            *effort = 0.0;
            for j in 0..deviation.len() {
                let mass =
                    self.masses[index][(i, j)] * (1.0 - share) + self.masses[next][(i, j)] * share;
                *effort -= mass * (position * deviation[j] + velocity * rate[j]);
            }
        }
    }
}

/// Vibrations about a nominal motion, eq (26): a first-order system of deviations, then their rates.
#[derive(Debug)]
pub struct Perturbed<'a, F> {
    along: &'a Along,
    feedback: F,
    interpolation: Interpolation,
    stiffness: Vec<DMatrix<f64>>,
    /// $`M^{-1}`$, $`M^{-1}K`$, $`M^{-1}C`$ at each point, if those are interpolated.
    state_space: Vec<[DMatrix<f64>; 3]>,
    mass: Vec<f64>,
    force: Vec<f64>,
    deviation: Vec<f64>,
    rate: Vec<f64>,
    effort: Vec<f64>,
}

impl<'a, F: Feedback> Perturbed<'a, F> {
    /// The linearised equations with `terms` (whose inertia is taken in any case) under feedback.
    ///
    /// # Errors
    ///
    /// When a mass matrix along the motion is singular.
    pub fn new(
        along: &'a Along,
        feedback: F,
        terms: Terms,
        interpolation: Interpolation,
    ) -> Result<Self, NodalError> {
        let stiffness: Vec<DMatrix<f64>> =
            along.points.iter().map(|p| p.stiffness(terms)).collect();
        let mut state_space = Vec::new();
        if interpolation == Interpolation::StateSpace {
            for (point, stiffness) in along.points.iter().zip(&stiffness) {
                let factor = point.linear.mass.clone().cholesky().ok_or_else(|| {
                    NodalError::SingularMass {
                        dof: format!("a degree of freedom at t = {}", point.time),
                        ratio: 0.0,
                    }
                })?;
                state_space.push([
                    factor.inverse(),
                    factor.solve(stiffness),
                    factor.solve(&point.linear.damping),
                ]);
            }
        }
        let dofs = stiffness.first().map_or(0, DMatrix::nrows);
        let actuated = along.actuated.len();
        Ok(Self {
            along,
            feedback,
            interpolation,
            stiffness,
            state_space,
            mass: vec![0.0; dofs * dofs],
            force: vec![0.0; dofs],
            deviation: vec![0.0; actuated],
            rate: vec![0.0; actuated],
            effort: vec![0.0; actuated],
        })
    }

    /// Number of degrees of freedom: half the state.
    pub fn dof_count(&self) -> usize {
        self.force.len()
    }

    /// Excitation and feedback at a state.
    fn excite(&mut self, time: f64, position: &[f64], velocity: &[f64]) {
        let (nodes, weights) = self.along.cubic(time);
        for (i, force) in self.force.iter_mut().enumerate() {
            *force = (0..4)
                .map(|k| weights[k] * self.along.points[nodes[k]].excitation[i])
                .sum();
        }
        for (i, &dof) in self.along.actuated.iter().enumerate() {
            self.deviation[i] = position[dof];
            self.rate[i] = velocity[dof];
        }
        self.feedback
            .effort(time, &self.deviation, &self.rate, &mut self.effort);
        for (&dof, effort) in self.along.actuated.iter().zip(&self.effort) {
            self.force[dof] += effort;
        }
    }
}

impl<F: Feedback> FirstOrder for Perturbed<'_, F> {
    fn derivative(&mut self, time: f64, state: &[f64], rate: &mut [f64]) {
        let dofs = self.dof_count();
        let (position, velocity) = state.split_at(dofs);
        self.excite(time, position, velocity);
        let (position_rate, acceleration) = rate.split_at_mut(dofs);
        position_rate.copy_from_slice(velocity);
        let (index, share) = self.along.interval(time);
        let next = (index + 1).min(self.along.points.len() - 1);
        let blend = |a: &DMatrix<f64>, b: &DMatrix<f64>, i: usize, j: usize| {
            a[(i, j)] * (1.0 - share) + b[(i, j)] * share
        };
        match self.interpolation {
            Interpolation::StateSpace => {
                let (a, b) = (&self.state_space[index], &self.state_space[next]);
                for i in 0..dofs {
                    let mut sum = 0.0;
                    for j in 0..dofs {
                        sum += blend(&a[0], &b[0], i, j) * self.force[j]
                            - blend(&a[1], &b[1], i, j) * position[j]
                            - blend(&a[2], &b[2], i, j) * velocity[j];
                    }
                    acceleration[i] = sum;
                }
            }
            Interpolation::Matrices => {
                let (a, b) = (&self.along.points[index], &self.along.points[next]);
                let (stiffness, later) = (&self.stiffness[index], &self.stiffness[next]);
                for i in 0..dofs {
                    let mut sum = self.force[i];
                    for j in 0..dofs {
                        sum -= blend(stiffness, later, i, j) * position[j]
                            + blend(&a.linear.damping, &b.linear.damping, i, j) * velocity[j];
                        self.mass[i * dofs + j] = blend(&a.linear.mass, &b.linear.mass, i, j);
                    }
                    acceleration[i] = sum;
                }
                if cholesky(&mut self.mass, dofs).is_err() {
                    acceleration.fill(f64::NAN);
                    return;
                }
                cholesky_solve(&self.mass, acceleration);
            }
        }
    }
}

/// A nonlinear mechanism steered along the nominal motion: nominal inputs and feedback act on the
/// actuated degrees of freedom.
#[derive(Debug)]
pub struct Steered<'a, N, F> {
    along: &'a Along,
    nominal: N,
    feedback: F,
    positions: Vec<usize>,
    motion: Vec<Drive>,
    deviation: Vec<f64>,
    rate: Vec<f64>,
    effort: Vec<f64>,
    input: Vec<f64>,
}

impl<'a, N: Nominal, F: Feedback> Steered<'a, N, F> {
    /// For a mechanism linearised along the same nominal motion.
    pub fn new(mechanism: &super::Mechanism, along: &'a Along, nominal: N, feedback: F) -> Self {
        let count = along.actuated.len();
        Self {
            along,
            nominal,
            feedback,
            positions: along
                .actuated
                .iter()
                .map(|&dof| mechanism.dofs[dof].position)
                .collect(),
            motion: vec![Drive::default(); count],
            deviation: vec![0.0; count],
            rate: vec![0.0; count],
            effort: vec![0.0; count],
            input: vec![0.0; count],
        }
    }
}

impl<N: Nominal, F: Feedback> Excitation for Steered<'_, N, F> {
    fn drive(&mut self, time: f64, drives: &mut [Drive]) {
        self.nominal.drive(time, drives);
    }

    fn act(&mut self, time: f64, state: &Acting<'_>, on: &mut Actions<'_>) {
        self.nominal.load(time, on.loads);
        self.nominal.rigid(time, &mut self.motion);
        for (i, &dof) in self.along.actuated.iter().enumerate() {
            self.deviation[i] = state.position[self.positions[i]] - self.motion[i].value;
            self.rate[i] = state.velocity[dof] - self.motion[i].rate;
        }
        self.feedback
            .effort(time, &self.deviation, &self.rate, &mut self.effort);
        self.along.input(time, &mut self.input);
        for (i, &dof) in self.along.actuated.iter().enumerate() {
            on.efforts[dof] += self.input[i] + self.effort[i];
        }
    }
}
