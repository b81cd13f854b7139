//! `lissom map`: frequency, stiffness, manipulability and singularity over a grid.

use std::path::Path;

use lissom::Flow;
use lissom_io::map::{Map, MapQuantity};
use lissom_io::{IoError, atomic, threads};
use lissom_report::{Axis, HeatMap, Layer, Scale};
use serde::Serialize;

use crate::arguments::MapArguments;
use crate::interrupt::Keeping;
use crate::output::{counted, short};
use crate::plot::WithPlot;
use crate::progress::Progress;
use crate::stop::Stop;
use crate::{interrupt, source};

/// Maps a model.
pub(crate) fn run(arguments: &MapArguments) -> Result<(), Stop> {
    let [across, upward] = &arguments.over[..] else {
        return Err(Stop::Usage(
            "a map is over two coordinates: say --over twice, for example --over shoulder.angle=-1:1:21 --over elbow.angle=0:2:21".to_owned(),
        ));
    };
    if across.name == upward.name {
        return Err(Stop::Usage(format!(
            "--over says {} twice: a map is over two coordinates",
            across.name
        )));
    }
    let axes = [across.clone(), upward.clone()];
    let loaded = source::load(&arguments.model.named()?)?;
    let usual = Path::new("results").join(format!("{}-map.csv", loaded.label));
    let file = arguments.out.clone().unwrap_or(usual);
    if let Some(folder) = file.parent().filter(|_| arguments.out.is_none()) {
        std::fs::create_dir_all(folder).map_err(|reason| IoError::CreateFolder {
            path: folder.to_owned(),
            reason,
        })?;
    }
    atomic::refuse_unwritable(&file)?;
    arguments.plot.refuse_unwritable()?;
    let marker = match &arguments.marker {
        Some(marker) => marker.clone(),
        None => match loaded.spec.marker.last() {
            Some(last) => last.name.clone(),
            None => {
                return Err(Stop::Failed(
                    "the model has no [[marker]] to look at".to_owned(),
                ));
            }
        },
    };
    interrupt::watch();
    let count = axes.iter().map(|axis| axis.values.len()).product();
    let mut progress = Progress::counting("places", 0, count, arguments.answer.is_silent());
    let mut watch = |done: usize| {
        progress.reached(done as f64);
        if interrupt::is_asked_on_threads() {
            Flow::Stop
        } else {
            Flow::Continue
        }
    };
    let threads = arguments.threads.unwrap_or_else(threads::cores);
    let map =
        Map::of(&loaded.mechanism, &marker, &axes, threads, &mut watch).map_err(Stop::Failed)?;
    progress.finish();
    let _keeping = Keeping::begin();
    if let Some(Err(error)) = map
        .places
        .first()
        .filter(|_| map.places.len() == count && map.places.iter().all(Result::is_err))
    {
        return Err(Stop::Failed(format!(
            "the model can be nowhere on the grid; at the first place: {error}"
        )));
    }
    atomic::write(&file, |out| map.write(out))?;
    let told = Told::new(loaded.name(), &marker, &map, count, &file);
    let picture = || heat_map(loaded.name(), &map);
    let plot = if map.places.len() == count {
        arguments.plot.write_map(arguments.answer, picture)?
    } else {
        None
    };
    let answer = WithPlot {
        answer: &told,
        plot: plot.as_ref(),
    };
    arguments.answer.give(&answer, || {
        let plot = plot.as_ref().map(|plot| plot.file.display().to_string());
        told.in_words(plot)
    })?;
    if map.places.len() < count {
        return Err(Stop::Interrupted(format!(
            "interrupted; {} of {count} places are in {}",
            map.places.len(),
            file.display()
        )));
    }
    Ok(())
}

fn heat_map(model: &str, map: &Map) -> HeatMap {
    let axis = |at: usize| Axis {
        label: map.axes[at].name.clone(),
        unit: map.units[at].clone(),
        scale: Scale::Linear,
    };
    let layer = |quantity: MapQuantity| {
        let [name, unit] = quantity.label();
        Layer {
            quantity: Axis {
                label: name.replace('_', " "),
                unit: if unit == "1" {
                    String::new()
                } else {
                    unit.to_owned()
                },
                scale: Scale::Linear,
            },
            values: (0..map.places.len())
                .map(|at| map.value(quantity, at))
                .collect(),
        }
    };
    HeatMap {
        title: format!("{model}: map"),
        across: axis(0),
        upward: axis(1),
        places: map.axes.each_ref().map(|axis| axis.values.clone()),
        layers: MapQuantity::ALL.map(layer).into(),
    }
}

/// What was found.
#[derive(Debug, Serialize)]
struct Told {
    model: String,
    lissom_version: &'static str,
    marker: String,
    places: usize,
    /// Places at which the model can be.
    reached: usize,
    quantities: Vec<Extremes>,
    /// The first place at which it cannot, and why.
    first_error: Option<String>,
    files: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Extremes {
    quantity: &'static str,
    unit: &'static str,
    minimum: Option<f64>,
    minimum_at: Option<[f64; 2]>,
    maximum: Option<f64>,
    maximum_at: Option<[f64; 2]>,
}

impl Told {
    fn new(model: &str, marker: &str, map: &Map, count: usize, file: &Path) -> Self {
        let across = map.axes[0].values.len();
        let place = |at: usize| {
            [
                map.axes[0].values[at % across],
                map.axes[1].values[at / across],
            ]
        };
        let extremes = |quantity: MapQuantity| {
            let values = (0..map.places.len()).map(|at| (at, map.value(quantity, at)));
            let values: Vec<(usize, f64)> = values.filter(|(_, value)| value.is_finite()).collect();
            let by_value = |one: &&(usize, f64), other: &&(usize, f64)| one.1.total_cmp(&other.1);
            let (least, most) = (
                values.iter().min_by(by_value),
                values.iter().max_by(by_value),
            );
            let [quantity, unit] = quantity.label();
            Extremes {
                quantity,
                unit,
                minimum: least.map(|own| own.1),
                minimum_at: least.map(|own| place(own.0)),
                maximum: most.map(|own| own.1),
                maximum_at: most.map(|own| place(own.0)),
            }
        };
        Self {
            model: model.to_owned(),
            lissom_version: env!("CARGO_PKG_VERSION"),
            marker: marker.to_owned(),
            places: count,
            reached: map.places.iter().flatten().count(),
            quantities: MapQuantity::ALL.map(extremes).into(),
            first_error: map
                .places
                .iter()
                .find_map(|own| own.as_ref().err().cloned()),
            files: vec![file.display().to_string()],
        }
    }

    fn in_words(&self, plot: Option<String>) -> String {
        let mut lines = vec![format!(
            "{} at {}: {} of {}",
            self.model,
            self.marker,
            self.reached,
            counted(self.places, "place")
        )];
        for own in &self.quantities {
            let (Some(low), Some(high)) = (own.minimum, own.maximum) else {
                lines.push(format!("  {:<18} nowhere", own.quantity));
                continue;
            };
            let at = |place: Option<[f64; 2]>| {
                let [x, y] = place.unwrap_or([f64::NAN; 2]);
                format!("{}, {}", short(x), short(y))
            };
            lines.push(format!(
                "  {:<18}{:>12} to {:>12} {:<6} (at {} and {})",
                own.quantity,
                short(low),
                short(high),
                own.unit,
                at(own.minimum_at),
                at(own.maximum_at)
            ));
        }
        if let Some(error) = &self.first_error {
            lines.push(format!("  not everywhere: {error}"));
        }
        let files: Vec<String> = self.files.iter().cloned().chain(plot).collect();
        lines.push(format!("\nWrote {}.", files.join(", ")));
        lines.join("\n")
    }
}
