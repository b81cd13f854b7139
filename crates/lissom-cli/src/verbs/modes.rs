//! `lissom modes`: natural frequencies, damping and mode shapes, along a motion if wanted.

use std::f64::consts::TAU;
use std::io::Write;

use lissom::{Crossing, Frozen, ModeAt, Terms, TrackedModes, mode_recording};
use lissom_io::load::Loaded;
use lissom_io::{IoError, atomic, csv};
use serde_json::{Value, json};

use super::linear;
use crate::arguments::ModesArguments;
use crate::output::{counted, short};
use crate::stop::Stop;
use crate::{output, source};

/// Crossings of modes that are told one by one.
const TOLD: usize = 3;
/// Coordinates of a shape that are named in the table, and the part of the largest that they have at least.
const NAMED: (usize, f64) = (3, 0.1);

/// Prints the modes of a model.
pub(crate) fn run(arguments: &ModesArguments) -> Result<(), Stop> {
    let loaded = source::load(&arguments.model, &arguments.changes.overrides())?;
    let silent = arguments.quiet || arguments.json;
    let frozen = linear::frozen_at(
        &loaded,
        &arguments.start,
        &arguments.place,
        arguments.free,
        silent,
    )?;
    let terms = Terms::CASES[usize::from(arguments.case) - 1];
    let modes = TrackedModes::new(&frozen, terms, arguments.count)
        .map_err(|error| Stop::Failed(error.to_string()))?;
    if modes.modes.is_empty() {
        return Err(Stop::Failed(
            "nothing is left to vibrate: inputs act on every joint and no body bends; --free leaves the joints free"
                .to_owned(),
        ));
    }
    let mut files = Vec::new();
    let failed = |error: IoError| Stop::Failed(error.to_string());
    let recording = mode_recording(&modes);
    if let Some(path) = &arguments.csv {
        atomic::write(path, |out| csv::write(&recording, out)).map_err(failed)?;
        files.push(path.display().to_string());
    }
    if let Some(path) = &arguments.png {
        let names = |what: &str| {
            let modes = 1..=modes.modes.len();
            modes.map(|mode| format!("mode_{mode}.{what}")).collect()
        };
        let title = format!("{}: natural frequencies", name(&loaded));
        let panels = [names("frequency")];
        let Some(bytes) = lissom_report::curves_png(&title, &recording, &panels) else {
            return Err(Stop::Usage(
                "a plot takes several instants; say --along nominal or --along run".to_owned(),
            ));
        };
        atomic::write(path, |out| out.write_all(&bytes)).map_err(failed)?;
        files.push(path.display().to_string());
    }
    if arguments.json {
        return output::json(&as_json(&loaded, &frozen, &modes, &files));
    }
    if !arguments.quiet {
        output::say(&in_words(&loaded, &frozen, &modes, &files));
    }
    Ok(())
}

fn name(loaded: &Loaded) -> &str {
    loaded.spec.name.as_deref().unwrap_or(&loaded.label)
}

fn as_json(loaded: &Loaded, frozen: &Frozen, modes: &TrackedModes, files: &[String]) -> Value {
    let labels = &frozen.coordinates;
    let names = |dofs: &[usize]| -> Vec<&str> {
        dofs.iter().map(|&dof| labels[dof].name.as_str()).collect()
    };
    let mode = |mode: &Vec<ModeAt>| {
        let each = |value: fn(&ModeAt) -> Option<f64>| mode.iter().map(value).collect::<Vec<_>>();
        let eigenvalues: Vec<Option<[f64; 2]>> = (mode.iter())
            .map(|at| at.eigenvalue.map(|x| [x.re, x.im]))
            .collect();
        json!({
            "frequency_rad_per_s": each(ModeAt::frequency),
            "frequency_hz": each(|at| at.frequency().map(|x| x / TAU)),
            "frequency_squared": each(|at| Some(at.square.re)),
            "growth_per_s": each(|at| Some(at.growth())),
            "damping_ratio": each(ModeAt::damping_ratio),
            "eigenvalue": eigenvalues,
            "mac": each(|at| Some(at.mac)),
            "shape": mode.iter().map(|at| &at.shape).collect::<Vec<_>>(),
        })
    };
    json!({
        "model": name(loaded),
        "time_s": modes.times,
        "coordinates": names(&modes.coordinates),
        "held": names(&frozen.held),
        "rigid_motions": names(&modes.rigid),
        "encounters": modes.encounters.iter().map(|met| json!({
            "time_s": met.time,
            "modes": met.modes.iter().map(|mode| mode + 1).collect::<Vec<_>>(),
            "kind": match met.kind {
                Crossing::Coalescence => "coalescence",
                Crossing::Separation => "separation",
                Crossing::Ambiguity => "ambiguity",
            },
        })).collect::<Vec<_>>(),
        "modes": modes.modes.iter().map(mode).collect::<Vec<_>>(),
        "files": files,
    })
}

fn in_words(loaded: &Loaded, frozen: &Frozen, modes: &TrackedModes, files: &[String]) -> String {
    let names = |dofs: &[usize]| {
        let names: Vec<&str> = dofs
            .iter()
            .map(|&dof| frozen.coordinates[dof].name.as_str())
            .collect();
        names.join(", ")
    };
    let mut lines = vec![format!(
        "{}: {}, {}",
        name(loaded),
        counted(modes.coordinates.len(), "coordinate"),
        if frozen.held.is_empty() {
            "nothing held".to_owned()
        } else {
            format!("{} held", names(&frozen.held))
        }
    )];
    if !modes.rigid.is_empty() {
        lines.push(format!(
            "  floats: {} move it as a whole, at no frequency; its modes are those without momentum",
            names(&modes.rigid)
        ));
    }
    let frequency = |at: &ModeAt| match (at.frequency(), at.growth()) {
        (Some(value), 0.0) => short(value),
        (Some(value), growth) => format!("{} ±{}i", short(value), short(growth)),
        (None, growth) => format!("grows {}/s", short(growth)),
    };
    let ratio = |at: &ModeAt| at.damping_ratio().map_or("-".to_owned(), short);
    if let [time] = modes.times[..] {
        lines.push(format!("  at {} s", short(time)));
        lines.push(format!(
            "  {:>4}  {:>14}  {:>10}  {:>10}  shape",
            "mode", "rad/s", "Hz", "damping"
        ));
        for (i, mode) in modes.modes.iter().enumerate() {
            let hertz = mode[0]
                .frequency()
                .map_or("-".to_owned(), |x| short(x / TAU));
            lines.push(format!(
                "  {:>4}  {:>14}  {hertz:>10}  {:>10}  {}",
                i + 1,
                frequency(&mode[0]),
                ratio(&mode[0]),
                shape(&mode[0].shape, &modes.coordinates, frozen)
            ));
        }
    } else {
        let ends = [modes.times.first(), modes.times.last()].map(|t| t.map_or(0.0, |t| *t));
        lines.push(format!(
            "  {} from {} to {} s; frequencies in rad/s",
            counted(modes.times.len(), "instant"),
            short(ends[0]),
            short(ends[1])
        ));
        lines.push(format!(
            "  {:>4}  {:>14}  {:>14}  {:>14}  {:>14}  shape at first",
            "mode", "first", "smallest", "largest", "last"
        ));
        for (i, mode) in modes.modes.iter().enumerate() {
            // one that grows without oscillating has no frequency
            let low = |at: &ModeAt| at.frequency().unwrap_or(-at.growth());
            let by_square = |a: &&ModeAt, b: &&ModeAt| low(a).total_cmp(&low(b));
            let picked = [
                mode.first(),
                mode.iter().min_by(by_square),
                mode.iter().max_by(by_square),
                mode.last(),
            ];
            let texts: Vec<String> = (picked.iter().flatten())
                .map(|at| format!("{:>14}", frequency(at)))
                .collect();
            lines.push(format!(
                "  {:>4}  {}  {}",
                i + 1,
                texts.join("  "),
                shape(&mode[0].shape, &modes.coordinates, frozen)
            ));
        }
        lines.extend(encounters(modes));
    }
    let flutters = (modes.modes.iter().flatten()).any(|at| at.square.im != 0.0);
    if flutters {
        lines.push(
            "  ±i: without velocity terms a pair of modes grows and decays at this rate (flutter)"
                .to_owned(),
        );
    }
    if !files.is_empty() {
        lines.push(format!("\nWrote {}.", files.join(" and ")));
    }
    lines.join("\n")
}

/// Where numbers of modes are a convention.
fn encounters(modes: &TrackedModes) -> Vec<String> {
    let told = modes.encounters.iter().take(TOLD).map(|met| {
        let numbers: Vec<String> = met.modes.iter().map(|mode| (mode + 1).to_string()).collect();
        let (which, time) = (numbers.join(" and "), short(met.time));
        match met.kind {
            Crossing::Coalescence => {
                format!("  at {time} s modes {which} coalesce: one frequency, growth and decay")
            }
            Crossing::Separation => format!(
                "  at {time} s modes {which} part again: which of them is which is a convention"
            ),
            Crossing::Ambiguity => format!(
                "  warning: before {time} s modes {which} cannot be told apart; with more --points they may be"
            ),
        }
    });
    let more = modes.encounters.len().saturating_sub(TOLD);
    let rest = (more > 0).then(|| format!("  and {more} more times; --json has them all"));
    told.chain(rest).collect()
}

/// The largest coordinates of a shape.
fn shape(shape: &[f64], coordinates: &[usize], frozen: &Frozen) -> String {
    let labels = &frozen.coordinates;
    let mut order: Vec<usize> = (0..shape.len()).collect();
    order.sort_by(|&i, &j| shape[j].abs().total_cmp(&shape[i].abs()));
    let largest = order.first().map_or(0.0, |&i| shape[i].abs());
    let named: Vec<String> = (order.iter().take(NAMED.0))
        .filter(|&&i| shape[i].abs() >= NAMED.1 * largest)
        .map(|&i| {
            let part = shape[i] / largest;
            format!("{} {part:+.2}", labels[coordinates[i]].name)
        })
        .collect();
    named.join(", ")
}
