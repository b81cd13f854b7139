//! What a nodal coordinate or a deformation is in a mechanism.

/// Part that a nodal coordinate or a deformation parameter plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Keeps its first value: a support, or a deformation that is suppressed at zero.
    Fixed,
    /// Follows from the others. A free deformation with stiffness is elastic, one without is released.
    Free,
    /// A given function of time.
    Prescribed,
    /// A degree of freedom.
    Dof,
    /// A degree of freedom on which an actuator acts.
    Actuated,
}

impl Role {
    /// Whether it is a degree of freedom, with or without actuator.
    pub fn is_dof(self) -> bool {
        matches!(self, Self::Dof | Self::Actuated)
    }
}

/// A prescribed coordinate at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drive {
    /// Value.
    pub value: f64,
    /// First derivative by time.
    pub rate: f64,
    /// Second derivative by time.
    pub acceleration: f64,
}
