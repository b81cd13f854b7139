//! [`Mesh`]: nodes, solid elements and named groups, whatever file they come from.

use std::collections::BTreeSet;

use crate::FeError;
use crate::shape::Kind;

/// A mesh of solid elements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Positions of the nodes.
    pub nodes: Vec<[f64; 3]>,
    /// The solid elements.
    pub solids: Vec<Solid>,
    /// Physical groups, of any dimension.
    pub groups: Vec<Group>,
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
    /// Its physical group.
    pub group: Option<usize>,
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
    /// Takes lengths in another unit.
    pub fn scale(&mut self, unit: f64) {
        for coordinate in self.nodes.iter_mut().flatten() {
            *coordinate *= unit;
        }
    }

    /// The group of that name.
    ///
    /// # Errors
    /// If there is none, with those that there are.
    pub(crate) fn group(&self, name: &str) -> Result<usize, FeError> {
        let found = self.groups.iter().position(|group| group.name == name);
        found.ok_or_else(|| FeError::UnknownGroup {
            group: name.to_owned(),
            known: self.groups.iter().map(|group| group.name.clone()).collect(),
        })
    }

    /// Asks for one connected piece.
    pub(crate) fn connected(&self) -> Result<(), FeError> {
        let mut parent: Vec<usize> = (0..self.nodes.len()).collect();
        for solid in &self.solids {
            let first = root(&mut parent, solid.nodes[0]);
            for &node in &solid.nodes[1..] {
                let other = root(&mut parent, node);
                parent[other] = first;
            }
        }
        let roots: Vec<usize> = (self.solids.iter())
            .map(|solid| root(&mut parent, solid.nodes[0]))
            .collect();
        let parts: BTreeSet<usize> = roots.iter().copied().collect();
        let main = roots.first().copied().unwrap_or_default();
        match parts.iter().find(|&&part| part != main) {
            None => Ok(()),
            Some(&other) => Err(FeError::Unconnected {
                parts: parts.len(),
                elements: roots.iter().filter(|&&root| root == other).count(),
                at: self.nodes[other],
            }),
        }
    }
}

fn root(parent: &mut [usize], mut node: usize) -> usize {
    while parent[node] != node {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    node
}
