//! `[[controller]]`: feedback on joints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Feedback that keeps joints on the nominal motion of their inputs, or where they start. Exactly one law is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControllerSpec {
    /// Name, unique among controllers.
    pub name: String,
    /// Names of the joints that it measures and drives: revolute or prismatic.
    pub joints: Vec<String>,
    /// Gains of every joint by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joint_pd: Option<JointPdSpec>,
    /// Gains from the mass matrix of the rigid mechanism along the nominal motion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed_pd: Option<ComputedPdSpec>,
    /// Gains of every joint by itself, with the integral of its deviation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<PidSpec>,
    /// Measures and answers at ticks, and holds its answer in between; continuous when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<SampledSpec>,
}

/// Ticks of a sampled controller, counted from the start of the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SampledSpec {
    /// From tick to tick.
    pub period_s: f64,
    /// From a tick to when its answer acts; at most a period.
    #[serde(default)]
    pub delay_s: f64,
}

/// Proportional and derivative feedback, joint by joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JointPdSpec {
    /// Torque or force per deviation of the position, in N m/rad or N/m: one for every joint.
    pub position_gain: Vec<f64>,
    /// Torque or force per deviation of the rate, in N m s/rad or N s/m: one for every joint.
    pub rate_gain: Vec<f64>,
}

/// Proportional and derivative feedback that gives the rigid mechanism one frequency and damping ratio.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComputedPdSpec {
    /// Frequency of the controlled rigid mechanism.
    pub frequency_rad_per_s: f64,
    /// Its damping ratio.
    pub damping_ratio: f64,
}

/// Proportional, integral and derivative feedback, joint by joint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PidSpec {
    /// Torque or force per deviation of the position, in N m/rad or N/m: one for every joint.
    pub position_gain: Vec<f64>,
    /// Change of torque or force per deviation of the position, in N m/(rad s) or N/(m s): one for every joint.
    pub integral_gain: Vec<f64>,
    /// Torque or force per deviation of the rate, in N m s/rad or N s/m: one for every joint.
    pub rate_gain: Vec<f64>,
    /// Time constant of the first-order filter of the deviation of the rate; unfiltered when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_filter_s: Option<f64>,
    /// Time in which the integral is brought back while the actuator of the joint clips; never when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anti_windup_s: Option<f64>,
}
