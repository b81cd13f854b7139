//! A beam cut at sections: how each section moves, and the mass between every two.

use super::super::body::{MassNode, Node};
use super::super::error::FlexError;
use super::super::groups::{Group, Slice, groups, slices_between};
use super::super::second_order::SecondOrderField;
use super::{Beam, node_at};

/// The sections of a beam and what lies between them.
#[derive(Clone, Debug, PartialEq)]
pub struct CutBeam {
    /// The sections, from the root outwards.
    pub sections: Vec<Node>,
    /// The mass from each section up to the next, and at the last. A point mass at a section lies beyond it; one at the root lies
    /// before the first section.
    pub beyond: Vec<Vec<MassNode>>,
}

impl Beam {
    /// The beam cut at `sections`, which rise from the root to the tip, in the coordinates of [`Beam::reduce`].
    ///
    /// # Errors
    /// As [`Beam::reduce`].
    pub fn cut(&self, sections: &[f64]) -> Result<CutBeam, FlexError> {
        self.check()?;
        let sections = self.places(sections, "section")?;
        let point_masses = self.checked_point_masses()?;
        let groups = groups(self, &point_masses)?;
        let length = self.length();
        let mut beyond = Vec::new();
        for (index, &from) in sections.iter().enumerate() {
            let until = sections.get(index + 1).copied();
            let mut slices = slices_between(self, &groups, [from, until.unwrap_or(length)]);
            let is_beyond = |x: f64| x >= from && x > 0.0 && until.is_none_or(|until| x < until);
            let points = point_masses.iter().filter(|(x, _)| is_beyond(*x));
            slices.extend(points.map(|&(x, mass)| Slice {
                x,
                mass,
                section_inertia: [0.0; 2],
            }));
            beyond.push(self.mass_nodes(&slices, &groups));
        }
        let field = SecondOrderField::new(&groups);
        let entries = field.at(&sections, &self.breaks(), &groups);
        let node = |(&x, entries)| node_at(x, &groups, true, entries);
        Ok(CutBeam {
            sections: sections.iter().zip(entries).map(node).collect(),
            beyond,
        })
    }

    fn mass_nodes(&self, slices: &[Slice], groups: &[Group; 4]) -> Vec<MassNode> {
        let field = SecondOrderField::new(groups);
        let places: Vec<f64> = slices.iter().map(|slice| slice.x).collect();
        let entries = field.at(&places, &self.breaks(), groups);
        (slices.iter().zip(entries))
            .map(|(slice, entries)| self.mass_node(slice, groups, &field, entries))
            .collect()
    }
}
