//! [`Scene`]: what has to be known of a model to draw its recorded motion, without any mechanics on the side of
//! whoever draws.
//!
//! Every body has a frame whose pose $`T`$ is given frame by frame ([`Frames`]). A flexible point of a body
//! ([`FlexiblePoint`]) that is at $`r`$ in the undeformed body moves in that frame by
//! $`u = \sum_\alpha \psi_\alpha \eta_\alpha + \tfrac12 \eta^T H \eta`$, with the elastic coordinates $`\eta`$ of the frame, and turns by a
//! rotation vector $`\theta`$ of the same form: the whole second-order field that the recursions use, so that the drawn end of a body is
//! where its joint is. A body whose shape is known by points in another way fits the same form: coordinates are then
//! displacements of the points, and each moves one of them. A formulation says both through `Drawable`; who draws asks
//! [`Mechanism::scene`] and [`Mechanism::frames`].
//!
//! Deformation is exaggerated from a rigid configuration: that of the undeformed mechanism with the same joint
//! coordinates and, where these would open loops, the closed one nearest to it in which the base stays as it is. With the
//! pose $`\bar T`$ of the body in it, a point is drawn at
//!
//! ```math
//! p(s) = \bar T r + s\,\bigl(T(r + u) - \bar T r\bigr) ,
//! ```
//!
//! which is where it was for $`s = 1`$. Points of two bodies that coincide in both configurations, as those in a joint do,
//! coincide for every $`s`$: loops stay closed. Directions turn by $`\mathrm{Exp}(s\,\vartheta)`$ from the rigid
//! configuration, with $`\vartheta`$ the rotation vector from there to where they were.

mod frames;
mod nodes;
mod outline;
mod rigid;
mod section;
mod solid;
mod surface;
mod tree;

pub use frames::{Frames, MissingCoordinates, NotDrawn};
pub(crate) use nodes::DrawnNodes;
pub use section::{Centreline, Colour, SecondOrder};
pub use solid::{Shape, Solid};
pub use surface::DrawnSurface;
pub(crate) use tree::DrawnTree;

use serde::Serialize;

use crate::mechanism::Mechanism;
use lissom_core::{PlaceError, Recording, rotation_matrix};
use lissom_spatial::{Transform, Vector, rotation_vector_of};

/// Everything about a model that is drawn and does not change with time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Scene {
    /// Length of the longest chain of bodies from the ground: the arm's length.
    pub length_m: f64,
    /// Bodies, parents first.
    pub bodies: Vec<DrawnBody>,
    /// Joints of the tree, then closures of loops.
    pub joints: Vec<DrawnJoint>,
    /// Markers.
    pub markers: Vec<DrawnMarker>,
    /// What the colour of the flexible bodies means.
    pub colour: Colour,
    /// What the ghost shows.
    pub ghost: Ghost,
    /// Rigid bodies of the model, as far as something that is drawn has their orientation.
    #[serde(skip)]
    pub rigid: Vec<RigidFrame>,
}

/// A rigid body of the model among what is drawn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RigidFrame {
    /// Name in the model.
    pub name: String,
    /// Drawn bodies that stand for it, first the one in whose frame it is.
    pub drawn_by: Vec<usize>,
    /// Its frame in that body's; the same where there is none.
    pub pose: Option<Transform<f64>>,
}

impl RigidFrame {
    /// Position and rotation vector of something on the body of the model, in the frame of the drawn one.
    pub fn place(&self, position: [f64; 3], rotation_vector: [f64; 3]) -> [[f64; 3]; 2] {
        let Some(pose) = self.pose else {
            return [position, rotation_vector];
        };
        let turned = pose.rotation * rotation_matrix(Vector(rotation_vector));
        let placed = pose.translation + pose.rotation * Vector(position);
        [placed.0, rotation_vector_of(&turned).0]
    }
}

/// One body.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DrawnBody {
    /// Name in the model.
    pub name: String,
    /// What it is.
    pub kind: Look,
    /// Index of the body that carries it; `None` is the ground.
    pub parent: Option<usize>,
    /// Number of elastic coordinates.
    pub coordinates: usize,
    /// The point of the undeformed parent that carries it.
    #[serde(skip)]
    pub carried_by: [f64; 3],
    /// The point of the undeformed body that the joint holds.
    #[serde(skip)]
    pub held_at: [f64; 3],
    /// Centreline of a flexible body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<Centreline>,
    /// Surface of a flexible body that has one, instead of a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surface: Option<DrawnSurface>,
    /// Solids fixed to the body's frame. A body that connects several joints is drawn by its struts and plate instead.
    pub solids: Vec<Solid>,
    /// Straight bars between the places of a rigid body where something is attached.
    pub struts: Vec<[[f64; 3]; 2]>,
    /// Corners, in order, of the plate that spans three or more joints of a rigid body; empty where they are not the
    /// corners of a plane polygon.
    pub plate: Vec<[f64; 3]>,
}

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Look {
    /// A rigid body.
    Rigid,
    /// A beam.
    Beam,
    /// A flexible body given by nodes.
    Nodal,
    /// A payload on a flexible body.
    Payload,
    /// The massless cross of a universal joint.
    Cross,
}

/// A point of a body with the influence of the body's elastic coordinates on it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FlexiblePoint {
    /// Undeformed position in the body's frame.
    pub position: [f64; 3],
    /// $`\psi_\alpha`$, one per elastic coordinate; empty for a point that no coordinate moves.
    pub displacement: Vec<[f64; 3]>,
    /// $`\theta_\alpha`$, likewise.
    pub rotation: Vec<[f64; 3]>,
    /// The parts of $`H`$ that the model keeps.
    pub second_order: Vec<SecondOrder>,
}

/// A joint or the closure of a loop.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DrawnJoint {
    /// Name in the model.
    pub name: String,
    /// Kind, as in a model file.
    pub kind: &'static str,
    /// Whether it closes a loop.
    pub closes_loop: bool,
    /// The side of the parent.
    pub parent: Side,
    /// The side of the child.
    pub child: Side,
    /// Axis in the frame of the child, for joints that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axis: Option<[f64; 3]>,
}

/// One side of a joint.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// Index of the body; `None` is the ground.
    pub body: Option<usize>,
    /// Where on the body.
    pub point: FlexiblePoint,
}

/// A marker.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DrawnMarker {
    /// Name in the model.
    pub name: String,
    /// Where it sits.
    pub side: Side,
}

/// What the ghost shows: all bodies undeformed and all loops closed, and the joints in one of these ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ghost {
    /// Joints with a nominal motion follow it, and those that follow from it by loops or from the nominal motion of a
    /// marker; the others are as recorded.
    Nominal,
    /// The rigid configuration from which deformation is exaggerated.
    Undeformed,
}

/// What a formulation tells of a mechanism that is to be drawn: all that does not change, and where it is.
pub(crate) trait Drawable {
    /// Bodies, parents first.
    fn bodies(&self) -> Vec<DrawnBody>;

    /// Joints, then closures of loops.
    fn joints(&self) -> Vec<DrawnJoint>;

    /// Markers.
    fn markers(&self) -> Vec<DrawnMarker>;

    /// Rigid bodies of the model, as far as something that is drawn has their orientation.
    fn rigid_frames(&self) -> Vec<RigidFrame>;

    /// Whether there is a nominal motion for the ghost to follow.
    fn has_nominal(&self) -> bool;

    /// How many bodies there are.
    fn body_count(&self) -> usize;

    /// Channels that a recording must have.
    fn channels(&self) -> Vec<String>;

    /// Places the mechanism, its rigid configuration and its ghost at an instant at which channels are known by their names.
    ///
    /// # Errors
    /// When it cannot be there.
    fn place(&mut self, time_s: f64, value: &dyn Fn(&str) -> Option<f64>)
    -> Result<(), PlaceError>;

    /// Pose of the frame of a body in the ground frame.
    fn pose(&self, body: usize) -> Transform<f64>;

    /// The same in the rigid configuration from which deformation is exaggerated.
    fn rigid_pose(&self, body: usize) -> Transform<f64>;

    /// The same on the nominal motion, for those that have one.
    fn nominal_pose(&self, body: usize) -> Transform<f64>;

    /// Appends the elastic coordinates of a body.
    fn push_elastic(&self, body: usize, elastic: &mut Vec<f64>);
}

impl Mechanism {
    /// What is drawn of it and does not change with time.
    ///
    /// # Errors
    /// When it cannot be put together as its model says.
    pub fn scene(&self) -> Result<Scene, NotDrawn> {
        let drawable = self.drawable().map_err(NotDrawn::NotAssembled)?;
        Ok(Scene::of(&*drawable))
    }

    /// At most `most` frames of a recording of it, evenly spread over its samples, the first and the last among them.
    ///
    /// # Errors
    /// If the recording lacks a coordinate, or is not one of this mechanism.
    pub fn frames(&self, recording: &Recording, most: usize) -> Result<Frames, NotDrawn> {
        let mut drawable = self.drawable().map_err(NotDrawn::NotAssembled)?;
        Frames::of(&mut *drawable, recording, most)
    }
}

impl Scene {
    fn of(drawable: &dyn Drawable) -> Self {
        let mut bodies = drawable.bodies();
        let colour = section::colour(&mut bodies);
        Self {
            length_m: length(&bodies),
            bodies,
            joints: drawable.joints(),
            markers: drawable.markers(),
            colour,
            ghost: if drawable.has_nominal() {
                Ghost::Nominal
            } else {
                Ghost::Undeformed
            },
            rigid: drawable.rigid_frames(),
        }
    }

    /// How many numbers one of its [`Frames`] takes.
    pub fn numbers_per_frame(&self) -> usize {
        let poses = match self.ghost {
            Ghost::Nominal => 3,
            Ghost::Undeformed => 2,
        };
        let bodies = self.bodies.iter();
        bodies
            .map(|body| poses * frames::POSE + body.coordinates)
            .sum()
    }
}

/// Length of the longest chain from the ground to the far end of a body, along the places of the joints.
fn length(bodies: &[DrawnBody]) -> f64 {
    let distance = |a: [f64; 3], b: [f64; 3]| {
        let d = Vector(a) - Vector(b);
        d.dot(d).sqrt()
    };
    let mut before = vec![0.0; bodies.len()];
    let mut longest = 0.0_f64;
    for (index, body) in bodies.iter().enumerate() {
        if let Some(parent) = body.parent {
            before[index] = before[parent] + distance(bodies[parent].held_at, body.carried_by);
        }
        let root = body.held_at;
        let line = body.line.iter().flat_map(|line| line.positions.iter());
        let surface = (body.surface.iter()).flat_map(|surface| surface.positions.iter());
        let struts = body.struts.iter().flatten();
        let reach = line
            .chain(surface)
            .chain(struts)
            .fold(0.0, |reach: f64, &end| reach.max(distance(root, end)));
        longest = longest.max(before[index] + reach);
    }
    // a mechanism of points without extent is drawn as if it were a metre long
    if longest > 0.0 { longest } else { 1.0 }
}
