//! `[nominal_motion]`: how a marker would move if every body were rigid.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::motion::MotionProfileSpec;
use super::orientation::OrientationMotionSpec;

/// The motion of a marker along which inputs with `nominal_motion = true` drive the model. At least one component is
/// given; those that are not follow from the mechanism.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NominalMotionSpec {
    /// Name of the marker.
    pub marker: String,
    /// Position along the x axis of the ground.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<MotionProfileSpec>,
    /// Position along the y axis of the ground.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<MotionProfileSpec>,
    /// Position along the z axis of the ground.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub z: Option<MotionProfileSpec>,
    /// Angle about `rotation_axis` by which the marker's axes are turned from those of the ground.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<MotionProfileSpec>,
    /// Axis of the rotation in ground axes; z when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation_axis: Option<[f64; 3]>,
    /// How the marker's axes turn in any way, instead of `rotation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<OrientationMotionSpec>,
}

impl NominalMotionSpec {
    /// Key and profile of every component with one that is given, and whether it is a translation.
    pub fn components(&self) -> impl Iterator<Item = (&'static str, &MotionProfileSpec, bool)> {
        [
            ("x", &self.x, true),
            ("y", &self.y, true),
            ("z", &self.z, true),
            ("rotation", &self.rotation, false),
        ]
        .into_iter()
        .filter_map(|(key, profile, translates)| Some((key, profile.as_ref()?, translates)))
    }
}
