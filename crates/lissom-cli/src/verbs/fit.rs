//! `lissom fit`: numbers of a model from measured data.

use lissom::{Channel, Flow, Override, Recording};
use lissom_io::fit::{Estimate, Fit, FitError, Fitted, Parameter};
use lissom_io::load::{self, Loaded};
use lissom_io::measured::{self, Heads};
use lissom_io::{csv, resource, threads};
use lissom_report::Chart;
use serde::Serialize;

use super::run::batch_for;
use crate::arguments::FitArguments;
use crate::interrupt::Keeping;
use crate::output::{counted, rounded, short};
use crate::plot::{CHANNELS, WithPlot};
use crate::stop::Stop;
use crate::{interrupt, source};

/// The files that a fit leaves.
const FITTED: &str = "fitted.toml";
const FOUND: &str = "fit.json";
const TABLE: &str = "fitted.csv";

/// Fits a model to measured data.
pub(crate) fn run(arguments: &FitArguments) -> Result<(), Stop> {
    let measured = measured_data(arguments)?;
    let named = arguments.model.named()?;
    let model = source::Model::of(&named)?;
    let loaded = model.load()?;
    let text = match model.text() {
        Some(text) if load::stands_alone(&loaded.label, text) => text.to_owned(),
        _ => loaded.whole_text().map_err(Stop::Failed)?,
    };
    let parameters = Parameter::named(&text, &arguments.parameters, arguments.each)
        .map_err(|error| Stop::Usage(format!("--parameters: {error}")))?;
    let files = [FITTED, FOUND, TABLE].map(str::to_owned).to_vec();
    let name = format!("{}-fit", loaded.label);
    let mut batch = batch_for(arguments.out.as_deref(), &name, files)?;
    arguments.plot.refuse_unwritable()?;
    let load = |changes: &[Override]| load::load_text(&loaded.label, &text, changes);
    let fit = Fit {
        load: &load,
        parameters: &parameters,
        measured: &measured,
        threads: arguments.threads.unwrap_or_else(threads::cores),
    };
    interrupt::watch();
    let mut told = 0;
    let mut watch = |runs: usize| {
        if runs > told {
            told = runs;
            (arguments.answer).progress(&format!("{runs} runs …"));
        }
        if interrupt::is_asked_on_threads() {
            Flow::Stop
        } else {
            Flow::Continue
        }
    };
    let fitted = match fit.run(&mut watch) {
        Err(error @ FitError::Stopped { .. }) => return Err(Stop::Interrupted(error.to_string())),
        found => found?,
    };
    let _keeping = Keeping::begin();
    let answer = FitAnswer {
        model: loaded.name().to_owned(),
        lissom_version: env!("CARGO_PKG_VERSION"),
        measured: (arguments.measured.iter())
            .map(|path| path.display().to_string())
            .collect(),
        fitted: &fitted,
        files: [FITTED, FOUND, TABLE]
            .map(|file| batch.folder().join(file).display().to_string())
            .to_vec(),
    };
    let written = fitted.written_into(&text)?;
    batch.write(FITTED, |out| {
        std::io::Write::write_all(out, written.as_bytes())
    })?;
    batch.write(TABLE, |out| csv::write(&fitted.recording, out))?;
    batch.write_json(FOUND, &answer)?;
    batch.finish()?;
    let chart = || Ok(chart(&loaded, &fitted.recording));
    let plot = (arguments.plot).write(arguments.answer, CHANNELS, chart)?;
    for warning in &fitted.warnings {
        arguments.answer.warn(&format!("warning: {warning}"));
    }
    let with_plot = WithPlot {
        answer: &answer,
        plot: plot.as_ref(),
    };
    arguments.answer.give(&with_plot, || {
        let plot = plot.as_ref().map(|plot| plot.file.display().to_string());
        answer.in_words(plot)
    })
}

/// The channels that were measured, and of them those that are wanted.
fn measured_data(arguments: &FitArguments) -> Result<Recording, Stop> {
    let path = arguments.measured.as_ref().ok_or_else(|| {
        Stop::Usage(
            "which data? name the file behind the model, as in lissom fit arm.toml measured.csv"
                .to_owned(),
        )
    })?;
    let text = resource::read_text(path)?;
    let mut measured = measured::parse(&path.display().to_string(), &text, &Heads::default())?;
    if !arguments.channels.is_empty() {
        let is_wanted = |name: &str| {
            arguments
                .channels
                .iter()
                .any(|own| name.starts_with(own.as_str()))
        };
        measured.channels.retain(|channel| is_wanted(&channel.name));
    }
    if measured.channels.is_empty() {
        return Err(Stop::Usage(format!(
            "{} has no column that --channels names",
            path.display()
        )));
    }
    Ok(measured)
}

/// What was found.
#[derive(Debug, Serialize)]
struct FitAnswer<'a> {
    model: String,
    lissom_version: &'static str,
    measured: String,
    #[serde(flatten)]
    fitted: &'a Fitted,
    files: Vec<String>,
}

impl FitAnswer<'_> {
    fn in_words(&self, plot: Option<String>) -> String {
        let fitted = self.fitted;
        let mut lines = vec![format!(
            "{} fitted to {}: {}, {}",
            self.model,
            self.measured,
            counted(fitted.steps, "step"),
            counted(fitted.runs, "run")
        )];
        let widest = fitted.parameters.iter().map(|one| one.path.len()).max();
        let width = widest.unwrap_or(0) + 2;
        lines.push(format!(
            "  {:<width$}{:>12}{:>12}{:>12}   95 % interval",
            "", "start", "value", "deviation"
        ));
        let interval = |one: &Estimate| {
            let [low, high] = one.interval_95;
            if low.is_finite() {
                format!("{} to {}", short(low), short(high))
            } else {
                "not known".to_owned()
            }
        };
        for one in &fitted.parameters {
            let deviation = if one.deviation.is_finite() {
                rounded(one.deviation, 2)
            } else {
                "-".to_owned()
            };
            lines.push(format!(
                "  {:<width$}{:>12}{:>12}{deviation:>12}   {}",
                one.path,
                short(one.start),
                short(one.value),
                interval(one)
            ));
        }
        for left in &fitted.channels {
            lines.push(format!(
                "  left over of {}: {} {} in {}",
                left.channel,
                rounded(left.rms, 3),
                left.unit,
                counted(left.samples, "sample")
            ));
        }
        let files: Vec<String> = self.files.iter().cloned().chain(plot).collect();
        lines.push(format!("\nWrote {}.", files.join(", ")));
        lines.push(format!("\nNext: lissom run {}", self.files[0]));
        lines.join("\n")
    }
}

/// Measured and fitted channels, a panel each.
fn chart<'a>(loaded: &Loaded, recording: &'a Recording) -> Chart<'a> {
    let names = |pair: &[Channel]| pair.iter().map(|own| own.name.clone()).collect();
    let panel = |pair: &[Channel]| {
        let name = pair[0].name.trim_end_matches(".measured");
        (name.to_owned(), names(pair))
    };
    let pairs = recording.channels.chunks_exact(2);
    let title = format!("{}: measured and fitted", loaded.name());
    Chart::of_recording(&title, recording, &pairs.map(panel).collect::<Vec<_>>())
}
