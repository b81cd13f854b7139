//! Loads and motions as functions of time, and the instants at which they are not smooth.
//!
//! An integrator must not step across such an instant: the [`breakpoints`](LoadCurve::breakpoints) of all
//! profiles are handed to it.

use std::f64::consts::TAU;

use lissom_spec::spec::{LoadProfile, MotionProfile};

/// Position, rate and acceleration at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MotionPoint {
    /// Position.
    pub position: f64,
    /// Its first derivative.
    pub rate: f64,
    /// Its second derivative.
    pub acceleration: f64,
}

/// A load profile ready to be evaluated.
#[derive(Clone, Debug)]
pub struct LoadCurve(LoadProfile);

/// A motion profile ready to be evaluated.
#[derive(Clone, Debug)]
pub struct MotionCurve {
    initial: f64,
    profile: MotionProfile,
    /// Second derivatives at the rows of a table.
    curvature: Vec<f64>,
}

/// The cycloid $`s - \sin(2\pi s)/2\pi`$ with its first two derivatives, held outside 0…1.
fn cycloid(s: f64) -> [f64; 3] {
    if s <= 0.0 {
        return [0.0; 3];
    }
    if s >= 1.0 {
        return [1.0, 0.0, 0.0];
    }
    let (sin, cos) = (TAU * s).sin_cos();
    [s - sin / TAU, 1.0 - cos, TAU * sin]
}

/// The integral of the cycloid with its first two derivatives: from rest to a rate of one.
fn speeding_up(s: f64) -> [f64; 3] {
    let [rate, acceleration, _] = cycloid(s);
    let way = if s <= 0.0 {
        0.0
    } else if s < 1.0 {
        0.5 * s * s + ((TAU * s).cos() - 1.0) / (TAU * TAU)
    } else {
        s - 0.5
    };
    [way, rate, acceleration]
}

/// Whether `time` is inside a window that is closed on the left.
fn inside(time: f64, from: f64, until: Option<f64>) -> bool {
    time >= from && until.is_none_or(|until| time < until)
}

/// Index of the table interval that holds `time`.
pub(crate) fn interval(times: &[f64], time: f64) -> usize {
    times
        .partition_point(|&t| t <= time)
        .clamp(1, times.len() - 1)
        - 1
}

/// Value and first two derivatives of a polynomial.
fn polynomial(coefficients: &[f64], t: f64) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for &c in coefficients.iter().rev() {
        sums[2] = sums[2] * t + 2.0 * sums[1];
        sums[1] = sums[1] * t + sums[0];
        sums[0] = sums[0] * t + c;
    }
    sums
}

/// Value and first two derivatives of a sum of sines.
fn sines(amplitude: &[f64], frequency: &[f64], phase: &[f64], t: f64) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for ((&a, &w), &p) in amplitude.iter().zip(frequency).zip(phase) {
        let (sin, cos) = (w * t + p).sin_cos();
        sums[0] += a * sin;
        sums[1] += a * w * cos;
        sums[2] -= a * w * w * sin;
    }
    sums
}

impl LoadCurve {
    /// Prepares a profile; inverse dynamics is not a curve of its own and counts as zero here.
    pub fn new(profile: &LoadProfile) -> Self {
        Self(profile.clone())
    }

    /// The load at `time`.
    pub fn value(&self, time: f64) -> f64 {
        match &self.0 {
            LoadProfile::Constant { value } => *value,
            LoadProfile::Step {
                value,
                from_s,
                until_s,
            } => {
                if inside(time, *from_s, *until_s) {
                    *value
                } else {
                    0.0
                }
            }
            LoadProfile::Table { time_s, value } if time_s.len() < 2 => {
                value.first().copied().unwrap_or(0.0)
            }
            LoadProfile::Table { time_s, value } => {
                let i = interval(time_s, time);
                let s = ((time - time_s[i]) / (time_s[i + 1] - time_s[i])).clamp(0.0, 1.0);
                value[i] + (value[i + 1] - value[i]) * s
            }
            LoadProfile::Cycloid {
                initial,
                target,
                from_s,
                duration_s,
            } => initial + (target - initial) * cycloid((time - from_s) / duration_s)[0],
            LoadProfile::Polynomial {
                coefficients,
                from_s,
                until_s,
            } => {
                if inside(time, *from_s, *until_s) {
                    polynomial(coefficients, time - from_s)[0]
                } else {
                    0.0
                }
            }
            LoadProfile::Sines {
                amplitude,
                frequency_rad_per_s,
                phase_rad,
                from_s,
                until_s,
            } => {
                if inside(time, *from_s, *until_s) {
                    sines(amplitude, frequency_rad_per_s, phase_rad, time - from_s)[0]
                } else {
                    0.0
                }
            }
            LoadProfile::RigidInverseDynamics(_) => 0.0,
        }
    }

    /// Instants at which the load or one of its derivatives jumps.
    pub fn breakpoints(&self) -> Vec<f64> {
        match &self.0 {
            LoadProfile::Constant { .. } | LoadProfile::RigidInverseDynamics(_) => Vec::new(),
            LoadProfile::Step {
                from_s, until_s, ..
            }
            | LoadProfile::Polynomial {
                from_s, until_s, ..
            }
            | LoadProfile::Sines {
                from_s, until_s, ..
            } => window(*from_s, *until_s),
            LoadProfile::Table { time_s, .. } => time_s.clone(),
            LoadProfile::Cycloid {
                from_s, duration_s, ..
            } => vec![*from_s, from_s + duration_s],
        }
    }
}

fn window(from: f64, until: Option<f64>) -> Vec<f64> {
    std::iter::once(from).chain(until).collect()
}

impl MotionCurve {
    /// Prepares a profile of a joint that starts at `initial`.
    pub fn new(profile: &MotionProfile, initial: f64) -> Self {
        let curvature = match profile {
            MotionProfile::Table { time_s, value } => clamped_spline(time_s, value),
            _ => Vec::new(),
        };
        Self {
            initial,
            profile: profile.clone(),
            curvature,
        }
    }

    /// A joint that stays where it is.
    pub fn held(position: f64) -> Self {
        Self::new(&MotionProfile::ConstantRate { rate: 0.0 }, position)
    }

    /// The motion at `time`.
    pub fn at(&self, time: f64) -> MotionPoint {
        let point = |[position, rate, acceleration]: [f64; 3]| MotionPoint {
            position,
            rate,
            acceleration,
        };
        let held = |position| point([position, 0.0, 0.0]);
        match &self.profile {
            MotionProfile::Cycloid {
                initial,
                target,
                from_s,
                duration_s,
            } => {
                let start = initial.unwrap_or(self.initial);
                let [s, s_rate, s_acceleration] = cycloid((time - from_s) / duration_s);
                let way = target - start;
                point([
                    start + way * s,
                    way * s_rate / duration_s,
                    way * s_acceleration / (duration_s * duration_s),
                ])
            }
            MotionProfile::CycloidalRamps {
                initial,
                target,
                from_s,
                duration_s,
                ramp_s,
            } => {
                let start = initial.unwrap_or(self.initial);
                let rate = (target - start) / (duration_s - ramp_s);
                // what is gained in the ramp at the end is lost again
                let up = speeding_up((time - from_s) / ramp_s);
                let down = speeding_up((time - from_s - (duration_s - ramp_s)) / ramp_s);
                if time >= from_s + duration_s {
                    return held(*target);
                }
                point([
                    start + rate * ramp_s * (up[0] - down[0]),
                    rate * (up[1] - down[1]),
                    rate / ramp_s * (up[2] - down[2]),
                ])
            }
            MotionProfile::CycloidalRate {
                rate,
                from_s,
                duration_s,
            } => {
                let [way, factor, factor_rate] = speeding_up((time - from_s) / duration_s);
                point([
                    self.initial + rate * duration_s * way,
                    rate * factor,
                    rate * factor_rate / duration_s,
                ])
            }
            MotionProfile::Polynomial {
                coefficients,
                from_s,
                until_s,
            } => {
                let end = until_s.unwrap_or(f64::INFINITY);
                let values = polynomial(coefficients, time.clamp(*from_s, end) - from_s);
                if inside(time, *from_s, *until_s) {
                    point(values)
                } else {
                    held(values[0])
                }
            }
            MotionProfile::Sines {
                amplitude,
                frequency_rad_per_s,
                phase_rad,
                from_s,
                until_s,
            } => {
                let end = until_s.unwrap_or(f64::INFINITY);
                let t = time.clamp(*from_s, end) - from_s;
                let values = sines(amplitude, frequency_rad_per_s, phase_rad, t);
                if inside(time, *from_s, *until_s) {
                    point(values)
                } else {
                    held(values[0])
                }
            }
            MotionProfile::Table { time_s, value } => self.spline(time_s, value, time),
            MotionProfile::ConstantRate { rate } => point([self.initial + rate * time, *rate, 0.0]),
        }
    }

    fn spline(&self, times: &[f64], values: &[f64], time: f64) -> MotionPoint {
        let (Some((&first, &last)), true) = (times.first().zip(times.last()), values.len() > 1)
        else {
            return MotionPoint {
                position: values.first().copied().unwrap_or(self.initial),
                ..MotionPoint::default()
            };
        };
        if time < first || time >= last {
            let edge = if time < first { 0 } else { values.len() - 1 };
            return MotionPoint {
                position: values[edge],
                ..MotionPoint::default()
            };
        }
        let i = interval(times, time);
        let h = times[i + 1] - times[i];
        let (a, b) = ((times[i + 1] - time) / h, (time - times[i]) / h);
        let (ca, cb) = (self.curvature[i], self.curvature[i + 1]);
        MotionPoint {
            position: a * values[i]
                + b * values[i + 1]
                + ((a * a * a - a) * ca + (b * b * b - b) * cb) * h * h / 6.0,
            rate: (values[i + 1] - values[i]) / h
                + ((3.0 * b * b - 1.0) * cb - (3.0 * a * a - 1.0) * ca) * h / 6.0,
            acceleration: a * ca + b * cb,
        }
    }

    /// Instants at which the motion is not smooth.
    pub fn breakpoints(&self) -> Vec<f64> {
        match &self.profile {
            MotionProfile::Cycloid {
                from_s, duration_s, ..
            }
            | MotionProfile::CycloidalRate {
                from_s, duration_s, ..
            } => vec![*from_s, from_s + duration_s],
            MotionProfile::CycloidalRamps {
                from_s,
                duration_s,
                ramp_s,
                ..
            } => {
                let until = from_s + duration_s;
                vec![*from_s, from_s + ramp_s, until - ramp_s, until]
            }
            MotionProfile::Polynomial {
                from_s, until_s, ..
            }
            | MotionProfile::Sines {
                from_s, until_s, ..
            } => window(*from_s, *until_s),
            MotionProfile::Table { time_s, .. } => time_s.clone(),
            MotionProfile::ConstantRate { .. } => Vec::new(),
        }
    }
}

/// Second derivatives of the cubic spline through a table, with a clamped (zero-rate) start and end, so
/// that a motion begins and ends at rest.
fn clamped_spline(times: &[f64], values: &[f64]) -> Vec<f64> {
    let n = times.len().min(values.len());
    if n < 2 {
        return vec![0.0; n];
    }
    // tridiagonal system, forward elimination and back substitution
    let h = |i: usize| times[i + 1] - times[i];
    let slope = |i: usize| (values[i + 1] - values[i]) / h(i);
    let (mut diagonal, mut right) = (vec![0.0; n], vec![0.0; n]);
    for i in 0..n {
        let before = if i > 0 { h(i - 1) } else { 0.0 };
        let after = if i + 1 < n { h(i) } else { 0.0 };
        diagonal[i] = 2.0 * (before + after);
        let rise = if i + 1 < n { slope(i) } else { 0.0 };
        let fall = if i > 0 { slope(i - 1) } else { 0.0 };
        right[i] = 6.0 * (rise - fall);
        if i > 0 {
            let factor = before / diagonal[i - 1];
            diagonal[i] -= factor * before;
            right[i] -= factor * right[i - 1];
        }
    }
    let mut curvature = vec![0.0; n];
    for i in (0..n).rev() {
        let next = if i + 1 < n {
            h(i) * curvature[i + 1]
        } else {
            0.0
        };
        curvature[i] = (right[i] - next) / diagonal[i];
    }
    curvature
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_motions() -> Vec<MotionProfile> {
        vec![
            MotionProfile::Cycloid {
                initial: Some(0.2),
                target: 1.5,
                from_s: 0.1,
                duration_s: 0.8,
            },
            MotionProfile::CycloidalRamps {
                initial: Some(0.2),
                target: 1.5,
                from_s: 0.05,
                duration_s: 0.9,
                ramp_s: 0.3,
            },
            MotionProfile::CycloidalRate {
                rate: 2.0,
                from_s: 0.05,
                duration_s: 0.7,
            },
            MotionProfile::Polynomial {
                coefficients: vec![0.1, -0.4, 2.0, 0.7],
                from_s: 0.02,
                until_s: None,
            },
            MotionProfile::Sines {
                amplitude: vec![0.3, 0.1],
                frequency_rad_per_s: vec![5.0, 11.0],
                phase_rad: vec![0.2, -0.4],
                from_s: 0.0,
                until_s: Some(0.95),
            },
            MotionProfile::Table {
                time_s: vec![0.0, 0.2, 0.5, 0.6, 1.0],
                value: vec![0.0, 0.4, 0.3, 0.9, 0.2],
            },
            MotionProfile::ConstantRate { rate: 0.3 },
        ]
    }

    #[test]
    fn rates_are_derivatives_of_positions() {
        // central differences err by h²/6 times a third derivative, which is below 5e3 here
        const DIFFERENCE: f64 = 1e-7;
        let h = 1e-5;
        for profile in all_motions() {
            let curve = MotionCurve::new(&profile, 0.4);
            for t in [0.13, 0.31, 0.55, 0.68, 0.87] {
                let (before, after) = (curve.at(t - h), curve.at(t + h));
                let here = curve.at(t);
                let rate = (after.position - before.position) / (2.0 * h);
                let acceleration = (after.rate - before.rate) / (2.0 * h);
                assert!((here.rate - rate).abs() < DIFFERENCE, "{profile:?} at {t}");
                assert!(
                    (here.acceleration - acceleration).abs() < DIFFERENCE,
                    "{profile:?} at {t}"
                );
            }
        }
    }

    /// Closed form: half of the way in the middle, at the way over duration less one ramp; at rest at both ends.
    #[test]
    fn ramps_lead_to_a_constant_rate_and_back() {
        // rounding of a dozen operations on numbers near one
        const ROUNDING: f64 = 1e-14;
        let curve = MotionCurve::new(
            &MotionProfile::CycloidalRamps {
                initial: None,
                target: 1.5,
                from_s: 0.1,
                duration_s: 1.0,
                ramp_s: 0.3,
            },
            0.1,
        );
        for (time, position, rate) in [
            (0.0, 0.1, 0.0),
            (0.1, 0.1, 0.0),
            (0.4, 0.1 + 0.3, 2.0),
            (0.6, 0.8, 2.0),
            (0.8, 1.5 - 0.3, 2.0),
            (1.1, 1.5, 0.0),
            (7.0, 1.5, 0.0),
        ] {
            let point = curve.at(time);
            assert!((point.position - position).abs() < ROUNDING, "{point:?}");
            assert!((point.rate - rate).abs() < ROUNDING, "{point:?}");
            assert!(point.acceleration.abs() < 1e3 * ROUNDING, "{point:?}");
        }
    }

    #[test]
    fn a_spline_passes_through_its_rows_and_starts_at_rest() {
        let profile = MotionProfile::Table {
            time_s: vec![0.0, 0.2, 0.5, 0.6, 1.0],
            value: vec![0.0, 0.4, 0.3, 0.9, 0.2],
        };
        let curve = MotionCurve::new(&profile, 7.0);
        for (t, x) in [(0.0, 0.0), (0.2, 0.4), (0.5, 0.3), (0.6, 0.9), (1.0, 0.2)] {
            assert!((curve.at(t).position - x).abs() < 1e-14);
        }
        assert!(curve.at(0.0).rate.abs() < 1e-14);
        assert!(curve.at(1.0 - 1e-12).rate.abs() < 1e-10);
    }

    #[test]
    fn a_step_is_closed_on_the_left_and_open_on_the_right() {
        let curve = LoadCurve::new(&LoadProfile::Step {
            value: 2.0,
            from_s: 0.5,
            until_s: Some(1.0),
        });
        assert_eq!(curve.value(0.5_f64.next_down()), 0.0);
        assert_eq!(curve.value(0.5), 2.0);
        assert_eq!(curve.value(1.0_f64.next_down()), 2.0);
        assert_eq!(curve.value(1.0), 0.0);
        assert_eq!(curve.breakpoints(), [0.5, 1.0]);
    }

    #[test]
    fn a_table_is_linear_between_rows_and_held_outside() {
        let curve = LoadCurve::new(&LoadProfile::Table {
            time_s: vec![1.0, 2.0, 4.0],
            value: vec![10.0, 20.0, 0.0],
        });
        for (t, x) in [
            (0.0, 10.0),
            (1.5, 15.0),
            (2.0, 20.0),
            (3.0, 10.0),
            (9.0, 0.0),
        ] {
            assert!((curve.value(t) - x).abs() < 1e-13);
        }
    }
}
