//! `lissom modes`: natural frequencies, damping and mode shapes, along a motion if wanted.

use std::f64::consts::TAU;
use std::io::Write;

use lissom::analysis::{Linearized, mode_recording};
use lissom::linear::{ModeAt, Terms, TrackedModes};
use lissom_io::load::Loaded;
use lissom_io::{IoError, atomic, csv};
use serde_json::{Value, json};

use super::linear;
use crate::arguments::ModesArguments;
use crate::output::{counted, short};
use crate::stop::Stop;
use crate::{output, source};

/// Modal assurance below which a curve may have changed into another.
const UNLIKE: f64 = 0.5;
/// Coordinates of a shape that are named in the table, and the part of the largest that they have at least.
const NAMED: (usize, f64) = (3, 0.1);

/// Prints the modes of a model.
pub(crate) fn run(arguments: &ModesArguments) -> Result<(), Stop> {
    let loaded = source::load(&arguments.model, &arguments.changes.overrides())?;
    let silent = arguments.quiet || arguments.json;
    let found = linear::at(&loaded, &arguments.place, silent)?;
    let held: &[usize] = if arguments.free { &[] } else { &found.driven };
    let terms = Terms::CASES[usize::from(arguments.case) - 1];
    let modes = TrackedModes::new(&found.along, held, terms, arguments.count)
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
        return output::json(&as_json(&loaded, &found, &modes, held, &files));
    }
    if !arguments.quiet {
        output::say(&in_words(&loaded, &found, &modes, held, &files));
    }
    Ok(())
}

fn name(loaded: &Loaded) -> &str {
    loaded.spec.name.as_deref().unwrap_or(&loaded.label)
}

fn as_json(
    loaded: &Loaded,
    found: &Linearized,
    modes: &TrackedModes,
    held: &[usize],
    files: &[String],
) -> Value {
    let labels = &found.along.labels().coordinates;
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
            "frequency_squared": each(|at| Some(at.square)),
            "damping_ratio": each(ModeAt::damping_ratio),
            "eigenvalue": eigenvalues,
            "likeness": each(|at| Some(at.likeness)),
            "shape": mode.iter().map(|at| &at.shape).collect::<Vec<_>>(),
        })
    };
    json!({
        "model": name(loaded),
        "time_s": modes.times,
        "coordinates": names(&modes.coordinates),
        "held": names(held),
        "natural": modes.natural,
        "modes": modes.modes.iter().map(mode).collect::<Vec<_>>(),
        "files": files,
    })
}

fn in_words(
    loaded: &Loaded,
    found: &Linearized,
    modes: &TrackedModes,
    held: &[usize],
    files: &[String],
) -> String {
    let labels = &found.along.labels().coordinates;
    let mut lines = vec![format!(
        "{}: {}, {}",
        name(loaded),
        counted(modes.coordinates.len(), "coordinate"),
        if held.is_empty() {
            "nothing held".to_owned()
        } else {
            let names: Vec<&str> = held.iter().map(|&dof| labels[dof].name.as_str()).collect();
            format!("{} held", names.join(", "))
        }
    )];
    let frequency = |at: &ModeAt| match at.frequency() {
        Some(value) => short(value),
        None => format!("grows {}/s", short((-at.square).sqrt())),
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
                shape(&mode[0].shape, &modes.coordinates, found)
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
            let by_square = |a: &&ModeAt, b: &&ModeAt| a.square.total_cmp(&b.square);
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
                shape(&mode[0].shape, &modes.coordinates, found)
            ));
        }
        if let Some((time, likeness)) = modes.least_likeness().filter(|(_, x)| *x < UNLIKE) {
            lines.push(format!(
                "  warning: a mode changes its shape much before {} s (modal assurance {}); with more --points curves \
                 are followed more surely",
                short(time),
                short(likeness)
            ));
        }
    }
    if !modes.natural {
        lines.push(
            "  frequencies without velocity terms are complex (flutter); these are the modes with velocity terms"
                .to_owned(),
        );
    }
    if !files.is_empty() {
        lines.push(format!("\nWrote {}.", files.join(" and ")));
    }
    lines.join("\n")
}

/// The largest coordinates of a shape.
fn shape(shape: &[f64], coordinates: &[usize], found: &Linearized) -> String {
    let labels = &found.along.labels().coordinates;
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
