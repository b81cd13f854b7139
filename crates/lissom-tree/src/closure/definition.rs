//! Closures: what holds two places of a tree together, so that its bodies form loops.

use crate::Place;
use lissom_spatial::Vector;

/// A loop: a joint that was cut so that the rest is a tree.
#[derive(Clone, Debug)]
pub struct Closure {
    /// Name, unique among joints and closures.
    pub name: String,
    /// Which relative motion it forbids.
    pub kind: ClosureKind,
    /// The side whose axes the closure's axes are fixed to.
    pub from: ClosureEnd,
    /// The other side.
    pub to: ClosureEnd,
}

/// One side of a closure. Its frame is the frame of the place, as a joint's is.
#[derive(Clone, Debug)]
pub struct ClosureEnd {
    /// Index of the body; `None` is the ground.
    pub body: Option<usize>,
    /// Where on the body.
    pub place: Place,
}

/// What a closure forbids. The frames of both sides coincide when the closure is closed and every relative
/// motion it leaves free is zero.
#[derive(Clone, Debug, PartialEq)]
pub enum ClosureKind {
    /// Everything: six equations.
    Fixed,
    /// All but a turn about the axis: five.
    Revolute {
        /// Unit vector, the same in both frames.
        axis: Vector<f64>,
    },
    /// All but sliding along the axis: five.
    Prismatic {
        /// Unit vector, the same in both frames.
        axis: Vector<f64>,
    },
    /// All but turns about two axes: four.
    Universal {
        /// Unit vector in the frame of `from`.
        first: Vector<f64>,
        /// Unit vector in the frame of `to`, orthogonal to the first.
        second: Vector<f64>,
    },
    /// All but turns: three.
    Spherical,
    /// The origin of `to` lies on a line through the origin of `from`: two.
    PointOnLine {
        /// Unit vector along the line, in the frame of `from`.
        direction: Vector<f64>,
    },
    /// The origin of `to` lies on the bent axis of a beam, whose undeformed frame is that of `from`, wherever
    /// along it: one equation for every plane in which the beam bends
    /// \[Pan, Scott & Ulsoy 1990, eqs (24)–(26)\].
    OnBeam {
        /// Bending along y and along z.
        planes: [bool; 2],
    },
    /// The x axis of `to` follows the tangent of a beam where the origin of `to` is, frames as before: one for
    /// every plane \[Pan, Scott & Ulsoy 1990, eqs (27), (28)\].
    AlongBeam {
        /// Bending along y and along z.
        planes: [bool; 2],
    },
    /// The y axis of `to` follows that of the section of a beam where the origin of `to` is, so that the section does not turn
    /// about the axis; frames as before: one.
    TwistOfBeam,
    /// The two origins keep a distance: one.
    Distance {
        /// The distance, positive.
        length: f64,
    },
}

impl ClosureKind {
    /// How many equations it makes.
    pub fn equations(&self) -> usize {
        match self {
            Self::Fixed => 6,
            Self::Revolute { .. } | Self::Prismatic { .. } => 5,
            Self::Universal { .. } => 4,
            Self::Spherical => 3,
            Self::PointOnLine { .. } => 2,
            Self::Distance { .. } | Self::TwistOfBeam => 1,
            Self::OnBeam { planes } | Self::AlongBeam { planes } => {
                planes.iter().filter(|bends| **bends).count()
            }
        }
    }

    /// Whether it has equations about places, and about directions.
    pub fn holds(&self) -> [bool; 2] {
        match self {
            Self::Fixed
            | Self::Revolute { .. }
            | Self::Prismatic { .. }
            | Self::Universal { .. } => [true, true],
            Self::Spherical
            | Self::PointOnLine { .. }
            | Self::Distance { .. }
            | Self::OnBeam { .. } => [true, false],
            Self::AlongBeam { .. } | Self::TwistOfBeam => [false, true],
        }
    }
}

/// How the equations of a model with closures are formed.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ClosureMethod {
    /// Natural orthogonal complement; these entries of the velocity vector and all elastic ones are
    /// independent.
    JointSpace {
        /// Entries of the velocity vector.
        independent: Vec<usize>,
    },
    /// Natural orthogonal complement; these components of a marker's twist and all elastic rates are
    /// independent.
    CartesianSpace {
        /// Index of the marker.
        marker: usize,
        /// Components of its twist in ground axes, angular ones (0 to 2) before linear ones (3 to 5).
        components: Vec<usize>,
    },
    /// Natural orthogonal complement; independent coordinates are chosen by pivoting, and again when the
    /// motion makes the choice a bad one.
    #[default]
    Automatic,
    /// Multipliers with Baumgarte's stabilisation: the violation of the closures decays like a damped
    /// oscillator.
    Stabilized {
        /// Natural frequency of the decay, rad/s.
        frequency: f64,
        /// Its damping ratio.
        damping_ratio: f64,
    },
    /// Multipliers; after every step positions and velocities are projected back onto the closures.
    Projected,
    /// Multipliers from the operational-space inertia by recursion over the tree, at O(N), with projection.
    OperationalSpace,
}

impl ClosureMethod {
    /// Its name, as in the model.
    pub fn name(&self) -> &'static str {
        match self {
            Self::JointSpace { .. } => "joint_space",
            Self::CartesianSpace { .. } => "cartesian_space",
            Self::Automatic => "automatic",
            Self::Stabilized { .. } => "stabilized",
            Self::Projected => "projected",
            Self::OperationalSpace => "operational_space",
        }
    }
}

/// What the assembly of loops is to respect, beyond staying near the start that is written down.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AssemblyHints {
    /// Joint coordinates that keep the start that is written down.
    pub held: Vec<HeldStart>,
    /// Entries of the position vector with the sign, 1 or −1, that they have in the branch that is meant.
    pub branches: Vec<(usize, f64)>,
}

/// A joint coordinate whose start is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldStart {
    /// Entry of the position vector.
    pub position: usize,
    /// Entry of the velocity vector.
    pub velocity: usize,
}
