//! [`Fitted`]: what a fit has found.

use lissom::{Channel, Recording};
use lissom_numerics::{Combination, Held, LeastSquares, student_quantile};
use lissom_spatial::rounded;
use lissom_spec::{Bounds, WrittenNumbers};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Fit, FitError, LEAST_NOISE, Parameter, first, spread};

/// What 95 % are between, if as much is above as below.
const ABOVE: f64 = 0.975;
/// A combination of parameters is hardly known when its standard deviation is this part of their starts.
const HARDLY_KNOWN: f64 = 0.5;
/// What is left over is not white when neighbours correlate by more than this, and by more than chance has it.
const CORRELATED: f64 = 0.2;
/// Parts of a combination that are named.
const NAMED: f64 = 0.1;

/// What a fit has found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fitted {
    /// The parameters, in the order in which they were asked for.
    pub parameters: Vec<Estimate>,
    /// Covariance of the parameters, by rows; zero for one that stays at a bound.
    pub covariance: Vec<Vec<f64>>,
    /// Combinations of the parameters, from the one that is known best: `deviation` in units of their starts, `parts` by path.
    pub combinations: Vec<Value>,
    /// What is left over of every channel.
    pub channels: Vec<ChannelLeft>,
    /// Steps of the search.
    pub steps: usize,
    /// Runs that it took.
    pub runs: usize,
    /// Whether the search came to its end.
    pub converged: bool,
    /// What should be known of the result.
    pub warnings: Vec<String>,
    /// Measured and fitted channels over time.
    #[serde(skip)]
    pub recording: Recording,
}

/// One parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Its path.
    pub path: String,
    /// Where the search began.
    pub start: f64,
    /// Its value.
    pub value: f64,
    /// Standard deviation, infinite if the data say nothing of it.
    pub deviation: f64,
    /// What covers the truth in 95 of 100 cases, if noise is all that is left over; infinite on both sides where it is not known. It has no values that the
    /// model does not take.
    pub interval_95: [f64; 2],
    /// The bound at which it stays because the data ask for a value beyond; the others are then known as if it were known to be there.
    pub bound: Option<f64>,
}

/// What is left over of a channel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelLeft {
    /// Its name.
    pub channel: String,
    /// Its unit.
    pub unit: String,
    /// Samples that were measured.
    pub samples: usize,
    /// Root mean square of the differences.
    pub rms: f64,
    /// Correlation of a difference with the next one; about zero for noise.
    pub autocorrelation: f64,
}

impl Fitted {
    pub(super) fn new(
        fit: &Fit<'_>,
        found: &LeastSquares,
        runs: usize,
        modelled: Vec<Vec<f64>>,
    ) -> Self {
        let free = found.held.iter().filter(|held| held.is_none()).count();
        let wide = student_quantile(ABOVE, found.residuals.len() - free);
        let estimate = |(at, parameter): (usize, &Parameter)| {
            let value = found.parameters[at];
            let (about, deviation) = match found.held[at] {
                Some(Held { wanted, deviation }) => (wanted, deviation),
                None => (value, found.covariance[at][at].sqrt()),
            };
            Estimate {
                path: parameter.path.clone(),
                start: parameter.start,
                value,
                deviation,
                interval_95: interval(parameter, about, wide * deviation),
                bound: found.held[at].and(nearest_bound(parameter, value)),
            }
        };
        let combination = |one: &Combination| {
            let pairs = fit.parameters.iter().zip(&one.parts);
            let parts: Map<String, Value> = pairs
                .map(|(parameter, part)| (parameter.path.clone(), json!(part)))
                .collect();
            json!({ "deviation": one.deviation, "parts": parts })
        };
        let channels = fit.measured.channels.iter().zip(&modelled);
        let channels: Vec<ChannelLeft> = channels
            .map(|(own, modelled)| left(own, modelled))
            .collect();
        let mut fitted = Self {
            parameters: fit.parameters.iter().enumerate().map(estimate).collect(),
            combinations: found.combinations.iter().map(combination).collect(),
            channels,
            steps: found.steps,
            runs,
            converged: found.converged,
            warnings: Vec::new(),
            recording: side_by_side(fit.measured, modelled),
            covariance: found.covariance.clone(),
        };
        fitted.warnings = fitted.warn(fit.parameters, found);
        fitted
    }

    /// Says that the search did not come to its end, where it did not, and what stood in its way.
    pub(super) fn warn_of_search(&mut self, is_blocked: bool, failure: Option<&str>) {
        let warning = match (self.converged, failure.filter(|_| is_blocked)) {
            (true, _) => return,
            (false, Some(failure)) => format!(
                "better values would lie where the model has none: {failure}; set what is refused by hand, or begin elsewhere"
            ),
            (false, None) => {
                "the search did not come to its end; begin with better values, or with fewer parameters".to_owned()
            }
        };
        self.warnings.insert(0, warning);
    }

    /// Says which sensors of the model were taken for better than they are.
    pub(super) fn warn_of_sensors(&mut self, blurred: &[String]) {
        if !blurred.is_empty() {
            self.warnings.push(format!(
                "noise and steps that the model gives to {} are left out of its runs: readings are fitted by what they are on average",
                blurred.join(", ")
            ));
        }
    }

    fn warn(&self, parameters: &[Parameter], found: &LeastSquares) -> Vec<String> {
        let mut warnings = Vec::new();
        for (own, held) in self.parameters.iter().zip(&found.held) {
            if let (Some(bound), Some(held)) = (own.bound, held) {
                warnings.push(format!(
                    "{} stays at its bound, {bound}: the data ask for {}, which the model does not take; the other intervals hold if it is {bound}",
                    own.path,
                    rounded(held.wanted, 2)
                ));
            }
        }
        for one in found
            .combinations
            .iter()
            .filter(|one| one.deviation > HARDLY_KNOWN)
        {
            let pairs = parameters.iter().zip(&one.parts);
            let named = pairs.filter(|(_, part)| part.abs() > NAMED);
            let named: Vec<String> = named
                .map(|(parameter, part)| format!("{} of {}", rounded(*part, 2), parameter.path))
                .collect();
            let known = if one.deviation.is_finite() {
                format!("no better than to {} %", rounded(100.0 * one.deviation, 2))
            } else {
                "not at all".to_owned()
            };
            warnings.push(format!(
                "the data tell a change by {}, in parts of their starts, {known}; measure something else, or leave a parameter out",
                named.join(" and ")
            ));
        }
        for channel in &self.channels {
            let by_chance = 3.0 / (channel.samples as f64).sqrt();
            if channel.autocorrelation > CORRELATED.max(by_chance) {
                warnings.push(format!(
                    "what is left over of {} is more than noise (neighbours correlate by {}): the model lacks something, and the intervals \
                     are too narrow",
                    channel.channel,
                    rounded(channel.autocorrelation, 2)
                ));
            }
        }
        warnings
    }

    /// A text of the model with the values that were found in the places of those that it writes.
    ///
    /// # Errors
    ///
    /// When it does not write them.
    pub fn written_into(&self, text: &str) -> Result<String, FitError> {
        let written = WrittenNumbers::read(text, &[]).map_err(|errors| first(&errors))?;
        let mut numbers = Vec::new();
        for estimate in &self.parameters {
            let places = written
                .at(&estimate.path)
                .map_err(|error| first(&[error]))?;
            numbers.extend(places.into_iter().map(|(path, _)| (path, estimate.value)));
        }
        WrittenNumbers::written_anew(text, &numbers).map_err(|error| first(&[error]))
    }
}

/// The part of an interval about a value that a parameter may have; all numbers where nothing is known.
fn interval(parameter: &Parameter, about: f64, half: f64) -> [f64; 2] {
    let [least, most] = parameter
        .bounds
        .map_or([f64::NEG_INFINITY, f64::INFINITY], |own| {
            [own.least, own.most]
        });
    let [low, high] = [(about - half).max(least), (about + half).min(most)];
    if half.is_finite() && low < high {
        [low, high]
    } else {
        [f64::NEG_INFINITY, f64::INFINITY]
    }
}

fn nearest_bound(parameter: &Parameter, value: f64) -> Option<f64> {
    let Bounds { least, most, .. } = parameter.bounds?;
    Some(if value - least <= most - value {
        least
    } else {
        most
    })
}

/// Root mean square of what a fit leaves of every channel, in its unit.
pub(super) fn left_by_channel(
    measured: &Recording,
    found: &LeastSquares,
    noise: &[f64],
) -> Vec<f64> {
    let mut residuals = found.residuals.iter();
    let channels = measured.channels.iter().zip(noise);
    channels
        .map(|(channel, noise)| {
            let count = channel
                .samples
                .iter()
                .filter(|value| value.is_finite())
                .count();
            let squares = residuals
                .by_ref()
                .take(count)
                .map(|residual| residual * residual);
            let rms = noise * (squares.sum::<f64>() / count.max(1) as f64).sqrt();
            rms.max(LEAST_NOISE * spread(&channel.samples))
        })
        .collect()
}

fn left(measured: &Channel, modelled: &[f64]) -> ChannelLeft {
    let pairs = measured.samples.iter().zip(modelled);
    let left = pairs.filter(|(measured, _)| measured.is_finite());
    let left: Vec<f64> = left
        .map(|(measured, modelled)| modelled - measured)
        .collect();
    let squares: f64 = left.iter().map(|value| value * value).sum();
    let neighbours: f64 = left.windows(2).map(|pair| pair[0] * pair[1]).sum();
    ChannelLeft {
        channel: measured.name.clone(),
        unit: measured.unit.clone(),
        samples: left.len(),
        rms: (squares / left.len().max(1) as f64).sqrt(),
        autocorrelation: if squares > 0.0 {
            neighbours / squares
        } else {
            0.0
        },
    }
}

fn side_by_side(measured: &Recording, modelled: Vec<Vec<f64>>) -> Recording {
    let channels = measured.channels.iter().zip(modelled);
    let pair = |(own, samples): (&Channel, Vec<f64>)| {
        let named = |what: &str, samples: Vec<f64>| Channel {
            name: format!("{}.{what}", own.name),
            unit: own.unit.clone(),
            samples,
        };
        [
            named("measured", own.samples.clone()),
            named("fitted", samples),
        ]
    };
    Recording {
        time_s: measured.time_s.clone(),
        channels: channels.flat_map(pair).collect(),
    }
}
