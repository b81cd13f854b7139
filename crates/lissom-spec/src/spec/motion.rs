//! `[[motion]]`: joint motions that are prescribed, and the same profiles for inverse dynamics.
//!
//! A profile is written with `…_rad` keys for a component that rotates and with `…_m` keys for one that
//! translates; the other spelling is found by [`ModelSpec::check`](super::ModelSpec::check).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::deformation::Deformation;
use super::profile::{MotionProfile, RampProfile};

/// The prescribed motion of one degree of freedom of a joint. Exactly one profile is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MotionSpec {
    /// Name of the joint: revolute, prismatic or universal.
    pub joint: String,
    /// Which degree of freedom of the joint, counted from 1.
    #[serde(default = "super::first_component")]
    pub component: usize,
    /// Which deformation of an element, in a model of nodes and elements; needed for beams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deformation: Option<Deformation>,
    /// From one position to another, as a cycloid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycloid: Option<CycloidMotionSpec>,
    /// From one position to another at a constant rate between smooth ramps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycloidal_ramps: Option<CycloidalRampsSpec>,
    /// From rest to a constant rate, smoothly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycloidal_rate: Option<CycloidalRateSpec>,
    /// From one position to another as a polynomial of fifth order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quintic: Option<QuinticMotionSpec>,
    /// From one position to another at constant accelerations and a constant rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trapezoidal: Option<TrapezoidalMotionSpec>,
    /// From one position to another under a limited jerk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub s_curve: Option<SCurveMotionSpec>,
    /// A polynomial in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polynomial: Option<PolynomialMotionSpec>,
    /// A sum of sines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sines: Option<SinesMotionSpec>,
    /// A smooth curve through the rows of a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<TableMotionSpec>,
    /// A constant rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant_rate: Option<ConstantRateSpec>,
}

impl Default for MotionSpec {
    /// A motion of no joint, of no kind, to be filled in.
    fn default() -> Self {
        Self {
            joint: String::new(),
            component: super::first_component(),
            deformation: None,
            cycloid: None,
            cycloidal_ramps: None,
            cycloidal_rate: None,
            quintic: None,
            trapezoidal: None,
            s_curve: None,
            polynomial: None,
            sines: None,
            table: None,
            constant_rate: None,
        }
    }
}

impl MotionSpec {
    /// The profiles that are given, in the order of the format.
    pub fn profile_specs(&self) -> Vec<MotionProfileSpec> {
        use MotionProfileSpec as Profile;
        let given = [
            self.cycloid.clone().map(Profile::Cycloid),
            self.cycloidal_ramps.clone().map(Profile::CycloidalRamps),
            self.cycloidal_rate.clone().map(Profile::CycloidalRate),
            self.quintic.clone().map(Profile::Quintic),
            self.trapezoidal.clone().map(Profile::Trapezoidal),
            self.s_curve.clone().map(Profile::SCurve),
            self.polynomial.clone().map(Profile::Polynomial),
            self.sines.clone().map(Profile::Sines),
            self.table.clone().map(Profile::Table),
            self.constant_rate.clone().map(Profile::ConstantRate),
        ];
        given.into_iter().flatten().collect()
    }

    /// The one profile that is given; `None` when there is none or more than one.
    pub fn profile(&self) -> Option<MotionProfile> {
        match self.profile_specs().as_slice() {
            [profile] => Some(profile.profile()),
            _ => None,
        }
    }
}

/// A motion profile by its key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MotionProfileSpec {
    /// From one position to another, as a cycloid.
    Cycloid(CycloidMotionSpec),
    /// From one position to another at a constant rate between smooth ramps.
    CycloidalRamps(CycloidalRampsSpec),
    /// From rest to a constant rate, smoothly.
    CycloidalRate(CycloidalRateSpec),
    /// From one position to another as a polynomial of fifth order.
    Quintic(QuinticMotionSpec),
    /// From one position to another at constant accelerations and a constant rate.
    Trapezoidal(TrapezoidalMotionSpec),
    /// From one position to another under a limited jerk.
    SCurve(SCurveMotionSpec),
    /// A polynomial in time.
    Polynomial(PolynomialMotionSpec),
    /// A sum of sines.
    Sines(SinesMotionSpec),
    /// A smooth curve through the rows of a table.
    Table(TableMotionSpec),
    /// A constant rate.
    ConstantRate(ConstantRateSpec),
}

/// From one position to another with zero rate and acceleration at both ends,
/// $`\theta_0 + (\theta_1 - \theta_0)(s - \sin 2\pi s / 2\pi)`$ with s running from 0 to 1; held outside.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CycloidMotionSpec {
    /// Angle before; the joint's initial angle when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_angle_rad: Option<f64>,
    /// Angle after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_angle_rad: Option<f64>,
    /// Displacement before; the joint's initial displacement when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_displacement_m: Option<f64>,
    /// Displacement after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_displacement_m: Option<f64>,
    /// When the motion begins.
    #[serde(default)]
    pub from_s: f64,
    /// How long it takes.
    pub duration_s: f64,
}

/// From one position to another, at rest at both ends and at a constant rate between: in ramps of `ramp_s` at the
/// beginning and the end the acceleration is a squared sine, $`1 - \cos 2\pi s`$. Held outside.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CycloidalRampsSpec {
    /// Angle before; the joint's initial angle when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_angle_rad: Option<f64>,
    /// Angle after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_angle_rad: Option<f64>,
    /// Displacement before; the joint's initial displacement when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_displacement_m: Option<f64>,
    /// Displacement after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_displacement_m: Option<f64>,
    /// When the motion begins.
    #[serde(default)]
    pub from_s: f64,
    /// How long it takes, both ramps included.
    pub duration_s: f64,
    /// How long each ramp takes, at most half of the duration.
    pub ramp_s: f64,
}

/// From rest to a constant rate: the rate is $`\Omega (s - \sin 2\pi s / 2\pi)`$ with s running from 0 to
/// 1, then Ω. The motion starts at the joint's initial position.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CycloidalRateSpec {
    /// Rate of rotation that is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_rate_rad_per_s: Option<f64>,
    /// Rate of translation that is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_rate_m_per_s: Option<f64>,
    /// When the motion begins.
    #[serde(default)]
    pub from_s: f64,
    /// How long it takes to reach the rate.
    pub duration_s: f64,
}

/// From one position to another with zero rate and acceleration at both ends,
/// $`\theta_0 + (\theta_1 - \theta_0)(10 s^3 - 15 s^4 + 6 s^5)`$ with s running from 0 to 1; held outside.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuinticMotionSpec {
    /// Angle before; the joint's initial angle when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_angle_rad: Option<f64>,
    /// Angle after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_angle_rad: Option<f64>,
    /// Displacement before; the joint's initial displacement when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_displacement_m: Option<f64>,
    /// Displacement after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_displacement_m: Option<f64>,
    /// When the motion begins.
    #[serde(default)]
    pub from_s: f64,
    /// How long it takes.
    pub duration_s: f64,
}

/// From one position to another, at rest at both ends: a ramp of constant acceleration, a constant rate, and a ramp back to rest. Held
/// outside. Either `duration_s` and `ramp_s` are given, or the limits, under which it takes the shortest time: the largest rate is not
/// reached on a way that is too short for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrapezoidalMotionSpec {
    /// Angle before; the joint's initial angle when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_angle_rad: Option<f64>,
    /// Angle after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_angle_rad: Option<f64>,
    /// Displacement before; the joint's initial displacement when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_displacement_m: Option<f64>,
    /// Displacement after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_displacement_m: Option<f64>,
    /// When the motion begins.
    #[serde(default)]
    pub from_s: f64,
    /// How long it takes, both ramps included, instead of limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// How long each ramp takes, at most half of the duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp_s: Option<f64>,
    /// Largest rate of a rotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rate_rad_per_s: Option<f64>,
    /// Largest rate of a translation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rate_m_per_s: Option<f64>,
    /// Acceleration of a rotation in the ramps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_acceleration_rad_per_s2: Option<f64>,
    /// Acceleration of a translation in the ramps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_acceleration_m_per_s2: Option<f64>,
}

/// From one position to another, at rest at both ends, in seven parts of constant jerk: the acceleration rises, stays and falls in
/// either ramp, and the rate is constant between them. Held outside. Either `duration_s`, `ramp_s` and `jerk_s` are given, or the limits,
/// under which it takes the shortest time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SCurveMotionSpec {
    /// Angle before; the joint's initial angle when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_angle_rad: Option<f64>,
    /// Angle after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_angle_rad: Option<f64>,
    /// Displacement before; the joint's initial displacement when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_displacement_m: Option<f64>,
    /// Displacement after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_displacement_m: Option<f64>,
    /// When the motion begins.
    #[serde(default)]
    pub from_s: f64,
    /// How long it takes, both ramps included, instead of limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// How long each ramp takes, at most half of the duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp_s: Option<f64>,
    /// How long the acceleration rises and falls in each ramp, at most half of the ramp.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jerk_s: Option<f64>,
    /// Largest rate of a rotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rate_rad_per_s: Option<f64>,
    /// Largest rate of a translation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rate_m_per_s: Option<f64>,
    /// Largest acceleration of a rotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_acceleration_rad_per_s2: Option<f64>,
    /// Largest acceleration of a translation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_acceleration_m_per_s2: Option<f64>,
    /// Largest jerk of a rotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_jerk_rad_per_s3: Option<f64>,
    /// Largest jerk of a translation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_jerk_m_per_s3: Option<f64>,
}

/// A polynomial in the time since `from_s`; the position is held outside.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolynomialMotionSpec {
    /// Coefficients of the angle from the constant upwards; the k-th is divided by s^k.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coefficients_rad: Option<Vec<f64>>,
    /// Coefficients of the displacement from the constant upwards; the k-th is divided by s^k.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coefficients_m: Option<Vec<f64>>,
    /// When the motion begins.
    #[serde(default)]
    pub from_s: f64,
    /// When it ends; never when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_s: Option<f64>,
}

/// A sum of sines of the time since `from_s`; the position is held outside.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SinesMotionSpec {
    /// Amplitude of the angle of every sine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amplitude_rad: Option<Vec<f64>>,
    /// Amplitude of the displacement of every sine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amplitude_m: Option<Vec<f64>>,
    /// Angular frequency of every sine.
    pub frequency_rad_per_s: Vec<f64>,
    /// Phase of every sine; zero when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phase_rad: Vec<f64>,
    /// When the motion begins.
    #[serde(default)]
    pub from_s: f64,
    /// When it ends; never when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_s: Option<f64>,
}

/// A spline with continuous acceleration through the rows of a table, at rest at the first and the last row; held beyond them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableMotionSpec {
    /// A CSV file of two columns, time and position, below the folder of the model, instead of the lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Instants, rising.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub time_s: Vec<f64>,
    /// The angle at every instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angle_rad: Option<Vec<f64>>,
    /// The displacement at every instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub displacement_m: Option<Vec<f64>>,
    /// Of which polynomials the curve between the rows consists.
    #[serde(default)]
    pub spline: Spline,
}

/// Curves through the rows of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spline {
    /// Third order: the acceleration is continuous between the first and the last row, where it jumps to zero.
    #[default]
    Cubic,
    /// Fifth order: jerk and its rate are continuous too, and the acceleration is zero at the first and the last row.
    Quintic,
}

/// A constant rate from the joint's initial position.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstantRateSpec {
    /// Rate of rotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_rad_per_s: Option<f64>,
    /// Rate of translation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_m_per_s: Option<f64>,
}

impl MotionProfileSpec {
    /// The key that names the profile in a model file.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Cycloid(_) => "cycloid",
            Self::CycloidalRamps(_) => "cycloidal_ramps",
            Self::CycloidalRate(_) => "cycloidal_rate",
            Self::Quintic(_) => "quintic",
            Self::Trapezoidal(_) => "trapezoidal",
            Self::SCurve(_) => "s_curve",
            Self::Polynomial(_) => "polynomial",
            Self::Sines(_) => "sines",
            Self::Table(_) => "table",
            Self::ConstantRate(_) => "constant_rate",
        }
    }

    /// The same, ending at a displacement if it goes from one position to another and does not say where it ends.
    #[must_use]
    pub fn ending_at(mut self, displacement_m: f64) -> Self {
        let end = match &mut self {
            Self::Cycloid(spec) => &mut spec.final_displacement_m,
            Self::CycloidalRamps(spec) => &mut spec.final_displacement_m,
            Self::Quintic(spec) => &mut spec.final_displacement_m,
            Self::Trapezoidal(spec) => &mut spec.final_displacement_m,
            Self::SCurve(spec) => &mut spec.final_displacement_m,
            Self::CycloidalRate(_)
            | Self::Polynomial(_)
            | Self::Sines(_)
            | Self::Table(_)
            | Self::ConstantRate(_) => return self,
        };
        end.get_or_insert(displacement_m);
        self
    }

    /// The profile without its unit: radians or metres, as written. A number that is missing reads as
    /// zero, which a checked model does not have.
    pub fn profile(&self) -> MotionProfile {
        match self {
            Self::Cycloid(spec) => MotionProfile::Cycloid {
                initial: spec.initial_angle_rad.or(spec.initial_displacement_m),
                target: goal(spec.final_angle_rad, spec.final_displacement_m),
                from_s: spec.from_s,
                duration_s: spec.duration_s,
            },
            Self::CycloidalRamps(spec) => MotionProfile::CycloidalRamps {
                initial: spec.initial_angle_rad.or(spec.initial_displacement_m),
                target: goal(spec.final_angle_rad, spec.final_displacement_m),
                from_s: spec.from_s,
                duration_s: spec.duration_s,
                ramp_s: spec.ramp_s,
            },
            Self::CycloidalRate(spec) => MotionProfile::CycloidalRate {
                rate: spec
                    .final_rate_rad_per_s
                    .or(spec.final_rate_m_per_s)
                    .unwrap_or(0.0),
                from_s: spec.from_s,
                duration_s: spec.duration_s,
            },
            Self::Quintic(spec) => MotionProfile::Quintic {
                initial: spec.initial_angle_rad.or(spec.initial_displacement_m),
                target: goal(spec.final_angle_rad, spec.final_displacement_m),
                from_s: spec.from_s,
                duration_s: spec.duration_s,
            },
            Self::Trapezoidal(spec) => MotionProfile::Ramps {
                initial: spec.initial_angle_rad.or(spec.initial_displacement_m),
                target: goal(spec.final_angle_rad, spec.final_displacement_m),
                from_s: spec.from_s,
                ramps: match (spec.duration_s, spec.ramp_s) {
                    (Some(duration_s), Some(ramp_s)) => RampProfile::Durations {
                        duration_s,
                        ramp_s,
                        jerk_s: 0.0,
                    },
                    _ => RampProfile::Limits {
                        rate: limit(spec.max_rate_rad_per_s, spec.max_rate_m_per_s),
                        acceleration: limit(
                            spec.max_acceleration_rad_per_s2,
                            spec.max_acceleration_m_per_s2,
                        ),
                        jerk: f64::INFINITY,
                    },
                },
            },
            Self::SCurve(spec) => MotionProfile::Ramps {
                initial: spec.initial_angle_rad.or(spec.initial_displacement_m),
                target: goal(spec.final_angle_rad, spec.final_displacement_m),
                from_s: spec.from_s,
                ramps: match (spec.duration_s, spec.ramp_s, spec.jerk_s) {
                    (Some(duration_s), Some(ramp_s), Some(jerk_s)) => RampProfile::Durations {
                        duration_s,
                        ramp_s,
                        jerk_s,
                    },
                    _ => RampProfile::Limits {
                        rate: limit(spec.max_rate_rad_per_s, spec.max_rate_m_per_s),
                        acceleration: limit(
                            spec.max_acceleration_rad_per_s2,
                            spec.max_acceleration_m_per_s2,
                        ),
                        jerk: limit(spec.max_jerk_rad_per_s3, spec.max_jerk_m_per_s3),
                    },
                },
            },
            Self::Polynomial(spec) => MotionProfile::Polynomial {
                coefficients: either(spec.coefficients_rad.as_ref(), spec.coefficients_m.as_ref()),
                from_s: spec.from_s,
                until_s: spec.until_s,
            },
            Self::Sines(spec) => {
                let amplitude = either(spec.amplitude_rad.as_ref(), spec.amplitude_m.as_ref());
                let mut phase_rad = spec.phase_rad.clone();
                if phase_rad.is_empty() {
                    phase_rad.resize(amplitude.len(), 0.0);
                }
                MotionProfile::Sines {
                    amplitude,
                    frequency_rad_per_s: spec.frequency_rad_per_s.clone(),
                    phase_rad,
                    from_s: spec.from_s,
                    until_s: spec.until_s,
                }
            }
            Self::Table(spec) => MotionProfile::Table {
                time_s: spec.time_s.clone(),
                value: either(spec.angle_rad.as_ref(), spec.displacement_m.as_ref()),
                spline: spec.spline,
            },
            Self::ConstantRate(spec) => MotionProfile::ConstantRate {
                rate: spec.rate_rad_per_s.or(spec.rate_m_per_s).unwrap_or(0.0),
            },
        }
    }
}

/// Where a motion of a checked model ends, which says so.
fn goal(angle: Option<f64>, displacement: Option<f64>) -> f64 {
    angle.or(displacement).unwrap_or(0.0)
}

/// A limit of a checked model, which has it.
fn limit(rotation: Option<f64>, translation: Option<f64>) -> f64 {
    rotation.or(translation).unwrap_or(f64::INFINITY)
}

fn either(rotation: Option<&Vec<f64>>, translation: Option<&Vec<f64>>) -> Vec<f64> {
    rotation.or(translation).cloned().unwrap_or_default()
}
