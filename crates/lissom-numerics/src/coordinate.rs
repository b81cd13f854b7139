//! Names and units of coordinates.

/// One entry of a position or velocity vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coordinate {
    /// Name as it stands in recordings, for example `shoulder.angle` or `boom.bending_y_1`.
    pub name: String,
    /// Unit, for example `rad`.
    pub unit: &'static str,
    /// What kind of number it is.
    pub kind: CoordinateKind,
}

/// What kind of number a coordinate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CoordinateKind {
    /// Position or rate of a joint.
    Joint,
    /// Component of a unit quaternion.
    Quaternion,
    /// Elastic coordinate or its rate.
    Elastic,
    /// Motor behind an elastic gear.
    Motor,
    /// State of a controller or an actuator.
    Control,
}

impl Coordinate {
    /// A coordinate.
    pub fn new(name: impl Into<String>, unit: &'static str, kind: CoordinateKind) -> Self {
        Self {
            name: name.into(),
            unit,
            kind,
        }
    }
}
