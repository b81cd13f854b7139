//! Which channels belong together, and which are worth a look before anybody has asked.

use lissom::{
    Channel, CoordinateKind, MarkerId, Mechanism, Quantity, Recording, Signal, Signals, Source,
    Stage,
};

/// The group of natural frequencies, which are no signals of the mechanism but found for the page.
pub(crate) const FREQUENCIES: &str = "frequency";

/// Most curves of a panel: as many as can be told apart at a glance.
pub const MOST_CURVES: usize = 6;

/// Titles of the groups with the names of their members, in the order they are offered.
pub(crate) const GROUPS: [(&str, &str); 17] = [
    ("joint", "Joint positions"),
    ("joint_rate", "Joint rates"),
    ("position", "Marker positions"),
    ("deflection", "Deflections"),
    ("load", "Torques and forces"),
    ("energy", "Energy and audit"),
    ("tracking", "Tracking errors"),
    ("section", "Loads along beams"),
    ("nominal", "Nominal trajectory"),
    ("closure", "Loops"),
    ("reaction", "Joint reactions"),
    (FREQUENCIES, "Natural frequencies"),
    ("elastic", "Elastic coordinates"),
    ("elastic_rate", "Elastic rates"),
    ("velocity", "Marker velocities"),
    ("momentum", "Momentum"),
    ("other", "Others"),
];

/// Which channels of a mechanism belong together.
pub(crate) struct Groups {
    signals: Option<Signals>,
    /// The marker whose motion tells most: the last one is usually the hand.
    hand: Option<MarkerId>,
}

impl Groups {
    pub(crate) fn of(mechanism: &Mechanism) -> Self {
        let markers = mechanism.spec().marker.len();
        Self {
            // a mechanism that cannot be where it starts has no recording to be shown
            signals: mechanism.signals().ok(),
            hand: markers.checked_sub(1).map(MarkerId),
        }
    }

    fn signal(&self, name: &str) -> Option<&Signal> {
        let signals = self.signals.as_ref()?;
        Some(&signals[signals.find(name)?])
    }

    /// The group of a channel.
    pub(crate) fn group(&self, name: &str) -> &'static str {
        let Some(signal) = self.signal(name) else {
            return "other";
        };
        match (signal.quantity, signal.source) {
            (Quantity::Coordinate(kind), _) => of_coordinate(kind, signal.stage),
            (_, Source::Closure(_)) => "closure",
            (Quantity::Position, _) => "position",
            (Quantity::Velocity, _) => "velocity",
            (Quantity::Deflection, _) => "deflection",
            (Quantity::Effort, _) => "load",
            (Quantity::Reaction, _) => "reaction",
            (Quantity::Nominal, _) => "nominal",
            (Quantity::TrackingError, _) => "tracking",
            (Quantity::SectionLoad | Quantity::Stress, _) => "section",
            (Quantity::Energy, _) => "energy",
            (Quantity::Momentum, _) => "momentum",
            _ => "other",
        }
    }

    /// What channels show if they belong together; nothing if they do not.
    pub(crate) fn title(&self, names: &[String]) -> &'static str {
        let mut groups = names.iter().map(|name| self.group(name));
        let first = groups.next();
        if !groups.all(|group| Some(group) == first) {
            return "";
        }
        let mut known = GROUPS.iter();
        let found = known.find(|(key, _)| Some(*key) == first && *key != "other");
        found.map_or("", |(_, title)| title)
    }

    fn is_violation(&self, name: &str) -> bool {
        let signal = self.signal(name);
        signal.is_some_and(|signal| signal.quantity == Quantity::Violation)
    }

    fn is_of_hand(&self, name: &str) -> bool {
        let source = self.signal(name).map(|signal| signal.source);
        self.hand
            .is_some_and(|hand| source == Some(Source::Marker(hand)))
    }
}

fn of_coordinate(kind: CoordinateKind, stage: Stage) -> &'static str {
    match (kind, stage) {
        (CoordinateKind::Elastic, Stage::Position) => "elastic",
        (CoordinateKind::Elastic, _) => "elastic_rate",
        (CoordinateKind::Joint | CoordinateKind::Motor, Stage::Position) => "joint",
        (CoordinateKind::Joint | CoordinateKind::Motor, _) => "joint_rate",
        _ => "other",
    }
}

/// Whether a channel changes.
pub(crate) fn moves(channel: &Channel) -> bool {
    let first = channel.samples.first();
    channel.samples.iter().any(|x| Some(x) != first)
}

/// Channels that are shown to begin with.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    /// Names panel by panel.
    pub(crate) shown: Vec<Vec<String>>,
    /// Further channels of the same kinds, for which the panels have no room.
    pub(crate) left_out: Vec<String>,
}

/// The panels to begin with: channels whose names begin with one of `asked`, one panel per kind and unit, or a choice
/// among all.
pub(crate) fn panels(groups: &Groups, recording: &Recording, asked: &[String]) -> Chosen {
    let mut left_out = Vec::new();
    let mut panels: Vec<(String, Vec<String>)> = Vec::new();
    if asked.is_empty() {
        for wanted in [
            "joint",
            "tracking",
            "position",
            "deflection",
            "load",
            "energy",
            "closure",
        ] {
            let names = |strict: bool| -> Vec<String> {
                (recording.channels.iter())
                    .filter(|channel| groups.group(&channel.name) == wanted)
                    // that a loop stays closed is worth seeing
                    .filter(|channel| wanted == "closure" || moves(channel))
                    .filter(|channel| match wanted {
                        "closure" => groups.is_violation(&channel.name),
                        "position" => !strict || groups.is_of_hand(&channel.name),
                        "energy" => {
                            !["energy.total", "energy.drift"].contains(&channel.name.as_str())
                        }
                        _ => true,
                    })
                    .map(|channel| channel.name.clone())
                    .collect()
            };
            let mut chosen = names(true);
            if chosen.is_empty() {
                chosen = names(false);
            }
            left_out.extend(chosen.drain(chosen.len().min(MOST_CURVES)..));
            if !chosen.is_empty() {
                panels.push((wanted.to_owned(), chosen));
            }
        }
    } else {
        for channel in &recording.channels {
            if !asked.iter().any(|a| channel.name.starts_with(a.as_str())) {
                continue;
            }
            let kind = format!("{} {}", groups.group(&channel.name), channel.unit);
            match panels.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, names)) => names.push(channel.name.clone()),
                None => panels.push((kind, vec![channel.name.clone()])),
            }
        }
    }
    Chosen {
        shown: panels.into_iter().map(|(_, names)| names).collect(),
        left_out,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use lissom::sample_instants;

    use super::{Groups, panels};

    /// Property: a mechanism with loops begins with a panel of how far they are open, one without has none.
    #[test]
    fn violations_are_shown_where_there_are_loops() {
        for (name, wanted) in [("four-bar", true), ("two-link-arm", false)] {
            let loaded = loaded(name, &["simulation.duration_s=0.01"]);
            let samples = sample_instants(&loaded.spec, &[]);
            let recording = loaded.mechanism.run(&samples).recording;
            let shown = panels(&Groups::of(&loaded.mechanism), &recording, &[]);
            let open = shown
                .shown
                .iter()
                .flatten()
                .any(|name| name.contains(".violation."));
            assert_eq!(open, wanted, "{name}: {shown:?}");
        }
    }

    /// Property: where joints follow a nominal motion, how far they are off it is shown to begin with.
    #[test]
    fn tracking_errors_are_shown_where_there_are_some() {
        for (name, wanted) in [("spatial-two-link", true), ("two-link-arm", false)] {
            let loaded = loaded(name, &["simulation.duration_s=0.01"]);
            let samples = sample_instants(&loaded.spec, &[]);
            let recording = loaded.mechanism.run(&samples).recording;
            let groups = Groups::of(&loaded.mechanism);
            let shown = panels(&groups, &recording, &[]).shown;
            let tracking =
                |names: &Vec<String>| names.iter().all(|name| groups.group(name) == "tracking");
            assert_eq!(shown.iter().any(tracking), wanted, "{name}: {shown:?}");
        }
    }

    /// Property: the same joint is in the same group in both formulations, also where it follows from others or is
    /// driven, and so are deformations, whatever they are called.
    #[test]
    fn coordinates_are_grouped_alike_in_both_formulations() {
        for changes in [&[][..], &["formulation.nodal.elements_per_link=1"]] {
            let groups = |name: &str| Groups::of(&loaded(name, changes).mechanism);
            let arm = groups("two-link-arm");
            assert_eq!(arm.group("shoulder.angle"), "joint", "{changes:?}");
            assert_eq!(arm.group("elbow.angle.rate"), "joint_rate", "{changes:?}");
            let signals = arm.signals.as_ref().unwrap();
            let elastic = signals
                .iter()
                .filter(|signal| arm.group(&signal.name) == "elastic");
            assert!(elastic.count() >= 4, "{changes:?}");
            let loops = groups("four-bar");
            for joint in ["motor", "crank_pin", "rocker_pivot"] {
                let name = format!("{joint}.angle");
                assert_eq!(loops.group(&name), "joint", "{name}, {changes:?}");
            }
            let floating = groups("space-arm");
            assert_eq!(floating.group("float.quaternion.w"), "other", "{changes:?}");
            assert_eq!(floating.group("float.position.x"), "joint", "{changes:?}");
            assert_eq!(
                floating.group("float.velocity.x"),
                "joint_rate",
                "{changes:?}"
            );
        }
    }

    pub(crate) fn loaded(name: &str, changes: &[&str]) -> lissom_io::load::Loaded {
        let shipped = lissom_io::models::find(name).expect("shipped");
        let changes: Vec<_> = (changes.iter())
            .map(|change| lissom::Override::parse(change).expect("a change"))
            .collect();
        lissom_io::load::load_text(name, shipped.text, &changes).expect("sound")
    }
}
