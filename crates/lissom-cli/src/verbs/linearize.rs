//! `lissom linearize`: linearised equations as matrices with names.

use std::path::Path;

use lissom::{Linearized, SignalNames};
use lissom_io::arrays::ArrayFormat;
use lissom_io::atomic;
use lissom_io::load::Loaded;

use super::eval::unknown;
use super::linear;
use crate::arguments::LinearizeArguments;
use crate::output::{counted, short};
use crate::source;
use crate::stop::Stop;

/// Numbers of the inputs that were asked for: what can be driven, all, or those that are named.
pub(super) fn inputs(found: &Linearized, asked: &[String]) -> Result<Vec<usize>, Stop> {
    let labels = &found.trajectory.labels().inputs;
    match asked {
        [word] if word == "driven" => Ok(found.driven_inputs.clone()),
        [word] if word == "all" => Ok((0..labels.len()).collect()),
        names => (names.iter())
            .map(|name| {
                let place = labels.iter().position(|label| label.name == *name);
                place.ok_or_else(|| {
                    let known = labels.iter().map(|label| label.name.as_str());
                    Stop::Usage(unknown(name, "input", known.chain(["driven", "all"])))
                })
            })
            .collect(),
    }
}

/// The format of the file that was asked for.
pub(super) fn format(out: Option<&Path>) -> Result<Option<ArrayFormat>, Stop> {
    let Some(path) = out else { return Ok(None) };
    let format = ArrayFormat::of(path).ok_or_else(|| {
        Stop::Usage(format!(
            "--out {} has none of the extensions .npz, .mat and .json, which say the format",
            path.display()
        ))
    })?;
    Ok(Some(format))
}

/// Writes or prints the linearised equations of a model.
pub(crate) fn run(arguments: &LinearizeArguments) -> Result<(), Stop> {
    let format = format(arguments.out.as_deref())?;
    (arguments.out.as_deref()).map_or(Ok(()), atomic::refuse_unwritable)?;
    let loaded = source::load(&arguments.model.named()?)?;
    let silent = arguments.answer.is_silent();
    let found = linear::at(&loaded, &arguments.start, &arguments.point, silent)?;
    let found = found.with_inputs(&inputs(&found, &arguments.inputs)?);
    let arrays = lissom_io::linear::arrays(&found)?;
    if let (Some(path), Some(format)) = (&arguments.out, format) {
        arrays.write(path, format)?;
    }
    (arguments.answer).give(&arrays.json(), || {
        let pressed = found.pressed_stops();
        let stops = pressed.iter().map(|joint| linear::pressed_in_words(joint));
        in_words(&loaded, &found, arguments) + &stops.collect::<String>()
    })
}

fn in_words(loaded: &Loaded, found: &Linearized, arguments: &LinearizeArguments) -> String {
    let names = SignalNames::new(&found.trajectory);
    let list = |signals: &[(String, String)]| {
        let names: Vec<&str> = signals.iter().map(|(name, _)| name.as_str()).collect();
        names.join(", ")
    };
    let times = lissom_io::linear::instants(found);
    let mut lines = vec![format!(
        "{}: linearised at {}",
        loaded.name(),
        match times[..] {
            [time] => format!("{} s", short(time)),
            _ => counted(times.len(), "instant"),
        }
    )];
    for (what, signals) in [
        ("states", &names.states),
        ("inputs", &names.inputs),
        ("outputs", &names.outputs),
    ] {
        lines.push(format!(
            "  {:>3} {what:<8} {}",
            signals.len(),
            list(signals)
        ));
    }
    for stretch in &found.further {
        let start_s = stretch.points().first().map_or(f64::NAN, |p| p.time);
        let others = SignalNames::new(stretch);
        lines.push(format!(
            "      after {} s the states are {}",
            short(start_s),
            list(&others.states)
        ));
    }
    if found.start().is_none() {
        lines.push(
            "  x_start is left out: the state at which a run begins cannot be expressed in the coordinates of the first instant"
                .to_owned(),
        );
    }
    lines.push(match &arguments.out {
        Some(path) => format!("\nWrote {}.", path.display()),
        None => "\nNothing was written; --out arm.npz writes the matrices, --json prints them."
            .to_owned(),
    });
    lines.join("\n")
}
