//! Loads and motions as functions of time, and the instants at which they are not smooth.
//!
//! An integrator must not step across such an instant: the [`breakpoints`](LoadCurve::breakpoints) of all
//! profiles are handed to it.

mod ramps;
mod spline;
#[cfg(test)]
mod tests;

use std::f64::consts::TAU;

use lissom_spec::spec::{Impulse, LoadProfile, MotionProfile, Spline};

use ramps::Ramps;
pub(crate) use spline::{Ends, cubic, cubic_at};

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
    prepared: Prepared,
}

/// What is computed of a profile once.
#[derive(Clone, Debug)]
enum Prepared {
    Nothing,
    /// Second derivatives at the rows of a table.
    Cubic(Vec<f64>),
    /// Coefficients from row to row of a table.
    Quintic(Vec<[f64; 6]>),
    Ramps(Ramps),
    /// The motion that is shaped.
    Shaped(Box<MotionCurve>),
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

/// The polynomial $`10 s^3 - 15 s^4 + 6 s^5`$ with its first two derivatives, held outside 0…1.
fn quintic(s: f64) -> [f64; 3] {
    if s <= 0.0 {
        return [0.0; 3];
    }
    if s >= 1.0 {
        return [1.0, 0.0, 0.0];
    }
    let left = 1.0 - s;
    [
        s * s * s * (10.0 - 15.0 * s + 6.0 * s * s),
        30.0 * (s * left) * (s * left),
        60.0 * (s * left) * (left - s),
    ]
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
        let prepared = match profile {
            MotionProfile::Table {
                time_s,
                value,
                spline: Spline::Cubic,
            } => Prepared::Cubic(cubic(time_s, value, Ends::AtRest)),
            MotionProfile::Table {
                time_s,
                value,
                spline: Spline::Quintic,
            } => Prepared::Quintic(spline::quintic(time_s, value)),
            MotionProfile::Ramps {
                initial: start,
                target,
                ramps,
                ..
            } => Prepared::Ramps(Ramps::new(ramps, target - start.unwrap_or(initial))),
            MotionProfile::Shaped { profile, .. } => {
                Prepared::Shaped(Box::new(Self::new(profile, initial)))
            }
            _ => Prepared::Nothing,
        };
        Self {
            initial,
            profile: profile.clone(),
            prepared,
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
        // from one position to another by a share of the way and its derivatives
        let along = |start: f64, target: f64, duration: f64, share: [f64; 3]| {
            let [s, s_rate, s_acceleration] = share;
            let way = target - start;
            point([
                start + way * s,
                way * s_rate / duration,
                way * s_acceleration / (duration * duration),
            ])
        };
        match &self.profile {
            MotionProfile::Cycloid {
                initial,
                target,
                from_s,
                duration_s,
            } => {
                let share = cycloid((time - from_s) / duration_s);
                let start = initial.unwrap_or(self.initial);
                along(start, *target, *duration_s, share)
            }
            MotionProfile::Quintic {
                initial,
                target,
                from_s,
                duration_s,
            } => {
                let share = quintic((time - from_s) / duration_s);
                let start = initial.unwrap_or(self.initial);
                along(start, *target, *duration_s, share)
            }
            MotionProfile::Ramps {
                initial,
                target,
                from_s,
                ..
            } => {
                let start = initial.unwrap_or(self.initial);
                let Prepared::Ramps(ramps) = &self.prepared else {
                    return held(start);
                };
                let [way, rate, acceleration] = ramps.at(time - from_s, target - start);
                point([start + way, rate, acceleration])
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
            MotionProfile::Table { time_s, value, .. } => self.spline(time_s, value, time),
            MotionProfile::ConstantRate { rate } => point([self.initial + rate * time, *rate, 0.0]),
            MotionProfile::Shaped { impulses, .. } => {
                let Prepared::Shaped(curve) = &self.prepared else {
                    return held(self.initial);
                };
                let mut sum = MotionPoint::default();
                for impulse in impulses {
                    let own = curve.at(time - impulse.delay_s);
                    sum.position += impulse.share * own.position;
                    sum.rate += impulse.share * own.rate;
                    sum.acceleration += impulse.share * own.acceleration;
                }
                sum
            }
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
        let [position, rate, acceleration] = match &self.prepared {
            Prepared::Quintic(pieces) => polynomial(&pieces[i], time - times[i]),
            Prepared::Cubic(curvature) => cubic_at(times, values, curvature, i, time),
            Prepared::Nothing | Prepared::Ramps(_) | Prepared::Shaped(_) => {
                return MotionPoint::default();
            }
        };
        MotionPoint {
            position,
            rate,
            acceleration,
        }
    }

    /// Instants at which the motion is not smooth.
    pub fn breakpoints(&self) -> Vec<f64> {
        match &self.profile {
            MotionProfile::Cycloid {
                from_s, duration_s, ..
            }
            | MotionProfile::Quintic {
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
            MotionProfile::Ramps { from_s, .. } => match &self.prepared {
                Prepared::Ramps(ramps) => (ramps.breakpoints().map(|time| from_s + time)).collect(),
                _ => Vec::new(),
            },
            MotionProfile::Polynomial {
                from_s, until_s, ..
            }
            | MotionProfile::Sines {
                from_s, until_s, ..
            } => window(*from_s, *until_s),
            MotionProfile::Table { time_s, .. } => time_s.clone(),
            MotionProfile::ConstantRate { .. } => Vec::new(),
            MotionProfile::Shaped { impulses, .. } => match &self.prepared {
                Prepared::Shaped(curve) => {
                    let breakpoints = curve.breakpoints();
                    let later = |impulse: &Impulse| {
                        let delay = impulse.delay_s;
                        breakpoints
                            .clone()
                            .into_iter()
                            .map(move |time| time + delay)
                    };
                    impulses.iter().flat_map(later).collect()
                }
                _ => Vec::new(),
            },
        }
    }
}
