//! Which terms of the equations are kept.

/// The terms a [`System`](super::System) keeps; chosen once, when it is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fidelity {
    /// How deformation enters the inertia.
    pub inertia: Inertia,
    /// Whether bent beams shorten.
    pub shortening: ShorteningTerms,
    /// How the rotation of a node follows from the elastic coordinates.
    pub node_rotation: NodeRotation,
    /// Whether the geometry and all velocity terms are taken at zero deformation and zero elastic rates
    /// ("ruthless" in the sense of Jain & Rodriguez; elastic forces stay).
    pub frozen: bool,
}

/// How deformation enters the inertia.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inertia {
    /// All terms of the displacement field, by modal integrals.
    Full,
    /// Nodes are small rigid bodies whose inertia keeps its components in the body's frame
    /// \[Jain & Rodriguez 1992\]; a validation variant.
    LumpedNodes,
}

/// Whether bent beams shorten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShorteningTerms {
    /// They do not.
    None,
    /// To second order in the displacement field, consistently in inertia, loads and nodes.
    Kinematic,
}

/// How the rotation of a node follows from its small rotation $`\theta = \sum \theta_\alpha \eta_\alpha`$.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeRotation {
    /// Attitude Exp(θ) with its true angular velocity.
    Exponential,
    /// Attitude Exp(θ) with θ̇ taken for the angular velocity \[Jain & Rodriguez 1992\]; exact in the plane.
    ExponentialWithPlainRate,
}

impl Fidelity {
    /// What a user gets who says nothing: full inertia, kinematic shortening, rotation-vector nodes.
    pub const DEFAULT: Self = Self {
        inertia: Inertia::Full,
        shortening: ShorteningTerms::Kinematic,
        node_rotation: NodeRotation::Exponential,
        frozen: false,
    };

    /// The equations of Jain & Rodriguez 1992, for validation.
    pub const JAIN_RODRIGUEZ: Self = Self {
        inertia: Inertia::LumpedNodes,
        shortening: ShorteningTerms::None,
        node_rotation: NodeRotation::ExponentialWithPlainRate,
        frozen: false,
    };

    /// Their ruthlessly linearised form.
    pub const JAIN_RODRIGUEZ_RUTHLESS: Self = Self {
        frozen: true,
        ..Self::JAIN_RODRIGUEZ
    };
}

impl Default for Fidelity {
    fn default() -> Self {
        Self::DEFAULT
    }
}
