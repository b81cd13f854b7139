//! Figures of the works, made anew of runs of shipped models, as `figures.toml` of a source describes them.

mod studies;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use self::studies::{Curves, Study};

/// Every `figures.toml` of `validation/`.
const FILES: [&str; 5] = [
    include_str!("../../../../../validation/damaren_1995/figures.toml"),
    include_str!("../../../../../validation/fattah_1995/figures.toml"),
    include_str!("../../../../../validation/jain_rodriguez_1992/figures.toml"),
    include_str!("../../../../../validation/jonker_aarts_2001/figures.toml"),
    include_str!("../../../../../validation/pan_1990/figures.toml"),
];

/// A figure of a source with curves of ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Key of the source in `validation/`.
    pub source: String,
    /// Its number there.
    pub number: String,
    /// What it shows.
    pub caption: String,
    /// What was assumed where the source does not give what is needed.
    pub assumed: Option<String>,
    /// The axis across.
    pub across: Quantity,
    /// Panels from top to bottom.
    pub panels: Vec<Panel>,
    /// What the curves are made of, run by run: its label and how to repeat it.
    pub runs: Vec<(String, String)>,
    /// What could not be drawn.
    pub missing: Vec<String>,
}

/// What an axis shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantity {
    /// Name.
    pub label: String,
    /// Unit.
    #[serde(default)]
    pub unit: String,
    /// Whether numbers are spread by their logarithms.
    #[serde(default)]
    pub logarithmic: bool,
}

/// Curves of one quantity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Panel {
    /// The axis upward.
    pub upward: Quantity,
    /// The curves, in the order of channels and then of runs.
    pub curves: Vec<Curve>,
}

/// A curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// What the legend calls it.
    pub name: String,
    /// Number of its channel in the panel.
    pub channel: usize,
    /// Number of its run in the panel.
    pub run: usize,
    /// Values across.
    pub across: Vec<f64>,
    /// Values upward, as many.
    pub upward: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    source: Source,
    run: Vec<RunSpec>,
    figure: Vec<FigureSpec>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    key: String,
}

/// A run that figures of the file name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunSpec {
    name: String,
    /// What legends call it.
    label: String,
    /// Name of a shipped model; none where the study needs none.
    #[serde(default)]
    model: String,
    /// Overrides, as `--set` takes them.
    #[serde(default)]
    set: Vec<String>,
    /// Samples of a run that vibrates faster than the usual number can show.
    samples: Option<usize>,
    /// What is done with it; a simulation if absent.
    #[serde(default)]
    study: Study,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FigureSpec {
    number: String,
    caption: String,
    assumed: Option<String>,
    /// Whether `--quick` leaves it out.
    #[serde(default)]
    slow: bool,
    /// Time if absent.
    across: Option<Quantity>,
    /// Runs of panels that name none.
    #[serde(default)]
    runs: Vec<String>,
    panel: Vec<PanelSpec>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PanelSpec {
    label: String,
    channels: Vec<String>,
    runs: Option<Vec<String>>,
    /// What lies beyond is not drawn.
    bounds: Option<[f64; 2]>,
    #[serde(default)]
    logarithmic: bool,
}

impl FigureSpec {
    fn runs_of<'a>(&'a self, panel: &'a PanelSpec) -> &'a [String] {
        panel.runs.as_ref().unwrap_or(&self.runs)
    }
}

fn files() -> impl Iterator<Item = File> {
    let read = |text| toml::from_str(text).expect("a test reads every shipped figures.toml");
    FILES.into_iter().map(read)
}

/// Sources and numbers of all figures, without a run.
pub fn numbers() -> Vec<(String, String)> {
    let of_file = |file: File| {
        let key = file.source.key;
        let numbers = file.figure.into_iter().map(|figure| figure.number);
        numbers
            .map(|number| (key.clone(), number))
            .collect::<Vec<_>>()
    };
    files().flat_map(of_file).collect()
}

/// All figures; with `quick` without those whose runs take long.
pub fn figures(quick: bool) -> Vec<Figure> {
    files().flat_map(|file| of_file(&file, quick)).collect()
}

fn of_file(file: &File, quick: bool) -> Vec<Figure> {
    let mut done: BTreeMap<&str, Option<Curves>> = BTreeMap::new();
    let chosen = file.figure.iter().filter(|figure| !(quick && figure.slow));
    chosen.map(|figure| make(file, figure, &mut done)).collect()
}

fn make<'a>(
    file: &'a File,
    figure: &FigureSpec,
    done: &mut BTreeMap<&'a str, Option<Curves>>,
) -> Figure {
    let mut made = Figure {
        source: file.source.key.clone(),
        number: figure.number.clone(),
        caption: figure.caption.clone(),
        assumed: figure.assumed.clone(),
        across: figure.across.clone().unwrap_or_else(|| Quantity {
            label: "Time".to_owned(),
            unit: "s".to_owned(),
            logarithmic: false,
        }),
        panels: Vec::new(),
        runs: Vec::new(),
        missing: Vec::new(),
    };
    for panel in &figure.panel {
        let runs: Vec<&RunSpec> = (figure.runs_of(panel).iter())
            .filter_map(|name| file.run.iter().find(|run| run.name == *name))
            .collect();
        let mut upward = Quantity {
            label: panel.label.clone(),
            unit: String::new(),
            logarithmic: panel.logarithmic,
        };
        let mut curves = Vec::new();
        for (channel, name) in panel.channels.iter().enumerate() {
            for (number, run) in runs.iter().enumerate() {
                let found = done.entry(&run.name).or_insert_with(|| run.curves());
                let Some((unit, values)) = found.as_ref().and_then(|found| found.of(name)) else {
                    made.missing.push(format!("{name} of {}", run.label));
                    continue;
                };
                upward.unit = unit;
                curves.push(Curve {
                    name: match (panel.channels.len(), runs.len()) {
                        (1, _) => run.label.clone(),
                        (_, 1) => name.clone(),
                        _ => format!("{name} · {}", run.label),
                    },
                    channel,
                    run: number,
                    across: found.iter().flat_map(Curves::across).collect(),
                    upward: within(values, panel.bounds),
                });
                let repeated = (run.label.clone(), run.command());
                if !made.runs.contains(&repeated) {
                    made.runs.push(repeated);
                }
            }
        }
        made.panels.push(Panel { upward, curves });
    }
    made
}

fn within(mut values: Vec<f64>, bounds: Option<[f64; 2]>) -> Vec<f64> {
    if let Some([least, most]) = bounds {
        let beyond = |value: &&mut f64| !(least..=most).contains(*value);
        values
            .iter_mut()
            .filter(beyond)
            .for_each(|value| *value = f64::NAN);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: every file can be read, every run that a panel names is there and used, every model loads with its changes, and
    /// no number stands twice.
    #[test]
    fn every_file_is_read() {
        let mut all = numbers();
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
        for file in files() {
            for run in &file.run {
                assert!(run.loads(), "{}", run.name);
                let used = |figure: &FigureSpec| {
                    let mut panels = figure.panel.iter();
                    panels.any(|panel| figure.runs_of(panel).contains(&run.name))
                };
                assert!(file.figure.iter().any(used), "{} is not used", run.name);
            }
            for figure in &file.figure {
                for panel in &figure.panel {
                    let names = figure.runs_of(panel);
                    assert!(
                        !names.is_empty() && !panel.channels.is_empty(),
                        "{}",
                        figure.number
                    );
                    for name in names {
                        let known = file.run.iter().any(|run| run.name == *name);
                        assert!(known, "{} names {name}", figure.number);
                    }
                }
            }
        }
    }
}
