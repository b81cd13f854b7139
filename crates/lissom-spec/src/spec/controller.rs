//! `[[controller]]`: feedback on joints.

use super::ModelSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Feedback that keeps joints on the nominal motion of their inputs, or where they start. Exactly one law is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControllerSpec {
    /// Name, unique among controllers.
    pub name: String,
    /// Names of the joints that it measures and drives: revolute or prismatic. For every law but `state_space`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joints: Vec<String>,
    /// Names of the sensors that `state_space` measures, or of single channels of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<String>,
    /// Names of the actuators or joints that `state_space` drives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drives: Vec<String>,
    /// Gains of every joint by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joint_pd: Option<JointPdSpec>,
    /// Gains from the mass matrix of the rigid mechanism along the nominal motion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed_pd: Option<ComputedPdSpec>,
    /// Gains of every joint by itself, with the integral of its deviation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<PidSpec>,
    /// A linear system between readings of sensors and torques or forces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_space: Option<StateSpaceSpec>,
    /// Measures and answers at ticks, and holds its answer in between; continuous when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<SampledSpec>,
}

/// The linear system $`\dot x = A x + B (y - r)`$, $`u = C x + D (y - r)`$; of a sampled controller
/// $`x_{k+1} = A x_k + B (y_k - r)`$, $`u_k = C x_k + D (y_k - r)`$.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateSpaceSpec {
    /// NPZ file below the folder of the model with matrices A, B, C, D, and perhaps r, instead of the other keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Rows of $`A`$; none for a law without states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub a: Vec<Vec<f64>>,
    /// Rows of $`B`$: one per state, with one column per channel measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub b: Vec<Vec<f64>>,
    /// Rows of $`C`$: one per drive, with one column per state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub c: Vec<Vec<f64>>,
    /// Rows of $`D`$: one per drive, with one column per channel measured; zero when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub d: Vec<Vec<f64>>,
    /// Readings $`r`$ that count as zero, one per channel measured; zero when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reference: Vec<f64>,
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

impl ModelSpec {
    /// Joints that a controller drives, in its order.
    pub fn driven_by<'a>(
        &'a self,
        controller: &'a ControllerSpec,
    ) -> impl Iterator<Item = &'a str> {
        let driven = controller.drives.iter().map(|name| {
            let mut actuators = self.actuator.iter();
            let actuator = actuators.find(|actuator| actuator.name == *name);
            actuator.map_or(name.as_str(), |actuator| actuator.joint.as_str())
        });
        let joints = controller.joints.iter().map(String::as_str);
        joints.chain(driven)
    }

    /// Channels of sensors that a controller measures, in its order; `None` for those that are not there.
    pub fn measured_by<'a>(
        &'a self,
        controller: &'a ControllerSpec,
    ) -> impl Iterator<Item = Option<String>> + 'a {
        controller.measures.iter().flat_map(|name| {
            let mut sensors = self.sensor.iter();
            let found: Vec<Option<String>> =
                if let Some(sensor) = sensors.find(|sensor| sensor.name == *name) {
                    sensor.channels().into_iter().map(Some).collect()
                } else {
                    let is_there = self.sensor.iter().any(|sensor| sensor.has_channel(name));
                    vec![is_there.then(|| name.clone())]
                };
            found
        })
    }
}
