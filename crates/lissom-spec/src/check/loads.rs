//! `[[input]]`: what is driven, by what, and how it runs in time.

use super::Checker;
use crate::error::ErrorKind;
use crate::path::Path;
use crate::spec::{GROUND, InputSpec, LoadProfile, LoadQuantity};

impl Checker<'_> {
    pub(super) fn inputs(&mut self) {
        let spec = self.spec;
        for (index, input) in spec.input.iter().enumerate() {
            let path = Path::root().key("input").index(index);
            self.load(&path, input);
            match (&input.joint, &input.marker) {
                (Some(joint), None) => self.input_on_joint(&path, input, joint),
                (None, Some(marker)) => self.input_on_marker(&path, input, marker),
                _ => {}
            }
            self.in_feedforward(&path, input);
        }
    }

    fn input_on_joint(&mut self, path: &Path, input: &InputSpec, name: &str) {
        if input.direction.is_some() {
            self.no_effect(path.key("direction"), "a joint has its own axis");
        }
        let Some(kind) = self.joint_with_component(path, name, input.component) else {
            return;
        };
        let translates = kind.translates(input.component);
        if let Some(motion) = &input.rigid_inverse_dynamics {
            let path = path.key("rigid_inverse_dynamics");
            if self.single_angle(&path, name, kind) {
                self.motion_profile(&path.key(motion.key()), motion, translates);
            }
        }
        self.follows(path, input);
        let wrong = if translates {
            (LoadQuantity::Torque, "force")
        } else {
            (LoadQuantity::Force, "torque")
        };
        self.load_of_kind(path, input, name, wrong);
    }

    /// Reports loads of the quantity that does not suit what they act on, and which does.
    pub(super) fn load_of_kind(
        &mut self,
        path: &Path,
        input: &InputSpec,
        target: &str,
        (wrong, expected): (LoadQuantity, &'static str),
    ) {
        for (key, quantity, _) in input.loads() {
            if quantity == wrong {
                let kind = ErrorKind::WrongLoad {
                    key: key.to_owned(),
                    joint: target.to_owned(),
                    expected,
                };
                self.error(path.key(key), kind);
            }
        }
    }

    fn input_on_marker(&mut self, path: &Path, input: &InputSpec, name: &str) {
        let spec = self.spec;
        match spec.find_marker(name) {
            None => {
                let known = spec.marker.iter().map(|marker| marker.name.as_str());
                self.unknown(path.key("marker"), "marker", name, known);
            }
            Some(marker) if marker.body == GROUND => {
                self.no_effect(
                    path.key("marker"),
                    "the marker is on the ground, which does not move",
                );
            }
            Some(_) => {}
        }
        self.load_in_space(path, input, "it drives joints, not markers");
    }

    /// Asks for the direction of a load on a marker or a node; inverse dynamics has no effect there, and `reason` says why.
    pub(super) fn load_in_space(&mut self, path: &Path, input: &InputSpec, reason: &str) {
        if let Some(direction) = input.direction {
            self.direction(path.key("direction"), direction);
        } else {
            let key = "direction".to_owned();
            self.error(path.clone(), ErrorKind::MissingKey { key });
        }
        for (key, given) in [
            (
                "rigid_inverse_dynamics",
                input.rigid_inverse_dynamics.is_some(),
            ),
            ("nominal_motion", input.nominal_motion),
        ] {
            if given {
                self.no_effect(path.key(key), reason);
            }
        }
    }

    /// Whether there is a nominal motion for an input that has its part in one.
    pub(super) fn follows(&mut self, path: &Path, input: &InputSpec) {
        let spec = self.spec;
        let moves = |other: &InputSpec| other.rigid_inverse_dynamics.is_some();
        if input.nominal_motion && spec.nominal_motion.is_none() && !spec.input.iter().any(moves) {
            self.no_effect(
                path.key("nominal_motion"),
                "neither [nominal_motion] nor another joint's rigid_inverse_dynamics says how to move",
            );
        }
    }

    /// Whether there is a feedforward for a load to be included in.
    pub(super) fn in_feedforward(&mut self, path: &Path, input: &InputSpec) {
        let asks =
            |input: &InputSpec| input.rigid_inverse_dynamics.is_some() || input.nominal_motion;
        if input.in_feedforward && input.joint.is_some() {
            let reason = "what acts on a joint adds to what drives it";
            self.no_effect(path.key("in_feedforward"), reason);
        } else if input.in_feedforward && !self.spec.input.iter().any(asks) {
            let reason = "no input has rigid_inverse_dynamics or nominal_motion = true";
            self.no_effect(path.key("in_feedforward"), reason);
        }
    }

    /// What an input acts on, how many profiles it has, and each of them.
    pub(super) fn load(&mut self, path: &Path, input: &InputSpec) {
        let target = [
            ("joint", input.joint.is_some()),
            ("marker", input.marker.is_some()),
        ];
        self.exactly_one(path, &target);
        let loads = input.loads();
        if loads.len() != 1 {
            let given = loads.iter().map(|(key, _, _)| (*key).to_owned()).collect();
            let choices = LOADS.iter().map(ToString::to_string).collect();
            self.error(path.clone(), ErrorKind::NotExactlyOne { given, choices });
        }
        for (key, quantity, profile) in loads {
            let path = path.key(key);
            let is_torque = quantity == LoadQuantity::Torque;
            let (file, value, amplitude) = if is_torque {
                let file = input
                    .torque_table
                    .as_ref()
                    .map(|table| table.file.is_some());
                (file, "value_n_m", "amplitude_n_m")
            } else {
                let file = input.force_table.as_ref().map(|table| table.file.is_some());
                (file, "value_n", "amplitude_n")
            };
            match &profile {
                LoadProfile::Constant { .. }
                | LoadProfile::Cycloid { .. }
                | LoadProfile::RigidInverseDynamics(_) => {}
                LoadProfile::Step {
                    from_s, until_s, ..
                }
                | LoadProfile::Polynomial {
                    from_s, until_s, ..
                } => {
                    self.until(&path, *from_s, *until_s);
                }
                LoadProfile::Table {
                    time_s,
                    value: values,
                } => {
                    let times = ("time_s", &time_s[..]);
                    self.table(&path, file == Some(true), times, (value, values), 1);
                }
                LoadProfile::Sines {
                    amplitude: amplitudes,
                    frequency_rad_per_s,
                    phase_rad,
                    from_s,
                    until_s,
                } => {
                    let sizes = [amplitudes.len(), frequency_rad_per_s.len(), phase_rad.len()];
                    self.sines(&path, amplitude, sizes);
                    self.until(&path, *from_s, *until_s);
                }
            }
        }
    }

    /// Asks for an end after the beginning.
    pub(super) fn until(&mut self, path: &Path, from_s: f64, until_s: Option<f64>) {
        if let Some(until_s) = until_s {
            let accepted = until_s > from_s || !from_s.is_finite();
            let expected = format!("an instant after from_s = {from_s}");
            self.in_range(path.key("until_s"), until_s, accepted, &expected);
        }
    }

    /// Asks for as many frequencies and phases as amplitudes.
    pub(super) fn sines(&mut self, path: &Path, amplitude: &str, sizes: [usize; 3]) {
        let [amplitudes, frequencies, phases] = sizes;
        if amplitudes == 0 {
            self.length(path.key(amplitude), 0, frequencies.max(1));
            return;
        }
        self.length(path.key("frequency_rad_per_s"), frequencies, amplitudes);
        self.length(path.key("phase_rad"), phases, amplitudes);
    }

    /// Asks for a file, or for rows at rising instants or other places.
    pub(super) fn table(
        &mut self,
        path: &Path,
        has_file: bool,
        (place_key, places): (&str, &[f64]),
        (value_key, values): (&str, &[f64]),
        fewest_rows: usize,
    ) {
        let listed = !places.is_empty() || !values.is_empty();
        if has_file || !listed {
            self.exactly_one(path, &[("file", has_file), (place_key, listed)]);
            return;
        }
        self.length(path.key(value_key), values.len(), places.len());
        let place = path.key(place_key);
        if places.len() < fewest_rows {
            self.length(place.clone(), places.len(), fewest_rows);
        }
        for (index, pair) in places.windows(2).enumerate() {
            let (previous, value) = (pair[0], pair[1]);
            if value <= previous {
                let key = place_key.to_owned();
                self.error(
                    place.index(index + 1),
                    ErrorKind::NotRising {
                        key,
                        previous,
                        value,
                    },
                );
                return;
            }
        }
    }
}

/// Every key that says how an input runs in time.
const LOADS: [&str; 14] = [
    "torque_constant",
    "torque_step",
    "torque_table",
    "torque_cycloid",
    "torque_polynomial",
    "torque_sines",
    "force_constant",
    "force_step",
    "force_table",
    "force_cycloid",
    "force_polynomial",
    "force_sines",
    "rigid_inverse_dynamics",
    "nominal_motion",
];
