//! Where the nodes of a tree of elements go when its joints move.
//!
//! Newton's iteration turns nodes by part of a radian at once, and the last node of a chain turns by as much as all of its joints
//! together: the number of its steps would grow with the length of the chain. Carried from element to element, with beams that keep
//! their shape, nodes come to where they belong but for what beams bend on the way.

use std::f64::consts::TAU;

use lissom_spatial::{Matrix, RotationVector, Vector, rotation_vector_of};

use super::Equations;
use crate::carried::{Carried, ends};
use crate::element::ElementKind;
use crate::error::NodalError;
use crate::node::{NodeKind, Placement};

/// By how much a node is turned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turned {
    rotation: Matrix<f64>,
    /// The same in the plane, counted through full turns.
    angle: f64,
}

impl Turned {
    pub(super) const NOT: Self = Self {
        rotation: Matrix([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        angle: 0.0,
    };

    /// Turned before that about an axis.
    fn after(self, about: Vector<f64>, angle: f64) -> Self {
        Self {
            rotation: self.rotation * RotationVector::new(about).matrix(),
            angle: self.angle + angle,
        }
    }
}

impl Equations<'_> {
    /// Carries all nodes from where they were saved to near where these positions and drives have them; `false` where elements form
    /// no tree.
    pub(super) fn carry(&mut self, position: &[f64], drives: &[f64]) -> Result<bool, NodalError> {
        let Some(order) = &self.mechanism.carried else {
            return Ok(false);
        };
        // the evaluation keeps where nodes were
        self.evaluate()?;
        self.set_given(position, drives);
        for node in 0..self.placements.len() {
            let (now, before) = (&self.placements[node], &self.saved_placements[node]);
            let before_rotation = self.pass.nodes[node].rotation;
            self.turned[node] = Turned {
                rotation: now.orientation.matrix() * before_rotation.transpose(),
                angle: now.angle - before.angle,
            };
        }
        for carried in order {
            self.carry_end(*carried, position, drives);
        }
        self.evaluated = false;
        Ok(true)
    }

    /// Carries the end of an element that follows from its other one.
    fn carry_end(&mut self, carried: Carried, position: &[f64], drives: &[f64]) {
        let Carried {
            element: index,
            reversed,
        } = carried;
        let mechanism = self.mechanism;
        let element = &mechanism.elements[index];
        let Some([first, second]) = ends(element) else {
            return;
        };
        let (from, to, sign) = if reversed {
            (second, first, -1.0)
        } else {
            (first, second, 1.0)
        };
        let deformation = mechanism.first[index];
        let missing = |local: usize| {
            let wanted = self.wanted(deformation + local, position, drives);
            wanted - self.pass.value[deformation + local]
        };
        let nodes = &self.pass.nodes;
        // a slider has one orientation, which both of its ends go by
        let carrier = from[1].or(to[1]).map_or(Turned::NOT, |at| self.turned[at]);
        let (turn, angle, slide) = match &element.kind {
            ElementKind::Hinge(hinge) => {
                let axis = nodes[element.nodes[0]].direction(hinge.axis());
                let angle = sign * missing(0);
                // whole turns are none, and the series of the rotation knows less than one
                let turn = angle - TAU * (angle / TAU).round();
                (axis.scale(turn), angle, Vector::zero())
            }
            ElementKind::Slider(slider) => {
                let axis = nodes[element.nodes[1]].direction(slider.axis());
                (Vector::zero(), 0.0, axis.scale(sign * missing(0)))
            }
            ElementKind::Ball(ball) => {
                let axes = ball.axes(&nodes[element.nodes[1]]);
                let missing = self.missing(ball, index, position);
                let sum = |first: usize| {
                    let parts = axes.iter().zip(&missing[first..]);
                    parts.fold(Vector::zero(), |sum, (axis, &part)| sum + axis.scale(part))
                };
                (sum(0), 0.0, sum(3))
            }
            ElementKind::Beam(_) | ElementKind::Truss(_) => (Vector::zero(), 0.0, Vector::zero()),
        };
        if let ElementKind::Hinge(_) = &element.kind {
            // the angle counts full turns
            self.references[index] = self.wanted(deformation, position, drives);
        }
        if let (Some(from), Some(to)) = (from[0], to[0]) {
            let apart = self.pass.nodes[to].position - self.pass.nodes[from].position;
            self.placements[to].position =
                self.placements[from].position + carrier.rotation * (apart + slide);
        }
        if let Some(to) = to[1].filter(|to| Some(*to) != from[1])
            && from[1].is_some()
        {
            self.turned[to] = carrier.after(turn, angle);
            let (turned, saved) = (&self.turned[to], &self.saved_placements[to]);
            self.placements[to] = match mechanism.nodes[to].kind {
                NodeKind::PlanarAngle => Placement::at_angle(saved.angle + turned.angle),
                _ => Placement {
                    orientation: (saved.orientation)
                        .rotated_in_parent(rotation_vector_of(&turned.rotation)),
                    ..*saved
                },
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use lissom_spatial::Quaternion;

    use super::*;
    use crate::{Assembly, BeamSection, End, Mechanism, Role};

    /// Rounding of some thirty rotations, one after the other, in a chain of a dozen metres, whose angles are up to fifty.
    const ROUNDING: f64 = 1e-12;

    fn end(assembly: &mut Assembly, name: &str, x: f64) -> End {
        End {
            point: assembly.point(&format!("{name}.point"), [x, 0.0, 0.0]),
            orientation: assembly.orientation(&format!("{name}.turn"), &Matrix::identity()),
        }
    }

    /// Rigid links on hinges, then a slider and a free joint.
    fn chain(links: usize) -> Mechanism {
        let mut assembly = Assembly::new();
        let ground = end(&mut assembly, "ground", 0.0);
        assembly.set_node(ground.point, Role::Fixed);
        assembly.set_node(ground.orientation, Role::Fixed);
        let mut at = ground;
        for link in 0..links {
            let turn = assembly.orientation(&format!("{link}.hinge"), &Matrix::identity());
            let axis = [0.0, (link % 2) as f64, 1.0];
            let hinge = assembly.hinge(&format!("hinge_{link}"), at.orientation, turn, axis);
            assembly.set_deformation(hinge, 0, Role::Dof);
            let next = end(&mut assembly, &format!("{link}"), (link + 1) as f64);
            let root = End {
                orientation: turn,
                ..at
            };
            let section = BeamSection::slender(1.0, 1.0, 1.0, 1.0);
            let beam = assembly.beam(&format!("{link}"), root, next, section, [0.0, 1.0, 0.0]);
            assembly.set_deformations(beam, Role::Fixed);
            at = next;
        }
        let slid = assembly.point("slid", [links as f64, 0.0, 0.0]);
        let slider = assembly.slider("slider", at, slid, [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]);
        assembly.set_deformation(slider, 0, Role::Dof);
        let carrier = End { point: slid, ..at };
        let floating = end(&mut assembly, "floating", links as f64);
        assembly.ball("ball", carrier, floating, &Matrix::identity(), true);
        assembly.finish().expect("a chain")
    }

    /// By construction: what the joints of a rigid chain have to be is what they are where its nodes are carried, through full turns
    /// too.
    #[test]
    fn a_rigid_chain_is_carried_to_where_it_belongs() {
        let mechanism = chain(12);
        let mut equations = Equations::new(&mechanism).expect("stands where it was assembled");
        let mut position = mechanism.assembled_position();
        for (at, entry) in position.iter_mut().take(13).enumerate() {
            *entry = 7.0 * (at + 1) as f64 - 50.0;
        }
        let turn = Quaternion::of_rotation_vector(Vector([0.5, -1.0, 2.0]));
        let first = position.len() - 4;
        position[first..].copy_from_slice(&turn.0);
        position[first - 1] = 3.0;
        equations.save();
        assert!(equations.carry(&position, &[]).expect("stands"));
        equations.evaluate().expect("a regular place");
        for &deformation in &mechanism.rows {
            let off = if let Some((ball, index, local)) = mechanism.ball_of(deformation) {
                equations.missing(ball, index, &position)[local]
            } else {
                let wanted = equations.wanted(deformation, &position, &[]);
                wanted - equations.pass.value[deformation]
            };
            assert!(off.abs() < ROUNDING, "{deformation}: {off:e}");
        }
    }

    /// By construction: elements that form a loop are no tree.
    #[test]
    fn a_loop_is_not_carried() {
        let mut assembly = Assembly::new();
        let points = [[0.0, 0.0], [1.0, 0.0], [0.5, 1.0]]
            .map(|[x, y]| assembly.planar_point(&format!("{x} {y}"), [x, y]));
        for node in &points[..2] {
            assembly.set_node(*node, Role::Fixed);
        }
        for node in &points[..2] {
            let truss = assembly.truss(&format!("{node:?}"), *node, points[2], 1.0);
            assembly.set_deformation(truss, 0, Role::Dof);
        }
        let mechanism = assembly.finish().expect("a truss");
        assert!(mechanism.carried.is_none());
    }
}
