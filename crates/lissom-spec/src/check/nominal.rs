//! `[nominal_motion]`.

use super::Checker;
use crate::error::ErrorKind;
use crate::path::Path;
use crate::spec::{
    ElementNodeSpec, GROUND, NominalMotionSpec, OrientationMotionSpec, OrientationTableSpec, length,
};

/// Longest turn between two rows of a table, in radians: a longer one could be meant the other way round.
const LONGEST_TURN_RAD: f64 = 3.0;

/// By how much the length of a quaternion may differ from one before its numbers are taken for a mistake.
const NOT_UNIT: f64 = 0.01;

/// A curve needs two rows.
const FEWEST_ROWS: usize = 2;

impl Checker<'_> {
    pub(super) fn nominal_motion(&mut self) {
        let spec = self.spec;
        let Some(nominal) = &spec.nominal_motion else {
            return;
        };
        let path = Path::root().key("nominal_motion");
        let node = spec.find_node(&nominal.marker);
        if let Some(node) = node {
            self.path_of_node(&path, nominal, node);
        }
        match spec.find_marker(&nominal.marker) {
            None if node.is_some() => {}
            None if spec.is_of_nodes() => {
                let known = spec.node.iter().map(|node| node.name.as_str());
                self.unknown(path.key("marker"), "node", &nominal.marker, known);
            }
            None => {
                let known = spec.marker.iter().map(|marker| marker.name.as_str());
                self.unknown(path.key("marker"), "marker", &nominal.marker, known);
            }
            Some(marker) if marker.body == GROUND => {
                let reason = "the marker is on the ground, which does not move";
                self.no_effect(path.key("marker"), reason);
            }
            Some(_) => {}
        }
        for (key, profile, translates) in nominal.components() {
            let path = path.key(key).key(profile.key());
            self.motion_profile(&path, profile, translates);
        }
        if let Some(orientation) = &nominal.orientation {
            let path = path.key("orientation");
            if nominal.rotation.is_some() {
                self.no_effect(path.clone(), "rotation says how the marker turns");
            }
            self.orientation(&path.key(orientation.key()), orientation);
        }
        if nominal.components().next().is_none() && nominal.orientation.is_none() {
            let key = "x".to_owned();
            self.error(path.clone(), ErrorKind::MissingKey { key });
        }
        if let Some(axis) = nominal.rotation_axis {
            self.direction(path.key("rotation_axis"), axis);
            if nominal.rotation.is_none() {
                self.no_effect(path.key("rotation_axis"), "there is no rotation about it");
            }
        }
        if !spec.input.iter().any(|input| input.nominal_motion) {
            self.no_effect(path.key("marker"), "no input has nominal_motion = true");
        }
    }

    /// A node is a point, which goes somewhere, or an orientation, which turns.
    fn path_of_node(&mut self, path: &Path, nominal: &NominalMotionSpec, node: &ElementNodeSpec) {
        for (key, _, translates) in nominal.components() {
            if node.turns() == translates {
                let reason = if translates {
                    "the node is an orientation, which has no place"
                } else {
                    "the node is a point, which does not turn"
                };
                self.no_effect(path.key(key), reason);
            } else if key == "z" && node.is_planar() {
                self.no_effect(path.key(key), "the node stays in the plane z = 0");
            }
        }
        if nominal.rotation_axis.is_some() && node.is_planar() {
            self.no_effect(path.key("rotation_axis"), "in the plane angles are about z");
        }
        if nominal.orientation.is_some() && (node.is_planar() || !node.turns()) {
            let reason = if node.turns() {
                "in the plane angles are about z; use rotation"
            } else {
                "the node is a point, which does not turn"
            };
            self.no_effect(path.key("orientation"), reason);
        }
    }

    /// Checks a motion of an orientation at its own path.
    fn orientation(&mut self, path: &Path, orientation: &OrientationMotionSpec) {
        match orientation {
            OrientationMotionSpec::Cycloid(spec) => {
                self.last_orientation(path, spec.final_rotation_vector_rad, spec.final_quaternion);
            }
            OrientationMotionSpec::CycloidalRamps(spec) => {
                self.last_orientation(path, spec.final_rotation_vector_rad, spec.final_quaternion);
                self.ramp(path, spec.ramp_s, spec.duration_s);
            }
            OrientationMotionSpec::ConstantRate(_) => {}
            OrientationMotionSpec::Table(table) => self.orientation_table(path, table),
        }
    }

    fn last_orientation(
        &mut self,
        path: &Path,
        vector: Option<[f64; 3]>,
        quaternion: Option<[f64; 4]>,
    ) {
        let choices = [
            ("final_rotation_vector_rad", vector.is_some()),
            ("final_quaternion", quaternion.is_some()),
        ];
        self.exactly_one(path, &choices);
        if let Some(quaternion) = quaternion {
            self.unit_quaternion(path.key("final_quaternion"), &quaternion);
        }
    }

    fn unit_quaternion(&mut self, path: Path, quaternion: &[f64; 4]) {
        let length = length(quaternion);
        let accepted = (length - 1.0).abs() <= NOT_UNIT;
        let expected = "a quaternion w, x, y, z of length 1";
        self.in_range(path, length, accepted, expected);
    }

    fn orientation_table(&mut self, path: &Path, table: &OrientationTableSpec) {
        let choices = [
            ("rotation_vector_rad", table.rotation_vector_rad.is_some()),
            ("quaternion", table.quaternion.is_some()),
        ];
        self.exactly_one(path, &choices);
        let key = match &table.quaternion {
            Some(rows) => {
                let before = self.errors.len();
                for (index, row) in rows.iter().enumerate() {
                    self.unit_quaternion(path.key("quaternion").index(index), row);
                }
                if self.errors.len() > before {
                    return;
                }
                "quaternion"
            }
            None => "rotation_vector_rad",
        };
        let rows = table.quaternions();
        if rows.is_empty() || table.time_s.is_empty() {
            self.length(
                path.key(key),
                rows.len().min(table.time_s.len()),
                FEWEST_ROWS,
            );
            return;
        }
        // the first entries stand for the rows: how many there are, and at rising instants
        let entries: Vec<f64> = rows.iter().map(|row| row[0]).collect();
        self.table(path, false, &table.time_s, (key, &entries), FEWEST_ROWS);
        for (index, pair) in rows.windows(2).enumerate() {
            let cosine: f64 = pair[0].iter().zip(&pair[1]).map(|(a, b)| a * b).sum();
            let angle = 2.0 * cosine.abs().min(1.0).acos();
            let expected = format!(
                "a turn of at most {LONGEST_TURN_RAD} rad from the row before; put a row between"
            );
            let accepted = angle <= LONGEST_TURN_RAD;
            self.in_range(path.key(key).index(index + 1), angle, accepted, &expected);
        }
    }
}
