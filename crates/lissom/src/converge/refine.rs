//! What can be refined of a model: its time steps, the functions and elements of its bodies, its formulation.

use lissom_spec::ModelSpec;
use lissom_spec::spec::{
    AdaptiveSpec, BasisSpec, BeamSpec, BodySpec, ElementSpec, ElementsSpec, FormulationSpec,
    GeneralizedAlphaSpec, IntegratorSpec, NewmarkSpec, NodalFormulationSpec, SegmentSpec,
};

use super::estimate::Orders;

/// Shares of functions in a motion fall at least as $`k^{-2}`$, which a slope at a tip under a moment does. They may
/// alternate between large and small, so that much faster falls are not believed.
pub(super) const OF_FUNCTIONS: Orders = Orders {
    lowest: 1.0,
    highest: 1.5,
};

/// Errors of cubic elements fall as the fourth power of their length.
pub(super) const OF_MESHES: Orders = Orders {
    lowest: 1.0,
    highest: 4.0,
};

/// Errors of a run go about with the error allowed per step.
const OF_TOLERANCES: Orders = Orders {
    lowest: 0.5,
    highest: 1.0,
};

/// Newmark's method and generalised-α are of second order, of first with numerical damping by γ.
const OF_STEPS: Orders = Orders {
    lowest: 1.0,
    highest: 2.0,
};

/// Smallest relative tolerance that integrators take.
const SMALLEST_RTOL: f64 = 1e-14;
/// Smallest tolerance of the iterations in a step that rounding lets pass.
const SMALLEST_ITERATION: f64 = 1e-13;

/// A model or its time steps at one level of refinement.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Refined<T> {
    /// The model, or its integrator.
    pub(super) item: T,
    /// What was set, as `bending_y 3`, of which part: a body, an element, or none in particular.
    parts: Vec<(Option<String>, String)>,
    /// What grows with the level.
    pub(super) resolution: f64,
}

impl<T> Refined<T> {
    /// What was set of every part.
    pub(super) fn settings(&self) -> Vec<String> {
        let said = |(part, what): &(Option<String>, String)| match part {
            Some(part) => format!("{part} {what}"),
            None => what.clone(),
        };
        self.parts.iter().map(said).collect()
    }

    /// The same in short: parts of which the same is said together, and without their names where that is all.
    pub(super) fn name(&self) -> String {
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

/// The integrator at a level, 0 being the user's, and the orders its errors fall by. Tolerances fall to a tenth and
/// the longest step to half by level, fixed steps to half.
pub(super) fn integrator(user: IntegratorSpec, level: u8) -> (Refined<IntegratorSpec>, Orders) {
    let (tenth, half) = (0.1_f64.powi(level.into()), 0.5_f64.powi(level.into()));
    let mut refined = user;
    let (what, resolution, orders) = match &mut refined {
        IntegratorSpec::Auto(spec)
        | IntegratorSpec::Dop853(spec)
        | IntegratorSpec::Dopri5(spec)
        | IntegratorSpec::Adams(spec)
        | IntegratorSpec::Radau(spec)
        | IntegratorSpec::Esdirk(spec) => {
            spec.rtol *= tenth;
            spec.atol *= tenth;
            spec.max_step_s = spec.max_step_s.map(|longest| half * longest);
            let longest = spec
                .max_step_s
                .map(|longest| format!(", max_step_s {longest:.3e}"));
            let what = format!(
                "rtol {:.3e}, atol {:.3e}{}",
                spec.rtol,
                spec.atol,
                longest.unwrap_or_default()
            );
            (what, 1.0 / tenth, OF_TOLERANCES)
        }
        IntegratorSpec::GeneralizedAlpha(GeneralizedAlphaSpec {
            step_s, tolerance, ..
        })
        | IntegratorSpec::Newmark(NewmarkSpec {
            step_s, tolerance, ..
        }) => {
            *step_s *= half;
            *tolerance = (tenth * *tolerance).max(SMALLEST_ITERATION.min(*tolerance));
            (format!("step_s {step_s:.3e}"), 1.0 / half, OF_STEPS)
        }
    };
    let refined = Refined {
        item: refined,
        parts: vec![(None, what)],
        resolution,
    };
    (refined, orders)
}

/// Whether tolerances are not below the rounding of numbers.
pub(super) fn is_above_rounding(integrator: &IntegratorSpec) -> bool {
    match integrator {
        IntegratorSpec::Auto(spec)
        | IntegratorSpec::Dop853(spec)
        | IntegratorSpec::Dopri5(spec)
        | IntegratorSpec::Adams(spec)
        | IntegratorSpec::Radau(spec)
        | IntegratorSpec::Esdirk(spec) => spec.rtol >= SMALLEST_RTOL,
        IntegratorSpec::GeneralizedAlpha(_) | IntegratorSpec::Newmark(_) => true,
    }
}

/// What the bodies of a model deform by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deformations {
    /// Nothing deforms.
    None,
    /// Functions: a state of fewer is one of more.
    Functions,
    /// Nodes of a mesh among others, whose places a finer mesh does not have.
    Nodes,
}

/// What the bodies of a model deform by.
pub(super) fn deformations(spec: &ModelSpec) -> Deformations {
    let flexible = |body: &BodySpec| body.rigid.is_none();
    let bends = if spec.is_of_nodes() {
        spec.element.iter().any(|element| element.beam.is_some())
    } else {
        spec.body.iter().any(flexible)
    };
    if !bends {
        Deformations::None
    } else if spec.formulation != FormulationSpec::Tree
        || spec.is_of_nodes()
        || beams(spec).any(is_meshed)
    {
        Deformations::Nodes
    } else {
        Deformations::Functions
    }
}

fn beams(spec: &ModelSpec) -> impl Iterator<Item = &BeamSpec> {
    spec.body.iter().filter_map(|body| body.beam.as_ref())
}

/// Whether the coordinates of a beam are those of the nodes of a mesh.
fn is_meshed(beam: &BeamSpec) -> bool {
    matches!(&beam.basis, BasisSpec::Elements(mesh) if mesh.modes.is_none())
}

/// By which orders the errors of the bodies fall.
pub(super) fn orders_of_bodies(spec: &ModelSpec) -> Orders {
    if spec.formulation != FormulationSpec::Tree || beams(spec).all(is_meshed) {
        OF_MESHES
    } else {
        OF_FUNCTIONS
    }
}

/// Bodies that are taken as they are given, in words.
pub(super) fn given_bodies(spec: &ModelSpec) -> Vec<String> {
    let given = spec
        .body
        .iter()
        .filter(|body| body.kind().is_some_and(|kind| kind.is_given_by_shapes()));
    given
        .map(|body| format!("{} is taken with the modes that are given", body.name))
        .collect()
}

/// A body or element that starts deformed by coordinates of a mesh, which a finer one does not have.
pub(super) fn starts_at_nodes(spec: &ModelSpec) -> Option<&str> {
    let starts_bent =
        |body: &&BodySpec| body.initial.is_some() && body.beam.as_ref().is_some_and(is_meshed);
    let body = spec.body.iter().find(starts_bent);
    let is_told = |element: &&ElementSpec| {
        element.beam.as_ref().is_some_and(|beam| {
            beam.initial_deformations_m.is_some()
                || beam.initial_rates_m_per_s.is_some()
                || beam.rest_deformations_m.is_some()
        })
    };
    let element = || {
        spec.element
            .iter()
            .find(is_told)
            .map(|element| &*element.name)
    };
    body.map(|body| &*body.name).or_else(element)
}

/// The model with its bodies refined by so many levels; `None` if there is nothing to refine. Functions grow by one
/// of every kind that a body has, elements by half of what they are at first, or by one.
pub(super) fn bodies(spec: &ModelSpec, level: usize) -> Option<Refined<ModelSpec>> {
    let mut refined = spec.clone();
    let mut parts = Vec::new();
    let mut most = 0;
    if let (FormulationSpec::Nodal(nodal), false) = (&mut refined.formulation, spec.is_of_nodes()) {
        if deformations(spec) == Deformations::None {
            return None;
        }
        most = divided(nodal.elements_per_link, level);
        nodal.elements_per_link = most;
        parts.push((None, format!("{most} elements per link")));
    } else if spec.is_of_nodes() {
        for element in &mut refined.element {
            let Some(beam) = &mut element.beam else {
                continue;
            };
            beam.divisions = divided(beam.divisions, level);
            most = most.max(beam.divisions);
            let what = format!("divisions {}", beam.divisions);
            parts.push((Some(element.name.clone()), what));
        }
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

/// The model in the other formulation, at a level of two; `None` if it has but one. Elements per link are two and four.
pub(super) fn other_formulation(spec: &ModelSpec, level: usize) -> Option<Refined<ModelSpec>> {
    if spec.is_of_nodes() || deformations(spec) == Deformations::None {
        return None;
    }
    let mut other = spec.clone();
    if spec.formulation != FormulationSpec::Tree {
        other.formulation = FormulationSpec::Tree;
        return bodies(&other, level);
    }
    let elements_per_link = 2 << level;
    other.formulation = FormulationSpec::Nodal(NodalFormulationSpec { elements_per_link });
    Some(Refined {
        item: other,
        parts: vec![(None, format!("{elements_per_link} elements per link"))],
        resolution: elements_per_link as f64,
    })
}

/// An integrator for the stiff equations of elements.
pub(super) fn for_elements() -> IntegratorSpec {
    IntegratorSpec::Radau(AdaptiveSpec {
        rtol: 1e-7,
        atol: 1e-10,
        ..AdaptiveSpec::default()
    })
}

#[cfg(test)]
mod tests {
    use lissom_spec::spec::{EachSpec, FunctionsSpec, ModeCounts};

    use super::*;

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

    /// By hand: tolerances end at rounding.
    #[test]
    fn tolerances_cannot_be_tightened_for_ever() {
        let tight = AdaptiveSpec {
            rtol: 1e-13,
            ..AdaptiveSpec::default()
        };
        let level = |spec, level| integrator(spec, level).0.item;
        assert!(is_above_rounding(&level(IntegratorSpec::Dop853(tight), 1)));
        assert!(!is_above_rounding(&level(IntegratorSpec::Dop853(tight), 2)));
        let (finer, _) = integrator(IntegratorSpec::default(), 2);
        let IntegratorSpec::Auto(spec) = finer.item else {
            panic!("another method");
        };
        assert!((spec.rtol / 1e-11 - 1.0).abs() < 1e-9);
    }
}
