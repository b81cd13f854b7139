//! Forces between the parts of a mechanism, at the accelerations set last.

use lissom_spatial::{Force, Transform, Vector};

use super::Equations;
use crate::assembly::End;
use crate::beam::Beam;
use crate::element::{ElementId, ElementKind};
use crate::node::NodeId;

impl Equations<'_> {
    /// Adds what each body needs beyond its weight to wrenches in inertial components about the origin: the inertial forces of its
    /// beams and lumped masses.
    pub fn add_inertial_wrenches(&self, wrenches: &mut [Force<f64>]) {
        let (mechanism, nodes) = (self.mechanism, &self.pass.nodes);
        let elements = mechanism.elements.iter().zip(&mechanism.element_body);
        for (element, body) in elements {
            let (ElementKind::Beam(beam), Some(body)) = (&element.kind, *body) else {
                continue;
            };
            let sites: [usize; 4] = std::array::from_fn(|i| element.nodes[i]);
            let forces = beam.inertial_forces(sites.map(|i| &nodes[i]), self.gravity);
            for (site, force) in sites.into_iter().zip(forces) {
                wrenches[body] += self.about_origin(site, force);
            }
        }
        for (lump, body) in mechanism.lumps.iter().zip(&mechanism.lump_body) {
            if let Some(body) = *body {
                let force = lump.inertial_force(nodes, self.gravity);
                wrenches[body] += self.about_origin(lump.node(), force);
            }
        }
    }

    /// What the mass of a part of a beam needs beyond its weight, in inertial components about the origin; the part reaches from
    /// one fraction of its length to another. Nothing for other elements.
    pub fn needed_between(&self, beam: ElementId, part: [f64; 2]) -> Force<f64> {
        let Some((beam, sites)) = self.beam(beam) else {
            return Force::zero();
        };
        let nodes = sites.map(|i| &self.pass.nodes[i]);
        let [moment, force] = beam.needed_between(nodes, self.gravity, part);
        Force::new(moment, force)
    }

    /// Pose of the section at a fraction of the length of a beam; none for other elements.
    pub fn section(&self, beam: ElementId, at: f64) -> Option<Transform<f64>> {
        let (beam, sites) = self.beam(beam)?;
        let (axes, place) = beam.section(sites.map(|i| &self.pass.nodes[i]), at);
        Some(Transform::new(axes, place))
    }

    /// What the lumped mass and inertia of a body at an end need beyond their weight, in inertial components about the origin.
    pub fn needed_at(&self, end: End, body: usize) -> Force<f64> {
        let (mechanism, mut sum) = (self.mechanism, Force::zero());
        let ends = [end.point.0, end.orientation.0];
        for (lump, of) in mechanism.lumps.iter().zip(&mechanism.lump_body) {
            if *of == Some(body) && ends.contains(&lump.node()) {
                let force = lump.inertial_force(&self.pass.nodes, self.gravity);
                sum += self.about_origin(lump.node(), force);
            }
        }
        sum
    }

    fn beam(&self, beam: ElementId) -> Option<(&Beam, [usize; 4])> {
        let element = &self.mechanism.elements[beam.index()];
        let ElementKind::Beam(beam) = &element.kind else {
            return None;
        };
        Some((beam, std::array::from_fn(|i| element.nodes[i])))
    }

    /// A force at a point or a moment at an orientation, about the origin.
    fn about_origin(&self, node: usize, force: Vector<f64>) -> Force<f64> {
        if self.mechanism.nodes[node].kind.turns() {
            return Force::new(force, Vector([0.0; 3]));
        }
        Force::new(self.pass.nodes[node].position.cross(force), force)
    }

    /// Force or moment that an element exerts on one of its nodes, after [`Equations::residual`].
    pub fn element_force(&self, element: ElementId, node: NodeId) -> Vector<f64> {
        let mut sum = Vector([0.0; 3]);
        let first = self.mechanism.first[element.index()];
        let parts = &self.mechanism.elements[element.index()];
        for (site, _) in (parts.nodes.iter().enumerate()).filter(|(_, at)| **at == node.0) {
            for index in 0..parts.count() {
                let slope = self.pass.gradient[first + index][site];
                sum += slope.scale(-self.stress(element, index));
            }
        }
        sum
    }
}
