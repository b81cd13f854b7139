//! Poses and elastic coordinates of a recorded motion, frame by frame.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Drawable;
use lissom_core::{PlaceError, Recording};
use lissom_spatial::{Quaternion, Transform};

/// Numbers of a pose: position and quaternion.
pub(super) const POSE: usize = 7;

/// The frames of an animation. All lists run over the bodies (coordinates) of one frame first.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Frames {
    /// Instants.
    pub time_s: Vec<f64>,
    /// Position and quaternion (x, y, z; w, x, y, z) of every body in the ground frame.
    pub poses: Vec<f32>,
    /// Elastic coordinates of all bodies.
    pub elastic: Vec<f32>,
    /// Poses in the rigid configuration from which deformation is exaggerated, like `poses`.
    pub rigid: Vec<f32>,
    /// Poses on the nominal motion, like `poses`; empty for a mechanism without one, whose ghost is the rigid configuration.
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

/// Why a recording cannot be drawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotDrawn {
    /// Coordinates are missing.
    #[error(transparent)]
    Missing(#[from] MissingCoordinates),
    /// The mechanism cannot be put together.
    #[error(transparent)]
    NotAssembled(PlaceError),
    /// The mechanism cannot be where it is said to be.
    #[error("the recorded coordinates do not fit the mechanism: {0}")]
    Unplaced(PlaceError),
}

impl Frames {
    /// At most `most` frames of a recording, evenly spread over its samples, the first and the last among them.
    pub(super) fn of(
        drawable: &mut dyn Drawable,
        recording: &Recording,
        most: usize,
    ) -> Result<Self, NotDrawn> {
        let needed = drawable.channels();
        let recorded = |name: &String| Some(recording.channel(name)?.samples.as_slice());
        let columns: BTreeMap<&str, &[f64]> = (needed.iter())
            .filter_map(|name| Some((name.as_str(), recorded(name)?)))
            .collect();
        let missing = needed
            .iter()
            .filter(|name| !columns.contains_key(name.as_str()));
        let names: Vec<String> = missing.cloned().collect();
        if !names.is_empty() {
            let all = needed.len();
            return Err(MissingCoordinates { names, all }.into());
        }
        let mut frames = Self {
            time_s: Vec::new(),
            poses: Vec::new(),
            elastic: Vec::new(),
            rigid: Vec::new(),
            ghost: Vec::new(),
        };
        let mut elastic = Vec::new();
        let has_nominal = drawable.has_nominal();
        for sample in spread(recording.len(), most) {
            let time_s = recording.time_s[sample];
            let value = |name: &str| Some(columns.get(name)?[sample]);
            (drawable.place(time_s, &value)).map_err(NotDrawn::Unplaced)?;
            frames.time_s.push(time_s);
            elastic.clear();
            for body in 0..drawable.body_count() {
                frames.poses.extend(numbers(&drawable.pose(body)));
                frames.rigid.extend(numbers(&drawable.rigid_pose(body)));
                if has_nominal {
                    frames.ghost.extend(numbers(&drawable.nominal_pose(body)));
                }
                drawable.push_elastic(body, &mut elastic);
            }
            frames.elastic.extend(elastic.iter().copied().map(single));
        }
        Ok(frames)
    }
}

fn numbers(pose: &Transform<f64>) -> impl Iterator<Item = f32> {
    let orientation = Quaternion::of_matrix(&pose.rotation);
    pose.translation
        .0
        .into_iter()
        .chain(orientation.0)
        .map(single)
}

/// Indices of at most `most` of `count` samples, with both ends.
fn spread(count: usize, most: usize) -> Vec<usize> {
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
fn single(x: f64) -> f32 {
    x as f32
}
