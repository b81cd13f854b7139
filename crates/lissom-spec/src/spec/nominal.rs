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
    /// Where it goes in space, and how far along that it is, instead of `x`, `y` and `z`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<MarkerPathSpec>,
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

/// A curve in space on which a marker stays: a `line`, an `arc` or a `spline`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkerPathSpec {
    /// Where it begins; where the marker starts when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_m: Option<[f64; 3]>,
    /// Straight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<LinePathSpec>,
    /// Along a circle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arc: Option<ArcPathSpec>,
    /// Smoothly through points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spline: Option<SplinePathSpec>,
    /// How the distance from its beginning, measured along it, runs in time; one that says no final displacement ends where the path
    /// does.
    pub distance: MotionProfileSpec,
}

/// A straight line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinePathSpec {
    /// Where it ends.
    pub to_m: [f64; 3],
}

/// A part of a circle: about an axis, or through two points.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArcPathSpec {
    /// A point of the axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub center_m: Option<[f64; 3]>,
    /// Direction of the axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<[f64; 3]>,
    /// Angle about the axis, more than a turn if need be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angle_rad: Option<f64>,
    /// A point on the way, instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via_m: Option<[f64; 3]>,
    /// Where it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_m: Option<[f64; 3]>,
}

/// A cubic spline in space: tangent and curvature are continuous, and its ends are straight.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SplinePathSpec {
    /// The points after its beginning.
    pub through_m: Vec<[f64; 3]>,
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
