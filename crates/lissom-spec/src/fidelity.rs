//! Which terms of the equations are kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The terms that the equations of one body keep; chosen when the system is built, not per step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Fidelity {
    /// How deformation enters the inertia.
    pub inertia: Inertia,
    /// Which strains store energy.
    pub elasticity: Elasticity,
    /// Whether bent beams shorten.
    pub shortening: ShorteningTerms,
    /// How the nodes that carry other bodies move.
    pub tip: Tip,
    /// Whether the geometry and all velocity terms are taken at zero deformation and zero elastic rates
    /// ("ruthless" in the sense of Jain & Rodriguez; elastic forces stay).
    pub frozen: bool,
    /// Whether links do not deform at all; the other switches then say nothing.
    pub rigid: bool,
}

/// How deformation enters the inertia \[Damaren & Sharf 1995, section 2.2\].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Inertia {
    /// Not at all.
    Rigid,
    /// In the forcing terms only, eqs (4)–(10); mass matrices are those of the undeformed body.
    HybridForces,
    /// In forcing terms and mass matrices, eqs (11)–(15), with the moments of the deformed body in both.
    Full,
    /// Nodes are small rigid bodies whose inertia keeps its components in the body's frame
    /// \[Jain & Rodriguez 1992\]; a validation variant.
    LumpedNodes,
}

/// Which strains store energy \[Damaren & Sharf 1995, section 2.3\].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Elasticity {
    /// Linear strains: a constant stiffness matrix.
    Linear,
    /// The same, and the axial force of the linear stretch stiffens the bending.
    ConstantAxialLoad,
    /// The same, and bending acts back on the stretch: the energy of the axial strain $`u' + (v'^2 + w'^2)/2`$ to third
    /// order, $`K_0 + K_1`$ without $`K_2`$. It has no lower bound: a beam that bends far enough is thrown off.
    ThirdOrder,
    /// The axial strain $`u' + (v'^2 + w'^2)/2`$.
    Full,
}

/// Whether bent beams shorten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShorteningTerms {
    /// They do not.
    None,
    /// To second order in the displacement field, consistently in inertia, loads and nodes, and bending and torsion are
    /// coupled to the same order.
    Kinematic,
    /// They do, uncoupled from torsion, with what that adds to the kinetic energy of the beam kept to second order in the
    /// elastic coordinates \[Pan, Scott & Ulsoy 1990\]; a validation variant.
    SecondOrder,
    /// They do not, but the tension that the beam's own rotation about its root gives it stiffens the bending
    /// \[Fattah 1995, eq. (5.18)\]. It follows from no energy: the balance of a run does not close.
    GeometricStiffness,
}

/// How a node that carries another body moves, $`\theta = \sum \theta_\alpha \eta_\alpha`$ being its small rotation
/// \[Damaren & Sharf 1995, section 2.4\].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tip {
    /// The next body moves with the node's rates but sits where the undeformed node is, (a).
    Rigid,
    /// Displaced, and turned by $`1 + \theta^\times`$, (b).
    Linear,
    /// Turned by the Euler angles θ in the sequence 3-2-1, (c).
    #[serde(rename = "euler_321")]
    Euler321,
    /// Turned by the Euler angles θ in the sequence 1-2-3, (c).
    #[serde(rename = "euler_123")]
    Euler123,
    /// Turned by an orientation of its own that is integrated with $`\dot\theta`$ for its angular velocity, (d).
    Exact,
    /// Turned by Exp(θ) with its true angular velocity.
    RotationVector,
    /// Turned by the Euler angles of the chord from the root of a beam to the node, in the sequence 3-2-1: the
    /// deflections of the node over its distance from the root in the place of the slopes
    /// \[Fattah 1995, eq. (4.25e)\].
    Chord,
    /// Turned by Exp(θ) with $`\dot\theta`$ taken for the angular velocity \[Jain & Rodriguez 1992\]; exact in the
    /// plane.
    RotationVectorPlainRate,
}

impl ShorteningTerms {
    /// Whether the points of a bent beam draw back towards its root.
    pub fn moves_points(self) -> bool {
        matches!(self, Self::Kinematic | Self::SecondOrder)
    }
}

impl Fidelity {
    /// What a user gets who says nothing: full inertia, kinematic shortening, rotation-vector nodes.
    pub const DEFAULT: Self = Self {
        inertia: Inertia::Full,
        elasticity: Elasticity::Linear,
        shortening: ShorteningTerms::Kinematic,
        tip: Tip::RotationVector,
        frozen: false,
        rigid: false,
    };

    /// Model RL of Damaren & Sharf: no nonlinear term at all.
    pub const RUTHLESS: Self = Self {
        inertia: Inertia::Rigid,
        elasticity: Elasticity::Linear,
        shortening: ShorteningTerms::None,
        tip: Tip::Rigid,
        frozen: false,
        rigid: false,
    };

    /// Model I: all inertial terms, linear elasticity.
    pub const INCONSISTENT: Self = Self {
        inertia: Inertia::Full,
        tip: Tip::Linear,
        ..Self::RUTHLESS
    };

    /// Model CL: hybrid forcing terms and the stiffness of a constant axial load.
    pub const CONSISTENT: Self = Self {
        inertia: Inertia::HybridForces,
        elasticity: Elasticity::ConstantAxialLoad,
        tip: Tip::Linear,
        ..Self::RUTHLESS
    };

    /// Model EE: all inertial and elastic terms, exact tips.
    pub const EXACT: Self = Self {
        inertia: Inertia::Full,
        elasticity: Elasticity::Full,
        tip: Tip::Exact,
        ..Self::RUTHLESS
    };

    /// The equations of Jain & Rodriguez 1992, for validation.
    pub const JAIN_RODRIGUEZ: Self = Self {
        inertia: Inertia::LumpedNodes,
        tip: Tip::RotationVectorPlainRate,
        ..Self::RUTHLESS
    };

    /// Their ruthlessly linearised form.
    pub const JAIN_RODRIGUEZ_RUTHLESS: Self = Self {
        frozen: true,
        ..Self::JAIN_RODRIGUEZ
    };

    /// Every link rigid.
    pub const RIGID: Self = Self {
        rigid: true,
        ..Self::RUTHLESS
    };

    /// How the end of a closure on a node is turned: as a joint there would be, but for exact tips, whose
    /// orientation belongs to the bodies they carry.
    pub fn closure_tip(self) -> Tip {
        match self.tip {
            Tip::Exact => Tip::RotationVector,
            tip => tip,
        }
    }

    /// How places that carry nothing move: markers, and the inboard node of a floating frame. They have no
    /// orientation of their own and must be true rotations.
    pub fn marker_tip(self) -> Tip {
        match self.tip {
            Tip::RotationVectorPlainRate | Tip::Chord => self.tip,
            _ => Tip::RotationVector,
        }
    }
}

impl Default for Fidelity {
    fn default() -> Self {
        Self::DEFAULT
    }
}
