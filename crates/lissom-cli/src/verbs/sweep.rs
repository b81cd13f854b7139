//! `lissom sweep`: many runs with other values, as one table.

use std::path::Path;
use std::time::Instant;

use lissom::{Flow, Override};
use lissom_io::load::{self, LoadError, Loaded};
use lissom_io::sweep::{
    Drawing, Folder, FolderError, Measure, Points, Sweep, TABLE, Table, Values, Variation,
};
use lissom_io::{resource, threads};
use serde::Serialize;

use crate::arguments::{DrawingArgument, SweepArguments};
use crate::interrupt::Keeping;
use crate::output::{counted, rounded, short};
use crate::progress::Progress;
use crate::stop::Stop;
use crate::{interrupt, source};

/// Errors of runs that are told.
const TOLD: usize = 3;

/// Runs a model with many values.
pub(crate) fn run(arguments: &SweepArguments) -> Result<(), Stop> {
    let points = points(arguments)?;
    let named = arguments.model.named()?;
    let model = source::Model::of(&named)?;
    let loaded = model.load()?;
    let measures = Measure::asked(&loaded.mechanism, &arguments.measure)
        .map_err(|what| Stop::Usage(format!("--measure: {what}")))?;
    let whole = loaded.whole_text().map_err(Stop::Failed)?;
    let reduced_anew = points.paths.iter().any(|path| is_in_a_mesh(path, &loaded));
    let load = |changes: &[Override]| -> Result<Loaded, LoadError> {
        if reduced_anew {
            model.load_with(changes)
        } else {
            load::load_text(&loaded.label, &whole, changes)
        }
    };
    let sweep = Sweep {
        load: &load,
        points: &points,
        measures: &measures,
    };
    let results = Path::new("results").join(format!("{}-sweep", loaded.label));
    let out = arguments.out.clone().unwrap_or(results);
    let (folder, found) =
        Folder::open(&out, &sweep.identity(&whole), arguments.restart).map_err(said)?;
    let file = out.join(TABLE);
    let (before, count) = (found.len(), points.rows.len());
    let threads = arguments.threads.unwrap_or_else(threads::cores).min(count);
    if before > 0 {
        (arguments.answer).progress(&format!(
            "{before} of {} are in {} already",
            counted(count, "run"),
            out.display()
        ));
    }
    interrupt::watch();
    interrupt::note_kept(format!("the rows until then are in {}", out.display()));
    let began = Instant::now();
    let mut progress = Progress::counting("runs", before, count, arguments.answer.is_silent());
    let mut watch = |done: usize| {
        progress.reached(done as f64);
        if interrupt::is_asked_on_threads() {
            Flow::Stop
        } else {
            Flow::Continue
        }
    };
    let table = sweep
        .run((folder, found), threads, &mut watch)
        .map_err(said)?;
    progress.finish();
    let _keeping = Keeping::begin();
    table.write(&file)?;
    let told = Told::new(&loaded, &table, [before, count], &file);
    let wall_s = began.elapsed().as_secs_f64();
    (arguments.answer).give(&told, || told.in_words(wall_s, threads))?;
    if table.rows.len() < count {
        return Err(Stop::Interrupted(format!(
            "interrupted after {} of {}; the same command goes on with the others",
            table.rows.len(),
            counted(count, "run")
        )));
    }
    match told.failures.first() {
        Some(first) if told.failed == count => Err(Stop::Failed(format!(
            "every run failed, the first with: {}",
            first.error
        ))),
        _ => Ok(()),
    }
}

/// What is wrong with the folder, with what to do here.
fn said(error: FolderError) -> Stop {
    match error {
        FolderError::Other { .. } | FolderError::NotARow { .. } => {
            Stop::Failed(format!("{error} with --restart"))
        }
        error => error.into(),
    }
}

/// The values of the runs.
fn points(arguments: &SweepArguments) -> Result<Points, Stop> {
    if let Some(path) = &arguments.table {
        let text = resource::read_text(path)?;
        return Points::table(&text)
            .map_err(|what| Stop::Failed(format!("{}: {what}", path.display())));
    }
    let is_drawn = |one: &Variation| !matches!(one.values, Values::List(_));
    let points = match (arguments.runs, arguments.vary.iter().any(is_drawn)) {
        (Some(runs), true) => {
            let drawing = match arguments.drawing {
                DrawingArgument::MonteCarlo => Drawing::MonteCarlo,
                DrawingArgument::LatinHypercube => Drawing::LatinHypercube,
            };
            Points::drawn(&arguments.vary, runs, arguments.seed, drawing)
        }
        (None, true) => Err("how many runs are to be drawn? say --runs 1000".to_owned()),
        (Some(_), false) => Err(
            "--runs is for values that are drawn, for example PATH=uniform(0.2,1); lists make a grid".to_owned(),
        ),
        (None, false) => Points::grid(&arguments.vary),
    };
    points.map_err(|what| Stop::Usage(format!("--vary: {what}")))
}

/// Whether a path leads into a body that was reduced from a mesh or a frame, which must then be reduced for every run.
fn is_in_a_mesh(path: &str, loaded: &Loaded) -> bool {
    let change = Override::parse(&format!("{path}=0"));
    let Ok([list, name, ..]) = change.as_ref().map(Override::steps) else {
        return false;
    };
    let index = name.parse::<usize>().ok();
    let by_index = index.and_then(|at| loaded.spec.body.get(at));
    let by_index = by_index.map(|body| body.name.as_str());
    let is_reduced = |body: &str| name == "*" || name == body || by_index == Some(body);
    list == "body" && loaded.meshes.keys().any(|body| is_reduced(body))
}

/// What came of a sweep.
#[derive(Debug, Serialize)]
struct Told {
    model: String,
    lissom_version: &'static str,
    /// Runs in all.
    runs: usize,
    /// Those that are done.
    done: usize,
    /// Those that an earlier call had done.
    done_before: usize,
    failed: usize,
    measures: Vec<Spread>,
    /// The first that failed.
    failures: Vec<Failure>,
    files: Vec<String>,
}

/// How a measure is spread over the runs that have it; none of its numbers is known where no run has.
#[derive(Debug, Serialize)]
struct Spread {
    measure: String,
    count: usize,
    mean: Option<f64>,
    /// Standard deviation.
    deviation: Option<f64>,
    minimum: Option<f64>,
    quantile_5: Option<f64>,
    median: Option<f64>,
    quantile_95: Option<f64>,
    maximum: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Failure {
    run: usize,
    error: String,
}

impl Told {
    fn new(loaded: &Loaded, table: &Table, [before, count]: [usize; 2], file: &Path) -> Self {
        let measured = (table.columns.iter().enumerate()).skip(table.paths);
        let failure = |(at, error): (usize, &str)| Failure {
            run: at + 1,
            error: error.to_owned(),
        };
        Self {
            model: loaded.name().to_owned(),
            lissom_version: env!("CARGO_PKG_VERSION"),
            runs: count,
            done: table.rows.len(),
            done_before: before,
            failed: table.failures().count(),
            measures: measured
                .map(|(at, name)| Spread::of(name, table.measured(at)))
                .collect(),
            failures: table.failures().take(TOLD).map(failure).collect(),
            files: vec![file.display().to_string()],
        }
    }

    fn in_words(&self, wall_s: f64, threads: usize) -> String {
        let failed = match self.failed {
            0 => String::new(),
            failed => format!(", of which {failed} failed"),
        };
        let made = self.done - self.done_before;
        let mut lines = vec![format!(
            "{}: {}{failed}; {made} in {} s on {}",
            self.model,
            counted(self.done, "run"),
            rounded(wall_s, 2),
            counted(threads, "thread")
        )];
        let widest = self.measures.iter().map(|one| one.measure.len()).max();
        let width = widest.unwrap_or(0) + 2;
        lines.push(format!(
            "  {:<width$}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}",
            "", "mean", "deviation", "least", "5 %", "95 %", "most"
        ));
        for one in &self.measures {
            let cell = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), short);
            lines.push(format!(
                "  {:<width$}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}",
                one.measure,
                cell(one.mean),
                cell(one.deviation),
                cell(one.minimum),
                cell(one.quantile_5),
                cell(one.quantile_95),
                cell(one.maximum)
            ));
        }
        for failure in &self.failures {
            lines.push(format!("  run {} failed: {}", failure.run, failure.error));
        }
        if self.failed > self.failures.len() {
            lines.push(format!(
                "  … and {} others",
                self.failed - self.failures.len()
            ));
        }
        lines.push(format!("\nWrote {}.", self.files.join(", ")));
        lines.join("\n")
    }
}

impl Spread {
    fn of(measure: &str, mut values: Vec<f64>) -> Self {
        values.retain(|value| value.is_finite());
        values.sort_by(f64::total_cmp);
        let count = values.len();
        let mean = (count > 0).then(|| values.iter().sum::<f64>() / count as f64);
        let square = |mean: f64| {
            values
                .iter()
                .map(|value| (value - mean).powi(2))
                .sum::<f64>()
        };
        let deviation = mean.filter(|_| count > 1);
        Self {
            measure: measure.to_owned(),
            count,
            mean,
            deviation: deviation.map(|mean| (square(mean) / (count - 1) as f64).sqrt()),
            minimum: values.first().copied(),
            quantile_5: quantile(&values, 0.05),
            median: quantile(&values, 0.5),
            quantile_95: quantile(&values, 0.95),
            maximum: values.last().copied(),
        }
    }
}

/// What a part of rising values stays below, by straight lines between them.
fn quantile(values: &[f64], part: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let place = part * last as f64;
    let below = values
        .iter()
        .enumerate()
        .take_while(|(at, _)| *at as f64 <= place)
        .last()?;
    let (at, low) = (below.0, *below.1);
    let high = values[(at + 1).min(last)];
    Some(low + (high - low) * (place - at as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand.
    #[test]
    fn spreads_of_few_values() {
        let spread = Spread::of("x", vec![4.0, f64::NAN, 0.0, 2.0]);
        assert_eq!(
            (spread.count, spread.mean, spread.deviation),
            (3, Some(2.0), Some(2.0))
        );
        assert_eq!((spread.minimum, spread.maximum), (Some(0.0), Some(4.0)));
        assert_eq!((spread.quantile_5, spread.median), (Some(0.2), Some(2.0)));
        let none = Spread::of("x", Vec::new());
        assert_eq!((none.mean, none.median, none.maximum), (None, None, None));
    }
}
