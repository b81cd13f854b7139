//! What a plot shows: panels of curves over one axis.

use lissom::Recording;
use lissom_io::load::Loaded;

use super::layout::DASHES;
use crate::panels::{Chosen, Groups, MOST_CURVES, panels};

/// Curves in panels, one below the other, over one axis.
#[derive(Clone, Debug)]
pub struct Chart<'a> {
    /// What it is called, in formats that have a place for it.
    pub title: String,
    /// The axis across.
    pub across: Axis,
    /// Panels from top to bottom.
    pub panels: Vec<Panel<'a>>,
    /// Channels of the same kinds that are not among the curves.
    pub left_out: Vec<String>,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// The quantity; may be empty.
    pub label: String,
    /// Its unit; may be empty.
    pub unit: String,
    /// How numbers are spread along it.
    pub scale: Scale,
}

/// How numbers are spread along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// Evenly, of whole numbers.
    Whole,
    /// By their logarithms; what is not positive is not drawn.
    Logarithmic,
}

/// Curves of one unit.
#[derive(Clone, Debug)]
pub struct Panel<'a> {
    /// The axis upward.
    pub upward: Axis,
    /// The curves.
    pub curves: Vec<Curve<'a>>,
}

/// A curve.
#[derive(Clone, Debug)]
pub struct Curve<'a> {
    /// What the legend calls it.
    pub name: String,
    /// The channel that it shows.
    pub channel: String,
    /// Values along the axis across, and those upward, as many.
    pub points: [&'a [f64]; 2],
    /// Number of its colour.
    pub colour: usize,
    /// Number of its dashes.
    pub dash: usize,
}

impl<'a> Chart<'a> {
    /// Channels of recordings of a model over time, each with what it is called among the others: channels whose names
    /// begin with one of `asked`, or a choice among all.
    pub fn of_recordings(
        loaded: &Loaded,
        recordings: &[(&str, &'a Recording)],
        asked: &[String],
    ) -> Self {
        let groups = Groups::of(&loaded.mechanism);
        let first = recordings.first();
        let chosen = first.map(|(_, recording)| panels(&groups, recording, asked));
        let Chosen { shown, left_out } = chosen.unwrap_or_default();
        let title = loaded.name();
        let label = |names: &[String]| groups.title(names).to_owned();
        Self {
            left_out,
            ..Self::over_time(title, recordings, &shown, label)
        }
    }

    /// Channels of one recording over time, every list of names with the quantity that it shows.
    pub fn of_recording(
        title: &str,
        recording: &'a Recording,
        shown: &[(String, Vec<String>)],
    ) -> Self {
        let names: Vec<Vec<String>> = shown.iter().map(|(_, names)| names.clone()).collect();
        let label = |names: &[String]| {
            let mut lists = shown.iter();
            let list = lists.find(|(_, list)| names.iter().all(|name| list.contains(name)));
            list.map_or_else(String::new, |(label, _)| label.clone())
        };
        Self::over_time(title, &[("", recording)], &names, label)
    }

    fn over_time(
        title: &str,
        sources: &[(&str, &'a Recording)],
        shown: &[Vec<String>],
        label: impl Fn(&[String]) -> String,
    ) -> Self {
        let lists = shown.iter().flat_map(|names| by_unit(sources, names));
        // more curves than can be told apart go on in a further panel
        let together = if sources.len() > DASHES.len() {
            1
        } else {
            MOST_CURVES
        };
        let lists = lists.flat_map(|(unit, names)| {
            let parts = names.chunks(together).map(<[String]>::to_vec);
            parts.map(|part| (unit.clone(), part)).collect::<Vec<_>>()
        });
        let panels = lists.map(|(unit, names)| Panel {
            upward: Axis {
                label: label(&names),
                unit,
                scale: Scale::Linear,
            },
            curves: curves(sources, &names),
        });
        Self {
            title: title.to_owned(),
            across: Axis {
                label: "Time".to_owned(),
                unit: "s".to_owned(),
                scale: Scale::Linear,
            },
            panels: panels.collect(),
            left_out: Vec::new(),
        }
    }
}

/// Names of channels by their units, in the order in which these occur.
fn by_unit(sources: &[(&str, &Recording)], names: &[String]) -> Vec<(String, Vec<String>)> {
    let mut units: Vec<(String, Vec<String>)> = Vec::new();
    for name in names {
        let mut channels = sources.iter().filter_map(|(_, r)| r.channel(name));
        let Some(channel) = channels.next() else {
            continue;
        };
        match units.iter_mut().find(|(unit, _)| *unit == channel.unit) {
            Some((_, members)) => members.push(name.clone()),
            None => units.push((channel.unit.clone(), vec![name.clone()])),
        }
    }
    units
}

fn curves<'a>(sources: &[(&str, &'a Recording)], names: &[String]) -> Vec<Curve<'a>> {
    let mut curves = Vec::new();
    for (i, name) in names.iter().enumerate() {
        for (j, (label, recording)) in sources.iter().enumerate() {
            let Some(channel) = recording.channel(name) else {
                continue;
            };
            curves.push(Curve {
                name: if sources.len() > 1 {
                    format!("{name} · {label}")
                } else {
                    name.clone()
                },
                channel: name.clone(),
                points: [&recording.time_s, &channel.samples],
                colour: if names.len() == 1 { j } else { i },
                // where colours begin anew dashes are others
                dash: j + j / DASHES.len(),
            });
        }
    }
    curves
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Chart, Recording};
    use crate::plot::layout::look;

    /// Property: no two curves of a panel have the same colour and the same dashes, however many recordings there are.
    #[test]
    fn curves_of_a_panel_look_different() {
        let names = ["shoulder.angle", "elbow.angle", "wrist.angle"].map(str::to_owned);
        let recording = Recording {
            time_s: vec![0.0, 1.0],
            channels: (names.iter())
                .map(|name| lissom::Channel {
                    name: name.clone(),
                    unit: "rad".to_owned(),
                    samples: vec![0.0, 1.0],
                })
                .collect(),
        };
        for count in [1, 2, 4, 5, 8, 9, 20, 60] {
            let sources: Vec<(&str, &Recording)> = vec![("run", &recording); count];
            let chart = Chart::over_time("", &sources, &[names.to_vec()], |_| String::new());
            let mut curves = 0;
            for panel in &chart.panels {
                let looks: BTreeSet<_> = (panel.curves.iter())
                    .map(|curve| format!("{:?}", look(curve)))
                    .collect();
                assert_eq!(looks.len(), panel.curves.len(), "{count} recordings");
                curves += panel.curves.len();
            }
            assert_eq!(curves, 3 * count);
        }
    }
}
