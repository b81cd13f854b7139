//! A model as a nodal mechanism: its beams divided into elements, its joints hinges and sliders, with what acts on it.
//!
//! This is where the two formulations meet: both are built from the same [`ModelSpec`], and from there
//! on nothing is shared but the run. What a beam's basis leaves out (bending in a plane, stretch, torsion)
//! is a suppressed deformation here; what it contains is not expanded in functions but left to the elements.
//!
//! Understood are rigid bodies and beams, also such that start deformed, all joints with gears, springs and friction,
//! loops, payloads, point masses, markers, inputs (those of rigid inverse dynamics among them), prescribed
//! motions, controllers and paths of markers. Everything else is refused by name, all of it at once.

mod actions;
mod all_coordinates;
mod build;
mod charts;
mod choice;
mod contacts;
mod damping;
mod division;
mod equilibrium;
mod evaluate;
mod formulation;
mod frozen;
mod inspect;
mod joints;
mod loaded;
mod loops;
mod lowest;
mod motion;
mod nodes;
mod nominal;
mod open_loops;
mod outputs;
mod readout;
mod refused;
mod repartition;
mod replay;
mod rigid;
mod run;
mod start;
mod trajectory;
mod unfold;
mod view;

use std::collections::BTreeMap;

use lissom_core::{
    Actions, AxisId, AxisName, JointId, JointResistance, MarkerId, MarkerPath, MotionCurve,
    NominalError, StateError,
};
use lissom_nodal::{ElementId, End, Equations, Mechanism, NodalError, NodeId};
use lissom_spatial::{Matrix, Transform, Vector, rounded};
use lissom_spec::{ModelSpec, Path};
use lissom_tree::flex::FlexError;

use crate::model::Model;
use charts::Charts;
use loaded::LoadedBeam;

pub use actions::NodalActions;
pub(crate) use equilibrium::equilibrium;
pub use nominal::NodalLinearizer;
pub(crate) use outputs::unplaced;
pub(crate) use replay::Replay;
pub(crate) use run::{equations_at, state_layout, written_state};

/// Why a model is no nodal mechanism.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NodalModelError {
    /// Something that the nodal formulation does not know.
    #[error("`{name}`: {what} is not known to the nodal formulation; {remedy}")]
    Unknown {
        /// Where the model says it.
        at: Path,
        /// Body, joint, marker or input.
        name: String,
        /// What is not known.
        what: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A name or a place that is not there; a checked model has none.
    #[error("`{name}` does not exist")]
    Missing {
        /// The name.
        name: String,
    },
    /// A loop that stays open.
    #[error(
        "loop `{name}` is open by {} m or rad where its joints are closed as rigid bodies; correct places and axes",
        rounded(*.gap, 3)
    )]
    OpenLoop {
        /// Loop or cut joint.
        name: String,
        /// By how much.
        gap: f64,
    },
    /// A loop that prescribed motions would have to give way in.
    #[error(
        "loop `{name}` leaves too few freedoms for the prescribed motions: nothing can follow them; prescribe fewer joints"
    )]
    OverdrivenLoop {
        /// Loop or cut joint.
        name: String,
    },
    /// Functions along a beam that cannot be formed.
    #[error("body `{name}`: {source}")]
    Reduction {
        /// The body.
        name: String,
        /// What is wrong with it.
        source: FlexError,
    },
    /// Damping of a body that has no modes.
    #[error(
        "damping of body `{name}`: {source}; give every deformation inertia, or use rayleigh damping with stiffness_s only"
    )]
    Damping {
        /// The body.
        name: String,
        /// What is wrong with its modes.
        source: FlexError,
    },
    /// The mechanism is refused.
    #[error(transparent)]
    Nodal(#[from] NodalError),
    /// A recording does not hold a state of the mechanism.
    #[error(transparent)]
    State(#[from] StateError),
    /// The nominal motion cannot be followed or driven.
    #[error(transparent)]
    NominalMotion(#[from] NominalError),
}

impl NodalModelError {
    /// Where the model says what is wrong.
    pub fn path(&self) -> Path {
        match self {
            Self::Unknown { at, .. } => at.clone(),
            Self::NominalMotion(_) => Path::root().key("nominal_motion"),
            _ => Path::root().key("formulation"),
        }
    }
}

/// A model as a nodal mechanism, with what acts on it and what is recorded of it.
#[derive(Clone, Debug)]
pub struct NodalModel {
    /// The mechanism, assembled where it starts, in the degrees of freedom that it starts with.
    pub mechanism: Mechanism,
    /// Which axes may be degrees of freedom in their place.
    charts: Option<Charts>,
    /// Joints, parents first.
    joints: Vec<NodalJoint>,
    /// Axes of joints, each before its motor.
    axes: Vec<NodalAxis>,
    /// Spherical and free joints.
    balls: Vec<NodalBall>,
    /// Markers, in the order of the model.
    pub markers: Vec<NodalMarker>,
    /// Where loads act: at the markers, then at nodes.
    stations: Vec<Station>,
    /// Nodes that are recorded by themselves, in the order of the model.
    pub nodes: Vec<NodeId>,
    actions: Actions,
    /// Joints that carry bodies, in the order of the bodies that they carry.
    carrying: Vec<CarryingJoint>,
    /// What closes loops.
    closures: Vec<NodalClosure>,
    /// Motion of each drive.
    motions: Vec<MotionCurve>,
    /// Efforts that hold what is prescribed: channel and unit, by drive.
    drive_channels: Vec<(String, &'static str)>,
    /// The path of a marker.
    path: Option<MarkerPath>,
    /// Whether joints are dependent where loops close.
    has_loops: bool,
    /// The beam that elements are parts of.
    beams: BTreeMap<ElementId, String>,
    /// Rigid bodies of the model by name.
    rigid: BTreeMap<String, Carried>,
    /// Beams whose loads are recorded.
    loaded: Vec<LoadedBeam>,
    /// Strain gauges, in the order of the sensors; none on beams that do not deform.
    gauges: Vec<Option<NodalGauge>>,
    /// Deformations of beams that start deformed.
    bent: Vec<(ElementId, usize)>,
    /// When the nominal motion begins.
    start_s: f64,
    initial_position: Vec<f64>,
    initial_velocity: Vec<f64>,
}

/// A joint of the model, by its place among those of its kind.
#[derive(Clone, Copy, Debug)]
enum NodalJoint {
    Axis(AxisId),
    Ball(JointId),
}

/// An axis of a joint, or the motor behind its elastic gear.
#[derive(Clone, Debug)]
struct NodalAxis {
    /// What it is called.
    name: AxisName,
    /// The element, of which one deformation is the coordinate.
    element: ElementId,
    /// Which deformation.
    deformation: usize,
}

/// A joint that turns in any way.
#[derive(Clone, Debug)]
struct NodalBall {
    /// Name of the joint.
    joint: String,
    /// The element, whose deformations are its coordinates: rotation first.
    element: ElementId,
    /// What carries it.
    parent: End,
    /// What it carries.
    child: End,
    /// Its frame at assembly, in inertial components.
    frame: Matrix<f64>,
    /// Whether it slides in any way too.
    translates: bool,
}

/// A joint of the file that carries a body.
#[derive(Clone, Debug)]
struct CarryingJoint {
    /// Its name.
    name: String,
    /// The body on which that body hangs.
    parent: Option<usize>,
    /// Whether the body that it carries is written as its parent.
    reversed: bool,
    /// Where its frame is on the body written as its child.
    side: Side,
}

/// A rigid body, by the end that carries it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried {
    pub(crate) end: End,
    /// Where that is in the body's frame.
    at: Vector<f64>,
    /// Orientation of that frame at assembly.
    orientation: Matrix<f64>,
}

impl Carried {
    /// Pose of its frame.
    pub(crate) fn pose(&self, equations: &Equations<'_>) -> Transform<f64> {
        let rotation = equations.node(self.end.orientation).rotation * self.orientation;
        let end = equations.node(self.end.point).position;
        Transform::new(rotation, end - rotation * self.at)
    }
}

/// What closes a loop.
#[derive(Clone, Debug)]
struct NodalClosure {
    /// Loop or cut joint.
    name: String,
    /// The body of its end `from`.
    from: Option<usize>,
    /// The end `to`.
    to: Side,
    /// What holds it together.
    holding: Holding,
}

/// Elements that hold places and directions together, with those of their deformations that are to vanish.
type Holding = [Option<(ElementId, &'static [usize])>; 2];

/// A frame that is fixed to an end.
#[derive(Clone, Copy, Debug)]
struct Side {
    /// The body that is meant.
    body: Option<usize>,
    end: End,
    /// Frame at assembly, in inertial components.
    frame: Matrix<f64>,
}

/// A marker.
#[derive(Clone, Debug)]
pub struct NodalMarker {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub end: End,
}

/// A strain gauge.
#[derive(Clone, Copy, Debug)]
struct NodalGauge {
    /// The element that it is on.
    element: ElementId,
    /// At which fraction of its length.
    at: f64,
    /// Place in the section.
    offset: [f64; 2],
}

/// Where something acts.
#[derive(Clone, Copy, Debug)]
struct Station {
    /// The point that is pulled.
    point: Option<NodeId>,
    /// The orientation that is turned, and its orientation at assembly.
    orientation: Option<(NodeId, Matrix<f64>)>,
    /// The body that it is on.
    body: Option<usize>,
    /// Root of the body that it is on, and its place from there in the body's axes.
    root: Option<(End, Vector<f64>)>,
}

impl NodalModel {
    /// Makes a mechanism of a checked model: of its nodes and elements, or of its bodies and joints, each beam with
    /// about this number of elements. Its loops start closed where those of `tree`, the same model, are closed.
    ///
    /// # Errors
    ///
    /// Everything that the nodal formulation does not know, or what is wrong with the mechanism.
    pub fn new(
        spec: &ModelSpec,
        tree: &Model,
        elements: usize,
    ) -> Result<Self, Vec<NodalModelError>> {
        let nodal = if spec.is_of_nodes() {
            nodes::build(spec)
        } else {
            let unknown = refused::refused(spec);
            if !unknown.is_empty() {
                return Err(unknown);
            }
            build::build(spec, tree, elements)
        };
        let mut nodal = nodal.map_err(|error| vec![error])?;
        let names: Vec<AxisName> = nodal.axes.iter().map(|axis| axis.name.clone()).collect();
        let added = nodal.actions.add_control(spec, &names);
        added.map_err(|name| vec![build::missing(&name)])?;
        nodal.can_start().map_err(|error| vec![error])?;
        Ok(nodal)
    }

    /// Places the mechanism where it starts.
    fn can_start(&self) -> Result<(), NodalModelError> {
        let mut equations = run::NodalEquations::new(self)?;
        let (position, velocity) = (&self.initial_position, &self.initial_velocity);
        let start_s = self.start_s;
        equations.dynamics.set_state(start_s, position, velocity)?;
        match equations.dynamics.excitation().commands().trouble() {
            Some(trouble) => Err(trouble.clone().into()),
            None => Ok(()),
        }
    }

    /// Degrees of freedom of free joints that nothing resists and no loop holds: they move what hangs on them as a whole.
    fn floating_dofs(&self) -> Vec<usize> {
        if self.has_loops || !self.closures.is_empty() {
            return Vec::new();
        }
        let resisted = |id: JointId| {
            let on = |resistance: &JointResistance| matches!(resistance, JointResistance::Joint { joint, .. } if *joint == id);
            self.actions.resistances.iter().any(on)
        };
        let balls = self.balls.iter().enumerate();
        balls
            .filter(|(id, ball)| ball.translates && !resisted(JointId(*id)))
            .flat_map(|(_, ball)| ball.dofs(&self.mechanism))
            .collect()
    }

    /// Degree of freedom of an axis where the model starts, if it is one.
    fn axis_dof(&self, axis: AxisId) -> Option<usize> {
        self.axis_dof_in(&self.mechanism, axis)
    }

    /// Degree of freedom of an axis in some chart, if it is one.
    fn axis_dof_in(&self, mechanism: &Mechanism, AxisId(axis): AxisId) -> Option<usize> {
        let axis = &self.axes[axis];
        mechanism.deformation_dof(axis.element, axis.deformation)
    }

    /// What acts on it and measures it.
    pub(crate) fn actions_mut(&mut self) -> &mut Actions {
        &mut self.actions
    }

    /// The beam that an element is part of.
    pub(crate) fn beam_of(&self, element: ElementId) -> Option<&str> {
        self.beams.get(&element).map(String::as_str)
    }

    /// Its rigid bodies by name.
    pub(crate) fn rigid_bodies(&self) -> impl Iterator<Item = (&str, &Carried)> {
        self.rigid.iter().map(|(name, body)| (name.as_str(), body))
    }

    /// The marker of that name.
    pub fn find_marker(&self, name: &str) -> Option<&NodalMarker> {
        self.markers.iter().find(|marker| marker.name == name)
    }

    /// Where loads act on a marker, or on a point of a model of nodes.
    fn find_station(&self, name: &str) -> Option<MarkerId> {
        let marker = self.markers.iter().position(|marker| marker.name == name);
        let is_meant = |station: &Station| {
            let point = station.point;
            point.is_some_and(|point| self.mechanism.node_name(point) == name)
        };
        let point = || self.stations.iter().position(is_meant);
        marker.or_else(point).map(MarkerId)
    }

    /// Positions at assembly, where beams that start deformed are not.
    fn undeformed_position(&self) -> Vec<f64> {
        let mut position = self.mechanism.assembled_position();
        for &(element, deformation) in &self.bent {
            if let Some(dof) = self.mechanism.deformation_dof(element, deformation) {
                position[self.mechanism.dof_positions(dof).start] = 0.0;
            }
        }
        position
    }

    /// Positions of the degrees of freedom at the start.
    pub fn initial_position(&self) -> &[f64] {
        &self.initial_position
    }

    /// Velocities of the degrees of freedom at the start.
    pub fn initial_velocity(&self) -> &[f64] {
        &self.initial_velocity
    }
}
