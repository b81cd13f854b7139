//! `[[body]]`, `[[payload]]`, `[[marker]]` and `[[visual]]`.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::DMatrix;

use super::Checker;
use super::inertia::{CENTRE_OF_MASS, about_centre, tensor};
use super::limits::SMALLEST;
use crate::error::ErrorKind;
use crate::path::Path;
use crate::spec::{BodyKind, BodySpec, DampingSpec, GROUND, NodalSpec, RigidSpec};

/// Difference allowed between mirrored entries, relative to the largest: files carry few digits.
const ASYMMETRY: f64 = 1e-6;

/// Largest negative pivot taken for rounding, relative to the largest stiffness.
const SOFTNESS: f64 = 1e-10;

/// Rows of an influence: three rotations and three translations.
pub(super) const INFLUENCE_ROWS: usize = 6;

impl Checker<'_> {
    pub(super) fn bodies(&mut self) {
        let spec = self.spec;
        let list = Path::root().key("body");
        if spec.body.is_empty() {
            self.error(Path::root(), ErrorKind::NoBodies);
        }
        self.names(
            "body",
            &list,
            spec.body.iter().map(|body| body.name.as_str()),
        );
        for (index, body) in spec.body.iter().enumerate() {
            let path = list.index(index);
            if body.name == GROUND {
                let name = body.name.clone();
                self.error(
                    path.key("name"),
                    ErrorKind::ReservedName { what: "body", name },
                );
            }
            self.body(&path, body);
        }
    }

    fn body(&mut self, path: &Path, body: &BodySpec) {
        let choices = [
            ("rigid", body.rigid.is_some()),
            ("beam", body.beam.is_some()),
            ("frame", body.frame.is_some()),
            ("mesh", body.mesh.is_some()),
            ("reduced", body.reduced.is_some()),
            ("reduced_file", body.reduced_file.is_some()),
            ("nodal", body.nodal.is_some()),
            ("nodal_file", body.nodal_file.is_some()),
        ];
        self.exactly_one(path, &choices);
        // two kinds at once are each looked at, though the body is of neither
        if let Some(rigid) = &body.rigid {
            self.rigid(&path.key("rigid"), rigid);
        }
        let beam_is_sound = match &body.beam {
            Some(beam) => self.beam(&path.key("beam"), &body.name, beam),
            None => true,
        };
        if let Some(frame) = &body.frame {
            self.frame(&path.key("frame"), frame);
        }
        if let Some(mesh) = &body.mesh {
            self.solid_mesh(&path.key("mesh"), mesh);
        }
        if let Some(reduced) = &body.reduced {
            self.reduced(&path.key("reduced"), reduced);
        }
        if let Some(nodal) = &body.nodal {
            self.nodal(&path.key("nodal"), nodal);
        }
        self.nodes(path, body);
        for (index, mass) in body.point_mass.iter().enumerate() {
            let path = path.key("point_mass").index(index);
            self.positive(path.key("mass_kg"), mass.mass_kg);
            if mass.at.is_some() && mass.position_m.is_some() {
                self.error(path, ErrorKind::PlaceTwice);
            } else {
                self.place_on(&path, body, mass.place());
            }
        }
        if beam_is_sound {
            self.elastic(path, body);
        }
    }

    fn rigid(&mut self, path: &Path, rigid: &RigidSpec) {
        self.positive(path.key("mass_kg"), rigid.mass_kg);
        let inertia = tensor(rigid.inertia_kg_m2, rigid.products_of_inertia_kg_m2);
        self.inertia_of_volume(path.key("inertia_kg_m2"), inertia);
    }

    /// Named places: their names, and that they are on the body.
    fn nodes(&mut self, path: &Path, body: &BodySpec) {
        let list = path.key("node");
        self.names(
            "node",
            &list,
            body.node.iter().map(|node| node.name.as_str()),
        );
        let kind = body.kind();
        let is_mesh = matches!(kind, Some(BodyKind::Mesh(_)));
        if kind.is_some_and(|kind| kind.is_given_by_shapes()) && !is_mesh && !body.node.is_empty() {
            self.no_effect(list.clone(), "the body has its own nodes");
        }
        for (index, node) in body.node.iter().enumerate() {
            let path = list.index(index);
            let taken = match kind {
                Some(BodyKind::Beam(_)) => ["root", "tip"],
                _ => ["origin", "center_of_mass"],
            };
            if taken.contains(&node.name.as_str()) {
                let name = node.name.clone();
                self.error(
                    path.key("name"),
                    ErrorKind::ReservedName { what: "node", name },
                );
            }
            if let Some(BodyKind::Beam(beam)) = kind {
                self.on_beam(
                    path.key("position_m"),
                    node.position_m,
                    beam.total_length_m(),
                );
            }
        }
    }

    /// Damping and initial deformation, against the elastic coordinates that the body has.
    fn elastic(&mut self, path: &Path, body: &BodySpec) {
        if matches!(body.kind(), Some(BodyKind::Rigid(_))) {
            let reason = "a rigid body does not deform";
            if body.damping.is_some() {
                self.no_effect(path.key("damping"), reason);
            }
            if body.initial.is_some() {
                self.no_effect(path.key("initial"), reason);
            }
            return;
        }
        let coordinates = body.elastic_coordinates();
        if let Some(damping) = &body.damping {
            self.damping(
                &path.key("damping"),
                damping,
                coordinates.as_ref().map(Vec::len),
            );
        }
        if let (Some(initial), Some(coordinates)) = (&body.initial, &coordinates) {
            let path = path.key("initial");
            self.initial(&path.key("elastic"), body, &initial.elastic, coordinates);
            self.initial(
                &path.key("elastic_rate"),
                body,
                &initial.elastic_rate,
                coordinates,
            );
        }
    }

    fn damping(&mut self, path: &Path, damping: &DampingSpec, coordinates: Option<usize>) {
        match damping {
            DampingSpec::ModalRatio(ratio) => self.damping_ratio(path.key("modal_ratio"), *ratio),
            DampingSpec::ModalRatios(ratios) => {
                let path = path.key("modal_ratios");
                for (index, ratio) in ratios.iter().enumerate() {
                    self.damping_ratio(path.index(index), *ratio);
                }
                if let Some(count) = coordinates {
                    self.length(path, ratios.len(), count);
                }
            }
            DampingSpec::Rayleigh(_) => {}
        }
    }

    fn damping_ratio(&mut self, path: Path, ratio: f64) {
        let accepted = (0.0..1.0).contains(&ratio);
        self.in_range(
            path,
            ratio,
            accepted,
            "a ratio from 0 to below 1, where 0.01 is 1 % of critical damping",
        );
    }

    fn initial(
        &mut self,
        path: &Path,
        body: &BodySpec,
        values: &BTreeMap<String, f64>,
        known: &[String],
    ) {
        for name in values.keys().filter(|name| !known.contains(name)) {
            let kind = ErrorKind::UnknownCoordinate {
                body: body.name.clone(),
                name: name.clone(),
                suggestion: self.suggestion(name, known.iter().map(String::as_str)),
            };
            self.error(path.key(name), kind);
        }
    }

    /// Names of elastic coordinates, if they have any of their own.
    pub(super) fn coordinates(&mut self, path: &Path, names: &[String], count: usize) {
        if names.is_empty() {
            return;
        }
        self.length(path.key("coordinates"), names.len(), count);
        let mut seen = BTreeSet::new();
        for (index, name) in names.iter().enumerate() {
            if !seen.insert(name) {
                let kind = ErrorKind::DuplicateName {
                    what: "coordinate",
                    name: name.clone(),
                };
                self.error(path.key("coordinates").index(index), kind);
            }
        }
    }

    fn nodal(&mut self, path: &Path, nodal: &NodalSpec) {
        let count = nodal.stiffness.len();
        self.coordinates(path, &nodal.coordinates, count);
        self.stiffness(&path.key("stiffness"), &nodal.stiffness);
        let mut seen = BTreeSet::new();
        for (index, node) in nodal.nodes.iter().enumerate() {
            let path = path.key("nodes").index(index);
            match &node.name {
                Some(name) if name.is_empty() => {
                    self.error(path.key("name"), ErrorKind::EmptyName { what: "node" });
                }
                Some(name) if !seen.insert(name) => {
                    let kind = ErrorKind::DuplicateName {
                        what: "node",
                        name: name.clone(),
                    };
                    self.error(path.key("name"), kind);
                }
                _ => {}
            }
            let inertia = path.key("inertia_kg_m2");
            let rows: Vec<&[f64]> = node
                .inertia_kg_m2
                .iter()
                .map(<[f64; 3]>::as_slice)
                .collect();
            if self.symmetric(&inertia, &rows) {
                let about_centre =
                    about_centre(node.inertia_kg_m2, node.mass_kg, node.center_of_mass_m);
                self.inertia_of_mass(inertia, about_centre, "the node");
            }
            if !node.influence.is_empty() {
                let path = path.key("influence");
                self.length(path.clone(), node.influence.len(), INFLUENCE_ROWS);
                for (row, entries) in node.influence.iter().enumerate() {
                    self.length(path.index(row), entries.len(), count);
                }
            }
        }
        if nodal.nodes.iter().all(|node| node.mass_kg < SMALLEST) {
            let key = "total mass_kg of the nodes".to_owned();
            self.error(
                path.key("nodes"),
                ErrorKind::NotPositive { key, value: 0.0 },
            );
        }
    }

    /// Asks for a square, symmetric matrix that resists every deformation.
    pub(super) fn stiffness(&mut self, path: &Path, rows: &[Vec<f64>]) {
        for (row, entries) in rows.iter().enumerate() {
            self.length(path.index(row), entries.len(), rows.len());
        }
        let is_square = rows.iter().all(|row| row.len() == rows.len());
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        if !is_square || rows.is_empty() || !self.symmetric(path, &rows) {
            return;
        }
        let Some(largest) = largest_entry(&rows) else {
            return;
        };
        let scale = if largest > 0.0 { largest } else { 1.0 };
        let mut matrix = DMatrix::from_fn(rows.len(), rows.len(), |row, column| {
            rows[row][column] / scale
        });
        for diagonal in 0..rows.len() {
            matrix[(diagonal, diagonal)] += SOFTNESS;
        }
        if matrix.cholesky().is_none() {
            let key = path.last_key().to_owned();
            self.error(path.clone(), ErrorKind::NotPositiveDefinite { key });
        }
    }

    /// Whether a square matrix is finite and symmetric; reports the first pair of entries that differ.
    pub(super) fn symmetric(&mut self, path: &Path, rows: &[&[f64]]) -> bool {
        let Some(largest) = largest_entry(rows) else {
            return false;
        };
        for row in 0..rows.len() {
            for column in 0..row {
                let (value, mirror) = (rows[row][column], rows[column][row]);
                if (value - mirror).abs() > ASYMMETRY * largest {
                    let kind = ErrorKind::NotSymmetric {
                        key: path.last_key().to_owned(),
                        row: row + 1,
                        column: column + 1,
                        value,
                        mirror,
                    };
                    self.error(path.clone(), kind);
                    return false;
                }
            }
        }
        true
    }

    pub(super) fn payloads(&mut self) {
        let spec = self.spec;
        let list = Path::root().key("payload");
        self.names(
            "payload",
            &list,
            spec.payload.iter().map(|payload| payload.name.as_str()),
        );
        for (index, payload) in spec.payload.iter().enumerate() {
            let path = list.index(index);
            self.body_called(path.key("body"), &payload.body, false);
            self.place(
                &path,
                &payload.body,
                payload.at.as_deref(),
                payload.position_m,
            );
            self.positive(path.key("mass_kg"), payload.mass_kg);
            let inertia = tensor(payload.inertia_kg_m2, payload.products_of_inertia_kg_m2);
            self.inertia_of_mass(path.key("inertia_kg_m2"), inertia, CENTRE_OF_MASS);
        }
    }

    pub(super) fn markers(&mut self) {
        let spec = self.spec;
        let list = Path::root().key("marker");
        self.names(
            "marker",
            &list,
            spec.marker.iter().map(|marker| marker.name.as_str()),
        );
        for (index, marker) in spec.marker.iter().enumerate() {
            let path = list.index(index);
            self.body_called(path.key("body"), &marker.body, true);
            self.place(&path, &marker.body, marker.at.as_deref(), marker.position_m);
        }
    }

    pub(super) fn visuals(&mut self) {
        let spec = self.spec;
        let list = Path::root().key("visual");
        for (index, visual) in spec.visual.iter().enumerate() {
            let path = list.index(index);
            self.body_called(path.key("body"), &visual.body, true);
            let body = self.bodies.get(visual.body.as_str());
            if body.is_some_and(|body| body.rigid.is_none()) {
                let reason =
                    "a flexible body is drawn by its own shape; name a rigid body or the ground";
                self.no_effect(path.key("body"), reason);
            }
            let kinds = [
                ("mesh", visual.mesh.is_some()),
                ("box", visual.cuboid.is_some()),
                ("cylinder", visual.cylinder.is_some()),
                ("sphere", visual.sphere.is_some()),
            ];
            self.exactly_one(&path, &kinds);
        }
    }
}

/// The largest magnitude in a matrix; `None` if an entry is not finite.
fn largest_entry(rows: &[&[f64]]) -> Option<f64> {
    let entries = || rows.iter().flat_map(|row| row.iter());
    let finite = entries().all(|entry| entry.is_finite());
    finite.then(|| entries().fold(0.0_f64, |largest, entry| largest.max(entry.abs())))
}
