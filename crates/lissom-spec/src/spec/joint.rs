//! `[[joint]]`: what carries one body on another, with its motor, spring, friction and limits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::place::AttachmentSpec;

/// One joint. Exactly one of `revolute`, `prismatic`, `fixed`, `universal`, `spherical` and `free` says
/// of which kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JointSpec {
    /// Name by which inputs and motions refer to the joint.
    pub name: String,
    /// Where the joint stands; its frame is the frame of this place. Axes are given in it.
    pub parent: AttachmentSpec,
    /// What the joint carries.
    pub child: AttachmentSpec,
    /// Cuts the joint: it closes a loop instead of carrying its child. Where joints make a loop and none
    /// says so, one is chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Rotation about one axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revolute: Option<RevoluteSpec>,
    /// Translation along one axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prismatic: Option<PrismaticSpec>,
    /// No motion at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<FixedSpec>,
    /// Rotation about two axes, the second carried by the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub universal: Option<UniversalSpec>,
    /// Any rotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spherical: Option<SphericalSpec>,
    /// Any rotation and translation: the base of a robot that floats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free: Option<FreeSpec>,
}

/// The kind of a joint, borrowed from its spec.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointKind<'a> {
    /// `revolute`
    Revolute(&'a RevoluteSpec),
    /// `prismatic`
    Prismatic(&'a PrismaticSpec),
    /// `fixed`
    Fixed,
    /// `universal`
    Universal(&'a UniversalSpec),
    /// `spherical`
    Spherical(&'a SphericalSpec),
    /// `free`
    Free(&'a FreeSpec),
}

impl JointKind<'_> {
    /// Number of degrees of freedom, without motor coordinates.
    pub fn degrees_of_freedom(&self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Revolute(_) | Self::Prismatic(_) => 1,
            Self::Universal(_) => 2,
            Self::Spherical(_) => 3,
            Self::Free(_) => 6,
        }
    }

    /// Whether the component (counted from 1) translates. A free joint rotates with components 1 to 3
    /// and translates with 4 to 6.
    pub fn translates(&self, component: usize) -> bool {
        match self {
            Self::Prismatic(_) => true,
            Self::Free(_) => component > 3,
            _ => false,
        }
    }

    /// The key that names the kind in a model file.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Revolute(_) => "revolute",
            Self::Prismatic(_) => "prismatic",
            Self::Fixed => "fixed",
            Self::Universal(_) => "universal",
            Self::Spherical(_) => "spherical",
            Self::Free(_) => "free",
        }
    }
}

impl JointSpec {
    /// The one kind that is given; `None` when there is none or more than one.
    pub fn kind(&self) -> Option<JointKind<'_>> {
        super::only([
            self.revolute.as_ref().map(JointKind::Revolute),
            self.prismatic.as_ref().map(JointKind::Prismatic),
            self.fixed.map(|_| JointKind::Fixed),
            self.universal.as_ref().map(JointKind::Universal),
            self.spherical.as_ref().map(JointKind::Spherical),
            self.free.as_ref().map(JointKind::Free),
        ])
    }
}

/// Which of two ways of closing a loop is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Branch {
    /// The position is above zero; an angle is taken between -π and π.
    Positive,
    /// The position is below zero.
    Negative,
}

impl Branch {
    /// 1 or −1.
    pub fn sign(self) -> f64 {
        match self {
            Self::Positive => 1.0,
            Self::Negative => -1.0,
        }
    }

    /// The word of the model file.
    pub fn key(self) -> &'static str {
        match self {
            Self::Positive => "positive",
            Self::Negative => "negative",
        }
    }
}

/// Rotation about one axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevoluteSpec {
    /// Axis in the joint's frame; any length but zero.
    pub axis: [f64; 3],
    /// Angle at the start.
    #[serde(default)]
    pub initial_angle_rad: f64,
    /// Rate at the start.
    #[serde(default)]
    pub initial_rate_rad_per_s: f64,
    /// Keeps the start as it is written when loops are assembled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
    /// Sign that the position has once loops are assembled; that of the nearest closed configuration when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Branch>,
    /// The motor that drives the joint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motor: Option<RevoluteMotorSpec>,
    /// A spring and damper across the joint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spring: Option<RevoluteSpringSpec>,
    /// Friction in the joint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<RevoluteFrictionSpec>,
    /// Limits; a run reports when they are passed. Nothing stops at them but by `stops`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<RevoluteLimitsSpec>,
    /// Stops at the smallest and largest angle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops: Option<RevoluteStopsSpec>,
}

/// A motor with its gear, rigid or elastic.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevoluteMotorSpec {
    /// Inertia of the rotor about its own axis.
    pub inertia_kg_m2: f64,
    /// Turns of the rotor per turn of the joint; 1 when absent.
    #[serde(default = "super::direct_drive")]
    pub gear_ratio: f64,
    /// Stiffness of the transmission, at the joint side. When given, the motor angle is a coordinate of
    /// its own and the input acts on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stiffness_n_m_per_rad: Option<f64>,
    /// Damping of an elastic transmission, at the joint side.
    #[serde(default)]
    pub damping_n_m_s_per_rad: f64,
}

/// A spring and damper across a revolute joint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevoluteSpringSpec {
    /// Stiffness.
    pub stiffness_n_m_per_rad: f64,
    /// Damping.
    #[serde(default)]
    pub damping_n_m_s_per_rad: f64,
    /// Angle at which the spring is slack.
    #[serde(default)]
    pub rest_angle_rad: f64,
}

/// Friction of a rotation: viscous, and Coulomb regularised as `coulomb × rate / √(rate² + coulomb_rate²)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevoluteFrictionSpec {
    /// Viscous friction.
    #[serde(default)]
    pub viscous_n_m_s_per_rad: f64,
    /// Coulomb friction.
    #[serde(default)]
    pub coulomb_n_m: f64,
    /// Rate below which Coulomb friction is smoothed; 1e-3 rad/s when absent.
    #[serde(default = "coulomb_rate")]
    pub coulomb_rate_rad_per_s: f64,
}

impl Default for RevoluteFrictionSpec {
    fn default() -> Self {
        Self {
            viscous_n_m_s_per_rad: 0.0,
            coulomb_n_m: 0.0,
            coulomb_rate_rad_per_s: coulomb_rate(),
        }
    }
}

/// Limits of a rotation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevoluteLimitsSpec {
    /// Smallest angle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rad: Option<f64>,
    /// Largest angle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rad: Option<f64>,
    /// Largest rate in either direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rate_rad_per_s: Option<f64>,
    /// Largest driving torque in either direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_torque_n_m: Option<f64>,
}

/// Stops at the limits of an angle: beyond them `stiffness × depth + damping × rate` presses the joint back, and never pulls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevoluteStopsSpec {
    /// Stiffness.
    pub stiffness_n_m_per_rad: f64,
    /// Damping.
    #[serde(default)]
    pub damping_n_m_s_per_rad: f64,
}

/// Translation along one axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrismaticSpec {
    /// Axis in the joint's frame; any length but zero.
    pub axis: [f64; 3],
    /// Displacement at the start.
    #[serde(default)]
    pub initial_displacement_m: f64,
    /// Rate at the start.
    #[serde(default)]
    pub initial_rate_m_per_s: f64,
    /// Keeps the start as it is written when loops are assembled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
    /// Sign that the position has once loops are assembled; that of the nearest closed configuration when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Branch>,
    /// The motor that drives the joint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motor: Option<PrismaticMotorSpec>,
    /// A spring and damper across the joint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spring: Option<PrismaticSpringSpec>,
    /// Friction in the joint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<PrismaticFrictionSpec>,
    /// Limits; a run reports when they are passed. Nothing stops at them but by `stops`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<PrismaticLimitsSpec>,
    /// Stops at the smallest and largest displacement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops: Option<PrismaticStopsSpec>,
}

/// A motor with its screw or rack, rigid or elastic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrismaticMotorSpec {
    /// Inertia of the rotor about its own axis.
    pub inertia_kg_m2: f64,
    /// Rotation of the rotor per displacement of the joint.
    pub gear_ratio_rad_per_m: f64,
    /// Stiffness of the transmission, at the joint side. When given, the motor is a coordinate of its
    /// own (its displacement at the joint side) and the input acts on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stiffness_n_per_m: Option<f64>,
    /// Damping of an elastic transmission, at the joint side.
    #[serde(default)]
    pub damping_n_s_per_m: f64,
}

/// A spring and damper across a prismatic joint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrismaticSpringSpec {
    /// Stiffness.
    pub stiffness_n_per_m: f64,
    /// Damping.
    #[serde(default)]
    pub damping_n_s_per_m: f64,
    /// Displacement at which the spring is slack.
    #[serde(default)]
    pub rest_displacement_m: f64,
}

/// Friction of a translation: viscous, and Coulomb regularised as `coulomb × rate / √(rate² + coulomb_rate²)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrismaticFrictionSpec {
    /// Viscous friction.
    #[serde(default)]
    pub viscous_n_s_per_m: f64,
    /// Coulomb friction.
    #[serde(default)]
    pub coulomb_n: f64,
    /// Rate below which Coulomb friction is smoothed; 1e-3 m/s when absent.
    #[serde(default = "coulomb_rate")]
    pub coulomb_rate_m_per_s: f64,
}

impl Default for PrismaticFrictionSpec {
    fn default() -> Self {
        Self {
            viscous_n_s_per_m: 0.0,
            coulomb_n: 0.0,
            coulomb_rate_m_per_s: coulomb_rate(),
        }
    }
}

/// Limits of a translation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrismaticLimitsSpec {
    /// Smallest displacement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_m: Option<f64>,
    /// Largest displacement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_m: Option<f64>,
    /// Largest rate in either direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rate_m_per_s: Option<f64>,
    /// Largest driving force in either direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_force_n: Option<f64>,
}

/// Stops at the limits of a displacement: beyond them `stiffness × depth + damping × rate` presses the joint back, and never pulls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrismaticStopsSpec {
    /// Stiffness.
    pub stiffness_n_per_m: f64,
    /// Damping.
    #[serde(default)]
    pub damping_n_s_per_m: f64,
}

/// No motion at all: `fixed = {}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedSpec {}

/// Two revolute joints in one place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniversalSpec {
    /// Rotation next to the parent; its axis is in the joint's frame.
    pub first: RevoluteSpec,
    /// Rotation next to the child; its axis is in the frame that the first rotation carries.
    pub second: RevoluteSpec,
}

/// Any rotation, held as a unit quaternion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SphericalSpec {
    /// Rotation of the child at the start.
    #[serde(default)]
    pub initial_rotation_vector_rad: [f64; 3],
    /// Angular velocity of the child relative to the parent at the start, in the child's axes.
    #[serde(default)]
    pub initial_angular_velocity_rad_per_s: [f64; 3],
    /// A motor for each of the three axes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motor: Option<SphericalMotorSpec>,
    /// A spring and damper across the joint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spring: Option<SphericalSpringSpec>,
    /// Friction in the joint, on every component of the angular velocity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<RevoluteFrictionSpec>,
    /// Limits; a run reports when they are passed, nothing stops at them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<SphericalLimitsSpec>,
}

/// Equal motors about the three axes of a spherical joint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SphericalMotorSpec {
    /// Inertia of each rotor about its own axis.
    pub inertia_kg_m2: f64,
    /// Turns of the rotor per turn of the joint; 1 when absent.
    #[serde(default = "super::direct_drive")]
    pub gear_ratio: f64,
}

/// A spring and damper that pull a spherical joint back along its rotation vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SphericalSpringSpec {
    /// Stiffness.
    pub stiffness_n_m_per_rad: f64,
    /// Damping.
    #[serde(default)]
    pub damping_n_m_s_per_rad: f64,
}

/// Limits of a spherical joint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SphericalLimitsSpec {
    /// Largest angle of rotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_angle_rad: Option<f64>,
    /// Largest rate of each component in either direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rate_rad_per_s: Option<f64>,
    /// Largest driving torque of each component in either direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_torque_n_m: Option<f64>,
}

/// Any rotation and translation. Components 1 to 3 rotate, 4 to 6 translate, all in the child's axes, as
/// do the recorded angular velocity and velocity; the recorded position is in the joint's axes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreeSpec {
    /// Position of the child's place in the joint's frame at the start.
    #[serde(default)]
    pub initial_position_m: [f64; 3],
    /// Rotation of the child at the start.
    #[serde(default)]
    pub initial_rotation_vector_rad: [f64; 3],
    /// Velocity at the start, in the joint's axes.
    #[serde(default)]
    pub initial_velocity_m_per_s: [f64; 3],
    /// Angular velocity of the child at the start, in the child's axes.
    #[serde(default)]
    pub initial_angular_velocity_rad_per_s: [f64; 3],
    /// Motors for the three rotations and the three translations, with rigid gears.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motor: Option<FreeMotorSpec>,
    /// Springs and dampers towards the joint's frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spring: Option<FreeSpringSpec>,
    /// Friction against the motion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<FreeFrictionSpec>,
    /// Limits; a run reports when they are passed, nothing stops at them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<FreeLimitsSpec>,
}

/// Equal motors for the three rotations of a free joint, and equal ones for its three translations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreeMotorSpec {
    /// Inertia of each rotor that turns the child.
    #[serde(default)]
    pub angular_inertia_kg_m2: f64,
    /// Turns of such a rotor per turn of the joint; 1 when absent.
    #[serde(default = "super::direct_drive")]
    pub angular_gear_ratio: f64,
    /// Inertia of each rotor that moves the child.
    #[serde(default)]
    pub linear_inertia_kg_m2: f64,
    /// Rotation of such a rotor per displacement of the joint; 1 when absent.
    #[serde(default = "super::direct_drive")]
    pub linear_gear_ratio_rad_per_m: f64,
}

/// Springs and dampers of a free joint, the same in every direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreeSpringSpec {
    /// Stiffness against rotation.
    #[serde(default)]
    pub angular_stiffness_n_m_per_rad: f64,
    /// Damping of rotation.
    #[serde(default)]
    pub angular_damping_n_m_s_per_rad: f64,
    /// Stiffness against translation.
    #[serde(default)]
    pub linear_stiffness_n_per_m: f64,
    /// Damping of translation.
    #[serde(default)]
    pub linear_damping_n_s_per_m: f64,
}

/// Friction of a free joint, on every component of the motion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreeFrictionSpec {
    /// Viscous friction against rotation.
    #[serde(default)]
    pub angular_viscous_n_m_s_per_rad: f64,
    /// Coulomb friction against rotation.
    #[serde(default)]
    pub angular_coulomb_n_m: f64,
    /// Rate below which Coulomb friction of rotation is smoothed; 1e-3 rad/s when absent.
    #[serde(default = "coulomb_rate")]
    pub angular_coulomb_rate_rad_per_s: f64,
    /// Viscous friction against translation.
    #[serde(default)]
    pub linear_viscous_n_s_per_m: f64,
    /// Coulomb friction against translation.
    #[serde(default)]
    pub linear_coulomb_n: f64,
    /// Rate below which Coulomb friction of translation is smoothed; 1e-3 m/s when absent.
    #[serde(default = "coulomb_rate")]
    pub linear_coulomb_rate_m_per_s: f64,
}

impl Default for FreeFrictionSpec {
    fn default() -> Self {
        Self {
            angular_viscous_n_m_s_per_rad: 0.0,
            angular_coulomb_n_m: 0.0,
            angular_coulomb_rate_rad_per_s: coulomb_rate(),
            linear_viscous_n_s_per_m: 0.0,
            linear_coulomb_n: 0.0,
            linear_coulomb_rate_m_per_s: coulomb_rate(),
        }
    }
}

/// Limits of a free joint: of the position in the joint's axes, of rates and efforts in the child's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreeLimitsSpec {
    /// Smallest position along each axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_m: Option<[f64; 3]>,
    /// Largest position along each axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_m: Option<[f64; 3]>,
    /// Largest angle of rotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_angle_rad: Option<f64>,
    /// Largest rate of each rotating component in either direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rate_rad_per_s: Option<f64>,
    /// Largest rate of each translating component in either direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rate_m_per_s: Option<f64>,
    /// Largest driving torque of each rotating component in either direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_torque_n_m: Option<f64>,
    /// Largest driving force of each translating component in either direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_force_n: Option<f64>,
}

/// Default rate below which Coulomb friction is smoothed.
fn coulomb_rate() -> f64 {
    1e-3
}
