//! `[fidelity]` of the model and of single bodies: switches that contradict each other.

use super::Checker;
use crate::model::error::ErrorKind;
use crate::model::fidelity::{Elasticity, Fidelity, ShorteningTerms};
use crate::model::path::Path;
use crate::model::spec::{BodyKind, BodySpec};

impl Checker<'_> {
    pub(super) fn fidelity(&mut self) {
        let spec = self.spec;
        let model = spec.fidelity.resolve(Fidelity::DEFAULT);
        self.counted_once(&Path::root().key("fidelity"), model);
        for (index, body) in spec.body.iter().enumerate() {
            let path = Path::root().key("body").index(index).key("fidelity");
            let Some(own) = body.fidelity else { continue };
            let fidelity = own.resolve(model);
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

    /// A nodal body has no slopes, so its elasticity is linear.
    fn possible(&mut self, path: &Path, body: &BodySpec, fidelity: Fidelity) {
        let nodal = matches!(
            body.kind(),
            Some(BodyKind::Nodal(_) | BodyKind::NodalFile(_))
        );
        if nodal && fidelity.elasticity != Elasticity::Linear {
            self.error(path.key("elasticity"), ErrorKind::NoSlopes);
        }
    }
}
