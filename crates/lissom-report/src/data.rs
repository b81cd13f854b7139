//! What the page is given: one JSON object, and one block of numbers that it points into.
//!
//! Instants are doubles, everything else is in single precision; all are little-endian. A reference
//! `{"at": byte, "count": n}` leads to the first byte and says how many numbers follow. A channel that does not change
//! has its `constant` instead.

use lissom::scene::{Frames, Scene};
use lissom::{Channel, Mechanism, ModeAt, Recording};
use lissom_io::analysis::Analysis;
use serde::Serialize;
use serde_json::{Value, json};

use crate::panels::{Chosen, FREQUENCIES, GROUPS, Groups, moves, panels};
use crate::verdict::{Verdict, verdicts};
use crate::visuals::{Visual, drawn_by};
use crate::{Beside, Source};

/// Version of the layout; the page refuses others.
const FORMAT: u32 = 4;

/// Most numbers of an animation: eight megabytes. Longer recordings are animated with fewer frames, which their
/// plots do not notice.
const MOST_NUMBERS: usize = 2_000_000;

/// Fewest frames of an animation, however many bodies there are.
const FEWEST_FRAMES: usize = 600;

/// Instants of a motion at which natural frequencies are computed, and how many of them are shown.
const INSTANTS: usize = 50;
const MODES: usize = 6;
/// Models with more coordinates would keep the reader waiting.
const MOST_COORDINATES: usize = 80;

/// Everything the page shows.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    format: u32,
    lissom_version: &'static str,
    title: String,
    groups: Vec<Value>,
    /// Channels of the panels to begin with.
    panels: Vec<Vec<String>>,
    /// Further channels of the same kinds, for which these panels have no room.
    left_out: Vec<String>,
    recordings: Vec<Shown>,
    /// Tables of measured data.
    measured: Vec<Measured>,
    /// What else is known of the mechanism: responses, modes, maps.
    analyses: Vec<ShownAnalysis>,
}

#[derive(Debug, Serialize)]
struct Measured {
    label: String,
    time: Numbers,
    channels: Vec<ShownChannel>,
}

#[derive(Debug, Serialize)]
struct ShownAnalysis {
    label: String,
    #[serde(flatten)]
    analysis: Analysis,
}

#[derive(Debug, Serialize)]
struct Shown {
    label: String,
    model: String,
    time: Numbers,
    channels: Vec<ShownChannel>,
    /// What is drawn; absent when the recording does not tell.
    scene: Option<Scene>,
    /// Shapes that rigid bodies and the ground are drawn by.
    visuals: Vec<Visual>,
    animation: Option<Animation>,
    /// Why there is no animation.
    no_animation: Option<String>,
    /// Why there are no natural frequencies along the motion.
    no_frequencies: Option<String>,
    verdicts: Vec<Verdict>,
    /// What `lissom check` says of the model.
    model_summary: Value,
    summary: Value,
    fidelity: Value,
    options: Value,
    model_text: String,
    model_file: Option<String>,
    made_by: String,
}

#[derive(Debug, Serialize)]
struct ShownChannel {
    name: String,
    unit: String,
    group: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<Numbers>,
    #[serde(skip_serializing_if = "Option::is_none")]
    constant: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Animation {
    time: Numbers,
    poses: Numbers,
    elastic: Numbers,
    rigid: Numbers,
    /// Absent where the ghost is the rigid configuration.
    ghost: Option<Numbers>,
}

/// Where numbers stand in the block.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Numbers {
    at: usize,
    count: usize,
}

/// The numbers of a report.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) bytes: Vec<u8>,
}

impl Block {
    fn doubles(&mut self, values: &[f64]) -> Numbers {
        // views on doubles start at multiples of their size
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        let at = self.bytes.len();
        for value in values {
            self.bytes.extend_from_slice(&value.to_le_bytes());
        }
        Numbers {
            at,
            count: values.len(),
        }
    }

    pub(crate) fn singles(&mut self, values: impl IntoIterator<Item = f32>) -> Numbers {
        let at = self.bytes.len();
        for value in values {
            self.bytes.extend_from_slice(&value.to_le_bytes());
        }
        Numbers {
            at,
            count: (self.bytes.len() - at) / 4,
        }
    }

    pub(crate) fn indices(&mut self, values: impl IntoIterator<Item = u32>) -> Numbers {
        let at = self.bytes.len();
        for value in values {
            self.bytes.extend_from_slice(&value.to_le_bytes());
        }
        Numbers {
            at,
            count: (self.bytes.len() - at) / 4,
        }
    }
}

impl Report {
    pub(crate) fn new(
        sources: &[Source<'_>],
        asked: &[String],
        beside: &Beside<'_>,
    ) -> (Self, Block) {
        let mut block = Block::default();
        let recordings: Vec<Shown> = (sources.iter())
            .map(|source| shown(source, &mut block))
            .collect();
        let first = sources.first();
        let groups = first.map(|source| Groups::of(&source.loaded.mechanism));
        let chosen = first.zip(groups.as_ref());
        let measured_names = measured_channels(beside);
        let chosen = chosen.map(|(source, groups)| {
            let mut usual = panels(groups, source.recording, asked);
            if !measured_names.is_empty() {
                // what was measured comes first, and stands but once
                let is_measured = |name: &String| measured_names.contains(name);
                for panel in &mut usual.shown {
                    panel.retain(|name| !is_measured(name));
                }
                usual.shown.retain(|panel| !panel.is_empty());
                usual.left_out.retain(|name| !is_measured(name));
                let mut measured = panels(groups, source.recording, &measured_names).shown;
                for panel in &mut measured {
                    panel.retain(is_measured);
                }
                measured.retain(|panel| !panel.is_empty());
                usual.shown.splice(0..0, measured);
            }
            usual
        });
        let Chosen {
            shown: mut panels,
            left_out,
        } = chosen.unwrap_or_default();
        let measured = (beside.measured.iter())
            .map(|(label, table)| Measured {
                label: label.clone(),
                time: block.doubles(&table.time_s),
                channels: (table.channels.iter())
                    .map(|channel| {
                        let group = groups.as_ref().map(|groups| groups.group(&channel.name));
                        shown_channel(group.unwrap_or("other"), channel, &mut block)
                    })
                    .collect(),
            })
            .collect();
        let analyses = beside.analyses.iter().cloned();
        let analyses = analyses.map(|(label, analysis)| ShownAnalysis { label, analysis });
        let wanted = |name: &str| asked.is_empty() || asked.iter().any(|a| name.starts_with(a));
        let of_first = recordings.first().map_or(&[][..], |shown| &shown.channels);
        let frequencies: Vec<String> = (of_first.iter())
            .filter(|channel| channel.group == FREQUENCIES && wanted(&channel.name))
            .map(|channel| channel.name.clone())
            .collect();
        if !frequencies.is_empty() {
            panels.push(frequencies);
        }
        let report = Self {
            format: FORMAT,
            lissom_version: env!("CARGO_PKG_VERSION"),
            title: title(&recordings),
            groups: (GROUPS.iter())
                .map(|(key, title)| json!({ "key": key, "title": title }))
                .collect(),
            panels,
            left_out,
            recordings,
            measured,
            analyses: analyses.collect(),
        };
        (report, block)
    }

    pub(crate) fn title(&self) -> &str {
        &self.title
    }
}

/// Names of the channels that were measured.
fn measured_channels(beside: &Beside<'_>) -> Vec<String> {
    let tables = beside.measured.iter();
    let channels = tables.flat_map(|(_, table)| &table.channels);
    channels.map(|channel| channel.name.clone()).collect()
}

/// Names of the models, each once.
fn title(recordings: &[Shown]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for recording in recordings {
        if !names.contains(&recording.model.as_str()) {
            names.push(&recording.model);
        }
    }
    names.join(" · ")
}

fn shown(source: &Source<'_>, block: &mut Block) -> Shown {
    let Source {
        loaded,
        manifest,
        recording,
        ..
    } = source;
    let mechanism = &loaded.mechanism;
    let groups = Groups::of(mechanism);
    let time = block.doubles(&recording.time_s);
    let (frequencies, no_frequencies) = match frequencies(mechanism, recording) {
        Ok(frequencies) => (frequencies, None),
        Err(reason) => (Vec::new(), Some(reason)),
    };
    let recorded = recording.channels.iter();
    let recorded = recorded.map(|channel| (groups.group(&channel.name), channel));
    let channels = recorded
        .chain(frequencies.iter().map(|channel| (FREQUENCIES, channel)))
        .map(|(group, channel)| shown_channel(group, channel, block))
        .collect();
    let mut visuals = Vec::new();
    let (scene, animation, no_animation) = match drawn(mechanism, recording) {
        Ok((mut scene, frames)) => {
            visuals = drawn_by(loaded, &mut scene, block);
            let animation = Animation {
                time: block.doubles(&frames.time_s),
                poses: block.singles(frames.poses),
                elastic: block.singles(frames.elastic),
                rigid: block.singles(frames.rigid),
                ghost: (!frames.ghost.is_empty()).then(|| block.singles(frames.ghost)),
            };
            (Some(scene), Some(animation), None)
        }
        Err(reason) => (None, None, Some(reason)),
    };
    let mut summary = manifest.summary.clone();
    if let Some(entries) = summary.as_object_mut() {
        // the page has every sample
        entries.remove("channels");
        entries.remove("at");
    }
    Shown {
        label: source.label.clone(),
        model: loaded.name().to_owned(),
        time,
        channels,
        scene,
        visuals,
        animation,
        no_animation,
        no_frequencies,
        verdicts: verdicts(&manifest.summary),
        model_summary: source.model_summary.clone(),
        summary,
        fidelity: manifest.fidelity.clone(),
        options: manifest.options.clone(),
        model_text: manifest.model.clone(),
        model_file: manifest.model_file.clone(),
        made_by: manifest.lissom_version.clone(),
    }
}

/// Natural frequencies over the recorded motion, drawn straight between the instants at which they are known, or why there
/// are none.
fn frequencies(mechanism: &Mechanism, recording: &Recording) -> Result<Vec<Channel>, String> {
    let coordinates = mechanism.written().velocity.len();
    if coordinates > MOST_COORDINATES {
        return Err(format!(
            "with {coordinates} coordinates they take too long for a page; lissom modes --about run finds them"
        ));
    }
    let found = mechanism.recorded_frequencies(recording, INSTANTS, MODES);
    let Some((samples, modes)) = found else {
        return Err("they cannot be found along this recording".to_owned());
    };
    let curve = |(index, mode): (usize, &Vec<ModeAt>)| {
        let known: Vec<f64> = (mode.iter())
            .map(|at| at.frequency().unwrap_or(f64::NAN))
            .collect();
        let at = |sample: usize| {
            let next = samples.partition_point(|&s| s < sample).max(1);
            let [before, after] = [samples[next - 1], samples[next]];
            // a mode that grows has no frequency, which is not to spread to where it has one
            if sample == before {
                return known[next - 1];
            }
            if sample == after {
                return known[next];
            }
            let [from, to] = [before, after].map(|s| recording.time_s[s]);
            if modes.is_untracked(index, to) {
                return f64::NAN;
            }
            let share = (recording.time_s[sample] - from) / (to - from);
            known[next - 1] * (1.0 - share) + known[next] * share
        };
        Channel {
            name: format!("frequency.mode_{}", index + 1),
            unit: "rad/s".to_owned(),
            samples: (0..recording.len()).map(at).collect(),
        }
    };
    Ok(modes.modes.iter().enumerate().map(curve).collect())
}

/// What is drawn of a recording, or why nothing is.
fn drawn(mechanism: &Mechanism, recording: &Recording) -> Result<(Scene, Frames), String> {
    let scene = mechanism.scene().map_err(|error| error.to_string())?;
    if recording.len() < 2 {
        return Err("the recording has fewer than two samples".to_owned());
    }
    let most = (MOST_NUMBERS / scene.numbers_per_frame().max(1)).max(FEWEST_FRAMES);
    let frames = mechanism.frames(recording, most);
    Ok((scene, frames.map_err(|error| error.to_string())?))
}

fn shown_channel(group: &'static str, channel: &Channel, block: &mut Block) -> ShownChannel {
    let constant = (!moves(channel)).then(|| channel.samples.first().copied().unwrap_or(0.0));
    #[expect(
        clippy::cast_possible_truncation,
        reason = "seven digits are more than a screen has"
    )]
    let samples = || channel.samples.iter().map(|&x| x as f32);
    ShownChannel {
        name: channel.name.clone(),
        unit: channel.unit.clone(),
        group,
        samples: constant.is_none().then(|| block.singles(samples())),
        constant,
    }
}

#[cfg(test)]
mod tests {
    use lissom::sample_instants;

    use super::{MODES, frequencies};
    use crate::panels::tests::loaded;

    /// Two ways: natural frequencies of an arm of the same elements in floating frames and in nodal coordinates, along the
    /// beginning of its motion.
    #[test]
    fn natural_frequencies_of_both_formulations_agree() {
        /// The shapes are the same cubics; what differs is of second order in slopes of a hundredth.
        const SECOND_ORDER: f64 = 1e-3;
        let short = [
            "simulation.duration_s=0.02",
            "simulation.integrator={radau={rtol=1e-5,atol=1e-7}}",
            "body.0.beam.basis={elements={count=2}}",
            "body.1.beam.basis={elements={count=2}}",
        ];
        let by = |formulation: &[&str]| {
            let loaded = loaded("two-link-arm", &[&short, formulation].concat());
            let samples = sample_instants(&loaded.spec, &[]);
            let recording = loaded.mechanism.run(&samples).recording;
            frequencies(&loaded.mechanism, &recording).unwrap()
        };
        let (floating, nodal) = (by(&[]), by(&["formulation.nodal.elements_per_link=2"]));
        assert_eq!((floating.len(), nodal.len()), (MODES, MODES));
        for (one, other) in floating.iter().zip(&nodal) {
            assert_eq!(one.name, other.name);
            for (a, b) in one.samples.iter().zip(&other.samples) {
                assert!((a / b - 1.0).abs() < SECOND_ORDER, "{}: {a} {b}", one.name);
            }
        }
    }
}
