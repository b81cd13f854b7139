//! `[[support]]`: beams that slide, and what they slide through.

use super::Checker;
use crate::error::ErrorKind;
use crate::path::Path;
use crate::spec::{BodyKind, BodySpec, GROUND, Slopes, SupportSpec};

impl Checker<'_> {
    pub(super) fn supports(&mut self) {
        let spec = self.spec;
        let list = Path::root().key("support");
        let names = || spec.support.iter().map(|support| support.name.as_str());
        self.names("support", &list, names());
        for (index, support) in spec.support.iter().enumerate() {
            let path = list.index(index);
            let taken = spec.find_joint(&support.name).is_some()
                || spec.loops.iter().any(|other| other.name == support.name);
            if taken {
                let kind = ErrorKind::DuplicateName {
                    what: "support",
                    name: support.name.clone(),
                };
                self.error(path.key("name"), kind);
            }
            self.loop_end(&path.key("on"), &support.on);
            self.sliding_beam(&path.key("beam"), &support.beam);
            if spec.loop_end(&support.on).body == support.beam {
                let kind = ErrorKind::OnItself {
                    what: "support",
                    name: support.name.clone(),
                    body: support.beam.clone(),
                };
                self.error(path.key("on").key("body"), kind);
            }
            self.tied(&path, support);
        }
    }

    /// The direction of a rigid beam can be held by a rigid body only.
    fn tied(&mut self, path: &Path, support: &SupportSpec) {
        let spec = self.spec;
        let bends = |name: &str| spec.find_body(name).map(|body| !spec.makes_rigid(body));
        let body = spec.loop_end(&support.on).body;
        let tied = support.slopes == Slopes::Tied;
        if tied && bends(&support.beam) == Some(false) && bends(body) == Some(true) {
            let kind = ErrorKind::TiedToFlexible {
                support: support.name.clone(),
                beam: support.beam.clone(),
                body: body.to_owned(),
            };
            self.error(path.key("slopes"), kind);
        }
    }

    /// Only the axis of a beam is known everywhere along it.
    fn sliding_beam(&mut self, path: &Path, name: &str) {
        let spec = self.spec;
        let beams = || {
            (spec.body.iter())
                .filter(|body| matches!(body.kind(), Some(BodyKind::Beam(_))))
                .map(|body| body.name.as_str())
        };
        match spec.find_body(name).and_then(BodySpec::kind) {
            Some(BodyKind::Beam(beam)) => {
                if beam.deformations()[..2] == [false; 2] {
                    let kind = ErrorKind::NothingToHold {
                        body: name.to_owned(),
                    };
                    self.error(path.clone(), kind);
                }
            }
            _ if name == GROUND || spec.find_body(name).is_some() => {
                let kind = ErrorKind::NotABeam {
                    body: name.to_owned(),
                };
                self.error(path.clone(), kind);
            }
            _ => self.unknown(path.clone(), "body", name, beams()),
        }
    }
}
