//! `lissom equilibrium`: where a model rests under its loads.

use std::io::Write as _;

use lissom::{Equilibrium, Recording, Stability};
use lissom_io::atomic;
use lissom_io::load::Loaded;
use serde_json::{Map, Value, json};

use crate::arguments::EquilibriumArguments;
use crate::output::short;
use crate::stop::Stop;
use crate::{output, source};

/// Finds the equilibrium of a model and tells every channel there.
pub(crate) fn run(arguments: &EquilibriumArguments) -> Result<(), Stop> {
    let loaded = source::load(&arguments.model, &arguments.changes.overrides())?;
    let from = source::named_state(&loaded, &arguments.start)?;
    let from = from.unwrap_or_else(|| loaded.mechanism.written());
    let rest = loaded.mechanism.equilibrium(&from);
    let rest = rest.map_err(|error| Stop::Failed(error.to_string()))?;
    let answer = as_json(&loaded, &rest);
    if let Some(file) = &arguments.out {
        let text = format!("{answer:#}\n");
        atomic::write(file, |to| to.write_all(text.as_bytes()))
            .map_err(|error| Stop::Failed(error.to_string()))?;
    }
    if arguments.json {
        output::json(&answer)
    } else {
        output::say(&in_words(&loaded, &rest, arguments));
        Ok(())
    }
}

/// Name, unit and value of every channel but those that say nothing at rest.
fn channels(rest: &Recording) -> impl Iterator<Item = (&str, &str, f64)> {
    let rate = |name: &str| name.rsplit('.').next() == Some("rate");
    let says = move |name: &str| !rate(name) && !name.contains("velocity");
    (rest.channels.iter())
        .filter(move |channel| says(&channel.name) && !channel.name.starts_with("momentum"))
        .filter_map(|channel| Some((&*channel.name, &*channel.unit, *channel.samples.first()?)))
}

fn as_json(loaded: &Loaded, rest: &Equilibrium) -> Value {
    let told = channels(&rest.recording)
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
    let position = channels(&rest.recording)
        .filter(|(name, ..)| is_coordinate(name))
        .map(|(name, _, value)| (name.to_owned(), json!(value)));
    let mut answer = json!({
        "model": loaded.spec.name.clone().unwrap_or(loaded.label.clone()),
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
    answer
}

fn in_words(loaded: &Loaded, rest: &Equilibrium, arguments: &EquilibriumArguments) -> String {
    let name = loaded.spec.name.clone().unwrap_or(loaded.label.clone());
    let stability = match &rest.stability {
        Some(Stability::Stable) => ", stable".to_owned(),
        Some(Stability::Indifferent { name }) => format!("; nothing holds {name} in it"),
        Some(Stability::Unstable { name }) => {
            format!(", but unstable: {name} leaves it at a touch")
        }
        None => String::new(),
    };
    let mut lines = vec![format!("{name}: at rest in equilibrium{stability}")];
    if rest.parts > 1 {
        lines.push(format!("The load was added in {} parts.", rest.parts));
    }
    for (name, unit, value) in channels(&rest.recording) {
        lines.push(format!("  {name:<32}{:>13} {unit}", short(value)));
    }
    if let Some(file) = &arguments.out {
        lines.push(format!("\nWrote {}.", file.display()));
    }
    lines.push(format!(
        "\nNext: lissom run {}{} --set simulation.initial=equilibrium",
        arguments.model, arguments.changes
    ));
    lines.join("\n")
}
