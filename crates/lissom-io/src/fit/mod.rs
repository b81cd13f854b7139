//! [`Fit`]: numbers of a model from measured data, with how well they are known.
//!
//! ```text
//! measured channels ─┐
//! model text ────────┼─► runs on threads ──► residuals ──► least squares ──► Fitted: values, intervals, what cannot be told
//! Parameter ─────────┘
//! ```
//!
//! Parameters enter where a mechanism is built: bodies are reduced in plain numbers, through which no dual number goes. Derivatives are therefore
//! central differences of runs, made with tolerances so tight that the runs of a difference share their errors; `docs/guide/measured-data.md` says how good
//! they are. Sensors read without noise and steps, which differences would take for the effect of a parameter.

mod fitted;

use std::sync::{Mutex, PoisonError};

use lissom::spec::{IntegratorSpec, SensorSpec, SimulationSpec};
use lissom::{Ending, Flow, ModelError, ModelSpec, Override, Recording, SimulateOptions};
use lissom_numerics::{LeastSquares, LeastSquaresError, Unknown, least_squares};
use lissom_spec::{Bounds, WrittenNumbers};

pub use fitted::{ChannelLeft, Estimate, Fitted};

use crate::load::{LoadError, Loaded};
use crate::threads::on_threads;

/// Relative tolerance of the runs, where the model's is not tighter.
const TOLERANCE: f64 = 1e-9;
/// A value that the format just does not allow is approached to this part of the start.
const BESIDE_BOUND: f64 = 1e-6;
/// A channel is not taken to be known better than to this part of how much it varies.
const LEAST_NOISE: f64 = 1e-6;

/// A number of a model that is to be found.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its path, as `--set` takes it; one with `*` is one number in several places.
    pub path: String,
    /// Where the search begins, which is not zero.
    pub start: f64,
    /// Between which values the format has it; none where that is not known.
    pub bounds: Option<Bounds>,
}

/// Why a fit has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// A path, channel or instant that does not fit.
    #[error("{0}")]
    Wrong(String),
    /// The runs with the first values fail.
    #[error("the model as it is cannot be run: {0}")]
    Start(String),
    /// The search ends.
    #[error("{0}")]
    Search(#[from] LeastSquaresError),
    /// It was stopped.
    #[error("stopped after {runs} runs; the best values until then are {best}")]
    Stopped {
        /// Runs that were made.
        runs: usize,
        /// Parameters with their values.
        best: String,
    },
}

/// Measured data and what is to be found from them.
pub struct Fit<'a> {
    /// Gives the model with changes.
    pub load: &'a (dyn Fn(&[Override]) -> Result<Loaded, LoadError> + Sync),
    /// What is to be found.
    pub parameters: &'a [Parameter],
    /// Channels of the model as they were measured, with instants that rise; cells that are no numbers are left out.
    pub measured: &'a Recording,
    /// Runs at a time.
    pub threads: usize,
}

impl Parameter {
    /// The parameters that paths name in the text of a model: a path with `*` is one number for all places, which must begin with the same value, or
    /// with `each` one for each of them.
    ///
    /// # Errors
    ///
    /// A path that leads to no number, to numbers that differ, to zero, or stands twice.
    pub fn named(text: &str, paths: &[String], each: bool) -> Result<Vec<Self>, FitError> {
        let model = WrittenNumbers::read(text, &[]).map_err(|errors| first(&errors))?;
        let mut found: Vec<Self> = Vec::new();
        let mut all = Vec::new();
        for path in paths {
            let numbers = model.at(path).map_err(|error| first(&[error]))?;
            all.extend(numbers.iter().cloned());
            let first = numbers[0].1;
            if each {
                let own = numbers.into_iter();
                found.extend(own.map(|(path, start)| Self {
                    bounds: WrittenNumbers::bounds(&path),
                    path,
                    start,
                }));
            } else if let Some((other, value)) = numbers.iter().find(|(_, value)| *value != first) {
                return Err(FitError::Wrong(format!(
                    "{path} stands for {} numbers that differ, {first} and {value} at {other} among them; fit each with --each, or set \
                     them to one value first",
                    numbers.len()
                )));
            } else {
                let bounds = numbers
                    .iter()
                    .filter_map(|(path, _)| WrittenNumbers::bounds(path));
                found.push(Self {
                    path: path.clone(),
                    start: first,
                    bounds: bounds.reduce(Bounds::and),
                });
            }
        }
        for (at, parameter) in found.iter().enumerate() {
            let path = &parameter.path;
            if parameter.start == 0.0 {
                return Err(FitError::Wrong(format!(
                    "{path} is 0, which does not say how large it may be; begin with another value, for example --set {path}=0.1"
                )));
            }
            if found[..at].iter().any(|other| other.path == *path) {
                return Err(FitError::Wrong(format!(
                    "the parameter {path} stands twice"
                )));
            }
        }
        // what will be written when all runs are made: one number has one value
        WrittenNumbers::written_anew(text, &all).map_err(|error| first(&[error]))?;
        Ok(found)
    }
}

impl Parameter {
    /// What is searched: a parameter between its bounds, or beside them where they are no values of it.
    fn unknown(&self, start: f64) -> Unknown {
        let scale = self.start.abs();
        let beside = |is_open: bool| if is_open { BESIDE_BOUND * scale } else { 0.0 };
        let ends = |bounds: Bounds| {
            [
                bounds.least + beside(bounds.above),
                bounds.most - beside(bounds.below),
            ]
        };
        let anywhere = [f64::NEG_INFINITY, f64::INFINITY];
        let [least, most] = self.bounds.map_or(anywhere, ends);
        Unknown {
            start,
            scale,
            // a start that lies beside a bound stays one
            least: least.min(self.start),
            most: most.max(self.start),
        }
    }
}

/// What is wrong with the text of a model, or with a path in it.
fn first(errors: &[ModelError]) -> FitError {
    let told = errors
        .first()
        .map(|error| format!("{error}; {}", error.remedy()));
    FitError::Wrong(told.unwrap_or_default())
}

impl Fit<'_> {
    /// Finds the parameters. `watch` is told now and then, on this thread, how many runs were made, and may stop it.
    ///
    /// # Errors
    ///
    /// Why there is no result.
    pub fn run(&self, watch: &mut dyn FnMut(usize) -> Flow) -> Result<Fitted, FitError> {
        let blurred = self.check()?;
        let start: Vec<f64> = self.parameters.iter().map(|one| one.start).collect();
        let mut runs = Runs {
            fit: self,
            noise: self
                .measured
                .channels
                .iter()
                .map(|one| spread(&one.samples))
                .collect(),
            count: 0,
            best: None,
            failure: None,
        };
        let mut found = runs.solved(&start, watch)?;
        if self.measured.channels.len() > 1 {
            // channels count by what the first fit leaves of them
            runs.noise = fitted::left_by_channel(self.measured, &found, &runs.noise);
            runs.best = None;
            let steps = found.steps;
            found = runs.solved(&found.parameters, watch)?;
            found.steps += steps;
        }
        let modelled = self
            .modelled(&found.parameters, &mut || false)
            .map_err(FitError::Start)?;
        let mut fitted = Fitted::new(self, &found, runs.count + 1, modelled.unwrap_or_default());
        fitted.warn_of_search(found.is_blocked, runs.failure.as_deref());
        fitted.warn_of_sensors(&blurred);
        Ok(fitted)
    }

    /// Whether data and model fit together. Returns the sensors whose noise or steps are left out.
    fn check(&self) -> Result<Vec<String>, FitError> {
        let wrong = |what: String| Err(FitError::Wrong(what));
        let loaded = (self.load)(&[]).map_err(|error| FitError::Start(error.to_string()))?;
        let signals = loaded.mechanism.signals();
        let signals = signals.map_err(|error| FitError::Start(error.to_string()))?;
        for channel in &self.measured.channels {
            let unit = signals.find(&channel.name).map(|id| signals[id].unit);
            match unit {
                None => return wrong(format!("the model has no channel {}", channel.name)),
                Some(unit) if unit != channel.unit => {
                    return wrong(format!(
                        "{} is measured in {}, and in {unit} in the model; head the column {} [{unit}]",
                        channel.name, channel.unit, channel.name
                    ));
                }
                Some(_) => {}
            }
        }
        let time_s = &self.measured.time_s;
        let start_s = loaded.spec.simulation.start_s;
        let rises = time_s.windows(2).all(|pair| pair[0] < pair[1]);
        if !rises || time_s.iter().any(|time_s| !time_s.is_finite()) {
            return wrong(
                "the measured instants do not rise; sort the rows and give every instant once"
                    .to_owned(),
            );
        }
        match time_s[..] {
            [first, ..] if first < start_s => wrong(format!(
                "the first instant was measured at {first} s, and the simulation begins at {start_s} s; shift the instants, or set \
                 simulation.start_s"
            )),
            [_, .., last] if last > start_s => Ok(blurred(&loaded.spec)),
            _ => wrong("there are no instants after the start of the simulation".to_owned()),
        }
    }

    /// The measured channels as the model has them; none if it was stopped.
    fn modelled(
        &self,
        point: &[f64],
        is_stopped: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Vec<Vec<f64>>>, String> {
        let pairs = self.parameters.iter().zip(point);
        let change = |(parameter, value): (&Parameter, &f64)| {
            Override::parse(&format!("{}={value:?}", parameter.path))
        };
        let changes = pairs.map(change).collect::<Result<Vec<_>, _>>();
        let changes = changes.map_err(|error| error.to_string())?;
        let loaded = (self.load)(&changes).map_err(|error| error.to_string())?;
        let mechanism = loaded.mechanism.with_ideal_sensors();
        let mut watch = |_: f64| {
            if is_stopped() {
                Flow::Stop
            } else {
                Flow::Continue
            }
        };
        let start = match mechanism.start_watched(&mut watch) {
            Ok(start) => start,
            Err(_) if watch(0.0) == Flow::Stop => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        let time_s = &self.measured.time_s;
        let names: Vec<String> = (self.measured.channels.iter())
            .map(|one| one.name.clone())
            .collect();
        let simulation = tight(&loaded.spec.simulation, time_s.last().copied());
        let options = SimulateOptions {
            samples: time_s,
            channels: Some(&names),
            most_lengths: f64::INFINITY,
        };
        let run = mechanism.simulate(&start, &simulation, &options, &mut watch);
        match &run.ending {
            Ending::Completed => {}
            Ending::Stopped { .. } => return Ok(None),
            Ending::Failed(error) => return Err(error.to_string()),
        }
        let samples = |name: &String| {
            let channel = run.recording.channel(name);
            let channel = channel.filter(|channel| channel.samples.len() == time_s.len());
            let samples = channel.map(|channel| channel.samples.clone());
            samples.ok_or_else(|| format!("the run has not all samples of {name}"))
        };
        names
            .iter()
            .map(samples)
            .collect::<Result<_, _>>()
            .map(Some)
    }
}

/// Runs of a fit, with how much of every channel is noise.
struct Runs<'a> {
    fit: &'a Fit<'a>,
    noise: Vec<f64>,
    count: usize,
    /// The smallest sum of squares so far, and where.
    best: Option<(f64, Vec<f64>)>,
    /// What the last run that failed says.
    failure: Option<String>,
}

impl Runs<'_> {
    fn solved(
        &mut self,
        start: &[f64],
        watch: &mut dyn FnMut(usize) -> Flow,
    ) -> Result<LeastSquares, FitError> {
        let pairs = self.fit.parameters.iter().zip(start);
        let unknowns: Vec<Unknown> = pairs.map(|(one, &start)| one.unknown(start)).collect();
        let found = least_squares(&unknowns, &mut |points| self.residuals(points, watch));
        found.map_err(|error| match error {
            LeastSquaresError::Stopped => FitError::Stopped {
                runs: self.count,
                best: self.best_in_words(),
            },
            LeastSquaresError::Start => FitError::Start(self.failure.clone().unwrap_or_default()),
            error => error.into(),
        })
    }

    fn residuals(
        &mut self,
        points: &[Vec<f64>],
        watch: &mut dyn FnMut(usize) -> Flow,
    ) -> Option<Vec<Option<Vec<f64>>>> {
        let found = Mutex::new((vec![None; points.len()], None));
        let work = |at: usize, is_stopped: &mut dyn FnMut() -> bool| {
            let modelled = self.fit.modelled(&points[at], is_stopped);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            match modelled {
                Ok(modelled) => found.0[at] = modelled.map(|modelled| self.weighted(&modelled)),
                Err(reason) => found.1 = Some(reason),
            }
        };
        let (count, mut stopped) = (self.count, false);
        let mut is_stopped = || {
            stopped |= watch(count) == Flow::Stop;
            stopped
        };
        on_threads(
            (0..points.len()).collect(),
            self.fit.threads,
            work,
            &mut is_stopped,
        );
        if stopped {
            return None;
        }
        let (found, failure) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.failure = failure.or(self.failure.take());
        self.count += points.len();
        for (point, residuals) in points.iter().zip(&found) {
            let cost = residuals
                .as_ref()
                .map(|own: &Vec<f64>| own.iter().map(|r| r * r).sum::<f64>());
            let least = self
                .best
                .as_ref()
                .map_or(f64::INFINITY, |(least, _)| *least);
            if let Some(cost) = cost.filter(|cost| *cost < least) {
                self.best = Some((cost, point.clone()));
            }
        }
        Some(found)
    }

    /// Differences of model and measurement in units of the noise, channel by channel, where something was measured.
    fn weighted(&self, modelled: &[Vec<f64>]) -> Vec<f64> {
        let channels = modelled
            .iter()
            .zip(&self.fit.measured.channels)
            .zip(&self.noise);
        channels
            .flat_map(|((modelled, measured), noise)| {
                let pairs = modelled.iter().zip(&measured.samples);
                let pairs = pairs.filter(|(_, measured)| measured.is_finite());
                pairs.map(move |(modelled, measured)| (modelled - measured) / noise)
            })
            .collect()
    }

    fn best_in_words(&self) -> String {
        let Some((_, best)) = &self.best else {
            return "those of the start".to_owned();
        };
        let pairs = self.fit.parameters.iter().zip(best);
        let words: Vec<String> = pairs
            .map(|(one, value)| format!("{}={value}", one.path))
            .collect();
        words.join(", ")
    }
}

/// Sensors that a model gives noise or steps.
fn blurred(spec: &ModelSpec) -> Vec<String> {
    let has_steps = |sensor: &SensorSpec| {
        let encoder = sensor.encoder.as_ref();
        encoder.is_some_and(|own| own.counts_per_revolution.or(own.resolution_m).is_some())
    };
    let sensors = spec.sensor.iter();
    let blurred = sensors.filter(|sensor| sensor.noise.is_some() || has_steps(sensor));
    blurred.map(|sensor| sensor.name.clone()).collect()
}

/// How much a channel varies: its root mean square about its mean, or one where it does not.
fn spread(samples: &[f64]) -> f64 {
    let measured = || samples.iter().filter(|value| value.is_finite());
    let count = measured().count().max(1) as f64;
    let mean = measured().sum::<f64>() / count;
    let square = measured().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    if square > 0.0 { square.sqrt() } else { 1.0 }
}

/// The simulation until the last instant, with tolerances that make derivatives by differences good.
fn tight(simulation: &SimulationSpec, last_s: Option<f64>) -> SimulationSpec {
    let mut simulation = simulation.clone();
    if let Some(last_s) = last_s {
        simulation.duration_s = last_s - simulation.start_s;
    }
    match &mut simulation.integrator {
        IntegratorSpec::Auto(spec)
        | IntegratorSpec::Dop853(spec)
        | IntegratorSpec::Dopri5(spec)
        | IntegratorSpec::Adams(spec)
        | IntegratorSpec::Radau(spec)
        | IntegratorSpec::Esdirk(spec) => {
            let tighter = (TOLERANCE / spec.rtol).min(1.0);
            spec.rtol *= tighter;
            spec.atol *= tighter;
        }
        // steps of one length have the same errors whatever the parameters are
        IntegratorSpec::GeneralizedAlpha(_) | IntegratorSpec::Newmark(_) => {}
    }
    simulation
}
