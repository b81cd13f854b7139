//! How far a run with other terms would stray from a recorded one, without running it.
//!
//! Let $`q, v`$ be the recorded motion, which obeys $`r(t, q, v, \dot v) = M\dot v - f = 0`$, and $`\tilde r`$ the
//! equations with other terms. Their motion is $`q + \delta q, v + \delta v`$, from $`\delta = 0`$ at the start
//! and to first order
//!
//! ```math
//! \tilde M\,\delta\dot v = -\frac{\partial\tilde r}{\partial q}\,\delta q - \frac{\partial\tilde r}{\partial v}\,\delta v
//!   - (\tilde r - r).
//! ```
//!
//! The defect $`\tilde r - r`$ is what the terms contribute along the recorded motion, and the stiffness is that
//! of the other equations: where they lose it $`\delta`$ grows without bound, as their own run would.
//!
//! A step has two halves, of each of which the mean state and the mean defect are taken over its samples; the change of
//! velocity between two samples is the mean acceleration, whatever vibrates. What the linear equations are at the two points
//! of Gauss follows from the means of the halves, for a motion of second order in time exactly; the step itself is
//! `super::exponential`, of fourth order. Several samples per step ([`Resolution::samples_wanted_s`]) keep vibrations that
//! are faster than the steps from coming in at some phase or other.
//!
//! The accelerations in $`\partial\tilde r/\partial q`$ are means over a longer window. Those of vibrations are large, and
//! sampled at some phase they would shake $`\delta`$ up; what they do to it on average is of the order of the vibration
//! times its own deviation, and left out. What else the estimate does not see is what is quadratic in $`\delta`$ and
//! what happens between samples.

use std::f64::consts::TAU;

use nalgebra::{DMatrix, DVector};

use super::exponential;
use super::states::States;
use crate::mechanism::Mechanism;
use lissom_core::{Dynamics, Recording, Sampler};

/// Step of the numerical derivative, relative to the largest value of a coordinate in the run.
const RELATIVE_STEP: f64 = 1e-5;

/// Smallest value that a coordinate is taken to have for its step.
const SMALLEST_SCALE: f64 = 1e-3;

/// Turn of the slowest vibration in a step, in radians. Steps that leave faster vibrations out are too long: on the
/// slow manoeuvre of the Shuttle arm, whose second vibration is four times as fast as its first, 0.35 overestimates
/// twelvefold.
const TURN: f64 = 0.1;

/// Samples per step.
const SAMPLES_PER_STEP: f64 = 4.0;

/// Periods of the slowest vibration in the window.
const PERIODS: f64 = 3.0;

/// How finely [`predict_deviation`] works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolution {
    /// Longest step; samples must not be further apart.
    pub step_s: f64,
    /// Window of the accelerations in the linearised equations.
    pub window_s: f64,
}

impl Resolution {
    /// What the slowest vibration of a body asks for; no steps but those between samples if nothing vibrates.
    pub fn of(mechanism: &Mechanism) -> Self {
        let lowest = lowest_frequency(mechanism);
        Self {
            step_s: lowest.map_or(0.0, |frequency| TURN / frequency),
            window_s: lowest.map_or(0.0, |frequency| PERIODS * TAU / frequency),
        }
    }

    /// Time between samples that there should be, if anything vibrates.
    pub fn samples_wanted_s(&self) -> Option<f64> {
        (self.step_s > 0.0).then(|| self.step_s / SAMPLES_PER_STEP)
    }
}

/// Lowest natural frequency of every flexible body with its frame held, in rad/s.
pub(super) fn body_frequencies(mechanism: &Mechanism) -> Vec<Option<f64>> {
    let bodies = mechanism.tree().linkage.system.bodies().iter();
    let flexible = bodies.filter_map(|body| body.flexible.as_ref());
    flexible
        .map(|body| body.frequencies().ok()?.first().copied())
        .collect()
}

/// The lowest of them that is not zero.
pub(super) fn lowest_frequency(mechanism: &Mechanism) -> Option<f64> {
    let lowest = body_frequencies(mechanism).into_iter().flatten();
    lowest
        .filter(|&frequency| frequency > 0.0)
        .min_by(f64::total_cmp)
}

/// Estimates the differences of `channels` between a run of `other` and the recorded run of `reference`, to first
/// order in the differences, at instants no further apart than the step or than the samples. The recording holds every
/// coordinate of the reference; the answer is as long as the estimate stays finite. `None` if the other model has
/// coordinates that the recording lacks, as the orientations of exact tips.
pub fn predict_deviation(
    reference: &Mechanism,
    other: &Mechanism,
    recording: &Recording,
    channels: &[String],
    resolution: Resolution,
) -> Option<Recording> {
    let mut truth = reference.dynamics(&reference.written()).ok()?;
    let mut equations = other.dynamics(&other.written()).ok()?;
    let true_states = States::of(&*truth, recording)?;
    let states = States::of(&*equations, recording)?;

    let (mut sampler, names) = Sampler::new(&*equations, Some(channels));
    let wanted: Vec<usize> = (0..names.len())
        .filter(|&i| channels.contains(&names[i].name))
        .collect();
    let recorded: Vec<&[f64]> = wanted
        .iter()
        .map(|&i| Some(recording.channel(&names[i].name)?.samples.as_slice()))
        .collect::<Option<_>>()?;
    let kept = wanted
        .iter()
        .map(|&i| (names[i].name.clone(), names[i].unit));
    let mut deviations = Recording::with_capacity(kept, states.time_s.len());

    let n_v = truth.velocity_count();
    let mut true_state = vec![0.0; truth.state_layout().len()];
    let mut residual = vec![0.0; n_v];
    let Resolution { step_s, window_s } = resolution;
    let mut probe = Probe::new(&*equations, states.scales());
    let mut halves = [Half::new(&*equations), Half::new(&*equations)];
    let mut delta = DVector::zeros(states.len());
    let mut row = vec![0.0; wanted.len()];
    let times = states.time_s;
    let mut reached = 0;
    loop {
        states.read(reached, &mut probe.state);
        for (x, d) in probe.state.iter_mut().zip(delta.iter()) {
            *x += d;
        }
        let (q, v) = probe.state.split_at(equations.position_count());
        equations.evaluate(times[reached], q, &v[..n_v]);
        let values = sampler.values(&mut *equations);
        for ((value, &i), column) in row.iter_mut().zip(&wanted).zip(&recorded) {
            *value = values[i] - column[reached];
        }
        if !row.iter().all(|value| value.is_finite()) {
            break;
        }
        deviations.push(times[reached], &row);

        let start = reached;
        // a part in a thousand for rounding
        let end = times.partition_point(|&t| t <= times[start] + 1.001 * step_s);
        reached = end.saturating_sub(1).max(start + 1);
        if reached >= times.len() {
            break;
        }
        let middle = start.midpoint(reached);
        let parts: &[(usize, usize)] = if middle == start {
            &[(start, reached)]
        } else {
            &[(start, middle), (middle, reached)]
        };
        for (half, &(first, last)) in halves.iter_mut().zip(parts) {
            half.clear(times[last] - times[first]);
            for k in first + 1..=last {
                let time = 0.5 * (times[k - 1] + times[k]);
                true_states.acceleration_between(k - 1, k, &mut probe.acceleration);
                true_states.read_mean(k - 1, k, &mut true_state);
                let (q, v) = true_state.split_at(truth.position_count());
                truth.residual(time, q, &v[..n_v], &probe.acceleration, &mut residual);
                states.read_mean(k - 1, k, &mut probe.state);
                let part = (times[k] - times[k - 1]) / half.duration;
                half.add(&mut probe, &mut *equations, time, &residual, part);
            }
        }
        let means = &halves[..parts.len()];
        let duration = times[reached] - times[start];
        let linear = [-1.0, 1.0].map(|side| {
            let time = times[start] + duration * (0.5 + side * HALF_GAUSS);
            probe.place(means, side);
            true_states.mean_acceleration(time, window_s, &mut probe.acceleration);
            probe.linearise(&mut *equations, time)
        });
        let [Some(first), Some(second)] = linear else {
            break;
        };
        exponential::advance([&first, &second], duration, &mut delta);
    }
    Some(deviations)
}

/// Distance of the points of Gauss from the middle of a step, in its length.
const HALF_GAUSS: f64 = 0.288_675_134_594_812_9;

/// Means over half a step.
struct Half {
    duration: f64,
    state: Vec<f64>,
    /// Of $`\tilde r - r`$.
    defect: Vec<f64>,
}

impl Half {
    fn new(equations: &dyn Dynamics) -> Self {
        let n_v = equations.velocity_count();
        Self {
            duration: 0.0,
            state: vec![0.0; equations.state_layout().len()],
            defect: vec![0.0; n_v],
        }
    }

    fn clear(&mut self, duration: f64) {
        self.duration = duration;
        self.state.fill(0.0);
        self.defect.fill(0.0);
    }

    /// Adds a part of the probe's state, and of what the residual there has beyond the true one.
    fn add(
        &mut self,
        probe: &mut Probe,
        equations: &mut dyn Dynamics,
        time: f64,
        true_residual: &[f64],
        part: f64,
    ) {
        let (q, v) = probe.state.split_at(equations.position_count());
        let v = &v[..self.defect.len()];
        let residual = &mut probe.residuals[0];
        equations.residual(time, q, v, &probe.acceleration, residual);
        let both = residual.iter().zip(true_residual);
        for (mean, (r, t)) in self.defect.iter_mut().zip(both) {
            *mean += part * (r - t);
        }
        for (mean, x) in self.state.iter_mut().zip(&probe.state) {
            *mean += part * x;
        }
    }
}

/// $`\dot\delta = J\,\delta + d`$ at an instant, as the square matrix that maps $`(\delta, 1)`$ to $`(\dot\delta, 0)`$.
type Linear = DMatrix<f64>;

/// Numerical derivatives of a model's equations.
struct Probe {
    state: Vec<f64>,
    acceleration: Vec<f64>,
    defect: DVector<f64>,
    steps: Vec<f64>,
    rates: [Vec<f64>; 2],
    residuals: [Vec<f64>; 2],
    mass: Vec<f64>,
}

impl Probe {
    fn new(equations: &dyn Dynamics, scales: Vec<f64>) -> Self {
        let (length, n_v) = (equations.state_layout().len(), equations.velocity_count());
        let step = |scale: f64| RELATIVE_STEP * scale.max(SMALLEST_SCALE);
        Self {
            state: vec![0.0; length],
            acceleration: vec![0.0; n_v],
            defect: DVector::zeros(n_v),
            steps: scales.into_iter().map(step).collect(),
            rates: [vec![0.0; length], vec![0.0; length]],
            residuals: [vec![0.0; n_v], vec![0.0; n_v]],
            mass: vec![0.0; n_v * n_v],
        }
    }

    /// Goes to the point of Gauss on one side (−1 or 1) of the middle, by the straight line through the means of the
    /// halves, or to the mean where there is but one.
    fn place(&mut self, means: &[Half], side: f64) {
        let whole: f64 = means.iter().map(|half| half.duration).sum();
        let weight = |at: usize| {
            let sign = if at == 0 { -side } else { side };
            let slope = if means.len() == 1 {
                0.0
            } else {
                2.0 * HALF_GAUSS
            };
            means[at].duration / whole + sign * slope
        };
        self.state.fill(0.0);
        self.defect.fill(0.0);
        for (at, half) in means.iter().enumerate() {
            let weight = weight(at);
            let add = |sums: &mut [f64], means: &[f64]| {
                for (sum, mean) in sums.iter_mut().zip(means) {
                    *sum += weight * mean;
                }
            };
            add(&mut self.state, &half.state);
            add(self.defect.as_mut_slice(), &half.defect);
        }
    }

    /// The linear equations of the deviation where the probe is, by central differences; `None` where the mass matrix
    /// cannot be factored.
    fn linearise(&mut self, equations: &mut dyn Dynamics, time: f64) -> Option<Linear> {
        let (n_q, n_v) = (equations.position_count(), equations.velocity_count());
        let n = n_q + n_v;
        let mut linear = DMatrix::zeros(n + 1, n + 1);
        let mut stiffness = DMatrix::zeros(n_v, n);
        // without quaternions every position has its velocity
        let plain = n_q == n_v;
        if plain {
            linear.view_mut((0, n_q), (n_q, n_v)).fill_with_identity();
        }
        for j in 0..n {
            let (x, step) = (self.state[j], self.steps[j]);
            for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
                self.state[j] = x + sign * step;
                if !plain {
                    equations.derivative(time, &self.state, &mut self.rates[side]);
                }
                let (q, v) = self.state.split_at(n_q);
                let residual = &mut self.residuals[side];
                equations.residual(time, q, &v[..n_v], &self.acceleration, residual);
            }
            self.state[j] = x;
            let slope =
                |sides: &[Vec<f64>; 2], i: usize| (sides[0][i] - sides[1][i]) / (2.0 * step);
            if !plain {
                for i in 0..n_q {
                    linear[(i, j)] = slope(&self.rates, i);
                }
            }
            for i in 0..n_v {
                stiffness[(i, j)] = slope(&self.residuals, i);
            }
        }
        equations.mass_matrix(time, &self.state[..n_q], &mut self.mass);
        let factor = DMatrix::from_row_slice(n_v, n_v, &self.mass).cholesky()?;
        linear
            .view_mut((n_q, n), (n_v, 1))
            .copy_from(&-factor.solve(&self.defect));
        linear
            .view_mut((n_q, 0), (n_v, n))
            .copy_from(&-factor.solve(&stiffness));
        Some(linear)
    }
}
