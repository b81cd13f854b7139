//! What a mechanism remembers beside positions and velocities of its degrees of freedom, as plain numbers: whoever has them
//! goes on to the last bit as if nothing had come between.
//!
//! | name | field | why |
//! |---|---|---|
//! | `points`, `orientations`, `angles` | `placements` | Newton's iteration begins there, and angles of the plane count full turns |
//! | `hinges` | `references` | angles of hinges count full turns, of those that are no degrees of freedom nothing else does |
//! | `reached_position`, `reached_drives` | the same | a way in parts begins there |
//! | `evaluated` | `evaluated` | whether deformations are known there (1), so that hinges need not be looked at again, or not (0) |
//!
//! Three numbers per point, a quaternion per orientation in space, an angle per orientation in the plane; one angle per hinge.
//!
//! What is not remembered: positions, rotations, deformations and gradients in `pass` and `factor` follow from these and are made
//! again at once. Velocities, accelerations, forces and stresses in `pass`, `transfer`, `mass` and `saddle` are results of one evaluation,
//! which begins by setting all that it reads. `saved_*`, `start_*`, `part_*`, `turned`, `wanted_drives`, `correction` and `solution` are written before
//! they are read by every placement. `slots` are those of the mechanism. `iterations` only counts. `unit` and `no_*` are zeros. `gravity` is that of the mechanism.

use lissom_numerics::{Memory, RecallError};
use lissom_spatial::{Quaternion, Vector};

use super::Equations;
use crate::element::ElementKind;
use crate::mechanism::Mechanism;
use crate::node::{NodeKind, Placement};

const POINTS: &str = "points";
const ORIENTATIONS: &str = "orientations";
const ANGLES: &str = "angles";
const HINGES: &str = "hinges";
const POSITION: &str = "reached_position";
const DRIVES: &str = "reached_drives";
const EVALUATED: &str = "evaluated";

/// By how much the square of a unit quaternion may be off one: nodes may be assembled with matrices of few digits.
const UNIT: f64 = 1e-3;

impl Equations<'_> {
    /// What later evaluations depend on beside positions, velocities and drives: where the nodes are, from where the next
    /// place is sought, and the turns of hinges and angles.
    pub fn memory(&self) -> Memory {
        let mechanism = self.mechanism;
        let placed = |wanted: fn(NodeKind) -> bool| {
            (mechanism.nodes.iter().zip(&self.placements))
                .filter(move |(node, _)| wanted(node.kind))
                .map(|(_, placement)| placement)
        };
        let mut memory = Memory::default();
        memory.set(POINTS, placed(is_point).flat_map(|node| node.position.0));
        memory.set(
            ORIENTATIONS,
            placed(is_orientation).flat_map(|node| node.orientation.0),
        );
        memory.set(ANGLES, placed(is_angle).map(|node| node.angle));
        memory.set(HINGES, hinges(mechanism).map(|i| self.references[i]));
        memory.set(POSITION, self.reached_position.iter().copied());
        memory.set(DRIVES, self.reached_drives.iter().copied());
        memory.set_indices(EVALUATED, &[usize::from(self.evaluated)]);
        memory
    }

    /// Takes over the [memory](Self::memory) of other equations of this mechanism: nodes stand where they stood there.
    /// Velocities and accelerations are to be set again.
    ///
    /// # Errors
    ///
    /// When the memory does not fit the mechanism; then nothing has changed.
    pub fn recall(&mut self, memory: &Memory) -> Result<(), RecallError> {
        let mut recalled = self.clone();
        recalled.recall_placements(memory)?;
        let angles = memory.numbers(HINGES, hinges(self.mechanism).count())?;
        for (at, &angle) in hinges(self.mechanism).zip(angles) {
            recalled.references[at] = angle;
        }
        for (name, reached) in [
            (POSITION, &mut recalled.reached_position),
            (DRIVES, &mut recalled.reached_drives),
        ] {
            let numbers = memory.numbers(name, reached.len())?;
            reached.copy_from_slice(numbers);
        }
        recalled.evaluated = match memory.index_list(EVALUATED, 2)?[..] {
            [flag] => flag == 1,
            ref flags => {
                return Err(RecallError::Length {
                    name: EVALUATED.to_owned(),
                    expected: 1,
                    found: flags.len(),
                });
            }
        };
        if recalled.evaluated {
            recalled.stand();
            // angles of hinges as they are: counting them on from themselves may round them
            recalled
                .factor_gradients()
                .map_err(|_| RecallError::Singular {
                    name: POSITION.to_owned(),
                })?;
        }
        *self = recalled;
        Ok(())
    }

    fn recall_placements(&mut self, memory: &Memory) -> Result<(), RecallError> {
        let nodes = &self.mechanism.nodes;
        let count = |wanted: fn(NodeKind) -> bool| nodes.iter().filter(|n| wanted(n.kind)).count();
        let points = memory.numbers(POINTS, 3 * count(is_point))?;
        let quaternions = memory.numbers(ORIENTATIONS, 4 * count(is_orientation))?;
        let quaternions = quaternions.as_chunks::<4>().0;
        let angles = memory.numbers(ANGLES, count(is_angle))?;
        for (i, quaternion) in quaternions.iter().enumerate() {
            let square: f64 = quaternion.iter().map(|x| x * x).sum();
            if (square - 1.0).abs() > UNIT {
                let expected = "the first of four whose squares sum to one";
                let value = quaternion[0];
                return Err(RecallError::value(ORIENTATIONS, 4 * i, value, expected));
            }
        }
        let mut points = points.as_chunks::<3>().0.iter();
        let (mut quaternions, mut angles) = (quaternions.iter(), angles.iter());
        for (node, placement) in nodes.iter().zip(&mut self.placements) {
            let next = match node.kind {
                NodeKind::PlanarPoint | NodeKind::Point => points.next().map(|&at| Placement {
                    position: Vector(at),
                    ..*placement
                }),
                NodeKind::PlanarAngle => angles.next().map(|&angle| Placement::at_angle(angle)),
                NodeKind::Orientation => quaternions.next().map(|&orientation| Placement {
                    orientation: Quaternion(orientation),
                    ..*placement
                }),
            };
            // as many as were counted
            *placement = next.unwrap_or(*placement);
        }
        Ok(())
    }
}

fn is_point(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::PlanarPoint | NodeKind::Point)
}

fn is_orientation(kind: NodeKind) -> bool {
    kind == NodeKind::Orientation
}

fn is_angle(kind: NodeKind) -> bool {
    kind == NodeKind::PlanarAngle
}

/// Elements whose angles are counted.
fn hinges(mechanism: &Mechanism) -> impl Iterator<Item = usize> {
    (mechanism.elements.iter().enumerate())
        .filter(|(_, element)| matches!(element.kind, ElementKind::Hinge(_)))
        .map(|(index, _)| index)
}
