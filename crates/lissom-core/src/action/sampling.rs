//! Ticks of sampled controllers.
//!
//! At a tick a controller measures and goes on with its states, by a step of Euler's method of its period; its answer acts after the
//! delay and is held until the next.

use lissom_spec::spec::SampledSpec;

/// Instants that differ by a smaller part of the period are the same tick: periods are rounded numbers.
const SAME: f64 = 1e-9;

/// When a controller measures and answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// From tick to tick.
    pub period: f64,
    /// From a tick to when its answer acts.
    pub delay: f64,
}

/// What happens at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// An answer that was delayed acts from here on.
    pub output: bool,
    /// The controller measures.
    pub sample: bool,
}

impl Sampling {
    /// As a file says it.
    pub fn of(spec: &SampledSpec) -> Self {
        Self {
            period: spec.period_s,
            delay: spec.delay_s,
        }
    }

    /// What happens at an instant, ticks counted from a start.
    pub fn due(&self, start_s: f64, time_s: f64) -> Due {
        let is_tick = |since_s: f64| {
            let ticks = (since_s / self.period).round();
            ticks >= 0.0 && (since_s - ticks * self.period).abs() <= SAME * self.period
        };
        Due {
            output: self.delay > 0.0 && is_tick(time_s - start_s - self.delay),
            sample: is_tick(time_s - start_s),
        }
    }

    /// Instants within a span at which something happens.
    pub fn instants(&self, start_s: f64, [from_s, until_s]: [f64; 2]) -> impl Iterator<Item = f64> {
        let Self { period, delay } = *self;
        let first = ((from_s - start_s - delay) / period).floor().max(0.0);
        let tick = move |k: u64| start_s + (first + k as f64) * period;
        let both = move |at: f64| [Some(at), (delay > 0.0).then_some(at + delay)];
        let ticks = (0..).map(tick).take_while(move |&at| at < until_s);
        let all = ticks.flat_map(both).flatten();
        all.filter(move |&at| at > from_s && at < until_s)
    }
}

/// Sorts instants and keeps one of those that are the same but for rounding of periods no shorter than `shortest`.
pub(crate) fn merged(mut instants: Vec<f64>, shortest: f64) -> Vec<f64> {
    instants.sort_by(f64::total_cmp);
    instants.dedup_by(|later, earlier| *later - *earlier <= SAME * shortest);
    instants
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand.
    #[test]
    fn ticks_and_delayed_answers_are_found() {
        let sampling = Sampling {
            period: 0.1,
            delay: 0.04,
        };
        let all: Vec<f64> = sampling.instants(1.0, [1.0, 1.25]).collect();
        let expected = [1.04, 1.1, 1.14, 1.2, 1.24];
        assert_eq!(all.len(), expected.len(), "{all:?}");
        for (found, expected) in all.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12);
        }
        let due = |time_s| sampling.due(1.0, time_s);
        let tick = Due {
            sample: true,
            output: false,
        };
        assert_eq!(due(1.0), tick);
        assert_eq!(due(1.0 + 3.0 * 0.1), tick);
        assert!(due(1.04).output && !due(1.04).sample);
        assert_eq!(due(1.05), Due::default());
        assert_eq!(due(0.9), Due::default());
        assert_eq!(merged(vec![0.3, 0.1 + 0.2, 0.1], 0.1), [0.1, 0.3]);
    }
}
