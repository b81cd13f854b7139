//! `[[support]]`: what a beam slides through.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::place::AttachmentSpec;

/// A place that the bent axis of a beam always passes through, wherever along the beam that is: the mouth of a
/// sleeve, a pair of rollers, a slider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SupportSpec {
    /// Name of the support, unique among supports, loops and joints.
    pub name: String,
    /// Name of the beam that slides.
    pub beam: String,
    /// What holds it: a body with a place on it, or `ground`; a string may also be the name of a marker.
    pub on: AttachmentSpec,
    /// Whether the support also holds the direction of the beam.
    #[serde(default)]
    pub slopes: Slopes,
    /// Whether the support also holds the sections of the beam against turning about its axis.
    #[serde(default)]
    pub twist: Twist,
}

/// Whether a support holds the direction of a beam.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Slopes {
    /// The beam may turn in the support, which holds a point.
    #[default]
    Free,
    /// The tangent of the beam follows the x axis of the place that holds it.
    Tied,
}

/// Whether a support holds the sections of a beam against turning about its axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Twist {
    /// The beam may turn about its axis in the support, as a round bar in a ring.
    #[default]
    Free,
    /// The y axis of the section that is in the support follows that of the place that holds it, as a square bar in a square
    /// hole.
    Tied,
}
