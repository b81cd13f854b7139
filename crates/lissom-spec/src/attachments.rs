//! What stands on every body, and about which directions it lets the body turn without a moment: what bases are chosen by.

use std::collections::{BTreeMap, BTreeSet};

use crate::spec::{AttachmentSpec, JointKind, JointSpec, LoopKind, ModelSpec, Place};
use crate::topology::carries_effort;

/// Something that stands on a body: a joint, a closure, a support or a mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attachment<'s> {
    /// Where.
    pub place: Place<'s>,
    /// Whether it is the joint that carries the body.
    pub carries: bool,
    /// How the body may turn there.
    pub turns: Turns,
}

/// About which directions a body turns without a moment where something stands on it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Turns {
    /// It is let go of altogether.
    Free,
    /// About all.
    Any,
    /// About one.
    About {
        /// Its direction in the frame of the joint.
        axis: [f64; 3],
        /// Turns the axes of the body into those of the joint.
        rotation_vector_rad: [f64; 3],
    },
    /// About none.
    None,
}

impl ModelSpec {
    /// What stands on every body, by its name. Joints that are driven, or have a motor, a spring, friction or limits, carry moments.
    pub fn attachments(&self) -> BTreeMap<&str, Vec<Attachment<'_>>> {
        let mut all: BTreeMap<&str, Vec<Attachment<'_>>> = BTreeMap::new();
        let mut driven: BTreeSet<&str> = BTreeSet::new();
        driven.extend(self.input.iter().filter_map(|input| input.joint.as_deref()));
        driven.extend(self.motion.iter().map(|motion| motion.joint.as_str()));
        driven.extend(self.controller.iter().flat_map(|law| self.driven_by(law)));
        driven.extend(self.actuator.iter().map(|actuator| actuator.joint.as_str()));
        for joint in &self.joint {
            let passive = !carries_effort(joint) && !driven.contains(joint.name.as_str());
            for (side, carries) in [(&joint.parent, false), (&joint.child, true)] {
                let turns = if passive {
                    turns_of_joint(joint, side, carries)
                } else {
                    Turns::None
                };
                let place = side.place();
                let own = Attachment {
                    place,
                    carries,
                    turns,
                };
                all.entry(&side.body).or_default().push(own);
            }
        }
        let mut stand = |body, place, turns| {
            let carries = false;
            let own = Attachment {
                place,
                carries,
                turns,
            };
            all.entry(body).or_default().push(own);
        };
        for closure in &self.loops {
            for (number, end) in [&closure.from, &closure.to].into_iter().enumerate() {
                let end = self.loop_end(end);
                let about = |axis: [f64; 3]| Turns::About {
                    axis,
                    rotation_vector_rad: end.rotation_vector_rad,
                };
                let turns = match closure.kind() {
                    Some(LoopKind::Revolute(revolute)) => about(revolute.axis),
                    Some(LoopKind::Universal(universal)) => about(universal.axes[number]),
                    Some(
                        LoopKind::Spherical | LoopKind::PointOnLine(_) | LoopKind::Distance(_),
                    ) => Turns::Any,
                    Some(LoopKind::Prismatic(_) | LoopKind::Fixed) | None => Turns::None,
                };
                stand(end.body, end.place, turns);
            }
        }
        for support in &self.support {
            let end = self.loop_end(&support.on);
            stand(end.body, end.place, Turns::None);
        }
        for payload in &self.payload {
            stand(&payload.body, payload.place(), Turns::None);
        }
        for body in &self.body {
            for point in &body.point_mass {
                stand(&body.name, point.place(), Turns::None);
            }
        }
        all
    }
}

/// About which direction of a body its joint turns.
fn turns_of_joint(joint: &JointSpec, side: &AttachmentSpec, carries: bool) -> Turns {
    let about = |axis: [f64; 3]| Turns::About {
        axis,
        rotation_vector_rad: side.rotation_vector_rad,
    };
    match joint.kind() {
        Some(JointKind::Revolute(revolute)) => about(revolute.axis),
        Some(JointKind::Universal(universal)) => {
            let own = if carries {
                &universal.second
            } else {
                &universal.first
            };
            about(own.axis)
        }
        Some(JointKind::Spherical(_)) => Turns::Any,
        Some(JointKind::Free(_)) => Turns::Free,
        Some(JointKind::Prismatic(_) | JointKind::Fixed) | None => Turns::None,
    }
}
