//! [`Mesh`]: nodes, solid elements and named groups, whatever file they come from.

use std::collections::BTreeSet;

use crate::FeError;
use crate::shape::Kind;
use lissom_spec::spec::{MaterialSpec, SectionStiffness};

/// Nodes and elements that sets of a file may name by ranges and by other sets, all in all: few lines could name more than fits into memory.
pub(crate) const MOST_IN_SETS: usize = 20_000_000;

/// A mesh of solid elements, or nodes over which matrices are given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Positions of the nodes.
    pub nodes: Vec<[f64; 3]>,
    /// Numbers of the nodes in their file.
    pub numbers: Vec<usize>,
    /// The solid elements.
    pub solids: Vec<Solid>,
    /// Straight beams, instead of solid elements.
    pub bars: Vec<Bar>,
    /// Physical groups, of any dimension.
    pub groups: Vec<Group>,
    /// Masses on nodes.
    pub lumps: Vec<Lump>,
    /// Materials of groups, if the file names them.
    pub materials: Vec<MaterialSpec>,
    /// The first of the elements and connections that are not read: without them the mesh is not the body, unless matrices say what it is.
    pub unread: Option<FeError>,
}

/// A solid element.
#[derive(Clone, Debug, PartialEq)]
pub struct Solid {
    /// Its number in the file.
    pub number: usize,
    /// Its kind.
    pub kind: Kind,
    /// Its nodes, corners first, in the order of Abaqus.
    pub nodes: Vec<usize>,
    /// The groups that it is in.
    pub groups: Vec<usize>,
}

/// A straight beam.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Its ends.
    pub nodes: [usize; 2],
    /// The y axis of its section, across it.
    pub y_direction: [f64; 3],
    /// Stiffness and mass per length.
    pub section: SectionStiffness,
}

/// A rigid mass on a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lump {
    /// The node that carries it.
    pub node: usize,
    /// Its mass.
    pub mass: f64,
    /// Its centre of mass, from the node.
    pub offset: [f64; 3],
    /// ∫rᵢrⱼ dm from its centre of mass.
    pub second_moments: [[f64; 3]; 3],
}

impl Lump {
    /// Whether it is a point at its node, which needs nothing to turn it.
    pub(crate) fn is_point(&self) -> bool {
        let mut beyond = self
            .offset
            .iter()
            .chain(self.second_moments.iter().flatten());
        beyond.all(|&x| x == 0.0)
    }
}

/// A named part of a mesh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Its name, or its number if it has none.
    pub name: String,
    /// Nodes of its elements.
    pub nodes: BTreeSet<usize>,
}

impl Mesh {
    /// Takes lengths and masses in other units.
    pub fn scale(&mut self, unit_m: f64, mass_unit_kg: f64) {
        for coordinate in self.nodes.iter_mut().flatten() {
            *coordinate *= unit_m;
        }
        for lump in &mut self.lumps {
            lump.mass *= mass_unit_kg;
            lump.offset.iter_mut().for_each(|x| *x *= unit_m);
            let moments = lump.second_moments.iter_mut().flatten();
            moments.for_each(|x| *x *= mass_unit_kg * unit_m * unit_m);
        }
        for section in self.bars.iter_mut().map(|bar| &mut bar.section) {
            // forces are in units of mass times length per square of a second
            let [force, moment] = [mass_unit_kg * unit_m, mass_unit_kg * unit_m.powi(3)];
            section.mass *= mass_unit_kg / unit_m;
            section.axial *= force;
            section.torsional *= moment;
            section.inertia.iter_mut().for_each(|x| *x *= force);
            section.shear.iter_mut().for_each(|x| *x *= force);
            section.bending.iter_mut().for_each(|x| *x *= moment);
        }
        for material in &mut self.materials {
            material.youngs_modulus_pa *= mass_unit_kg / unit_m;
            material.density_kg_per_m3 *= mass_unit_kg / unit_m.powi(3);
        }
    }

    /// Takes what is given as weight for mass.
    pub(crate) fn scale_mass(&mut self, factor: f64) {
        for lump in &mut self.lumps {
            lump.mass *= factor;
            let moments = lump.second_moments.iter_mut().flatten();
            moments.for_each(|x| *x *= factor);
        }
        for section in self.bars.iter_mut().map(|bar| &mut bar.section) {
            section.mass *= factor;
            section.inertia.iter_mut().for_each(|x| *x *= factor);
        }
        for material in &mut self.materials {
            material.density_kg_per_m3 *= factor;
        }
    }

    /// The group of that name where something is attached: a surface, if a volume has the same name or number.
    ///
    /// # Errors
    /// If there is none, with those that there are.
    pub(crate) fn place_group(&self, name: &str) -> Result<usize, FeError> {
        self.group(name, false)
    }

    /// The group of that name which is of a material: a volume, if a surface has the same name or number.
    ///
    /// # Errors
    /// If there is none, with those that there are.
    pub(crate) fn volume_group(&self, name: &str) -> Result<usize, FeError> {
        self.group(name, true)
    }

    fn group(&self, name: &str, of_solids: bool) -> Result<usize, FeError> {
        let groups = self.groups.iter().enumerate();
        let mut named = groups
            .filter(|(_, group)| group.name == name)
            .map(|(index, _)| index);
        let first = named.next().ok_or_else(|| FeError::UnknownGroup {
            group: name.to_owned(),
            known: self.groups.iter().map(|group| group.name.clone()).collect(),
        })?;
        let has_solids = |group: usize| self.solids.iter().any(|own| own.groups.contains(&group));
        let others: Vec<usize> = named.collect();
        let all = std::iter::once(first).chain(others.iter().copied());
        let suits = |&group: &usize| others.is_empty() || has_solids(group) == of_solids;
        Ok(all.into_iter().find(suits).unwrap_or(first))
    }

    /// Asks for one connected piece.
    pub(crate) fn connected(&self) -> Result<(), FeError> {
        let solids = self.solids.iter().map(|solid| solid.nodes.as_slice());
        let bars = self.bars.iter().map(|bar| bar.nodes.as_slice());
        let elements: Vec<&[usize]> = solids.chain(bars).collect();
        let mut parts = Parts::new(self.nodes.len());
        for nodes in &elements {
            for &node in &nodes[1..] {
                parts.join(nodes[0], node);
            }
        }
        let of_elements: Vec<usize> = elements.iter().map(|nodes| parts.of(nodes[0])).collect();
        let all: BTreeSet<usize> = of_elements.iter().copied().collect();
        let main = of_elements.first().copied().unwrap_or_default();
        match all.iter().find(|&&part| part != main) {
            None => Ok(()),
            Some(&other) => Err(FeError::Unconnected {
                parts: all.len(),
                elements: of_elements.iter().filter(|&&part| part == other).count(),
                at: self.nodes[other],
            }),
        }
    }
}

/// Nodes that hang together.
pub(crate) struct Parts {
    parent: Vec<usize>,
}

impl Parts {
    pub(crate) fn new(nodes: usize) -> Self {
        Self {
            parent: (0..nodes).collect(),
        }
    }

    pub(crate) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of(a), self.of(b));
        self.parent[b] = a;
    }

    /// A node that stands for the part of a node.
    pub(crate) fn of(&mut self, mut node: usize) -> usize {
        while self.parent[node] != node {
            self.parent[node] = self.parent[self.parent[node]];
            node = self.parent[node];
        }
        node
    }
}
