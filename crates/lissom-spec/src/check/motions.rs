//! `[[motion]]`, and the profiles that inverse dynamics shares with it.

use std::collections::BTreeSet;

use super::Checker;
use crate::error::ErrorKind;
use crate::path::Path;
use crate::spec::{JointKind, MotionProfileSpec, MotionSpec};

/// A spline needs two rows.
const FEWEST_ROWS: usize = 2;

/// Limits of rotations and of translations.
const MAX_RATE: [&str; 2] = ["max_rate_rad_per_s", "max_rate_m_per_s"];
const MAX_ACCELERATION: [&str; 2] = ["max_acceleration_rad_per_s2", "max_acceleration_m_per_s2"];
const MAX_JERK: [&str; 2] = ["max_jerk_rad_per_s3", "max_jerk_m_per_s3"];

impl<'a> Checker<'a> {
    pub(super) fn motions(&mut self) {
        let spec = self.spec;
        let driven = spec.input.iter();
        let driven: BTreeSet<(&str, usize)> = driven
            .filter_map(|input| Some((input.joint.as_deref()?, input.component)))
            .collect();
        let mut prescribed = BTreeSet::new();
        for (index, motion) in spec.motion.iter().enumerate() {
            let path = Path::root().key("motion").index(index);
            self.motion(&path, motion);
            let freedom = (motion.joint.as_str(), motion.component);
            let joint = motion.joint.clone();
            let component = motion.component;
            if !prescribed.insert(freedom) {
                self.error(
                    path.key("joint"),
                    ErrorKind::PrescribedTwice { joint, component },
                );
            } else if driven.contains(&freedom) {
                self.error(
                    path.key("joint"),
                    ErrorKind::DrivenAndPrescribed { joint, component },
                );
            }
        }
    }

    /// Asks for exactly one profile.
    pub(super) fn one_profile(&mut self, path: &Path, motion: &MotionSpec) {
        let choices = [
            ("cycloid", motion.cycloid.is_some()),
            ("cycloidal_ramps", motion.cycloidal_ramps.is_some()),
            ("cycloidal_rate", motion.cycloidal_rate.is_some()),
            ("quintic", motion.quintic.is_some()),
            ("trapezoidal", motion.trapezoidal.is_some()),
            ("s_curve", motion.s_curve.is_some()),
            ("polynomial", motion.polynomial.is_some()),
            ("sines", motion.sines.is_some()),
            ("table", motion.table.is_some()),
            ("constant_rate", motion.constant_rate.is_some()),
        ];
        self.exactly_one(path, &choices);
    }

    fn motion(&mut self, path: &Path, motion: &MotionSpec) {
        self.one_profile(path, motion);
        let Some(kind) = self.joint_with_component(path, &motion.joint, motion.component) else {
            return;
        };
        if self.single_angle(&path.key("joint"), &motion.joint, kind) {
            for profile in motion.profile_specs() {
                self.motion_profile(
                    &path.key(profile.key()),
                    &profile,
                    kind.translates(motion.component),
                );
            }
        }
    }

    /// The kind of the joint of that name, if it has the component; reports what is missing.
    pub(super) fn joint_with_component(
        &mut self,
        path: &Path,
        name: &str,
        component: usize,
    ) -> Option<JointKind<'a>> {
        let spec = self.spec;
        let Some(joint) = spec.find_joint(name) else {
            let known = spec.joint.iter().map(|joint| joint.name.as_str());
            self.unknown(path.key("joint"), "joint", name, known);
            return None;
        };
        let kind = joint.kind()?;
        let count = kind.degrees_of_freedom();
        if count == 0 {
            let joint = name.to_owned();
            self.error(path.key("joint"), ErrorKind::NoFreedom { joint });
            return None;
        }
        if !(1..=count).contains(&component) {
            let joint = name.to_owned();
            self.error(
                path.key("component"),
                ErrorKind::NoSuchComponent {
                    joint,
                    component,
                    count,
                },
            );
            return None;
        }
        Some(kind)
    }

    /// Asks for a joint whose coordinates are angles or displacements by themselves.
    pub(super) fn single_angle(&mut self, path: &Path, joint: &str, kind: JointKind<'_>) -> bool {
        let single = !matches!(kind, JointKind::Spherical(_) | JointKind::Free(_));
        if !single {
            let joint = joint.to_owned();
            self.error(
                path.clone(),
                ErrorKind::NoSingleAngle {
                    joint,
                    kind: kind.key(),
                },
            );
        }
        single
    }

    /// Checks a profile at its own path, for a component that translates or rotates.
    pub(super) fn motion_profile(
        &mut self,
        path: &Path,
        profile: &MotionProfileSpec,
        translates: bool,
    ) {
        self.shaped_profile(path, profile);
        match profile {
            MotionProfileSpec::Cycloid(spec) => {
                let angles = [spec.initial_angle_rad, spec.final_angle_rad];
                let displacements = [spec.initial_displacement_m, spec.final_displacement_m];
                self.way(path, angles, displacements, translates);
            }
            MotionProfileSpec::CycloidalRamps(spec) => {
                let angles = [spec.initial_angle_rad, spec.final_angle_rad];
                let displacements = [spec.initial_displacement_m, spec.final_displacement_m];
                self.way(path, angles, displacements, translates);
                self.ramp(path, spec.ramp_s, spec.duration_s);
            }
            MotionProfileSpec::CycloidalRate(spec) => {
                let given = (
                    spec.final_rate_rad_per_s.is_some(),
                    spec.final_rate_m_per_s.is_some(),
                );
                self.needed(
                    path,
                    ["final_rate_rad_per_s", "final_rate_m_per_s"],
                    given,
                    translates,
                );
            }
            MotionProfileSpec::Quintic(spec) => {
                let angles = [spec.initial_angle_rad, spec.final_angle_rad];
                let displacements = [spec.initial_displacement_m, spec.final_displacement_m];
                self.way(path, angles, displacements, translates);
            }
            MotionProfileSpec::Trapezoidal(spec) => {
                let angles = [spec.initial_angle_rad, spec.final_angle_rad];
                let displacements = [spec.initial_displacement_m, spec.final_displacement_m];
                self.way(path, angles, displacements, translates);
                let durations = [("duration_s", spec.duration_s), ("ramp_s", spec.ramp_s)];
                let rates = [spec.max_rate_rad_per_s, spec.max_rate_m_per_s];
                let accelerations = [
                    spec.max_acceleration_rad_per_s2,
                    spec.max_acceleration_m_per_s2,
                ];
                let limits = [(MAX_RATE, rates), (MAX_ACCELERATION, accelerations)];
                self.durations_or_limits(path, &durations, &limits, translates);
            }
            MotionProfileSpec::SCurve(spec) => {
                let angles = [spec.initial_angle_rad, spec.final_angle_rad];
                let displacements = [spec.initial_displacement_m, spec.final_displacement_m];
                self.way(path, angles, displacements, translates);
                let durations = [
                    ("duration_s", spec.duration_s),
                    ("ramp_s", spec.ramp_s),
                    ("jerk_s", spec.jerk_s),
                ];
                let rates = [spec.max_rate_rad_per_s, spec.max_rate_m_per_s];
                let accelerations = [
                    spec.max_acceleration_rad_per_s2,
                    spec.max_acceleration_m_per_s2,
                ];
                let jerks = [spec.max_jerk_rad_per_s3, spec.max_jerk_m_per_s3];
                let limits = [
                    (MAX_RATE, rates),
                    (MAX_ACCELERATION, accelerations),
                    (MAX_JERK, jerks),
                ];
                self.durations_or_limits(path, &durations, &limits, translates);
            }
            MotionProfileSpec::Polynomial(spec) => {
                let given = (
                    spec.coefficients_rad.is_some(),
                    spec.coefficients_m.is_some(),
                );
                self.needed(
                    path,
                    ["coefficients_rad", "coefficients_m"],
                    given,
                    translates,
                );
                self.until(path, spec.from_s, spec.until_s);
            }
            MotionProfileSpec::Sines(spec) => {
                let given = (spec.amplitude_rad.is_some(), spec.amplitude_m.is_some());
                let keys = ["amplitude_rad", "amplitude_m"];
                self.needed(path, keys, given, translates);
                if let Some(amplitudes) = spec.amplitude_rad.as_ref().or(spec.amplitude_m.as_ref())
                {
                    let phases = if spec.phase_rad.is_empty() {
                        amplitudes.len()
                    } else {
                        spec.phase_rad.len()
                    };
                    let sizes = [amplitudes.len(), spec.frequency_rad_per_s.len(), phases];
                    self.sines(path, keys[usize::from(translates)], sizes);
                }
                self.until(path, spec.from_s, spec.until_s);
            }
            MotionProfileSpec::Table(spec) => {
                let keys = ["angle_rad", "displacement_m"];
                let given = (spec.angle_rad.is_some(), spec.displacement_m.is_some());
                if given == (false, false) {
                    // a file brings its own values
                    self.exactly_one(
                        path,
                        &[
                            ("file", spec.file.is_some()),
                            (keys[usize::from(translates)], false),
                        ],
                    );
                } else {
                    self.spelling(path, keys, given, translates);
                    let values = spec.angle_rad.as_ref().or(spec.displacement_m.as_ref());
                    let values = values.map_or(&[][..], Vec::as_slice);
                    let value = (keys[usize::from(spec.angle_rad.is_none())], values);
                    let times = ("time_s", &spec.time_s[..]);
                    self.table(path, spec.file.is_some(), times, value, FEWEST_ROWS);
                }
            }
            MotionProfileSpec::ConstantRate(spec) => {
                let given = (spec.rate_rad_per_s.is_some(), spec.rate_m_per_s.is_some());
                self.needed(path, ["rate_rad_per_s", "rate_m_per_s"], given, translates);
            }
        }
    }

    /// A profile of ramps says how long all its parts take, or how fast it may be; each part takes at most half of the one before.
    fn durations_or_limits(
        &mut self,
        path: &Path,
        durations: &[(&str, Option<f64>)],
        limits: &[([&str; 2], [Option<f64>; 2])],
        translates: bool,
    ) {
        let timed = durations.iter().any(|(_, duration)| duration.is_some());
        for (keys, [rotation, translation]) in limits {
            let given = (rotation.is_some(), translation.is_some());
            if !timed {
                self.needed(path, *keys, given, translates);
            } else if given != (false, false) {
                let key = keys[usize::from(!given.0)];
                let reason = "duration_s and ramp_s say how fast the motion is";
                self.no_effect(path.key(key), reason);
            }
        }
        if !timed {
            return;
        }
        for (key, duration) in durations {
            if duration.is_none() {
                let key = (*key).to_owned();
                self.error(path.clone(), ErrorKind::MissingKey { key });
            }
        }
        for pair in durations.windows(2) {
            if let [(longer, Some(whole)), (key, Some(part))] = *pair {
                let expected = format!("at most half of {longer} = {whole}");
                self.in_range(path.key(key), part, part <= 0.5 * whole, &expected);
            }
        }
    }

    /// Two ramps fit into the duration.
    pub(super) fn ramp(&mut self, path: &Path, ramp_s: f64, duration_s: f64) {
        let accepted = ramp_s <= 0.5 * duration_s;
        let expected = format!("at most half of duration_s = {duration_s}");
        self.in_range(path.key("ramp_s"), ramp_s, accepted, &expected);
    }

    /// First and last position of a profile, as angles or as displacements.
    fn way(
        &mut self,
        path: &Path,
        angles: [Option<f64>; 2],
        displacements: [Option<f64>; 2],
        translates: bool,
    ) {
        let given = |i: usize| (angles[i].is_some(), displacements[i].is_some());
        let [first, last] = [
            ["initial_angle_rad", "initial_displacement_m"],
            ["final_angle_rad", "final_displacement_m"],
        ];
        self.spelling(path, first, given(0), translates);
        self.needed(path, last, given(1), translates);
    }

    /// Asks for the spelling that suits the joint; `given` says which of the two is there.
    fn spelling(&mut self, path: &Path, keys: [&str; 2], given: (bool, bool), translates: bool) {
        let (rotation, translation) = given;
        let wrong = if translates { rotation } else { translation };
        if wrong {
            let kind = ErrorKind::WrongUnit {
                key: keys[usize::from(!translates)].to_owned(),
                expected: keys[usize::from(translates)].to_owned(),
            };
            self.error(path.key(keys[usize::from(!translates)]), kind);
        }
    }

    /// The same for a key that must be there in one of its spellings.
    fn needed(&mut self, path: &Path, keys: [&str; 2], given: (bool, bool), translates: bool) {
        if given == (false, false) {
            let key = keys[usize::from(translates)].to_owned();
            self.error(path.clone(), ErrorKind::MissingKey { key });
        }
        self.spelling(path, keys, given, translates);
    }
}
