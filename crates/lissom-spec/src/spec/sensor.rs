//! `[[sensor]]`: what is measured, and how well.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A sensor: its readings are recorded, and controllers may measure them. Exactly one kind is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SensorSpec {
    /// Name, unique among sensors, and not that of a joint, loop or support.
    pub name: String,
    /// Angle or displacement of a joint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoder: Option<EncoderSpec>,
    /// Axial strain at a point of a beam.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strain: Option<StrainSpec>,
    /// Specific force at a marker, in its axes: acceleration less that of free fall.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accelerometer: Option<AtMarkerSpec>,
    /// Angular velocity of a marker, in its axes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gyroscope: Option<AtMarkerSpec>,
    /// Force and moment that a joint exerts on the body written as its child, in the axes of the joint there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force_torque: Option<AtJointSpec>,
    /// What every reading is off by: one number per channel; zero when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bias: Vec<f64>,
    /// Random part of the readings; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseSpec>,
}

/// An encoder. It reads in radians or metres of the joint, on whichever side it sits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EncoderSpec {
    /// A revolute or prismatic joint.
    pub joint: String,
    /// Where it sits; `joint` when absent.
    #[serde(default)]
    pub side: EncoderSide,
    /// Steps that a turn is divided into, of the joint or of the motor; as fine as numbers when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts_per_revolution: Option<f64>,
    /// Step of a linear encoder at a prismatic joint; as fine as numbers when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution_m: Option<f64>,
}

/// Where an encoder sits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EncoderSide {
    /// At the joint, behind its gear.
    #[default]
    Joint,
    /// At the motor, before its gear.
    Motor,
}

/// A strain gauge along the axis of a beam.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrainSpec {
    /// The beam.
    pub body: String,
    /// Distance from its root along it.
    pub at_m: f64,
    /// Place in the section, y and z of the body's axes; on the axis of the beam when absent.
    #[serde(default)]
    pub offset_m: [f64; 2],
}

/// A sensor that sits at a marker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AtMarkerSpec {
    /// The marker.
    pub marker: String,
}

/// A sensor that a joint stands on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AtJointSpec {
    /// The joint.
    pub joint: String,
}

/// Noise: normally distributed numbers, a new one every period. They follow from seed, name of the sensor, channel and number of the period
/// alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoiseSpec {
    /// Standard deviation: one number per channel.
    pub rms: Vec<f64>,
    /// How long each number lasts; periods are counted from the instant zero.
    pub period_s: f64,
    /// Another seed gives other numbers.
    #[serde(default)]
    pub seed: u32,
}

/// What a sensor measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SensorKind<'a> {
    /// A joint's coordinate.
    Encoder(&'a EncoderSpec),
    /// Axial strain.
    Strain(&'a StrainSpec),
    /// Specific force.
    Accelerometer(&'a AtMarkerSpec),
    /// Angular velocity.
    Gyroscope(&'a AtMarkerSpec),
    /// Force and moment of a joint.
    ForceTorque(&'a AtJointSpec),
}

impl SensorSpec {
    /// What it measures; `None` unless exactly one kind is given.
    pub fn kind(&self) -> Option<SensorKind<'_>> {
        super::only([
            self.encoder.as_ref().map(SensorKind::Encoder),
            self.strain.as_ref().map(SensorKind::Strain),
            self.accelerometer.as_ref().map(SensorKind::Accelerometer),
            self.gyroscope.as_ref().map(SensorKind::Gyroscope),
            self.force_torque.as_ref().map(SensorKind::ForceTorque),
        ])
    }

    /// Why a continuous controller cannot measure it, if it cannot.
    pub fn only_sampled(&self) -> Option<&'static str> {
        match self.kind()? {
            SensorKind::Accelerometer(_) | SensorKind::ForceTorque(_) => {
                Some("it measures accelerations, which the torques of the same instant make")
            }
            SensorKind::Encoder(encoder)
                if encoder
                    .counts_per_revolution
                    .or(encoder.resolution_m)
                    .is_some() =>
            {
                Some("it reads in steps, over which no integrator goes")
            }
            _ if self.noise.is_some() => Some("its noise is a sequence of numbers that jump"),
            _ => None,
        }
    }

    /// Names of its channels.
    pub fn channels(&self) -> Vec<String> {
        let name = &self.name;
        (self.suffixes().iter())
            .map(|suffix| format!("{name}{suffix}"))
            .collect()
    }

    /// Whether one of its channels is called so.
    pub fn has_channel(&self, name: &str) -> bool {
        let suffix = name.strip_prefix(self.name.as_str());
        suffix.is_some_and(|suffix| self.suffixes().contains(&suffix))
    }

    fn suffixes(&self) -> &'static [&'static str] {
        self.kind().map_or(&[], SensorKind::channels)
    }
}

impl SensorKind<'_> {
    /// What follows the name of the sensor in the names of its channels.
    pub fn channels(self) -> &'static [&'static str] {
        match self {
            Self::Encoder(_) | Self::Strain(_) => &[""],
            Self::Accelerometer(_) | Self::Gyroscope(_) => &[".x", ".y", ".z"],
            Self::ForceTorque(_) => &[
                ".force.x",
                ".force.y",
                ".force.z",
                ".moment.x",
                ".moment.y",
                ".moment.z",
            ],
        }
    }
}
