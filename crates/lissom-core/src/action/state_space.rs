//! Control by a linear system between readings of sensors and torques or forces.

use lissom_spec::spec::StateSpaceSpec;
use nalgebra::DMatrix;

/// $`\dot x = A x + B (y - r)`$, $`u = C x + D (y - r)`$, or the same from tick to tick.
#[derive(Clone, Debug, PartialEq)]
pub struct StateSpaceLaw {
    /// $`A`$.
    pub state: DMatrix<f64>,
    /// $`B`$.
    pub input: DMatrix<f64>,
    /// $`C`$.
    pub output: DMatrix<f64>,
    /// $`D`$.
    pub feedthrough: DMatrix<f64>,
    /// $`r`$.
    reference: Vec<f64>,
}

impl StateSpaceLaw {
    /// The law of a checked file, between so many channels and drives.
    pub(super) fn of(spec: &StateSpaceSpec, measured: usize, drives: usize) -> Self {
        let states = spec.a.len();
        let matrix = |rows: &[Vec<f64>], shape: (usize, usize)| {
            let entry = |i: usize, j: usize| {
                let row = rows.get(i).and_then(|row| row.get(j));
                row.copied().unwrap_or(0.0)
            };
            DMatrix::from_fn(shape.0, shape.1, entry)
        };
        let mut reference = spec.reference.clone();
        reference.resize(measured, 0.0);
        Self {
            state: matrix(&spec.a, (states, states)),
            input: matrix(&spec.b, (states, measured)),
            output: matrix(&spec.c, (drives, states)),
            feedthrough: matrix(&spec.d, (drives, measured)),
            reference,
        }
    }

    /// How many states it has.
    pub fn states(&self) -> usize {
        self.state.nrows()
    }

    /// What it asks for; `channels` are those of the readings that it measures.
    pub(super) fn answer(
        &self,
        states: &[f64],
        (readings, channels): (&[f64], &[usize]),
        efforts: &mut [f64],
    ) {
        let matrices = (&self.output, &self.feedthrough);
        self.apply(matrices, states, (readings, channels), efforts);
    }

    /// Rates of its states, or their values at the next tick.
    pub(super) fn change(
        &self,
        states: &[f64],
        (readings, channels): (&[f64], &[usize]),
        changes: &mut [f64],
    ) {
        let matrices = (&self.state, &self.input);
        self.apply(matrices, states, (readings, channels), changes);
    }

    /// Rates of its states for readings where they are zero.
    pub(crate) fn drift(&self, readings: &[f64]) -> Vec<f64> {
        let channels: Vec<usize> = (0..readings.len()).collect();
        let mut rates = vec![0.0; self.states()];
        let zero = rates.clone();
        self.change(&zero, (readings, &channels), &mut rates);
        rates
    }

    fn apply(
        &self,
        (by_state, by_reading): (&DMatrix<f64>, &DMatrix<f64>),
        states: &[f64],
        (readings, channels): (&[f64], &[usize]),
        found: &mut [f64],
    ) {
        for (i, found) in found.iter_mut().enumerate() {
            let mut sum = 0.0;
            for (j, state) in states.iter().enumerate() {
                sum += by_state[(i, j)] * state;
            }
            for (j, &channel) in channels.iter().enumerate() {
                sum += by_reading[(i, j)] * (readings[channel] - self.reference[j]);
            }
            *found = sum;
        }
    }
}
