//! Poses and elastic coordinates of a recorded motion, frame by frame.

use serde::Serialize;

use super::{Ghost, Scene};
use crate::model::{Body, CoordinateKind, Model, System};
use crate::simulate::{
    MotionCurve, Recording, TreeTrajectory, followed_trajectory, nominal_motions,
};
use lissom_spatial::Quaternion;
use lissom_tree::tree::Kinematics;

/// The frames of an animation. All lists run over the bodies (coordinates) of one frame first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Frames {
    /// Instants.
    pub time_s: Vec<f64>,
    /// Position and quaternion (x, y, z; w, x, y, z) of every body in the ground frame.
    pub poses: Vec<f32>,
    /// Elastic coordinates of all bodies.
    pub elastic: Vec<f32>,
    /// Poses of the ghost's bodies, like `poses`.
    pub ghost: Vec<f32>,
}

/// A recording that does not hold the coordinates of the mechanism.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the recording lacks {} of {all} coordinates, first {:?}; leave output.channels away or name them there",
    names.len(),
    names.first().map_or("", String::as_str)
)]
pub struct MissingCoordinates {
    /// Names of the channels that are missing.
    pub names: Vec<String>,
    /// How many coordinates the mechanism has.
    pub all: usize,
}

/// What the ghost of a model shows.
pub(super) fn ghost(model: &Model) -> Ghost {
    let by_itself = model.linkage.closures.is_empty() && !nominal_motions(model).is_empty();
    if by_itself || followed_trajectory(model).is_some() {
        Ghost::Nominal
    } else {
        Ghost::Undeformed
    }
}

impl Frames {
    /// How many numbers one frame takes.
    pub fn numbers_per_frame(model: &Model) -> usize {
        let bodies = model.linkage.system.bodies();
        14 * bodies.len() + bodies.iter().map(Body::modes).sum::<usize>()
    }

    /// At most `most` frames of a recording, evenly spread over its samples, the first and the last among them.
    ///
    /// # Errors
    /// If the recording lacks a coordinate.
    pub fn of(
        scene: &Scene,
        model: &Model,
        recording: &Recording,
        most: usize,
    ) -> Result<Self, MissingCoordinates> {
        let columns: Vec<Option<&[f64]>> = (model.linkage.positions.iter())
            .map(|coordinate| Some(recording.channel(&coordinate.name)?.samples.as_slice()))
            .collect();
        let missing = (model.linkage.positions.iter().zip(&columns))
            .filter(|(_, column)| column.is_none())
            .map(|(coordinate, _)| coordinate.name.clone())
            .collect::<Vec<_>>();
        if !missing.is_empty() {
            return Err(MissingCoordinates {
                names: missing,
                all: model.linkage.positions.len(),
            });
        }
        let columns: Vec<&[f64]> = columns.into_iter().flatten().collect();
        let mut frames = Self {
            time_s: Vec::new(),
            poses: Vec::new(),
            elastic: Vec::new(),
            ghost: Vec::new(),
        };
        let mut bent = Poses::new(&model.linkage.system);
        let mut rigid = RigidMotion::new(scene, model, !recording.time_s.is_empty());
        let mut position = vec![0.0; model.linkage.positions.len()];
        for sample in spread(recording.len(), most) {
            let time_s = recording.time_s[sample];
            for (x, column) in position.iter_mut().zip(&columns) {
                *x = column[sample];
            }
            frames.time_s.push(time_s);
            bent.write(&model.linkage.system, &position, &mut frames.poses);
            rigid.write(time_s, &position, &mut frames.ghost);
            let elastic = (model.linkage.positions.iter().zip(&position))
                .filter(|(coordinate, _)| coordinate.kind == CoordinateKind::Elastic);
            frames.elastic.extend(elastic.map(|(_, &x)| single(x)));
        }
        Ok(frames)
    }
}

/// Indices of at most `most` of `count` samples, with both ends.
pub(super) fn spread(count: usize, most: usize) -> Vec<usize> {
    let most = most.max(2);
    if count <= most {
        return (0..count).collect();
    }
    (0..most).map(|i| (i * (count - 1)) / (most - 1)).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "seven digits are more than a screen has"
)]
pub(super) fn single(x: f64) -> f32 {
    x as f32
}

/// Poses of all bodies in a position of the mechanism.
struct Poses {
    kinematics: Kinematics<f64>,
    rest: Vec<f64>,
}

impl Poses {
    fn new(system: &System) -> Self {
        Self {
            kinematics: Kinematics::new(system),
            rest: vec![0.0; system.velocity_count()],
        }
    }

    fn write(&mut self, system: &System, position: &[f64], poses: &mut Vec<f32>) {
        self.kinematics.update(system, position, &self.rest);
        self.kinematics.update_poses(system);
        for body in 0..system.bodies().len() {
            let pose = self.kinematics.ground_from_body(body);
            let attitude = Quaternion::of_matrix(&pose.rotation);
            poses.extend(pose.translation.0.map(single));
            poses.extend(attitude.0.map(single));
        }
    }
}

/// The motion of the ghost.
struct RigidMotion {
    system: System,
    /// Entries of the flexible position vector for the rigid one.
    from: Vec<usize>,
    /// Entry of the rigid position vector, and the curve it follows.
    curves: Vec<(usize, MotionCurve)>,
    /// Where all joints follow from loops or a marker.
    together: Option<TreeTrajectory>,
    position: Vec<f64>,
    poses: Poses,
}

impl RigidMotion {
    fn new(scene: &Scene, model: &Model, moves: bool) -> Self {
        let system = model.linkage.system.rigidified();
        let (flexible, rigid) = (model.linkage.system.layout(), system.layout());
        let mut from = vec![0; system.position_count()];
        for (k, body) in system.bodies().iter().enumerate() {
            for i in 0..body.joint.kind.positions() {
                from[rigid.joint_position[k] + i] = flexible.joint_position[k] + i;
            }
        }
        let together = match scene.ghost {
            Ghost::Nominal if moves => followed_trajectory(model),
            Ghost::Nominal | Ghost::Undeformed => None,
        };
        let nominal = match scene.ghost {
            Ghost::Nominal if together.is_none() => nominal_motions(model),
            _ => Vec::new(),
        };
        let curves = nominal.into_iter().filter_map(|(at, curve)| {
            let entry = from.iter().position(|&position| position == at)?;
            Some((entry, curve))
        });
        Self {
            curves: curves.collect(),
            together,
            position: vec![0.0; from.len()],
            poses: Poses::new(&system),
            from,
            system,
        }
    }

    fn write(&mut self, time_s: f64, position: &[f64], poses: &mut Vec<f32>) {
        for (x, &from) in self.position.iter_mut().zip(&self.from) {
            *x = position[from];
        }
        for (entry, curve) in &self.curves {
            self.position[*entry] = curve.at(time_s).position;
        }
        // where the motion cannot be followed the ghost stays with the mechanism
        if let Some(together) = &mut self.together
            && together.follow(time_s).is_ok()
        {
            self.position.copy_from_slice(&together.state().position);
        }
        self.poses.write(&self.system, &self.position, poses);
    }
}
