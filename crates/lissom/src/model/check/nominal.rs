//! `[nominal_motion]`.

use super::Checker;
use crate::model::error::ErrorKind;
use crate::model::path::Path;
use crate::model::spec::GROUND;

impl Checker<'_> {
    pub(super) fn nominal_motion(&mut self) {
        let spec = self.spec;
        let Some(nominal) = &spec.nominal_motion else {
            return;
        };
        let path = Path::root().key("nominal_motion");
        match spec.find_marker(&nominal.marker) {
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
}
