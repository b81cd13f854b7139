//! Profiles in time without their unit, the common reading of the torque, force and motion keys.

use super::motion::Spline;
use super::shaping::Impulse;

/// How a torque (N m) or a force (N) runs in time.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadProfile {
    /// Always `value`.
    Constant {
        /// The value.
        value: f64,
    },
    /// `value` from `from_s` until `until_s`, zero outside.
    Step {
        /// The value while it is on.
        value: f64,
        /// When it is switched on.
        from_s: f64,
        /// When it is switched off, if ever.
        until_s: Option<f64>,
    },
    /// Linear between the rows, constant beyond them.
    Table {
        /// Instants, rising; empty while the table's file has not been read.
        time_s: Vec<f64>,
        /// Values at the instants.
        value: Vec<f64>,
    },
    /// From `initial` to `target` as $`s - \sin 2\pi s / 2\pi`$; held outside.
    Cycloid {
        /// The value before.
        initial: f64,
        /// The value after.
        target: f64,
        /// When the change begins.
        from_s: f64,
        /// How long it takes.
        duration_s: f64,
    },
    /// Polynomial in the time since `from_s`, zero outside.
    Polynomial {
        /// Coefficients from the constant upwards.
        coefficients: Vec<f64>,
        /// When it begins.
        from_s: f64,
        /// When it ends, if ever.
        until_s: Option<f64>,
    },
    /// Sum of `amplitude sin(frequency (t − from_s) + phase)`, zero outside.
    Sines {
        /// Amplitudes.
        amplitude: Vec<f64>,
        /// Angular frequencies, as many.
        frequency_rad_per_s: Vec<f64>,
        /// Phases, as many.
        phase_rad: Vec<f64>,
        /// When it begins.
        from_s: f64,
        /// When it ends, if ever.
        until_s: Option<f64>,
    },
    /// What would move the joint so if every body were rigid, or its part in what moves the whole model as is said
    /// elsewhere.
    RigidInverseDynamics(Option<MotionProfile>),
}

/// How a motion speeds up and slows down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RampProfile {
    /// In given times.
    Durations {
        /// How long all of it takes.
        duration_s: f64,
        /// How long each ramp takes.
        ramp_s: f64,
        /// How long the acceleration rises or falls at either end of a ramp; 0 where it jumps.
        jerk_s: f64,
    },
    /// In the shortest time under limits of what each says.
    Limits {
        /// Of the rate.
        rate: f64,
        /// Of the acceleration.
        acceleration: f64,
        /// Of the jerk; infinite where the acceleration may jump.
        jerk: f64,
    },
}

/// How a joint's angle (rad) or displacement (m) runs in time.
#[derive(Clone, Debug, PartialEq)]
pub enum MotionProfile {
    /// From `initial` to `target` as $`s - \sin 2\pi s / 2\pi`$; held outside.
    Cycloid {
        /// Position before; the joint's initial position if not given.
        initial: Option<f64>,
        /// Position after.
        target: f64,
        /// When the motion begins.
        from_s: f64,
        /// How long it takes.
        duration_s: f64,
    },
    /// From `initial` to `target` at a constant rate between ramps whose acceleration is $`1 - \cos 2\pi s`$; held outside.
    CycloidalRamps {
        /// Position before; the joint's initial position if not given.
        initial: Option<f64>,
        /// Position after.
        target: f64,
        /// When the motion begins.
        from_s: f64,
        /// How long it takes.
        duration_s: f64,
        /// How long each ramp takes.
        ramp_s: f64,
    },
    /// Rate from zero to `rate` as $`s - \sin 2\pi s / 2\pi`$, then constant; from the joint's initial
    /// position.
    CycloidalRate {
        /// The rate that is reached.
        rate: f64,
        /// When the motion begins.
        from_s: f64,
        /// How long it takes to reach the rate.
        duration_s: f64,
    },
    /// From `initial` to `target` as $`10 s^3 - 15 s^4 + 6 s^5`$; held outside.
    Quintic {
        /// Position before; the joint's initial position if not given.
        initial: Option<f64>,
        /// Position after.
        target: f64,
        /// When the motion begins.
        from_s: f64,
        /// How long it takes.
        duration_s: f64,
    },
    /// From `initial` to `target` at a constant rate between ramps of constant jerk or acceleration; held outside.
    Ramps {
        /// Position before; the joint's initial position if not given.
        initial: Option<f64>,
        /// Position after.
        target: f64,
        /// When the motion begins.
        from_s: f64,
        /// How fast.
        ramps: RampProfile,
    },
    /// Polynomial in the time since `from_s`; held outside.
    Polynomial {
        /// Coefficients from the constant upwards.
        coefficients: Vec<f64>,
        /// When the motion begins.
        from_s: f64,
        /// When it ends, if ever.
        until_s: Option<f64>,
    },
    /// Sum of `amplitude sin(frequency (t − from_s) + phase)`; held outside.
    Sines {
        /// Amplitudes.
        amplitude: Vec<f64>,
        /// Angular frequencies, as many.
        frequency_rad_per_s: Vec<f64>,
        /// Phases, as many.
        phase_rad: Vec<f64>,
        /// When the motion begins.
        from_s: f64,
        /// When it ends, if ever.
        until_s: Option<f64>,
    },
    /// Spline with continuous acceleration through the rows; held beyond them.
    Table {
        /// Instants, rising; empty while the table's file has not been read.
        time_s: Vec<f64>,
        /// Positions at the instants.
        value: Vec<f64>,
        /// Which one.
        spline: Spline,
    },
    /// `rate × t` from the joint's initial position.
    ConstantRate {
        /// The rate.
        rate: f64,
    },
    /// Another motion in shares that come one after the other.
    Shaped {
        /// The motion.
        profile: Box<MotionProfile>,
        /// The shares.
        impulses: Vec<Impulse>,
    },
}
