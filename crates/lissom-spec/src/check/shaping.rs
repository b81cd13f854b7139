//! `[shaping]`.

use super::Checker;
use super::limits::MOST_SHAPED_MODES;
use crate::error::ErrorKind;
use crate::path::Path;
use crate::spec::{OrientationMotionSpec, ShapedModeSpec};

impl Checker<'_> {
    pub(super) fn shaping(&mut self) {
        let spec = self.spec;
        let Some(shaping) = &spec.shaping else {
            return;
        };
        let path = Path::root().key("shaping");
        let count = shaping.zv.len() + shaping.zvd.len();
        if count == 0 {
            let key = "zv".to_owned();
            self.error(path.clone(), ErrorKind::MissingKey { key });
        }
        let expected = format!("at most {MOST_SHAPED_MODES} modes in zv and zvd together");
        self.in_range(
            path.clone(),
            count as f64,
            count <= MOST_SHAPED_MODES,
            &expected,
        );
        for (key, modes) in [("zv", &shaping.zv), ("zvd", &shaping.zvd)] {
            for (index, mode) in modes.iter().enumerate() {
                self.shaped_mode(&path.key(key).index(index), mode);
            }
        }
        let moves = !spec.motion.is_empty()
            || spec.nominal_motion.is_some()
            || (spec.input.iter()).any(|input| input.rigid_inverse_dynamics.is_some());
        if !moves {
            self.no_effect(path, "nothing says how the model moves");
        }
        let turns = spec.nominal_motion.as_ref();
        let turns = turns.and_then(|nominal| nominal.orientation.as_ref());
        if let Some(OrientationMotionSpec::Table(_)) = turns {
            let path = Path::root().key("nominal_motion").key("orientation");
            let reason = "a table of orientations cannot be shaped; turn about one axis, or take [shaping] away";
            self.no_effect(path.key("table"), reason);
        }
    }

    fn shaped_mode(&mut self, path: &Path, mode: &ShapedModeSpec) {
        self.positive(path.key("frequency_rad_per_s"), mode.frequency_rad_per_s);
        let accepted = (0.0..1.0).contains(&mode.damping_ratio);
        let expected = "a number from 0 to below 1: what is damped more does not vibrate";
        self.in_range(
            path.key("damping_ratio"),
            mode.damping_ratio,
            accepted,
            expected,
        );
    }
}
