//! From rest to rest over ramps of constant jerk, with a constant rate between them.
//!
//! | symbol | meaning |
//! |---|---|
//! | $`T`$, $`t_r`$, $`t_j`$ | durations of all of it, of each ramp, of each rise or fall of the acceleration |
//! | $`v`$, $`a`$, $`j`$ | largest rate, acceleration and jerk |
//!
//! On a way $`D`$ they are tied by $`D = v\,(T - t_r)`$, $`v = a\,(t_r - t_j)`$ and $`a = j\,t_j`$. With $`t_j = 0`$ the acceleration jumps: the
//! trapezoid of the rate.

use lissom_spec::spec::RampProfile;

/// Ramps on a given way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ramps {
    duration: f64,
    ramp: f64,
    rise: f64,
    /// Largest rate and acceleration, with the sign of the way.
    rate: f64,
    acceleration: f64,
}

impl Ramps {
    /// Ramps on a way, in given times or in the shortest time under limits.
    pub(super) fn new(profile: &RampProfile, way: f64) -> Self {
        let [duration, ramp, rise] = match *profile {
            RampProfile::Durations {
                duration_s,
                ramp_s,
                jerk_s,
            } => [duration_s, ramp_s, jerk_s],
            RampProfile::Limits {
                rate,
                acceleration,
                jerk,
            } => shortest(way.abs(), [rate, acceleration, jerk]),
        };
        let over = |size: f64, time: f64| if size == 0.0 { 0.0 } else { size / time };
        let rate = over(way, duration - ramp);
        Self {
            duration,
            ramp,
            rise,
            rate,
            acceleration: over(rate, ramp - rise),
        }
    }

    /// Way, rate and acceleration at a time from the beginning; all of them from the end, as time runs backwards, in the second half.
    pub(super) fn at(&self, time: f64, way: f64) -> [f64; 3] {
        if time <= 0.0 {
            [0.0; 3]
        } else if time >= self.duration {
            [way, 0.0, 0.0]
        } else if time < 0.5 * self.duration {
            self.speed_up(time)
        } else {
            let [left, rate, acceleration] = self.speed_up(self.duration - time);
            [way - left, rate, -acceleration]
        }
    }

    /// The first ramp and what follows it.
    fn speed_up(&self, time: f64) -> [f64; 3] {
        let &Self {
            ramp,
            rise,
            rate,
            acceleration,
            ..
        } = self;
        let even = rate * (time - 0.5 * ramp);
        if time >= ramp {
            [even, rate, 0.0]
        } else if time < rise {
            let jerk = acceleration / rise;
            let gained = jerk * time;
            [gained * time * time / 6.0, 0.5 * gained * time, gained]
        } else if time <= ramp - rise {
            let since = time - 0.5 * rise;
            [
                acceleration * (0.5 * since * since + rise * rise / 24.0),
                acceleration * since,
                acceleration,
            ]
        } else {
            let (jerk, left) = (acceleration / rise, ramp - time);
            [
                even + jerk * left * left * left / 6.0,
                rate - 0.5 * jerk * left * left,
                jerk * left,
            ]
        }
    }

    /// Times from the beginning at which the acceleration or its derivative jumps.
    pub(super) fn breakpoints(&self) -> impl Iterator<Item = f64> {
        let half = [0.0, self.rise, self.ramp - self.rise, self.ramp];
        let duration = self.duration;
        let back = half.into_iter().rev().map(move |time| duration - time);
        half.into_iter().chain(back)
    }
}

/// The shortest duration of a way with those of its ramps and rises.
fn shortest(way: f64, [rate, acceleration, jerk]: [f64; 3]) -> [f64; 3] {
    // a ramp without time for it does not reach the largest acceleration
    let reached = |rise: f64| {
        if rise > 0.0 {
            acceleration.min(jerk * rise)
        } else {
            acceleration
        }
    };
    let rise = (acceleration / jerk).min((rate / jerk).sqrt());
    let ramp = rise + rate / reached(rise);
    if way >= rate * ramp {
        return [way / rate + ramp, ramp, rise];
    }
    let rise = (acceleration / jerk).min((0.5 * way / jerk).cbrt());
    let ramp = 0.5 * rise + (0.25 * rise * rise + way / reached(rise)).sqrt();
    [2.0 * ramp, ramp, rise]
}
