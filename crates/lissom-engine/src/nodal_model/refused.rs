//! What a model may contain that the nodal formulation does not know, found in one pass.

use super::NodalModelError;
use lissom_spec::Path;
use lissom_spec::spec::{BodyKind, DampingSpec, ModelSpec};

const TREE: &str = "leave it out or use the tree formulation";

struct Refused {
    errors: Vec<NodalModelError>,
}

impl Refused {
    fn add(&mut self, at: Path, name: &str, what: &'static str, remedy: &'static str) {
        self.errors.push(NodalModelError::Unknown {
            at,
            name: name.to_owned(),
            what,
            remedy,
        });
    }
}

/// Everything that is not known, in the order of the format.
pub(super) fn refused(spec: &ModelSpec) -> Vec<NodalModelError> {
    let mut found = Refused { errors: Vec::new() };
    let root = Path::root();
    for (index, body) in spec.body.iter().enumerate() {
        let at = root.key("body").index(index);
        match body.kind() {
            Some(BodyKind::Rigid(_) | BodyKind::Beam(_)) => {}
            _ => found.add(
                at.clone(),
                &body.name,
                "a body given by its modes",
                "its elements are straight beams between nodes, and such a body has none: write the members of a frame as \
                 [[element]], or use the tree formulation",
            ),
        }
        if matches!(&body.damping, Some(DampingSpec::ModalRatios(ratios)) if ratios.len() > 1) {
            found.add(
                at.key("damping"),
                &body.name,
                "damping ratios of single modes",
                "use one modal_ratio for all modes, or rayleigh damping",
            );
        }
    }
    for (index, support) in spec.support.iter().enumerate() {
        let at = root.key("support").index(index);
        found.add(
            at,
            &support.name,
            "a support that a beam slides through",
            TREE,
        );
    }
    found.errors
}
