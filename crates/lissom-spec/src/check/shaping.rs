//! `[shaping]`.

use super::Checker;
use crate::error::ErrorKind;
use crate::path::Path;
use crate::spec::{
    MotionProfile, MotionProfileSpec, OrientationMotionSpec, ShapedModeSpec, ShapingSpec,
};

/// Rates below this part of the largest are rest: phases and instants are written with a few digits.
const AT_REST: f64 = 1e-3;

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
        let most = ShapingSpec::MOST_MODES;
        let expected = format!("at most {most} modes in zv and zvd together");
        self.in_range(path.clone(), count as f64, count <= most, &expected);
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
        if let Some(turns @ OrientationMotionSpec::Table(_)) = turns
            && !turns.follows_path()
        {
            let path = Path::root().key("nominal_motion").key("orientation");
            let reason = "a table of orientations cannot be shaped; turn about one axis, or take [shaping] away";
            self.no_effect(path.key("table"), reason);
        }
    }

    /// Asks a motion that is shaped to begin and end at rest: shares of a rate that jumps would jump one after the other.
    pub(super) fn shaped_profile(&mut self, path: &Path, profile: &MotionProfileSpec) {
        if self.spec.shaping.is_none() {
            return;
        }
        let at_ends = rates_at_ends(&profile.profile());
        for (ends, [rate, largest]) in ["begins", "ends"].into_iter().zip(at_ends) {
            if rate.abs() > AT_REST * largest {
                self.error(path.clone(), ErrorKind::ShapedJump { ends, rate });
            }
        }
    }

    fn shaped_mode(&mut self, path: &Path, mode: &ShapedModeSpec) {
        self.frequency(path.key("frequency_rad_per_s"), mode.frequency_rad_per_s);
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

/// How fast a motion is where it begins and ends, in each case with how fast it may be; zero for those that are always at rest there.
fn rates_at_ends(profile: &MotionProfile) -> [[f64; 2]; 2] {
    match profile {
        MotionProfile::Polynomial {
            coefficients,
            from_s,
            until_s,
        } => {
            let powers = (0..).zip(coefficients).skip(1);
            let terms = |time: f64| {
                let term =
                    move |(power, own): (i32, &f64)| f64::from(power) * own * time.powi(power - 1);
                powers.clone().map(term)
            };
            let last_s = until_s.map(|until_s| until_s - from_s);
            let largest = terms(last_s.unwrap_or_default()).map(f64::abs).sum();
            [Some(0.0), last_s].map(|time| [time.map_or(0.0, |time| terms(time).sum()), largest])
        }
        MotionProfile::Sines {
            amplitude,
            frequency_rad_per_s,
            phase_rad,
            from_s,
            until_s,
        } => {
            let sines = || amplitude.iter().zip(frequency_rad_per_s).zip(phase_rad);
            let largest = sines().map(|((a, w), _)| (a * w).abs()).sum();
            let rate = |time: f64| -> f64 {
                let one = |((a, w), p): ((&f64, &f64), &f64)| a * w * (w * time + p).cos();
                sines().map(one).sum()
            };
            let last = until_s.map_or(0.0, |until_s| rate(until_s - from_s));
            [[rate(0.0), largest], [last, largest]]
        }
        _ => [[0.0; 2]; 2],
    }
}
