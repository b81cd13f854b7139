//! `[fidelity]` of the model and of single bodies: switches that contradict each other.

use super::Checker;
use crate::error::ErrorKind;
use crate::fidelity::{Elasticity, Fidelity, Inertia, ShorteningTerms, Tip};
use crate::path::Path;
use crate::spec::{BasisSpec, BodyKind, BodySpec, Boundary, FunctionsSpec};

impl Checker<'_> {
    pub(super) fn fidelity(&mut self) {
        let spec = self.spec;
        let model = spec.fidelity.resolve(Fidelity::DEFAULT);
        if !model.rigid {
            self.counted_once(&Path::root().key("fidelity"), model);
        }
        for (index, body) in spec.body.iter().enumerate() {
            let of_body = Path::root().key("body").index(index);
            let path = of_body.key("fidelity");
            if spec.makes_rigid(body) {
                continue;
            }
            let Some(own) = body.fidelity else {
                self.clamped(&of_body, body, model);
                self.lumped(&of_body, body, model);
                continue;
            };
            let fidelity = own.resolve(model);
            self.clamped(&path, body, fidelity);
            self.lumped(&path, body, fidelity);
            self.counted_once(&path, fidelity);
            self.possible(&path, body, fidelity);
        }
    }

    /// The axial strain of a bent beam may be counted in the elasticity or in the shortening, not in both.
    fn counted_once(&mut self, path: &Path, fidelity: Fidelity) {
        if fidelity.elasticity != Elasticity::Linear && fidelity.shortening != ShorteningTerms::None
        {
            self.error(path.key("elasticity"), ErrorKind::CountedTwice);
        }
    }

    /// A chord starts at a held root, and so does the tension of a link that turns about it.
    fn clamped(&mut self, path: &Path, body: &BodySpec, fidelity: Fidelity) {
        let clamped = match body.kind() {
            Some(BodyKind::Beam(beam)) => match &beam.basis {
                BasisSpec::ClampedFree(_) | BasisSpec::ClampedClamped(_) => true,
                BasisSpec::Each(each) => each.in_order().into_iter().flatten().all(|own| {
                    let clamped = FunctionsSpec::ClampedFree(own.count());
                    own == clamped || own == FunctionsSpec::ClampedClamped(own.count())
                }),
                BasisSpec::Elements(elements) => elements.boundary == Boundary::Clamped,
                _ => false,
            },
            Some(BodyKind::Rigid(_)) | None => true,
            Some(_) => false,
        };
        let chord = fidelity.tip == Tip::Chord;
        let tension = fidelity.shortening == ShorteningTerms::GeometricStiffness;
        for (wanted, switch, value, instead) in [
            (chord, "tip", "chord", "rotation_vector"),
            (tension, "shortening", "geometric_stiffness", "none"),
        ] {
            if wanted && !clamped {
                let body = body.name.clone();
                let kind = ErrorKind::NotClamped {
                    body,
                    switch,
                    value,
                    instead,
                };
                self.error(path.clone(), kind);
            }
        }
    }

    /// A body given by its shapes has no slopes, so its elasticity is linear.
    fn possible(&mut self, path: &Path, body: &BodySpec, fidelity: Fidelity) {
        let by_shapes = body.kind().is_some_and(|kind| kind.is_given_by_shapes());
        if by_shapes && fidelity.elasticity != Elasticity::Linear {
            self.error(path.key("elasticity"), ErrorKind::NoSlopes);
        }
    }

    /// A body given by integrals over its mass has no lumps.
    fn lumped(&mut self, path: &Path, body: &BodySpec, fidelity: Fidelity) {
        let has_none = matches!(
            body.kind(),
            Some(
                BodyKind::Frame(_)
                    | BodyKind::Mesh(_)
                    | BodyKind::Reduced(_)
                    | BodyKind::ReducedFile(_)
            )
        );
        if has_none && fidelity.inertia == Inertia::LumpedNodes {
            let body = body.name.clone();
            self.error(path.clone(), ErrorKind::NoLumps { body });
        }
    }
}
