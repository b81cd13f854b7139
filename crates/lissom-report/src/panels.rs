//! Which channels belong together, and which are worth a look before anybody has asked.

use lissom::model::{CoordinateKind, Model};
use lissom::simulate::recording::{Channel, Recording};

/// Most curves of a panel that nobody has asked for.
const MOST_CURVES: usize = 6;

/// Titles of the groups with the names of their members, in the order they are offered.
pub(crate) const GROUPS: [(&str, &str); 13] = [
    ("joint", "Joint positions"),
    ("joint_rate", "Joint rates"),
    ("position", "Marker positions"),
    ("deflection", "Deflections"),
    ("load", "Torques and forces"),
    ("energy", "Energy and audit"),
    ("closure", "Loops"),
    ("frequency", "Natural frequencies"),
    ("elastic", "Elastic coordinates"),
    ("elastic_rate", "Elastic rates"),
    ("velocity", "Marker velocities"),
    ("momentum", "Momentum"),
    ("other", "Others"),
];

/// The group of a channel.
pub(crate) fn group(model: &Model, name: &str) -> &'static str {
    let kind = |coordinates: &[lissom::model::Coordinate]| {
        let found = coordinates.iter().find(|c| c.name == name);
        found.map(|coordinate| coordinate.kind)
    };
    match (
        kind(&model.linkage.positions),
        kind(&model.linkage.velocities),
    ) {
        (Some(CoordinateKind::Elastic), _) => return "elastic",
        (_, Some(CoordinateKind::Elastic)) => return "elastic_rate",
        (Some(CoordinateKind::Joint | CoordinateKind::Motor), _) => return "joint",
        (_, Some(_)) => return "joint_rate",
        (Some(CoordinateKind::Quaternion), _) => return "other",
        (None, None) => {}
    }
    let motor = |suffix: &str| {
        let own = name.strip_suffix(suffix);
        own.is_some_and(|own| model.transmissions.iter().any(|gear| gear.name == own))
    };
    let first = name.split('.').next().unwrap_or(name);
    let last = name.rsplit('.').next().unwrap_or(name);
    let last = last.trim_end_matches(|c: char| c.is_ascii_digit() || c == '#');
    if motor("") {
        "joint"
    } else if motor(".rate") {
        "joint_rate"
    } else if ["energy", "momentum", "frequency"].contains(&first) {
        GROUPS
            .iter()
            .find(|g| g.0 == first)
            .map_or("other", |g| g.0)
    } else if ["closure", "closures", "constraint", "loop"].contains(&first)
        || model
            .linkage
            .closures
            .iter()
            .any(|closure| closure.name == first)
    {
        "closure"
    } else if name.contains(".position.") {
        "position"
    } else if name.contains(".velocity.") {
        "velocity"
    } else if name.contains(".deflection.") {
        "deflection"
    } else if last.ends_with("torque") || last.ends_with("force") {
        "load"
    } else {
        "other"
    }
}

/// Whether a channel changes.
pub(crate) fn moves(channel: &Channel) -> bool {
    let first = channel.samples.first();
    channel.samples.iter().any(|x| Some(x) != first)
}

/// The panels to begin with: channels whose names begin with one of `asked`, one panel per unit, or a choice
/// among all.
pub(crate) fn panels(model: &Model, recording: &Recording, asked: &[String]) -> Vec<Vec<String>> {
    let mut panels: Vec<(String, Vec<String>)> = Vec::new();
    if asked.is_empty() {
        // the last marker is usually the hand; its coordinates and its own deflection tell most
        let marker = model
            .linkage
            .markers
            .last()
            .map(|marker| format!("{}.", marker.name));
        for wanted in [
            "joint",
            "position",
            "deflection",
            "load",
            "energy",
            "closure",
        ] {
            let names = |strict: bool| -> Vec<String> {
                let of_hand = |name: &str| marker.as_ref().is_some_and(|m| name.starts_with(m));
                (recording.channels.iter())
                    .filter(|channel| group(model, &channel.name) == wanted)
                    // that a loop stays closed is worth seeing
                    .filter(|channel| wanted == "closure" || moves(channel))
                    .filter(|channel| match wanted {
                        "closure" => channel.name.contains(".violation."),
                        "position" => !strict || of_hand(&channel.name),
                        "energy" => {
                            !["energy.total", "energy.drift"].contains(&channel.name.as_str())
                        }
                        _ => true,
                    })
                    .take(MOST_CURVES)
                    .map(|channel| channel.name.clone())
                    .collect()
            };
            let strict = names(true);
            let chosen = if strict.is_empty() {
                names(false)
            } else {
                strict
            };
            if !chosen.is_empty() {
                panels.push((wanted.to_owned(), chosen));
            }
        }
    } else {
        for channel in &recording.channels {
            if !asked.iter().any(|a| channel.name.starts_with(a.as_str())) {
                continue;
            }
            match panels.iter_mut().find(|(unit, _)| *unit == channel.unit) {
                Some((_, names)) => names.push(channel.name.clone()),
                None => panels.push((channel.unit.clone(), vec![channel.name.clone()])),
            }
        }
    }
    panels.into_iter().map(|(_, names)| names).collect()
}

#[cfg(test)]
mod tests {
    use lissom::integrate::Flow;
    use lissom::simulate::{run, sample_instants};

    use super::panels;

    /// Property: a mechanism with loops begins with a panel of how far they are open, one without has none.
    #[test]
    fn violations_are_shown_where_there_are_loops() {
        for (name, wanted) in [("four-bar", true), ("two-link-arm", false)] {
            let shipped = lissom_io::models::find(name).expect("shipped");
            let loaded = lissom_io::load::load_text(name, shipped.text, &[]).expect("sound");
            let mut simulation = loaded.spec.simulation.clone();
            simulation.duration_s = 0.01;
            let mut spec = loaded.spec.clone();
            spec.simulation = simulation.clone();
            let samples = sample_instants(&spec, &[]);
            let recording = run(
                loaded.mechanism.tree(),
                &simulation,
                &samples,
                None,
                &mut |_| Flow::Continue,
            )
            .recording;
            let shown = panels(loaded.mechanism.tree(), &recording, &[]);
            let open = shown
                .iter()
                .flatten()
                .any(|name| name.contains(".violation."));
            assert_eq!(open, wanted, "{name}: {shown:?}");
        }
    }
}
