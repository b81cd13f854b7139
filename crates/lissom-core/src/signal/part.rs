//! [`Parts`]: what a mechanism has that can be named, as a formulation lists it.

use lissom_numerics::linear::Label;
use lissom_numerics::{Coordinate, CoordinateKind};

use super::Quantity;
use crate::axis::AxisName;
use crate::stress::SectionStress;
use crate::view::{AxisId, JointId, MarkerId};

pub(super) const AXES: [&str; 3] = ["x", "y", "z"];
pub(super) const QUATERNION: [&str; 4] = ["w", "x", "y", "z"];

/// An elastic coordinate, or an orientation that no joint stands for: its place in the list of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElasticId(pub usize);

/// Coordinates that belong together.
#[derive(Clone, Debug, PartialEq)]
pub enum Coordinates {
    /// One degree of freedom of a joint, or the motor behind its elastic gear.
    Axis(AxisId, AxisName),
    /// A spherical or free joint.
    Joint {
        /// Which.
        joint: JointId,
        /// Its name.
        name: String,
        /// Whether it is free.
        translates: bool,
    },
    /// An elastic coordinate.
    Elastic {
        /// Which.
        at: ElasticId,
        /// Its name.
        name: String,
        /// Its unit.
        unit: &'static str,
        /// Unit of its rate.
        rate_unit: &'static str,
    },
    /// The orientation of something that no joint stands for.
    Orientation {
        /// Which.
        at: ElasticId,
        /// What is oriented.
        name: String,
        /// Whether its angular velocity is a rate of the mechanism; otherwise it follows from others.
        turns: bool,
    },
}

impl Coordinates {
    /// Its positions.
    pub fn positions(&self) -> Vec<Coordinate> {
        let quaternion = |name: &str| {
            QUATERNION.map(|part| {
                let name = format!("{name}.quaternion.{part}");
                Coordinate::new(name, "1", CoordinateKind::Quaternion)
            })
        };
        match self {
            Self::Axis(_, name) => {
                let [unit, ..] = name.units();
                vec![Coordinate::new(name.coordinate(), unit, kind_of(name))]
            }
            Self::Joint {
                name, translates, ..
            } => {
                let place = AXES.map(|axis| {
                    let name = format!("{name}.position.{axis}");
                    Coordinate::new(name, "m", CoordinateKind::Joint)
                });
                let place = place.into_iter().filter(|_| *translates);
                place.chain(quaternion(name)).collect()
            }
            Self::Elastic { name, unit, .. } => {
                vec![Coordinate::new(name, unit, CoordinateKind::Elastic)]
            }
            Self::Orientation { name, .. } => quaternion(name).to_vec(),
        }
    }

    /// Its rates.
    pub fn rates(&self) -> Vec<Coordinate> {
        let along = |name: &str, what: &str, unit: &'static str, kind| {
            AXES.map(|axis| Coordinate::new(format!("{name}.{what}.{axis}"), unit, kind))
        };
        match self {
            Self::Axis(_, name) => {
                let [_, unit, _] = name.units();
                let rate = format!("{}.rate", name.coordinate());
                vec![Coordinate::new(rate, unit, kind_of(name))]
            }
            Self::Joint {
                name, translates, ..
            } => {
                let kind = CoordinateKind::Joint;
                let mut rates = along(name, "angular_velocity", "rad/s", kind).to_vec();
                if *translates {
                    rates.extend(along(name, "velocity", "m/s", kind));
                }
                rates
            }
            Self::Elastic {
                name, rate_unit, ..
            } => {
                let rate = format!("{name}.rate");
                vec![Coordinate::new(rate, rate_unit, CoordinateKind::Elastic)]
            }
            Self::Orientation { turns: false, .. } => Vec::new(),
            Self::Orientation { name, .. } => {
                let kind = CoordinateKind::Elastic;
                along(name, "angular_velocity", "rad/s", kind).to_vec()
            }
        }
    }

    /// Its small motions, one per rate, as coordinates of linearised equations.
    pub fn deviations(&self) -> Vec<Label> {
        match self {
            Self::Axis(_, name) => {
                let [unit, rate_unit, _] = name.units();
                vec![Label::coordinate(name.coordinate(), unit, rate_unit)]
            }
            Self::Joint {
                name, translates, ..
            } => {
                let turn = AXES.map(|axis| {
                    Label::coordinate(format!("{name}.rotation.{axis}"), "rad", "rad/s")
                });
                let slide = AXES.map(|axis| {
                    Label::coordinate(format!("{name}.translation.{axis}"), "m", "m/s")
                });
                let slide = slide.into_iter().filter(|_| *translates);
                turn.into_iter().chain(slide).collect()
            }
            Self::Elastic {
                name,
                unit,
                rate_unit,
                ..
            } => vec![Label::coordinate(name.clone(), unit, rate_unit)],
            Self::Orientation { turns: false, .. } => Vec::new(),
            Self::Orientation { name, .. } => AXES
                .map(|axis| Label::coordinate(format!("{name}.rotation.{axis}"), "rad", "rad/s"))
                .to_vec(),
        }
    }
}

fn kind_of(name: &AxisName) -> CoordinateKind {
    if name.is_motor {
        CoordinateKind::Motor
    } else {
        CoordinateKind::Joint
    }
}

/// A closure of loops or a support: what holds two places together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosurePart {
    /// Loop, cut joint or support.
    pub name: String,
    /// Whether it holds places, and whether directions.
    pub holds: [bool; 2],
    /// Bodies that it holds together: of its end `from` and of its end `to`.
    pub bodies: [Option<usize>; 2],
}

/// A joint that carries a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointPart {
    /// Its name.
    pub name: String,
    /// The body that it carries, away from the ground.
    pub carries: usize,
    /// Whether that body is written as its parent.
    pub reversed: bool,
}

/// A beam whose loads are recorded, with everything that pushes on it; places are distances from its root along it.
#[derive(Clone, Debug, PartialEq)]
pub struct BeamPart {
    /// Its name.
    pub name: String,
    /// Its place among the bodies.
    pub body: usize,
    /// Places of its sections, from the root to the tip.
    pub sections: Vec<f64>,
    /// Where the joint is that carries it.
    pub held_at: f64,
    /// Bodies that hang on it, and where.
    pub hanging: Vec<(usize, f64)>,
    /// Ends of closures on it, and where; without a place those that slide along it.
    pub closures: Vec<(usize, ClosureEnd, Option<f64>)>,
    /// Markers on it, and where.
    pub markers: Vec<(MarkerId, f64)>,
    /// Its section, where its dimensions are known.
    pub section: Option<SectionStress>,
}

/// An end of a closure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosureEnd {
    /// The end whose axes the closure's axes are fixed to.
    From,
    /// The other one.
    To,
}

/// A node of a model of nodes that is recorded by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodePart {
    /// Its name.
    pub name: String,
    /// What is known of it.
    pub kind: NodeSignals,
}

/// What can be read of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeSignals {
    /// Position and velocity in the plane.
    PlanarPoint,
    /// Position and velocity.
    Point,
    /// Angle in the plane and its rate.
    PlanarAngle,
    /// Orientation and angular velocity.
    Orientation,
}

impl NodePart {
    /// Names, units and quantities of its numbers, positions before velocities.
    pub(super) fn numbers(&self) -> Vec<(String, &'static str, Quantity)> {
        let place = ("position.", "m", Quantity::Position);
        let speed = ("velocity.", "m/s", Quantity::Velocity);
        let angular_velocity = ("angular_velocity.", "rad/s", Quantity::AngularVelocity);
        let parts: [(&'static [&str], _); 2] = match self.kind {
            NodeSignals::PlanarPoint => [(&AXES[..2], place), (&AXES[..2], speed)],
            NodeSignals::Point => [(&AXES, place), (&AXES, speed)],
            NodeSignals::PlanarAngle => [
                (&["angle"], ("", "rad", Quantity::Orientation)),
                (&["angle.rate"], ("", "rad/s", Quantity::AngularVelocity)),
            ],
            NodeSignals::Orientation => [
                (&QUATERNION, ("quaternion.", "1", Quantity::Orientation)),
                (&AXES, angular_velocity),
            ],
        };
        let numbers = |(axes, (what, unit, quantity)): (&'static [&str], _)| {
            let of = move |axis: &&str| (format!("{}.{what}{axis}", self.name), unit, quantity);
            axes.iter().map(of)
        };
        parts.into_iter().flat_map(numbers).collect()
    }
}

/// What a mechanism has that can be named, besides what acts on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    /// Joints and elastic coordinates, in the order of the formulation.
    pub coordinates: Vec<Coordinates>,
    /// Motors behind elastic gears.
    pub motors: Vec<(AxisId, AxisName)>,
    /// Efforts that hold what is prescribed, with their units.
    pub drives: Vec<(String, &'static str)>,
    /// The body that each body hangs on; parents come first.
    pub parents: Vec<Option<usize>>,
    /// Joints that carry bodies.
    pub joints: Vec<JointPart>,
    /// What makes loops.
    pub closures: Vec<ClosurePart>,
    /// Beams whose loads are recorded.
    pub beams: Vec<BeamPart>,
    /// Nodes that are recorded by themselves.
    pub nodes: Vec<NodePart>,
    /// Names of the markers.
    pub markers: Vec<String>,
    /// Axes that inputs or controllers take along the nominal trajectory.
    pub nominal: Vec<(AxisId, AxisName)>,
    /// The marker whose path is the nominal trajectory.
    pub tracked: Option<MarkerId>,
}

impl Parts {
    /// Coordinates and motors.
    fn moving(&self) -> impl Iterator<Item = Coordinates> {
        let motors = self.motors.iter();
        let motors = motors.map(|(axis, name)| Coordinates::Axis(*axis, name.clone()));
        self.coordinates.iter().cloned().chain(motors)
    }

    /// Small motions of coordinates and motors, one per rate, as coordinates of linearised equations.
    pub fn deviations(&self) -> Vec<Label> {
        self.moving().flat_map(|part| part.deviations()).collect()
    }
}
