//! What the bodies of a model are discretised by, and the same model with finer ones or in the other formulation.

use crate::ModelSpec;
use crate::spec::{
    AdaptiveSpec, BasisSpec, BeamSpec, BodySpec, ElementSpec, ElementsSpec, FormulationSpec,
    IntegratorSpec, NodalFormulationSpec, SegmentSpec,
};

/// What the bodies of a model are discretised by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discretization {
    /// Nothing deforms.
    None,
    /// Functions along bodies: a state of fewer is one of more.
    Functions,
    /// Nodes of elements: a finer mesh does not have their places.
    Elements,
    /// Some bodies by functions, some by elements.
    Mixed,
}

/// A model or its time steps at one level of refinement.
#[derive(Clone, Debug, PartialEq)]
pub struct Refined<T> {
    /// The model, or its integrator.
    pub item: T,
    /// What was set, as `bending_y 3`, of which part: a body, an element, or none in particular.
    parts: Vec<(Option<String>, String)>,
    /// What grows with the level.
    pub resolution: f64,
}

impl<T> Refined<T> {
    /// Something refined as a whole.
    pub fn of(item: T, what: String, resolution: f64) -> Self {
        Self {
            item,
            parts: vec![(None, what)],
            resolution,
        }
    }

    /// What was set of every part.
    pub fn settings(&self) -> Vec<String> {
        let said = |(part, what): &(Option<String>, String)| match part {
            Some(part) => format!("{part} {what}"),
            None => what.clone(),
        };
        self.parts.iter().map(said).collect()
    }

    /// The same in short: parts of which the same is said together, and without their names where that is all.
    pub fn name(&self) -> String {
        let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
        for (part, what) in &self.parts {
            let part = part.as_deref();
            match groups.iter_mut().find(|group| group.0 == what) {
                Some(group) => group.1.extend(part),
                None => groups.push((what, part.into_iter().collect())),
            }
        }
        let alone = groups.len() == 1;
        let said = groups.into_iter().map(|(what, parts)| {
            if alone || parts.is_empty() {
                what.to_owned()
            } else {
                format!("{what} of {}", parts.join(", "))
            }
        });
        said.collect::<Vec<_>>().join("; ")
    }
}

impl ModelSpec {
    /// What its bodies are discretised by.
    pub fn discretization(&self) -> Discretization {
        let flexible = |body: &BodySpec| body.rigid.is_none();
        let bends = if self.is_of_nodes() {
            self.element.iter().any(|element| element.beam.is_some())
        } else {
            self.body.iter().any(flexible)
        };
        if !bends {
            Discretization::None
        } else if self.is_in_nodes() {
            Discretization::Elements
        } else if !beams(self).any(is_meshed) {
            Discretization::Functions
        } else if beams(self).all(is_meshed) {
            Discretization::Elements
        } else {
            Discretization::Mixed
        }
    }

    /// Whether its formulation is that of nodal coordinates.
    fn is_in_nodes(&self) -> bool {
        self.formulation != FormulationSpec::Tree || self.is_of_nodes()
    }

    /// Names of the bodies that are taken as they are given.
    pub fn given_bodies(&self) -> impl Iterator<Item = &str> {
        let is_given = |body: &&BodySpec| body.kind().is_some_and(|kind| kind.is_given_by_shapes());
        let given = self.body.iter().filter(is_given);
        given.map(|body| body.name.as_str())
    }

    /// A body or element that starts deformed by coordinates of a mesh, which a finer one does not have.
    pub fn starts_at_nodes(&self) -> Option<&str> {
        let starts_bent =
            |body: &&BodySpec| body.initial.is_some() && body.beam.as_ref().is_some_and(is_meshed);
        let body = self.body.iter().find(starts_bent);
        let is_told = |element: &&ElementSpec| {
            element.beam.as_ref().is_some_and(|beam| {
                beam.initial_deformations_m.is_some()
                    || beam.initial_rates_m_per_s.is_some()
                    || beam.rest_deformations_m.is_some()
            })
        };
        let element = || self.element.iter().find(is_told);
        body.map(|body| &*body.name)
            .or_else(|| element().map(|element| &*element.name))
    }

    /// The model with its bodies refined by so many levels; `None` if there is nothing to refine. Functions grow by one
    /// of every kind that a body has, elements by half of what they are at first, or by one.
    pub fn refined(&self, level: usize) -> Option<Refined<Self>> {
        let mut refined = self.clone();
        let mut parts = Vec::new();
        let mut most = 0;
        if self.is_of_nodes() {
            for element in &mut refined.element {
                let Some(beam) = &mut element.beam else {
                    continue;
                };
                beam.divisions = divided(beam.divisions, level);
                most = most.max(beam.divisions);
                let what = format!("divisions {}", beam.divisions);
                parts.push((Some(element.name.clone()), what));
            }
        } else if let FormulationSpec::Nodal(nodal) = &mut refined.formulation {
            if self.discretization() == Discretization::None {
                return None;
            }
            most = divided(nodal.elements_per_link, level);
            nodal.elements_per_link = most;
            parts.push((None, format!("{most} elements per link")));
        } else {
            for body in &mut refined.body {
                let Some(beam) = &mut body.beam else {
                    continue;
                };
                let (finest, what) = refine_basis(beam, level);
                most = most.max(finest);
                parts.push((Some(body.name.clone()), what));
            }
        }
        (most > 0).then_some(Refined {
            item: refined,
            parts,
            resolution: most as f64,
        })
    }

    /// The model in the other formulation, at a level of two; `None` if it has but one. Elements per link are two and four, and an
    /// integrator is chosen for their stiff equations.
    pub fn in_other_formulation(&self, level: usize) -> Option<Refined<Self>> {
        if self.is_of_nodes() || self.discretization() == Discretization::None {
            return None;
        }
        let mut other = self.clone();
        if self.is_in_nodes() {
            other.formulation = FormulationSpec::Tree;
            return other.refined(level);
        }
        let elements_per_link = 2 << level;
        other.formulation = FormulationSpec::Nodal(NodalFormulationSpec { elements_per_link });
        other.simulation.integrator = IntegratorSpec::Radau(AdaptiveSpec {
            rtol: 1e-7,
            atol: 1e-10,
            ..AdaptiveSpec::default()
        });
        let what = format!("{elements_per_link} elements per link");
        Some(Refined::of(other, what, elements_per_link as f64))
    }
}

fn beams(spec: &ModelSpec) -> impl Iterator<Item = &BeamSpec> {
    spec.body.iter().filter_map(|body| body.beam.as_ref())
}

/// Whether the coordinates of a beam are those of the nodes of a mesh.
fn is_meshed(beam: &BeamSpec) -> bool {
    matches!(&beam.basis, BasisSpec::Elements(mesh) if mesh.modes.is_none())
}

/// Refines the functions of a beam; tells the most of a kind there are, and how many of which.
fn refine_basis(beam: &mut BeamSpec, level: usize) -> (usize, String) {
    for segment in &mut beam.segments {
        segment.elements = segment.elements.map(|count| divided(count, level));
    }
    match &mut beam.basis {
        BasisSpec::Elements(mesh) => finer_mesh(mesh, &beam.segments, level),
        basis => more_functions(basis, level),
    }
}

fn more_functions(basis: &mut BasisSpec, level: usize) -> (usize, String) {
    let kinds = ["bending_y", "bending_z", "stretch", "torsion"];
    let mut most = 0;
    let mut said = Vec::new();
    for (kind, count) in kinds.iter().zip(basis.counts_mut()) {
        let Some(count) = count.filter(|count| **count > 0) else {
            continue;
        };
        *count += level;
        most = most.max(*count);
        said.push(format!("{kind} {count}"));
    }
    (most, said.join(", "))
}

fn finer_mesh(mesh: &mut ElementsSpec, segments: &[SegmentSpec], level: usize) -> (usize, String) {
    mesh.count = mesh.count.map(|count| divided(count, level));
    let own = segments.iter().filter_map(|segment| segment.elements);
    let elements = own.chain(mesh.count).max().unwrap_or(0);
    match &mut mesh.modes {
        Some(modes) => {
            *modes += level;
            (*modes, format!("{modes} modes of {elements} elements"))
        }
        None => (elements, format!("{elements} elements")),
    }
}

/// Half as many again by level, at least one more.
fn divided(count: usize, level: usize) -> usize {
    (count + level).max((count * (2 + level)).div_ceil(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{EachSpec, FunctionsSpec, ModeCounts};

    /// By hand.
    #[test]
    fn meshes_grow_by_half_or_one() {
        let grown = |count| [0, 1, 2].map(|level| divided(count, level));
        assert_eq!(grown(1), [1, 2, 3]);
        assert_eq!(grown(2), [2, 3, 4]);
        assert_eq!(grown(3), [3, 5, 6]);
        assert_eq!(grown(8), [8, 12, 16]);
    }

    /// By hand: only kinds that a body has become more.
    #[test]
    fn functions_that_a_body_lacks_stay_out() {
        let counts = ModeCounts {
            bending_y: 2,
            torsion: 1,
            ..ModeCounts::default()
        };
        let each = EachSpec {
            bending_y: Some(FunctionsSpec::PinnedPinned(2)),
            torsion: Some(FunctionsSpec::ClampedFree(1)),
            ..EachSpec::default()
        };
        for mut basis in [BasisSpec::ClampedFree(counts), BasisSpec::Each(each)] {
            let (most, said) = more_functions(&mut basis, 2);
            assert_eq!(basis.counts(), [4, 0, 0, 3]);
            assert_eq!((most, said.as_str()), (4, "bending_y 4, torsion 3"));
        }
    }

    /// By hand: what is the same of all parts is said once.
    #[test]
    fn names_are_short() {
        let part = |name: &str, what: &str| (Some(name.to_owned()), what.to_owned());
        let name = |parts: &[(Option<String>, String)]| {
            let (item, resolution) = ((), 1.0);
            let parts = parts.to_vec();
            Refined {
                item,
                parts,
                resolution,
            }
            .name()
        };
        assert_eq!(name(&[part("a", "x 2"), part("b", "x 2")]), "x 2");
        let mixed = [part("a", "x 2"), part("b", "y 1"), part("c", "x 2")];
        assert_eq!(name(&mixed), "x 2 of a, c; y 1 of b");
    }
}
