//! [`Measure`]: a number that a sweep keeps of every run.

use lissom::compare::chosen_channels;
use lissom::{
    DrivenJoints, Flow, Mechanism, ModesOptions, OperatingPoint, Recording, Run, State, Terms,
};
use lissom_spec::nearest;

/// A number of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// A number of a channel.
    Channel {
        /// Which.
        statistic: Statistic,
        /// Name of the channel.
        channel: String,
        /// Its unit.
        unit: String,
    },
    /// A natural frequency at the start in rad/s, counted from one; joints that are driven are held.
    Frequency(usize),
    /// Largest imbalance of energy in percent of its peak.
    EnergyDrift,
    /// How many limits of joints were passed.
    PassedLimits,
}

/// A number of a channel, over its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// At the first sample.
    First,
    /// At the last.
    Last,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Mean over time, by trapezoids between the samples.
    Mean,
    /// Root of the mean square, likewise.
    Rms,
    /// The largest absolute value.
    Peak,
}

impl Statistic {
    const ALL: [(Self, &'static str); 7] = [
        (Self::First, "first"),
        (Self::Last, "last"),
        (Self::Min, "min"),
        (Self::Max, "max"),
        (Self::Mean, "mean"),
        (Self::Rms, "rms"),
        (Self::Peak, "peak"),
    ];

    fn name(self) -> &'static str {
        let known = Self::ALL.iter().find(|(known, _)| *known == self);
        known.map_or("", |(_, name)| name)
    }

    /// Of samples at instants, of which there is one at least.
    fn of(self, time_s: &[f64], samples: &[f64]) -> f64 {
        let fold =
            |start: f64, with: fn(f64, f64) -> f64| samples.iter().copied().fold(start, with);
        let mean = |each: fn(f64) -> f64| {
            let spans = time_s.windows(2).zip(samples.windows(2));
            let area = |(time, value): (&[f64], &[f64])| {
                0.5 * (each(value[0]) + each(value[1])) * (time[1] - time[0])
            };
            let span_s = time_s[time_s.len() - 1] - time_s[0];
            if span_s > 0.0 {
                spans.map(area).sum::<f64>() / span_s
            } else {
                each(samples[0])
            }
        };
        // what is not a number stays one: extremes of f64 would pass over it
        if samples.iter().any(|value| value.is_nan()) && !matches!(self, Self::First | Self::Last) {
            return f64::NAN;
        }
        match self {
            Self::First => samples[0],
            Self::Last => samples[samples.len() - 1],
            Self::Min => fold(f64::INFINITY, f64::min),
            Self::Max => fold(f64::NEG_INFINITY, f64::max),
            Self::Mean => mean(|value| value),
            Self::Rms => mean(|value| value * value).sqrt(),
            Self::Peak => fold(0.0, |most, value| most.max(value.abs())),
        }
    }
}

/// How measures are asked for.
const HOW: &str = "write last:hand.position, max:shoulder.torque (first, last, min, max, mean, rms or peak of the channel of that name, or of all that begin so) or frequencies:3";

impl Measure {
    /// What texts such as `last:hand.position` and `frequencies:3` ask for; without any the last values of marker positions and joint
    /// coordinates. The audit's numbers are always among them.
    ///
    /// # Errors
    ///
    /// What is wrong with one of them.
    pub fn asked(mechanism: &Mechanism, texts: &[String]) -> Result<Vec<Self>, String> {
        let mut found = Vec::new();
        if texts.is_empty() {
            let channels = chosen_channels(mechanism, None);
            found.extend(of_channels(mechanism, Statistic::Last, &channels)?);
        }
        for text in texts {
            found.extend(Self::parse(mechanism, text)?);
        }
        found.extend([Self::EnergyDrift, Self::PassedLimits]);
        let mut kept: Vec<Self> = Vec::new();
        for measure in found {
            if !kept.contains(&measure) {
                kept.push(measure);
            }
        }
        Ok(kept)
    }

    fn parse(mechanism: &Mechanism, text: &str) -> Result<Vec<Self>, String> {
        let wrong = || format!("`{text}` is no measure; {HOW}");
        let (kind, what) = text.trim().split_once(':').ok_or_else(wrong)?;
        if kind == "frequencies" {
            const MOST: usize = 1000;
            let count = what.parse::<usize>().ok();
            let count = count
                .filter(|count| (1..=MOST).contains(count))
                .ok_or_else(wrong)?;
            return Ok((1..=count).map(Self::Frequency).collect());
        }
        let known = Statistic::ALL.iter().find(|(_, name)| *name == kind);
        let (statistic, _) = *known.ok_or_else(wrong)?;
        let beginning = [what.to_owned()];
        let mut channels = chosen_channels(mechanism, Some(&beginning));
        if channels.iter().any(|name| name == what) {
            // one that is called so is meant alone
            channels.retain(|name| name == what);
        }
        if channels.is_empty() || what.is_empty() {
            let signals = mechanism.signals().map_err(|error| error.to_string())?;
            let names = signals.iter().map(|signal| signal.name.as_str());
            let remedy = match nearest(what, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`lissom run MODEL --json` lists the channels".to_owned(),
            };
            return Err(format!("no channel begins with `{what}`; {remedy}"));
        }
        of_channels(mechanism, statistic, &channels)
    }

    /// Name and unit, as the head of a column.
    pub fn column(&self) -> String {
        match self {
            Self::Channel {
                statistic,
                channel,
                unit,
            } => format!("{channel}.{} [{unit}]", statistic.name()),
            Self::Frequency(at) => format!("frequency.{at} [rad/s]"),
            Self::EnergyDrift => "energy_drift [%]".to_owned(),
            Self::PassedLimits => "passed_limits [1]".to_owned(),
        }
    }

    /// Channels that have to be recorded for measures.
    pub(super) fn channels(measures: &[Self]) -> Vec<String> {
        let channel = |measure: &Self| match measure {
            Self::Channel { channel, .. } => Some(channel.clone()),
            _ => None,
        };
        measures.iter().filter_map(channel).collect()
    }

    /// How many natural frequencies measures ask for.
    fn frequencies(measures: &[Self]) -> usize {
        let count = |measure: &Self| match measure {
            Self::Frequency(at) => *at,
            _ => 0,
        };
        measures.iter().map(count).max().unwrap_or(0)
    }

    /// What measures are of a run that began at a state; of a mechanism that has fewer frequencies the others are no numbers. `watch` may
    /// end the search for frequencies, which is an error then.
    pub(super) fn values(
        measures: &[Self],
        mechanism: &Mechanism,
        start: &State,
        run: &Run,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Vec<f64>, String> {
        let frequencies = match Self::frequencies(measures) {
            0 => Vec::new(),
            count => frequencies(mechanism, start, count, watch)?,
        };
        let value = |measure: &Self| match measure {
            Self::Channel {
                statistic, channel, ..
            } => of_recording(&run.recording, *statistic, channel),
            Self::Frequency(at) => Ok(frequencies.get(at - 1).copied().unwrap_or(f64::NAN)),
            Self::EnergyDrift => Ok(run.audit.energy.max_drift_percent),
            Self::PassedLimits => Ok(run.audit.limit_violations.len() as f64),
        };
        measures.iter().map(value).collect()
    }
}

fn of_channels(
    mechanism: &Mechanism,
    statistic: Statistic,
    channels: &[String],
) -> Result<Vec<Measure>, String> {
    let signals = mechanism.signals().map_err(|error| error.to_string())?;
    let measure = |channel: &String| Measure::Channel {
        statistic,
        channel: channel.clone(),
        unit: (signals.find(channel)).map_or_else(String::new, |id| signals[id].unit.to_owned()),
    };
    Ok(channels.iter().map(measure).collect())
}

fn of_recording(recording: &Recording, statistic: Statistic, name: &str) -> Result<f64, String> {
    let channel = recording
        .channel(name)
        .filter(|own| !own.samples.is_empty());
    let channel = channel.ok_or_else(|| format!("the run has no channel {name}"))?;
    Ok(statistic.of(&recording.time_s, &channel.samples))
}

/// Natural frequencies at the start; one that there is none of, because the stiffness pushes away, is no number.
fn frequencies(
    mechanism: &Mechanism,
    start: &State,
    count: usize,
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Result<Vec<f64>, String> {
    let options = ModesOptions {
        joints: DrivenJoints {
            free: false,
            closed_loop: false,
        },
        terms: Terms::CASES[0],
        count,
    };
    let at = OperatingPoint::Start;
    let found = mechanism.modes(start, at, &[], options, watch);
    let (_, modes) = found.map_err(|error| error.to_string())?;
    let first = |mode: &Vec<lissom::ModeAt>| mode.first().and_then(lissom::ModeAt::frequency);
    let frequency = |mode| first(mode).unwrap_or(f64::NAN);
    Ok(modes.modes.iter().map(frequency).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: a line from -1 to 3 over four seconds, with a sample that stands elsewhere than in the middle.
    #[test]
    fn numbers_of_a_channel() {
        let (time_s, samples) = ([0.0, 1.0, 4.0], [-1.0, 0.0, 3.0]);
        let found = Statistic::ALL.map(|(statistic, _)| statistic.of(&time_s, &samples));
        // trapezoids: (-0.5 + 4.5) / 4, and of squares (0.5 + 13.5) / 4
        let expected = [-1.0, 3.0, -1.0, 3.0, 1.0, 3.5_f64.sqrt(), 3.0];
        assert_eq!(found, expected);
        let with_hole = [1.0, f64::NAN, 2.0];
        assert!(Statistic::Max.of(&time_s, &with_hole).is_nan());
        assert_eq!(Statistic::Last.of(&time_s, &with_hole), 2.0);
    }
}
