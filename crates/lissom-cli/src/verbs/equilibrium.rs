//! `lissom equilibrium`: the static equilibrium of a model under its loads.

use std::io::Write as _;
use std::path::Path;

use lissom::{Equilibrium, Flow, Quantity, Recording, Signal, Signals, Stability, Stage};
use lissom_io::atomic;
use lissom_io::load::Loaded;
use lissom_io::state::StateFile;
use serde_json::{Map, Value, json};

use super::eval::unknown;
use crate::arguments::EquilibriumArguments;
use crate::output::short;
use crate::source;
use crate::stop::Stop;

/// Finds the equilibrium of a model and tells every channel there.
pub(crate) fn run(arguments: &EquilibriumArguments) -> Result<(), Stop> {
    (arguments.out.as_deref()).map_or(Ok(()), atomic::refuse_unwritable)?;
    let named = arguments.model.named()?;
    let loaded = source::load(&named)?;
    let from = source::named_state(&loaded, &arguments.start)?;
    let from = from.unwrap_or_else(|| loaded.mechanism.written());
    let rest = loaded.mechanism.equilibrium(&from)?;
    let stiffness = (arguments.stiffness.as_deref())
        .map(|marker| end_effector(&loaded, &rest, marker))
        .transpose()?;
    let mut answer = as_json(&loaded, &rest);
    if let Some(found) = &stiffness {
        answer["end_effector"] = found.clone();
    }
    if let Some(file) = &arguments.out {
        let text = format!("{answer:#}\n");
        atomic::write(file, |to| to.write_all(text.as_bytes()))?;
    }
    let out = arguments.out.as_deref();
    (arguments.answer).give(&answer, || {
        in_words(&loaded, &rest, stiffness.as_ref(), out, &named.to_string())
    })
}

/// Compliance and stiffness at a marker.
fn end_effector(loaded: &Loaded, rest: &Equilibrium, marker: &str) -> Result<Value, Stop> {
    let found =
        lissom::evaluate::end_effector(&loaded.mechanism, &rest.state, marker, &mut |_| {
            Flow::Continue
        })?;
    let found = found.ok_or_else(|| {
        let markers = loaded.spec.marker.iter().map(|own| own.name.as_str());
        Stop::Usage(format!(
            "--stiffness: {}",
            unknown(marker, "marker", markers)
        ))
    })?;
    let compliance = (found.compliance_m_per_n.as_ref()).map_err(|name| {
        Stop::Failed(format!(
            "nothing holds {name}, so that there is no stiffness at {marker}"
        ))
    })?;
    Ok(json!({
        "marker": marker,
        "held": found.driven,
        "compliance_m_per_n": compliance,
        "stiffness_n_per_m": found.stiffness_n_per_m(),
        "stable": found.is_stable,
        "least_stiffness_n_per_m": found.least_stiffness_n_per_m(),
        "lowest_frequency_rad_per_s": found.frequency_rad_per_s,
    }))
}

/// The same for a person.
fn end_effector_in_words(found: &Value) -> Vec<String> {
    let matrix = |name: &str, unit: &str| {
        let rows = found[name].as_array()?;
        let mut lines = vec![format!("  {name}, x y z in ground axes [{unit}]")];
        for row in rows {
            let cells = row.as_array()?.iter().filter_map(Value::as_f64).map(short);
            let cells: Vec<String> = cells.map(|cell| format!("{cell:>13}")).collect();
            lines.push(format!("  {}", cells.join("")));
        }
        Some(lines)
    };
    let mut lines = vec![format!(
        "At {}, driven joints held:",
        found["marker"].as_str().unwrap_or_default()
    )];
    lines.extend(matrix("compliance_m_per_n", "m/N").into_iter().flatten());
    lines.extend(matrix("stiffness_n_per_m", "N/m").into_iter().flatten());
    if let Some(least) = found["least_stiffness_n_per_m"].as_f64() {
        lines.push(format!(
            "  least stiffness of all directions {} N/m",
            short(least)
        ));
    }
    if found["stable"] == json!(false) {
        lines.push(
            "  no least stiffness: the equilibrium is unstable, and whatever pushes the marker lets it go"
                .to_owned(),
        );
    }
    lines
}

/// Name, unit and value of every channel but those that say nothing at rest.
fn channels<'r>(
    loaded: &Loaded,
    rest: &'r Recording,
) -> impl Iterator<Item = (&'r str, &'r str, f64)> {
    let signals = loaded.mechanism.signals().ok();
    let is_rate = |signal: &Signal| match signal.quantity {
        Quantity::Coordinate(_) => signal.stage == Stage::Velocity,
        Quantity::Velocity | Quantity::AngularVelocity | Quantity::DeflectionRate => true,
        quantity => quantity == Quantity::Momentum,
    };
    let says = move |name: &str| {
        let signal = |signals: &Signals| Some(!is_rate(&signals[signals.find(name)?]));
        signals.as_ref().and_then(signal).unwrap_or(true)
    };
    (rest.channels.iter())
        .filter(move |channel| says(&channel.name))
        .filter_map(|channel| Some((&*channel.name, &*channel.unit, *channel.samples.first()?)))
}

fn as_json(loaded: &Loaded, rest: &Equilibrium) -> Value {
    let told = channels(loaded, &rest.recording)
        .map(|(name, unit, value)| (name.to_owned(), json!({ "unit": unit, "value": value })));
    let stability = match &rest.stability {
        Some(Stability::Stable) => json!("stable"),
        Some(Stability::Indifferent { name }) => json!({ "indifferent": name }),
        Some(Stability::Unstable { name }) => json!({ "unstable": name }),
        None => Value::Null,
    };
    // what `lissom eval` reads as a state
    let free = loaded.mechanism.released().ok();
    let coordinates = free.and_then(|free| free.coordinates().ok());
    let [positions, _] = coordinates.unwrap_or_default();
    let is_coordinate = |name: &str| positions.iter().any(|coordinate| coordinate.name == name);
    let position = channels(loaded, &rest.recording)
        .filter(|(name, ..)| is_coordinate(name))
        .map(|(name, _, value)| (name.to_owned(), json!(value)));
    let mut answer = json!({
        "model": loaded.name(),
        "lissom_version": env!("CARGO_PKG_VERSION"),
        "time_s": rest.state.time_s,
        "stability": stability,
        "load_parts": rest.parts,
        "channels": told.collect::<Map<_, _>>(),
    });
    let position: Map<String, Value> = position.collect();
    if !position.is_empty() {
        answer["position"] = Value::Object(position);
    }
    // what --from reads as one
    if let Ok(state) = StateFile::of(&loaded.mechanism, &rest.state) {
        answer["state"] = json!(state);
    }
    answer
}

fn in_words(
    loaded: &Loaded,
    rest: &Equilibrium,
    stiffness: Option<&Value>,
    out: Option<&Path>,
    typed: &str,
) -> String {
    let name = loaded.name();
    let stability = match &rest.stability {
        Some(Stability::Stable) => ", stable".to_owned(),
        Some(Stability::Indifferent { name }) => format!("; nothing holds {name} in it"),
        Some(Stability::Unstable { name }) => {
            format!(", but unstable: {name} moves away when it is disturbed")
        }
        None => String::new(),
    };
    let mut lines = vec![format!("{name}: at rest in equilibrium{stability}")];
    let kinetic = rest.recording.channel("energy.kinetic");
    if kinetic.is_some_and(|energy| energy.samples.first().is_some_and(|&value| value > 0.0)) {
        lines.push(
            "note: prescribed joints move at this instant. The configuration is that of an equilibrium with them held where they are; \
             reactions and energies contain their motion."
                .to_owned(),
        );
    }
    if rest.parts > 1 {
        lines.push(format!("The load was added in {} parts.", rest.parts));
    }
    for (name, unit, value) in channels(loaded, &rest.recording) {
        lines.push(format!("  {name:<32}{:>13} {unit}", short(value)));
    }
    lines.extend(stiffness.into_iter().flat_map(end_effector_in_words));
    if let Some(file) = out {
        lines.push(format!("\nWrote {}.", file.display()));
    }
    lines.push(format!(
        "\nNext: lissom run {typed} --set simulation.initial=equilibrium"
    ));
    lines.join("\n")
}
