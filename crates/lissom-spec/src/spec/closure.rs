//! `[[loop]]`: what holds two places together beyond the tree of joints, and `[simulation.closure]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::joint::FixedSpec;
use super::place::{AttachmentSpec, GROUND, Place};

/// One loop. Exactly one of `revolute`, `spherical`, `prismatic`, `universal`, `fixed`, `point_on_line`
/// and `distance` says what holds the two places together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoopSpec {
    /// Name of the loop, unique among loops and joints.
    pub name: String,
    /// One place; axes are given in its frame. A beam means its tip when no place is said; a string may
    /// also be the name of a marker.
    pub from: AttachmentSpec,
    /// The other place, said in the same way.
    pub to: AttachmentSpec,
    /// All but a turn about one axis is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revolute: Option<AxisClosureSpec>,
    /// All but sliding along one axis is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prismatic: Option<AxisClosureSpec>,
    /// All but turns about two axes is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub universal: Option<UniversalClosureSpec>,
    /// The two points are held together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spherical: Option<FixedSpec>,
    /// Everything is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<FixedSpec>,
    /// The point of `to` is held on a line through the point of `from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point_on_line: Option<PointOnLineSpec>,
    /// The distance of the two points is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<DistanceSpec>,
}

/// The axis of a revolute or prismatic loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AxisClosureSpec {
    /// Axis, the same in the frames of both places; any length but zero.
    pub axis: [f64; 3],
}

/// The axes of a universal loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniversalClosureSpec {
    /// Axis in the frame of `from`, and axis in the frame of `to` that stays orthogonal to it.
    pub axes: [[f64; 3]; 2],
}

/// The line of a point that is held on one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PointOnLineSpec {
    /// Direction in the frame of `from`; any length but zero.
    pub direction: [f64; 3],
}

/// A distance that is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DistanceSpec {
    /// The distance.
    pub length_m: f64,
}

/// What holds a loop together, borrowed from its spec.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoopKind<'a> {
    /// `revolute`
    Revolute(&'a AxisClosureSpec),
    /// `prismatic`
    Prismatic(&'a AxisClosureSpec),
    /// `universal`
    Universal(&'a UniversalClosureSpec),
    /// `spherical`
    Spherical,
    /// `fixed`
    Fixed,
    /// `point_on_line`
    PointOnLine(&'a PointOnLineSpec),
    /// `distance`
    Distance(&'a DistanceSpec),
}

impl LoopSpec {
    /// The one kind that is given; `None` when there is none or more than one.
    pub fn kind(&self) -> Option<LoopKind<'_>> {
        super::only([
            self.revolute.as_ref().map(LoopKind::Revolute),
            self.prismatic.as_ref().map(LoopKind::Prismatic),
            self.universal.as_ref().map(LoopKind::Universal),
            self.spherical.map(|_| LoopKind::Spherical),
            self.fixed.map(|_| LoopKind::Fixed),
            self.point_on_line.as_ref().map(LoopKind::PointOnLine),
            self.distance.as_ref().map(LoopKind::Distance),
        ])
    }
}

/// Where one side of a loop is, once a marker's name is looked up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopEnd<'a> {
    /// Name of the body, or `ground`.
    pub body: &'a str,
    /// Where on the body.
    pub place: Place<'a>,
    /// Turns the frame of the place into that of the loop.
    pub rotation_vector_rad: [f64; 3],
}

impl super::ModelSpec {
    /// Where one side of a loop is: on the body of that name, else at the marker of that name.
    pub fn loop_end<'a>(&'a self, end: &'a AttachmentSpec) -> LoopEnd<'a> {
        let is_body = end.body == GROUND || self.find_body(&end.body).is_some();
        match self.find_marker(&end.body) {
            Some(marker) if !is_body && end.is_name_only() => LoopEnd {
                body: &marker.body,
                place: marker.place(),
                rotation_vector_rad: [0.0; 3],
            },
            _ => LoopEnd {
                body: &end.body,
                place: end.place(),
                rotation_vector_rad: end.rotation_vector_rad,
            },
        }
    }
}

/// How the equations of a model with loops are formed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClosureSpec {
    /// Orthogonal complement; some joints and all elastic coordinates are independent.
    JointSpace(JointSpaceSpec),
    /// Orthogonal complement; components of a marker's velocity and all elastic coordinates are
    /// independent.
    CartesianSpace(CartesianSpaceSpec),
    /// Orthogonal complement; independent coordinates are chosen by pivoting, and anew when the motion
    /// asks for it.
    Automatic(AutomaticSpec),
    /// Multipliers with Baumgarte's stabilisation.
    Stabilized(StabilizedSpec),
    /// Multipliers, with projection onto the closures after every step.
    Projected(ProjectedSpec),
    /// Multipliers by recursion over the tree, with projection: for long chains.
    OperationalSpace(OperationalSpaceSpec),
}

impl ClosureSpec {
    /// The key that names the choice in a model file.
    pub fn key(&self) -> &'static str {
        match self {
            Self::JointSpace(_) => "joint_space",
            Self::CartesianSpace(_) => "cartesian_space",
            Self::Automatic(_) => "automatic",
            Self::Stabilized(_) => "stabilized",
            Self::Projected(_) => "projected",
            Self::OperationalSpace(_) => "operational_space",
        }
    }
}

/// Which joints are independent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JointSpaceSpec {
    /// Names of the joints; those with inputs when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub independent: Option<Vec<String>>,
}

/// Which velocities of a marker are independent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CartesianSpaceSpec {
    /// Name of the marker; the first one of the file when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker: Option<String>,
    /// Components of its velocity; when absent the first independent ones, translations before rotations, as many
    /// as there are rigid degrees of freedom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub components: Option<Vec<TwistComponent>>,
}

/// A component of a velocity in ground axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TwistComponent {
    /// Velocity along x.
    X,
    /// Velocity along y.
    Y,
    /// Velocity along z.
    Z,
    /// Angular velocity about x.
    RotationX,
    /// Angular velocity about y.
    RotationY,
    /// Angular velocity about z.
    RotationZ,
}

impl TwistComponent {
    /// All components, in the order in which independent ones are looked for.
    pub const ALL: [Self; 6] = [
        Self::X,
        Self::Y,
        Self::Z,
        Self::RotationX,
        Self::RotationY,
        Self::RotationZ,
    ];

    /// Entry of a twist, angular entries before linear ones.
    pub fn entry(self) -> usize {
        match self {
            Self::RotationX => 0,
            Self::RotationY => 1,
            Self::RotationZ => 2,
            Self::X => 3,
            Self::Y => 4,
            Self::Z => 5,
        }
    }

    /// The word that names it in a model file.
    pub fn key(self) -> &'static str {
        match self {
            Self::X => "x",
            Self::Y => "y",
            Self::Z => "z",
            Self::RotationX => "rotation_x",
            Self::RotationY => "rotation_y",
            Self::RotationZ => "rotation_z",
        }
    }
}

/// No settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AutomaticSpec {}

/// Settings of Baumgarte's stabilisation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StabilizedSpec {
    /// Natural frequency at which violations decay; 100 rad/s when absent.
    #[serde(default = "stabilizing_frequency")]
    pub frequency_rad_per_s: f64,
    /// Damping ratio of the decay; 1 when absent.
    #[serde(default = "stabilizing_damping")]
    pub damping_ratio: f64,
}

impl Default for StabilizedSpec {
    fn default() -> Self {
        Self {
            frequency_rad_per_s: stabilizing_frequency(),
            damping_ratio: stabilizing_damping(),
        }
    }
}

/// No settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectedSpec {}

/// No settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationalSpaceSpec {}

fn stabilizing_frequency() -> f64 {
    100.0
}

fn stabilizing_damping() -> f64 {
    1.0
}
