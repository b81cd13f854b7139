//! How far a run with other terms would stray from a recorded one, without running it.
//!
//! Let $`x(t)`$ be the recorded motion, which obeys $`\dot x = f(t, x)`$, and $`g`$ the equations with other terms.
//! Their motion is $`x + \delta`$ with $`\delta = 0`$ at the start and, to first order,
//!
//! ```math
//! \dot\delta = \frac{\partial g}{\partial x}(t, x)\,\delta + g(t, x) - f(t, x).
//! ```
//!
//! The defect $`g - f`$ is what the terms contribute along the recorded motion, and the Jacobian is that of the
//! other equations: where they lose stiffness $`\delta`$ grows without bound, as their own run would. Both are
//! taken at the samples, the defect in a straight line between them, the Jacobian as the mean of two neighbours.
//! What the estimate does not see is what is quadratic in $`\delta`$ and what happens between samples.

use nalgebra::{DMatrix, DVector};

use super::exponential;
use super::states::States;
use crate::integrate::FirstOrder;
use crate::model::Model;
use crate::simulate::equations::Equations;
use crate::simulate::recording::Recording;
use crate::simulate::sampler::Sampler;

/// Step of the numerical derivative, relative to the largest value of a coordinate in the run.
const RELATIVE_STEP: f64 = 1e-5;

/// Smallest value that a coordinate is taken to have for its step.
const SMALLEST_SCALE: f64 = 1e-3;

/// Estimates the differences of `channels` between a run of `other` and the recorded run of `reference`, to first
/// order in the differences. The recording holds every coordinate of the reference; the answer is as long as the
/// estimate stays finite. `None` if the other model has coordinates that the recording lacks, as the attitudes of
/// exact tips.
pub fn predict_deviation(
    reference: &Model,
    other: &Model,
    recording: &Recording,
    channels: &[String],
) -> Option<Recording> {
    let mut truth = Equations::new(reference);
    let mut equations = Equations::new(other);
    let true_states = States::of(&truth, recording)?;
    let states = States::of(&equations, recording)?;
    let (true_layout, layout) = (truth.state_layout(), equations.state_layout());
    let counterpart: Vec<usize> = layout[..states.len()]
        .iter()
        .map(|c| true_layout.iter().position(|t| t.name == c.name))
        .collect::<Option<_>>()?;

    let (mut sampler, names) = Sampler::new(other, Some(channels));
    let wanted: Vec<usize> = (0..names.len())
        .filter(|&i| channels.contains(&names[i].0))
        .collect();
    let recorded: Vec<&[f64]> = wanted
        .iter()
        .map(|&i| Some(recording.channel(&names[i].0)?.samples.as_slice()))
        .collect::<Option<_>>()?;
    let kept = wanted.iter().map(|&i| names[i].clone());
    let mut deviations = Recording::with_capacity(kept, states.time_s.len());

    let n = states.len();
    let scales = states.scales();
    let mut true_state = vec![0.0; truth.state_len()];
    let mut true_rate = vec![0.0; truth.state_len()];
    let mut probe = Probe::new(&equations, scales);
    let mut delta = DVector::zeros(n);
    let mut row = vec![0.0; wanted.len()];
    let mut before: Option<(f64, DMatrix<f64>, DVector<f64>)> = None;
    for (k, &time) in states.time_s.iter().enumerate() {
        true_states.read(k, &mut true_state);
        truth.derivative(time, &true_state, &mut true_rate);
        states.read(k, &mut probe.state);
        let (mut defect, jacobian) = probe.linearise(&mut equations, time, n);
        for (d, &at) in defect.iter_mut().zip(&counterpart) {
            *d -= true_rate[at];
        }
        if let Some((earlier, earlier_jacobian, earlier_defect)) = &before {
            let mean = (earlier_jacobian + &jacobian) * 0.5;
            exponential::advance(&mean, earlier_defect, &defect, time - earlier, &mut delta);
        }
        for (x, d) in probe.state.iter_mut().zip(delta.iter()) {
            *x += d;
        }
        let (q, rest) = probe.state.split_at(equations.state_positions());
        equations.evaluate(time, q, &rest[..equations.state_velocities()]);
        let (values, _) = sampler.row(&mut equations, 0.0, 0.0, None);
        for ((value, &i), column) in row.iter_mut().zip(&wanted).zip(&recorded) {
            *value = values[i] - column[k];
        }
        if !row.iter().all(|value| value.is_finite()) {
            break;
        }
        deviations.push(time, &row);
        before = Some((time, jacobian, defect));
    }
    Some(deviations)
}

/// Numerical derivatives of a model's equations.
struct Probe {
    state: Vec<f64>,
    steps: Vec<f64>,
    rates: [Vec<f64>; 2],
}

impl Probe {
    fn new(equations: &Equations<'_>, scales: Vec<f64>) -> Self {
        let length = equations.state_len();
        let step = |scale: f64| RELATIVE_STEP * scale.max(SMALLEST_SCALE);
        Self {
            state: vec![0.0; length],
            steps: scales.into_iter().map(step).collect(),
            rates: [vec![0.0; length], vec![0.0; length]],
        }
    }

    /// Rate of the first `n` entries of the state and its Jacobian, by central differences.
    fn linearise(
        &mut self,
        equations: &mut Equations<'_>,
        time: f64,
        n: usize,
    ) -> (DVector<f64>, DMatrix<f64>) {
        let mut jacobian = DMatrix::zeros(n, n);
        let [plus, minus] = &mut self.rates;
        for j in 0..n {
            let (x, step) = (self.state[j], self.steps[j]);
            self.state[j] = x + step;
            equations.derivative(time, &self.state, plus);
            self.state[j] = x - step;
            equations.derivative(time, &self.state, minus);
            self.state[j] = x;
            for i in 0..n {
                jacobian[(i, j)] = (plus[i] - minus[i]) / (2.0 * step);
            }
        }
        equations.derivative(time, &self.state, plus);
        (DVector::from_column_slice(&plus[..n]), jacobian)
    }
}
