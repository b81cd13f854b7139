//! `[nominal_motion]`.

use super::Checker;
use super::limits::SMALLEST;
use crate::error::ErrorKind;
use crate::path::Path;
use crate::spec::{
    ArcPathSpec, ElementNodeSpec, GROUND, MarkerPathSpec, NominalMotionSpec, OrientationMotionSpec,
    OrientationTableSpec, length,
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
        if let Some(own) = &nominal.path {
            self.marker_path(&path, nominal, own);
        }
        if let Some(orientation) = &nominal.orientation {
            let path = path.key("orientation");
            if orientation.follows_path() && nominal.path.is_none() {
                let reason = "it runs with the path of the marker, and [nominal_motion] has none";
                self.no_effect(path.key(orientation.key()), reason);
            }
            if nominal.rotation.is_some() {
                self.no_effect(path.clone(), "rotation says how the marker turns");
            }
            self.orientation(&path.key(orientation.key()), orientation);
        }
        let moves = nominal.path.is_some() || nominal.components().next().is_some();
        if !moves && nominal.orientation.is_none() {
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

    /// Checks where a marker goes.
    fn marker_path(&mut self, path: &Path, nominal: &NominalMotionSpec, own: &MarkerPathSpec) {
        for (key, _, translates) in nominal.components() {
            if translates {
                self.no_effect(path.key(key), "path says where the marker goes");
            }
        }
        let path = path.key("path");
        let choices = [
            ("line", own.line.is_some()),
            ("arc", own.arc.is_some()),
            ("spline", own.spline.is_some()),
        ];
        self.exactly_one(&path, &choices);
        if let Some(arc) = &own.arc {
            self.arc(&path.key("arc"), arc);
        }
        if let Some(spline) = &own.spline {
            let path = path.key("spline").key("through_m");
            if spline.through_m.is_empty() {
                self.length(path.clone(), 0, 1);
            }
            for (index, pair) in spline.through_m.windows(2).enumerate() {
                let way: Vec<f64> = pair[0].iter().zip(&pair[1]).map(|(a, b)| b - a).collect();
                let apart = length(&way);
                let expected = "a point away from the one before";
                self.in_range(path.index(index + 1), apart, apart >= SMALLEST, expected);
            }
        }
        // where the path ends is known when it is made
        let distance = own.distance.clone().ending_at(1.0);
        let path = path.key("distance").key(distance.key());
        self.motion_profile(&path, &distance, true);
    }

    /// An arc is about an axis or through two points.
    fn arc(&mut self, path: &Path, arc: &ArcPathSpec) {
        let about = [
            ("center_m", arc.center_m.is_some()),
            ("axis", arc.axis.is_some()),
            ("angle_rad", arc.angle_rad.is_some()),
        ];
        let through = [("via_m", arc.via_m.is_some()), ("to_m", arc.to_m.is_some())];
        let is_any = |keys: &[(&str, bool)]| keys.iter().any(|(_, given)| *given);
        if !is_any(&about) || !is_any(&through) {
            let keys = if is_any(&through) {
                &through[..]
            } else {
                &about[..]
            };
            for (key, _) in keys.iter().filter(|(_, given)| !given) {
                let key = (*key).to_owned();
                self.error(path.clone(), ErrorKind::MissingKey { key });
            }
        } else {
            for (key, _) in through.iter().filter(|(_, given)| *given) {
                self.no_effect(
                    path.key(*key),
                    "center_m, axis and angle_rad say where it goes",
                );
            }
        }
        if let Some(axis) = arc.axis {
            self.direction(path.key("axis"), axis);
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
        if nominal.path.is_some() && node.turns() {
            let reason = "the node is an orientation, which has no place";
            self.no_effect(path.key("path"), reason);
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
            OrientationMotionSpec::AlongPath(spec) => {
                self.last_orientation(path, spec.final_rotation_vector_rad, spec.final_quaternion);
            }
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
        let (rows, places) = (table.quaternions(), table.places());
        if rows.is_empty() {
            self.length(path.key(key), 0, FEWEST_ROWS);
            return;
        }
        let choices = [
            ("time_s", !table.time_s.is_empty()),
            ("path_share", !table.path_share.is_empty()),
        ];
        self.exactly_one(path, &choices);
        if places.1.is_empty() {
            return;
        }
        // the first entries stand for the rows: how many there are, and at rising instants
        let entries: Vec<f64> = rows.iter().map(|row| row[0]).collect();
        self.table(path, false, places, (key, &entries), FEWEST_ROWS);
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
