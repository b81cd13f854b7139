//! What there is to be drawn of a mechanism: its elements by the nodes that they join, and what its nodes carry.

use lissom_spatial::{Matrix, Vector};

use super::assembly::End;
use super::beam::BeamSection;
use super::element::{ElementId, ElementKind};
use super::inertia::Lump;
use super::mechanism::Mechanism;
use super::node::NodeId;
use super::role::Role;

/// An element to be drawn.
#[derive(Clone, Debug)]
pub struct Figure<'a> {
    /// The element.
    pub id: ElementId,
    /// Name of the element.
    pub name: &'a str,
    /// What it is.
    pub kind: FigureKind,
}

/// A beam to be drawn.
#[derive(Clone, Debug)]
pub struct BeamFigure {
    /// Its ends.
    pub ends: [End; 2],
    /// Its axes at either end in the components of that end's orientation, as columns.
    pub axes: [Matrix<f64>; 2],
    /// Its length.
    pub length: f64,
    /// Its section.
    pub section: BeamSection,
    /// Whether any of its deformations is not fixed.
    pub deforms: bool,
}

/// An element by its kind.
#[derive(Clone, Debug)]
pub enum FigureKind {
    /// A beam.
    Beam(Box<BeamFigure>),
    /// A truss between points.
    Truss([NodeId; 2]),
    /// A hinge between orientations, with its axis in the components of the first.
    Hinge([NodeId; 2], Vector<f64>),
    /// A slider from an end to a point, with its axis in the components of the end's orientation.
    Slider(End, NodeId, Vector<f64>),
}

impl Mechanism {
    /// The elements that have a shape, in the order in which they were added.
    pub fn figures(&self) -> impl Iterator<Item = Figure<'_>> {
        self.elements
            .iter()
            .enumerate()
            .filter_map(|(index, element)| {
                let node = |i: usize| NodeId(element.nodes[i]);
                let end = |i: usize| End {
                    point: node(i),
                    orientation: node(i + 1),
                };
                let columns = |axes: [Vector<f64>; 3]| Matrix(axes.map(|axis| axis.0)).transpose();
                Some(Figure {
                    id: ElementId(index),
                    name: &element.name,
                    kind: match &element.kind {
                        ElementKind::Beam(beam) => FigureKind::Beam(Box::new(BeamFigure {
                            ends: [end(0), end(2)],
                            axes: beam.axes.map(columns),
                            length: beam.length,
                            section: beam.section,
                            deforms: element.roles.iter().any(|&role| role != Role::Fixed),
                        })),
                        ElementKind::Truss(_) => FigureKind::Truss([node(0), node(1)]),
                        ElementKind::Hinge(hinge) => {
                            FigureKind::Hinge([node(0), node(1)], hinge.axis())
                        }
                        ElementKind::Slider(slider) => {
                            FigureKind::Slider(end(0), node(2), slider.axis())
                        }
                        ElementKind::Ball(_) => return None,
                    },
                })
            })
    }

    /// Masses of points.
    pub fn masses(&self) -> impl Iterator<Item = (NodeId, f64)> {
        self.lumps.iter().filter_map(|lump| match *lump {
            Lump::Mass { node, mass } => Some((NodeId(node), mass)),
            Lump::Inertia { .. } => None,
        })
    }

    /// Inertia of an orientation in its own components, summed up.
    pub fn inertia_of(&self, orientation: NodeId) -> Matrix<f64> {
        let mut sum = Matrix::zero();
        for lump in &self.lumps {
            if let Lump::Inertia { node, inertia } = lump
                && *node == orientation.0
            {
                sum += *inertia;
            }
        }
        sum
    }
}
