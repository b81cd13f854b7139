//! `[nominal_motion]`.

use super::Checker;
use crate::error::ErrorKind;
use crate::path::Path;
use crate::spec::{ElementNodeSpec, GROUND, NominalMotionSpec};

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
        if nominal.components().next().is_none() {
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
    }
}
