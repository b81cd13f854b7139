//! Limits of joints that a run watches.

/// Limits of one joint coordinate; a run reports when they are passed.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// Name of the joint.
    pub joint: String,
    /// What is limited.
    pub quantity: LimitedQuantity,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Unit of the values.
    pub unit: &'static str,
}

/// Which number a [`Limit`] watches; entries are counted as the formulation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedQuantity {
    /// Entry of the position vector.
    Position(usize),
    /// Angle of the quaternion that begins at this entry of the position vector.
    QuaternionAngle(usize),
    /// Entry of the velocity vector.
    Rate(usize),
    /// Sum of inputs and feedback on this entry of the velocity vector.
    Effort(usize),
}
