//! [`Sweep`]: many runs of one model with other values, on threads.
//!
//! ```text
//! Variation ──► Points ──┐
//! model, Measure ────────┼─► runs on threads ──► Folder: a line per run, as they come ──► sweep.csv, in the order of the runs
//! ```
//!
//! A row depends on its values alone: the table is the same to the last byte whatever the number of threads, and whether the sweep was
//! stopped on the way. A run that fails is a row with its error.

mod design;
mod folder;
mod measure;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use lissom::{Ending, Flow, Override, SimulateOptions, sample_instants};
use serde_json::json;

pub use design::{Drawing, MOST_RUNS, Points, Values, Variation};
pub use folder::{Folder, FolderError, IDENTITY, ROWS};
pub use measure::{Measure, Statistic};

use crate::csv::{fields, quoted};
use crate::load::{LoadError, Loaded};
use crate::threads::on_threads;
use crate::{IoError, atomic, size};

/// The table of a sweep.
pub const TABLE: &str = "sweep.csv";

/// Many runs of one model.
#[derive(Clone, Copy)]
pub struct Sweep<'a> {
    /// Gives the model with changes.
    pub load: &'a (dyn Fn(&[Override]) -> Result<Loaded, LoadError> + Sync),
    /// The values of every run.
    pub points: &'a Points,
    /// What is kept of every run.
    pub measures: &'a [Measure],
}

/// The runs that are done.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Heads of the columns between the number of the run and the error: paths, then measures with their units.
    pub columns: Vec<String>,
    /// How many of the columns are paths.
    pub paths: usize,
    /// Rows by the number of the run, which is counted from zero.
    pub rows: BTreeMap<usize, Row>,
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Values of the paths, as they are written.
    pub point: Vec<String>,
    /// What was measured, or why there is nothing.
    pub outcome: Result<Vec<f64>, String>,
}

impl Sweep<'_> {
    /// What the rows of the sweep depend on: version, model as a text, values, measures.
    pub fn identity(&self, model: &str) -> String {
        let columns: Vec<String> = self.measures.iter().map(Measure::column).collect();
        let identity = json!({
            "lissom_version": env!("CARGO_PKG_VERSION"),
            "measures": columns,
            "paths": self.points.paths,
            "points": self.points.rows,
            "model": model,
        });
        format!("{identity}\n")
    }

    /// Makes the runs that a folder does not have, on so many threads. `watch` is told now and then, on this thread, how many runs are done
    /// in all, and may stop the sweep: runs under way are given up, and what was done is in the folder.
    ///
    /// # Errors
    ///
    /// When a row cannot be written, or one that was there is none of this sweep.
    pub fn run(
        &self,
        (folder, found): (Folder, BTreeMap<usize, String>),
        threads: usize,
        watch: &mut dyn FnMut(usize) -> Flow,
    ) -> Result<Table, FolderError> {
        let mut table = self.table(&folder, &found)?;
        let todo = (0..self.points.rows.len()).filter(|at| !table.rows.contains_key(at));
        let todo: Vec<usize> = todo.collect();
        let done = AtomicUsize::new(table.rows.len());
        let kept = Mutex::new((folder, BTreeMap::new(), None));
        let work = |at: usize, is_stopped: &mut dyn FnMut() -> bool| {
            let Some(row) = self.row(at, is_stopped) else {
                return;
            };
            let record = row.record(self.measures.len());
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            let (folder, rows, failure) = &mut *kept;
            if failure.is_some() {
                return;
            }
            match folder.add(at, &record) {
                Ok(()) => {
                    rows.insert(at, row);
                    done.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) => *failure = Some(error),
            }
        };
        let failed = || {
            let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.2.is_some()
        };
        let mut is_stopped = || watch(done.load(Ordering::Relaxed)) == Flow::Stop || failed();
        on_threads(todo, threads, work, &mut is_stopped);
        let (folder, rows, failure) = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        table.rows.extend(rows);
        failure.map_or_else(|| folder.close(), Err)?;
        Ok(table)
    }

    /// The rows that a folder has.
    fn table(
        &self,
        folder: &Folder,
        found: &BTreeMap<usize, String>,
    ) -> Result<Table, FolderError> {
        let (paths, count) = (self.points.paths.len(), self.points.rows.len());
        let measured = self.measures.iter().map(Measure::column);
        let columns: Vec<String> = self.points.paths.iter().cloned().chain(measured).collect();
        let mut rows = BTreeMap::new();
        for (line, (&at, record)) in found.iter().enumerate() {
            let row = Row::read(record, paths, columns.len());
            let row = row.filter(|row| at < count && row.point == self.points.rows[at]);
            let row = row.ok_or_else(|| FolderError::NotARow {
                file: folder.path().join(ROWS),
                line: line + 1,
            })?;
            rows.insert(at, row);
        }
        Ok(Table {
            columns,
            paths,
            rows,
        })
    }

    /// One run; none if it was stopped.
    fn row(&self, at: usize, is_stopped: &mut dyn FnMut() -> bool) -> Option<Row> {
        let outcome = match self.measured(at, is_stopped) {
            Ok(outcome) => Ok(outcome?),
            Err(error) => Err(error),
        };
        Some(Row {
            point: self.points.rows[at].clone(),
            outcome,
        })
    }

    fn measured(
        &self,
        at: usize,
        is_stopped: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Vec<f64>>, String> {
        let changes = self.points.changes(at)?;
        let loaded = (self.load)(&changes).map_err(|error| error.to_string())?;
        let mut watch = |_: f64| {
            if is_stopped() {
                Flow::Stop
            } else {
                Flow::Continue
            }
        };
        let mechanism = &loaded.mechanism;
        let channels = Measure::channels(self.measures);
        size::refuse_too_large(mechanism, &loaded.spec, Some(&channels))
            .map_err(|error| error.to_string())?;
        let start = match mechanism.start_watched(&mut watch) {
            Ok(start) => start,
            Err(_) if watch(0.0) == Flow::Stop => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        let samples = sample_instants(&loaded.spec, &[]);
        let options = SimulateOptions {
            samples: &samples,
            channels: Some(&channels),
            most_lengths: f64::INFINITY,
        };
        let run = mechanism.simulate(&start, &loaded.spec.simulation, &options, &mut watch);
        match &run.ending {
            Ending::Completed => {
                match Measure::values(self.measures, mechanism, &start, &run, &mut watch) {
                    Err(_) if watch(0.0) == Flow::Stop => Ok(None),
                    values => values.map(Some),
                }
            }
            Ending::Stopped { .. } => Ok(None),
            Ending::Failed(error) => Err(error.to_string()),
        }
    }
}

impl Row {
    /// The row as a record of CSV with so many measures, without its number.
    fn record(&self, measures: usize) -> String {
        let mut cells: Vec<String> = self
            .point
            .iter()
            .map(|cell| quoted(cell).into_owned())
            .collect();
        match &self.outcome {
            Ok(values) => {
                cells.extend(values.iter().map(|value| format!("{value:?}")));
                cells.push(String::new());
            }
            Err(error) => {
                let lines: Vec<&str> = error.lines().map(str::trim).collect();
                cells.extend(std::iter::repeat_n(String::new(), measures));
                cells.push(quoted(&lines.join(" ")).into_owned());
            }
        }
        cells.join(",")
    }

    /// What [`Row::record`] has written.
    fn read(record: &str, paths: usize, columns: usize) -> Option<Self> {
        let mut cells = fields(record);
        let error = cells.pop()?;
        if cells.len() != columns {
            return None;
        }
        let values = cells.split_off(paths);
        let outcome = if error.is_empty() {
            let values = values.iter().map(|value| value.parse::<f64>().ok());
            Ok(values.collect::<Option<Vec<f64>>>()?)
        } else {
            Err(error)
        };
        Some(Self {
            point: cells,
            outcome,
        })
    }
}

impl Table {
    /// Writes the table as CSV: the number of the run from 1, values of the paths, measures, error. Cells of a run that failed are empty.
    ///
    /// # Errors
    ///
    /// As [`atomic::write`](fn@atomic::write).
    pub fn write(&self, path: &Path) -> Result<(), IoError> {
        atomic::write(path, |out| {
            write!(out, "run")?;
            for column in &self.columns {
                write!(out, ",{}", quoted(column))?;
            }
            writeln!(out, ",error")?;
            let measures = self.columns.len() - self.paths;
            for (at, row) in &self.rows {
                writeln!(out, "{},{}", at + 1, row.record(measures))?;
            }
            Ok(())
        })
    }

    /// The values of a measured column over all runs that have one, in the order of the runs.
    pub fn measured(&self, column: usize) -> Vec<f64> {
        let value = |row: &Row| row.outcome.as_ref().ok()?.get(column - self.paths).copied();
        self.rows.values().filter_map(value).collect()
    }

    /// Runs that failed, with their errors.
    pub fn failures(&self) -> impl Iterator<Item = (usize, &str)> {
        let rows = self.rows.iter();
        rows.filter_map(|(at, row)| Some((*at, row.outcome.as_ref().err()?.as_str())))
    }
}
