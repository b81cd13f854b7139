//! `[[actuator]]`: what a motor can give of what is asked of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The motor of a joint with its limits. Inputs and controllers on the joint act through it: their sum is clipped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActuatorSpec {
    /// Name, unique among actuators, and not that of a joint.
    pub name: String,
    /// The joint that it drives: revolute or prismatic.
    pub joint: String,
    /// Largest torque either way, of a revolute joint; no limit when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_torque_n_m: Option<f64>,
    /// Largest force either way, of a prismatic joint; no limit when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_force_n: Option<f64>,
    /// Time constant with which torque or force follow what is asked for; at once when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_time_s: Option<f64>,
    /// Fastest change of the torque, of a revolute joint; needs `response_time_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_torque_rate_n_m_per_s: Option<f64>,
    /// Fastest change of the force, of a prismatic joint; needs `response_time_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_force_rate_n_per_s: Option<f64>,
}

impl ActuatorSpec {
    /// Largest torque or force.
    pub fn limit(&self) -> Option<f64> {
        self.max_torque_n_m.or(self.max_force_n)
    }

    /// Fastest change of torque or force.
    pub fn rate_limit(&self) -> Option<f64> {
        self.max_torque_rate_n_m_per_s
            .or(self.max_force_rate_n_per_s)
    }
}
