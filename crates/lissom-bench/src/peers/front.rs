//! What was measured, and the cheapest of it.

use serde::Deserialize;

/// A setting of a program on a problem.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    /// The program.
    pub(super) program: String,
    /// Its setting, in words.
    pub(super) setting: String,
    /// Shortest CPU time of the integration.
    pub(super) cpu_s: f64,
    /// Largest difference from the converged run, over all samples and components.
    pub(super) error: f64,
    /// Why there is no result.
    pub(super) failed: Option<String>,
}

/// A line that a script prints.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Line {
    program: String,
    pub(super) setting: String,
    #[serde(default)]
    pub(super) cpu_s: f64,
    #[serde(default)]
    samples: Vec<Vec<f64>>,
    failed: Option<String>,
}

impl Line {
    /// With its error against a converged run.
    pub(super) fn against(self, exact: &[Vec<f64>]) -> Measured {
        Measured {
            error: largest_difference(&self.samples, exact),
            program: self.program,
            setting: self.setting,
            cpu_s: self.cpu_s,
            failed: self.failed,
        }
    }
}

/// Largest difference of samples; infinite if they are not as many or not numbers.
pub(super) fn largest_difference(found: &[Vec<f64>], exact: &[Vec<f64>]) -> f64 {
    if found.len() != exact.len() {
        return f64::INFINITY;
    }
    let pairs = found.iter().flatten().zip(exact.iter().flatten());
    pairs.fold(0.0, |most: f64, (a, b)| {
        let difference = (a - b).abs();
        // `max` would lose what is not a number
        if difference.is_nan() {
            f64::INFINITY
        } else {
            most.max(difference)
        }
    })
}

/// The cheapest setting of a program that is no further off than a goal.
pub(super) fn cheapest<'a>(
    measured: &'a [Measured],
    program: &str,
    goal: f64,
) -> Option<&'a Measured> {
    let good = measured
        .iter()
        .filter(|m| m.program == program && m.failed.is_none() && m.error <= goal);
    good.min_by(|a, b| a.cpu_s.total_cmp(&b.cpu_s))
}

/// Settings of a program of which none is both cheaper and closer, from cheap to dear.
pub(super) fn front<'a>(measured: &'a [Measured], program: &str) -> Vec<&'a Measured> {
    let mut own: Vec<_> = measured
        .iter()
        .filter(|m| m.program == program && m.failed.is_none() && m.error.is_finite())
        .collect();
    own.sort_by(|a, b| a.cpu_s.total_cmp(&b.cpu_s));
    let mut best = f64::INFINITY;
    own.retain(|m| {
        let better = m.error < best;
        best = best.min(m.error);
        better
    });
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(program: &str, cpu_s: f64, error: f64) -> Measured {
        Measured {
            program: program.to_owned(),
            setting: String::new(),
            cpu_s,
            error,
            failed: None,
        }
    }

    #[test]
    fn fronts_keep_what_nothing_beats() {
        let all = [
            measured("a", 3.0, 1e-5),
            measured("a", 1.0, 1e-3),
            measured("a", 2.0, 1e-2),
            measured("b", 0.1, 1e-9),
        ];
        let errors: Vec<f64> = front(&all, "a").iter().map(|m| m.error).collect();
        assert_eq!(errors, [1e-3, 1e-5]);
        let best = cheapest(&all, "a", 1e-4).expect("one setting is good enough");
        assert_eq!(best.cpu_s, 3.0);
        assert!(cheapest(&all, "a", 1e-6).is_none());
    }

    #[test]
    fn differences_see_what_is_missing() {
        let exact = [vec![1.0, 2.0], vec![3.0, 4.0]];
        assert_eq!(
            largest_difference(&[vec![1.0, 2.5], vec![3.0, 4.0]], &exact),
            0.5
        );
        assert_eq!(largest_difference(&exact[..1], &exact), f64::INFINITY);
        assert_eq!(
            largest_difference(&[vec![1.0, f64::NAN], vec![3.0, 4.0]], &exact),
            f64::INFINITY
        );
    }
}
