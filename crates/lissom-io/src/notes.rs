//! What to know of the fidelity of a model before it runs: switches without effect, membrane locking, and directions held along
//! beams whose curvature jumps.

use lissom::model::Elasticity;
use lissom::model::spec::{BasisSpec, BeamSpec, BodyKind, Membrane, Slopes};

use crate::load::Loaded;

/// One sentence per body that a switch does nothing to, or too much, and per support that strikes its beam at nodes.
pub fn notes(loaded: &Loaded) -> Vec<String> {
    let bodies = loaded.mechanism.tree().linkage.system.bodies().iter();
    let note = |body: &lissom::model::Body| {
        let flexible = body.flexible.as_ref()?;
        let elasticity = body.fidelity.elasticity;
        if elasticity == Elasticity::Linear {
            return None;
        }
        let name = &body.name;
        let Some(strain) = &flexible.strain else {
            return Some(format!(
                "{name} has no axial strain to work with: the elasticity switch has no effect on it"
            ));
        };
        let moves = |component| strain.component.contains(&Some(component));
        let bends = moves(1) || moves(2);
        match (elasticity, moves(0)) {
            (Elasticity::ConstantAxialLoad, false) => Some(format!(
                "{name} has no stretch coordinates: the elasticity switch has no effect on it"
            )),
            (Elasticity::Full, false) if bends => Some(format!(
                "{name} has no stretch coordinates to give way when it bends: it is locked, and far too \
                 stiff; add stretch with foreshortening = true"
            )),
            (Elasticity::Full, true) if bends && beam(loaded, name).is_some_and(locks) => {
                Some(format!(
                    "membrane locking: the stretch functions of {name} cannot follow its bending, which makes \
                     it too stiff; use foreshortening = true, or elements with membrane = \"averaged\""
                ))
            }
            _ => None,
        }
    };
    bodies.filter_map(note).chain(strikes(loaded)).collect()
}

/// Supports that hold the direction of a beam with nodes on its way.
fn strikes(loaded: &Loaded) -> impl Iterator<Item = String> {
    let tied = (loaded.spec.support.iter()).filter(|support| support.slopes == Slopes::Tied);
    let bodies = loaded.mechanism.tree().linkage.system.bodies();
    tied.filter_map(|support| {
        let body = bodies.iter().find(|body| body.name == support.beam)?;
        let line = body.flexible.as_ref()?.centreline.as_ref()?;
        (!line.breaks().is_empty()).then(|| {
            format!(
                "support {} ties the slope of {}, whose curvature jumps at its nodes: where the support passes one, velocities \
                 jump and a little energy is lost; eigenfunctions as basis are smooth",
                support.name, support.beam
            )
        })
    })
}

fn beam<'a>(loaded: &'a Loaded, name: &str) -> Option<&'a BeamSpec> {
    let body = loaded.spec.body.iter().find(|body| body.name == name)?;
    match body.kind()? {
        BodyKind::Beam(beam) => Some(beam),
        _ => None,
    }
}

/// Whether the axial functions cannot make the strain of a bent beam vanish.
fn locks(beam: &BeamSpec) -> bool {
    match &beam.basis {
        BasisSpec::ClampedFree(counts)
        | BasisSpec::FreeFree(counts)
        | BasisSpec::Unconstrained(counts) => !counts.foreshortening,
        BasisSpec::Elements(mesh) => mesh.membrane == Membrane::Pointwise,
    }
}

#[cfg(test)]
mod tests {
    use lissom::model::Override;

    use super::notes;
    use crate::load::load_text;
    use crate::models;

    /// Property: tied slopes are remarked on where the beam has nodes, and only there.
    #[test]
    fn tied_slopes_along_elements_are_remarked_on() {
        let text = models::find("sliding-links").unwrap().text;
        let with = |changes: &[&str]| {
            let changes: Vec<Override> = (changes.iter())
                .map(|text| Override::parse(text).unwrap())
                .collect();
            notes(&load_text("sliding-links", text, &changes).unwrap())
        };
        assert!(with(&[]).is_empty());
        let found = with(&["body.first.beam.basis={elements={count=4}}"]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("support first-bearing ties the slope of first"));
    }
}
