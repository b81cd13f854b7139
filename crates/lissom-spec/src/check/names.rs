//! Names, references by name and places on bodies.

use std::collections::BTreeSet;

use super::Checker;
use super::limits::LONGEST_NAME;
use crate::error::ErrorKind;
use crate::path::Path;
use crate::spec::{BeamFrameSpec, BodyKind, BodySpec, GROUND, Place};
use crate::spelling::nearest;

/// Rounding allowed in a place at the end of a beam, relative to its length.
const ROUNDING: f64 = 1e-12;

/// Problems after which nothing is suggested for a name that is not there: nobody reads more, and each takes its time and memory.
const MOST_SUGGESTIONS: usize = 100;

impl Checker<'_> {
    /// Asks for names that are there, can be printed, are not too long and differ from each other.
    pub(super) fn names<'n>(
        &mut self,
        what: &'static str,
        list: &Path,
        names: impl Iterator<Item = &'n str>,
    ) {
        let mut seen = BTreeSet::new();
        for (index, name) in names.enumerate() {
            let path = list.index(index).key("name");
            if name.is_empty() {
                self.error(path, ErrorKind::EmptyName { what });
            } else if name.chars().any(char::is_control) {
                let name = name.to_owned();
                self.error(path, ErrorKind::ControlCharacter { what, name });
            } else if name.chars().count() > LONGEST_NAME {
                let letters = name.chars().count();
                self.error(path, ErrorKind::LongName { what, letters });
            } else if !seen.insert(name) {
                let name = name.to_owned();
                self.error(path, ErrorKind::DuplicateName { what, name });
            }
        }
    }

    /// Reports a reference to something that is not there.
    pub(super) fn unknown<'n>(
        &mut self,
        path: Path,
        what: &'static str,
        name: &str,
        known: impl Iterator<Item = &'n str>,
    ) {
        let kind = ErrorKind::UnknownReference {
            what,
            name: name.to_owned(),
            suggestion: self.suggestion(name, known),
        };
        self.error(path, kind);
    }

    /// The known name that is nearly the same as one that is not there.
    pub(super) fn suggestion<'n>(
        &self,
        name: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) -> Option<String> {
        let suggestion = self.suggests().then(|| nearest(name, known)).flatten();
        suggestion.map(str::to_owned)
    }

    /// Whether problems are still explained by what else is there, each of which is compared or listed.
    pub(super) fn suggests(&self) -> bool {
        self.errors.len() < MOST_SUGGESTIONS
    }

    /// Looks up a body that must be there.
    pub(super) fn body_called(&mut self, path: Path, name: &str, ground_too: bool) {
        if self.bodies.contains_key(name) || (ground_too && name == GROUND) {
            return;
        }
        let ground = ground_too.then_some(GROUND);
        let spec = self.spec;
        let known = spec
            .body
            .iter()
            .map(|body| body.name.as_str())
            .chain(ground);
        self.unknown(path, "body", name, known);
    }

    /// Checks a place on a body of that name; `table` is where `at` or `position_m` stands.
    pub(super) fn place(
        &mut self,
        table: &Path,
        body: &str,
        at: Option<&str>,
        position: Option<[f64; 3]>,
    ) {
        if at.is_some() && position.is_some() {
            self.error(table.clone(), ErrorKind::PlaceTwice);
            return;
        }
        let place = Place::of(at, position);
        if body == GROUND {
            if let Place::Named(at) = place {
                let kind = ErrorKind::UnknownPlace {
                    body: GROUND.to_owned(),
                    at: at.to_owned(),
                    known: Vec::new(),
                };
                self.error(table.key("at"), kind);
            }
            return;
        }
        if let Some(&body) = self.bodies.get(body) {
            self.place_on(table, body, place);
        }
    }

    /// Checks a place on a body that is there.
    pub(super) fn place_on(&mut self, table: &Path, body: &BodySpec, place: Place<'_>) {
        let Some(kind) = body.kind() else { return };
        match (place, kind) {
            (_, BodyKind::Mesh(_) | BodyKind::ReducedFile(_) | BodyKind::NodalFile(_))
            | (Place::Unsaid, BodyKind::Rigid(_) | BodyKind::Beam(_))
            | (Place::Position(_), BodyKind::Rigid(_)) => {}
            (Place::Named(at), _) => {
                let is_known = match kind {
                    BodyKind::Frame(frame) => frame.place_names().any(|name| name == at),
                    _ => body.named_position(at).is_some(),
                };
                if !is_known {
                    let known = self.suggests().then(|| place_names(body));
                    let kind = ErrorKind::UnknownPlace {
                        body: body.name.clone(),
                        at: at.to_owned(),
                        known: known.unwrap_or_default(),
                    };
                    self.error(table.key("at"), kind);
                }
            }
            (_, BodyKind::Frame(_) | BodyKind::Nodal(_) | BodyKind::Reduced(_)) => {
                let body = body.name.clone();
                self.error(table.clone(), ErrorKind::NodeNeeded { body });
            }
            (Place::Position(position_m), BodyKind::Beam(beam)) => {
                self.on_beam(table.key("position_m"), position_m, beam.total_length_m());
            }
        }
    }

    /// Asks for a position on the axis of a beam, between its ends.
    pub(super) fn on_beam(&mut self, path: Path, position_m: [f64; 3], length_m: f64) {
        let [x_m, y_m, z_m] = position_m;
        if !(x_m.is_finite() && y_m.is_finite() && z_m.is_finite() && length_m > 0.0) {
            return;
        }
        if y_m != 0.0 || z_m != 0.0 {
            self.error(path, ErrorKind::OffAxis { position_m });
        } else if x_m < 0.0 || x_m > length_m * (1.0 + ROUNDING) {
            self.error(path, ErrorKind::OutsideBeam { x_m, length_m });
        }
    }
}

/// The places of a body that have a name.
fn place_names(body: &BodySpec) -> Vec<String> {
    let own: &[&str] = match body.kind() {
        Some(BodyKind::Beam(_)) => &["root", "tip"],
        Some(BodyKind::Rigid(_)) => &["origin", "center_of_mass"],
        _ => &[],
    };
    let nodes = body.node.iter().map(|node| node.name.clone());
    let frame = body.frame.iter().flat_map(BeamFrameSpec::place_names);
    let frame = frame.map(str::to_owned);
    let nodal = body.nodal.iter().flat_map(|nodal| &nodal.nodes);
    let nodal = nodal.filter_map(|node| node.name.clone());
    let reduced = body.reduced.iter().flat_map(|reduced| &reduced.nodes);
    let reduced = reduced.map(|node| node.name.clone());
    own.iter()
        .map(ToString::to_string)
        .chain(nodes)
        .chain(frame)
        .chain(nodal)
        .chain(reduced)
        .collect()
}
