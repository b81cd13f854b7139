//! `[nominal_motion.orientation]`: how the axes of a marker turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A motion of an orientation, by its key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrientationMotionSpec {
    /// From where the marker starts to another orientation about one axis, as a cycloid.
    Cycloid(OrientationCycloidSpec),
    /// The same at a constant rate between smooth ramps.
    CycloidalRamps(OrientationRampsSpec),
    /// At a constant angular velocity.
    ConstantRate(AngularVelocitySpec),
    /// From where the marker starts to another orientation about one axis, in proportion to the way along its path.
    AlongPath(OrientationAlongPathSpec),
    /// Smoothly through the rows of a table.
    Table(OrientationTableSpec),
}

impl OrientationMotionSpec {
    /// The key that names the motion in a model file.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Cycloid(_) => "cycloid",
            Self::CycloidalRamps(_) => "cycloidal_ramps",
            Self::ConstantRate(_) => "constant_rate",
            Self::AlongPath(_) => "along_path",
            Self::Table(_) => "table",
        }
    }
}

/// What orientations are told from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrientationFrame {
    /// The axes of the ground.
    #[default]
    Ground,
    /// The axes that the marker has where the motion begins.
    Start,
}

/// From where the marker starts to another orientation about one axis fixed in space, the angle as
/// $`s - \sin 2\pi s / 2\pi`$ with s running from 0 to 1; held outside. The shorter way is taken, except by a rotation vector
/// from the start, which is turned through as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrientationCycloidSpec {
    /// Orientation after, as a rotation vector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_rotation_vector_rad: Option<[f64; 3]>,
    /// Orientation after, as a quaternion w, x, y, z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_quaternion: Option<[f64; 4]>,
    /// What the orientation is told from.
    #[serde(default)]
    pub relative_to: OrientationFrame,
    /// When the motion begins.
    #[serde(default)]
    pub from_s: f64,
    /// How long it takes.
    pub duration_s: f64,
}

/// The same at a constant rate between ramps whose angular acceleration is $`1 - \cos 2\pi s`$.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrientationRampsSpec {
    /// Orientation after, as a rotation vector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_rotation_vector_rad: Option<[f64; 3]>,
    /// Orientation after, as a quaternion w, x, y, z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_quaternion: Option<[f64; 4]>,
    /// What the orientation is told from.
    #[serde(default)]
    pub relative_to: OrientationFrame,
    /// When the motion begins.
    #[serde(default)]
    pub from_s: f64,
    /// How long it takes, both ramps included.
    pub duration_s: f64,
    /// How long each ramp takes, at most half of the duration.
    pub ramp_s: f64,
}

/// A constant angular velocity from where the marker starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AngularVelocitySpec {
    /// Angular velocity in ground axes.
    pub angular_velocity_rad_per_s: [f64; 3],
}

/// From where the marker starts to another orientation about one axis fixed in space, in proportion to the distance along the path of
/// the marker. Ways are those of `cycloid`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrientationAlongPathSpec {
    /// Orientation at the end of the path, as a rotation vector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_rotation_vector_rad: Option<[f64; 3]>,
    /// Orientation at the end of the path, as a quaternion w, x, y, z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_quaternion: Option<[f64; 4]>,
    /// What the orientation is told from.
    #[serde(default)]
    pub relative_to: OrientationFrame,
}

/// A smooth curve with continuous angular acceleration through the orientations of a table, at rest at the first and the
/// last row; held beyond them. From row to row the shorter way is taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrientationTableSpec {
    /// Instants, rising.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub time_s: Vec<f64>,
    /// Shares of the way along the marker's path, rising, instead of instants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path_share: Vec<f64>,
    /// The orientation at every instant, as a rotation vector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation_vector_rad: Option<Vec<[f64; 3]>>,
    /// The orientation at every instant, as a quaternion w, x, y, z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quaternion: Option<Vec<[f64; 4]>>,
    /// What the orientations are told from.
    #[serde(default)]
    pub relative_to: OrientationFrame,
}

impl OrientationMotionSpec {
    /// Whether it runs with the path of the marker instead of time.
    pub fn follows_path(&self) -> bool {
        match self {
            Self::AlongPath(_) => true,
            Self::Table(table) => !table.path_share.is_empty(),
            Self::Cycloid(_) | Self::CycloidalRamps(_) | Self::ConstantRate(_) => false,
        }
    }
}

impl OrientationTableSpec {
    /// Key and values of what its rows are given at.
    pub fn places(&self) -> (&'static str, &[f64]) {
        if self.path_share.is_empty() {
            ("time_s", &self.time_s)
        } else {
            ("path_share", &self.path_share)
        }
    }

    /// Unit quaternions of the rows, however they are written.
    pub fn quaternions(&self) -> Vec<[f64; 4]> {
        match (&self.quaternion, &self.rotation_vector_rad) {
            (Some(rows), _) => rows.iter().map(|row| unit(*row)).collect(),
            (None, Some(rows)) => rows.iter().map(|row| quaternion_of(*row)).collect(),
            (None, None) => Vec::new(),
        }
    }
}

/// A quaternion at length one.
fn unit(quaternion: [f64; 4]) -> [f64; 4] {
    let length = length(&quaternion);
    quaternion.map(|x| x / length)
}

/// Length of a vector or quaternion.
pub(crate) fn length(entries: &[f64]) -> f64 {
    entries.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The unit quaternion of a rotation vector.
fn quaternion_of([x, y, z]: [f64; 3]) -> [f64; 4] {
    let half = 0.5 * length(&[x, y, z]);
    let scale = if half > 0.0 {
        0.5 * half.sin() / half
    } else {
        0.5
    };
    [half.cos(), scale * x, scale * y, scale * z]
}
