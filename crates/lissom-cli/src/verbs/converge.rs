//! `lissom converge`: how accurate a run is.

use std::time::Instant;

use lissom::converge::{
    Accuracy, Basis, ConvergeOptions, Convergence, CrossCheck, Estimate, Measure, Refinement,
    SAFETY, Task, converge,
};
use lissom_io::converge::{ConvergenceReport, RunCost};
use lissom_report::{Axis, Chart, Curve, MOST_CURVES, Panel, Scale};

use super::run::{batch_for, refuse_too_large, watched};
use crate::arguments::ConvergeArguments;
use crate::interrupt::Keeping;
use crate::output::rounded;
use crate::plot::{CHANNELS, WithPlot};
use crate::stop::Stop;
use crate::{interrupt, source};

/// Tells how accurate the run of a model is.
pub(crate) fn run(arguments: &ConvergeArguments) -> Result<(), Stop> {
    let loaded = source::load(&arguments.model.named()?)?;
    source::refuse_unknown_channels(&loaded, &arguments.channels)?;
    refuse_too_large(&loaded, None)?;
    let from = source::named_state_on_the_way(&loaded, &arguments.start)?;
    let batch = batch_for(
        arguments.out.as_deref(),
        &format!("{}-converge", loaded.label),
        vec![ConvergenceReport::FILE.to_owned()],
    )?;
    arguments.plot.refuse_unwritable()?;
    let silent = arguments.answer.is_silent();
    let mut costs: Vec<RunCost> = Vec::new();
    let mut run_task = |task: &Task<'_>| {
        (arguments.answer).progress(&format!("Running {} …", task.name));
        interrupt::watch();
        let began = Instant::now();
        let run = watched(task.start_s(), task.duration_s(), silent, |watch| {
            task.simulate(watch)
        });
        costs.push(RunCost::of(task, &run, began.elapsed().as_secs_f64()));
        run
    };
    let options = ConvergeOptions {
        channels: (!arguments.channels.is_empty()).then_some(arguments.channels.as_slice()),
        within: arguments.within,
        from: from.as_ref(),
        cross_check: arguments.cross_check,
    };
    let found = converge(&loaded.mechanism, &options, &mut run_task)?;
    let _keeping = Keeping::begin();
    let report = ConvergenceReport::new(&loaded, found, costs);
    let path = report.write(batch)?;
    let curves = error_curves(&report.convergence);
    let across = if report.convergence.bodies.applies {
        ("Functions or elements of a body", Scale::Whole)
    } else {
        ("Fineness of time, beside the user's", Scale::Logarithmic)
    };
    let chart = || Ok(chart(&report.model, across, &curves));
    let plot = (arguments.plot).write(arguments.answer, CHANNELS, chart)?;
    let answer = WithPlot {
        answer: &report,
        plot: plot.as_ref(),
    };
    arguments.answer.give(&answer, || {
        let files = std::iter::once(&path).chain(plot.as_ref().map(|plot| &plot.file));
        let files: Vec<String> = files.map(|path| path.display().to_string()).collect();
        format!("{}\n\nWrote {}.", in_words(&report), files.join(" and "))
    })?;
    if report.convergence.interrupted {
        return Err(Stop::Interrupted(format!(
            "interrupted; what is known until then is in {}",
            path.display()
        )));
    }
    match &report.convergence.failure {
        Some(failure) => Err(Stop::Failed(format!(
            "the run of the model as it is {failure}; nothing is known of its accuracy"
        ))),
        None => Ok(()),
    }
}

/// The stated error of a quantity over the resolution of the bodies, or of time where nothing deforms.
struct ErrorCurve {
    quantity: String,
    unit: String,
    points: [Vec<f64>; 2],
}

fn error_curves(found: &Convergence) -> Vec<ErrorCurve> {
    let refined = if found.bodies.applies {
        &found.bodies
    } else {
        &found.time
    };
    let done = refined
        .levels
        .iter()
        .filter(|level| level.failure.is_none());
    let resolutions: Vec<f64> = done.map(|level| level.resolution).collect();
    let curves = found.measures.iter().zip(&refined.estimates);
    let curve = |(measure, estimate): (&Measure, &Option<Estimate>)| {
        let errors = estimate.as_ref()?.errors.clone();
        Some(ErrorCurve {
            quantity: measure.quantity.clone(),
            unit: measure.unit.clone(),
            points: [
                resolutions[..errors.len().min(resolutions.len())].to_vec(),
                errors,
            ],
        })
    };
    curves.filter_map(curve).collect()
}

/// Errors over resolution, a panel for every unit, or several where it has more curves than can be told apart.
fn chart<'a>(model: &str, across: (&str, Scale), curves: &'a [ErrorCurve]) -> Chart<'a> {
    let mut panels: Vec<Panel<'a>> = Vec::new();
    for curve in curves {
        let has_room =
            |panel: &Panel<'_>| panel.upward.unit == curve.unit && panel.curves.len() < MOST_CURVES;
        let at = panels.iter().position(has_room).unwrap_or_else(|| {
            // panels of one unit follow each other
            let same = |panel: &Panel<'_>| panel.upward.unit == curve.unit;
            let at = panels
                .iter()
                .rposition(same)
                .map_or(panels.len(), |at| at + 1);
            let panel = Panel {
                upward: Axis {
                    label: "Stated error".to_owned(),
                    unit: curve.unit.clone(),
                    scale: Scale::Logarithmic,
                },
                curves: Vec::new(),
            };
            panels.insert(at, panel);
            at
        });
        let drawn = &mut panels[at].curves;
        drawn.push(Curve {
            name: curve.quantity.clone(),
            channel: curve.quantity.clone(),
            points: curve.points.each_ref().map(Vec::as_slice),
            colour: drawn.len(),
            dash: 0,
        });
    }
    Chart {
        title: format!("{model}: convergence"),
        across: Axis {
            label: across.0.to_owned(),
            scale: across.1,
            ..Axis::default()
        },
        panels,
        left_out: Vec::new(),
    }
}

fn in_words(report: &ConvergenceReport) -> String {
    let found = &report.convergence;
    let mut lines = vec![format!(
        "{}: how far the run is from the exact motion of its equations",
        report.model
    )];
    for (at, accuracy) in found.accuracy.iter().enumerate() {
        lines.push(format!(
            "  {}: {}",
            accuracy.quantity,
            stated(found, accuracy)
        ));
        lines.extend(changes(&found.bodies, at, &accuracy.unit));
    }
    lines.push(format!("\n{}", judgement(found)));
    lines.push(format!(
        "\n{:<58}{:>9}{:>13}{:>9}",
        "run", "steps", "evaluations", "wall s"
    ));
    for cost in &report.runs {
        lines.push(format!(
            "{:<58}{:>9}{:>13}{:>9}",
            cost.run,
            cost.steps,
            cost.evaluations,
            rounded(cost.wall_s, 2)
        ));
    }
    let notes = found
        .time
        .notes
        .iter()
        .map(|note| ("time integration", note));
    let notes = notes.chain(found.bodies.notes.iter().map(|note| ("bodies", note)));
    lines.extend(notes.map(|(what, note)| format!("  {what}: {note}")));
    lines.extend(formulation(found.formulation.as_ref()));
    lines.join("\n")
}

/// The stated error of a quantity and what it consists of.
fn stated(found: &Convergence, accuracy: &Accuracy) -> String {
    let part = |value: Option<f64>| match value {
        Some(value) => format!("{} {}", rounded(value, 2), accuracy.unit),
        None => "not known".to_owned(),
    };
    let parts = if found.bodies.applies {
        format!(
            "time integration {}, bodies {}",
            part(accuracy.time),
            part(accuracy.bodies)
        )
    } else {
        "time integration alone".to_owned()
    };
    match accuracy.error {
        Some(_) => format!("within {} ({parts})", part(accuracy.error)),
        None => format!("not known ({parts})"),
    }
}

/// What refining the bodies changes in a quantity.
fn changes(bodies: &Refinement, at: usize, unit: &str) -> Option<String> {
    let estimate = bodies.estimates.get(at)?.as_ref()?;
    let sizes = estimate.changes.iter().zip(&bodies.levels[1..]);
    let sizes = sizes
        .map(|(change, level)| format!("{} changes {} {unit}", level.name, rounded(*change, 2)));
    let sizes: Vec<String> = sizes.collect();
    Some(format!("    {}{}", sizes.join(", then "), basis(estimate)))
}

/// How an estimate was made, where that is not by the order that was seen.
fn basis(estimate: &Estimate) -> String {
    match (estimate.basis, estimate.order) {
        (Basis::Extrapolated, Some(order)) => format!(" (order {})", rounded(order, 2)),
        (Basis::Extrapolated | Basis::Capped, _) => String::new(),
        (Basis::Irregular, _) => format!(" (not regular: {SAFETY} times what is left is stated)"),
        (Basis::OneRefinement, _) => {
            format!(" (one refinement only: {SAFETY} times what is left is stated)")
        }
    }
}

/// Whether the run is good enough, and which refinement would be.
fn judgement(found: &Convergence) -> String {
    let tolerance = format!(
        "{} m and {} rad",
        rounded(found.within_m, 3),
        rounded(found.within, 3)
    );
    let judged = found
        .accuracy
        .iter()
        .filter(|a| a.unit == "m" || a.unit == "rad");
    let judged: Vec<&Accuracy> = judged.collect();
    if judged.is_empty() {
        return "Whether that is enough is not known: --within judges quantities in m and rad, and none is looked at."
            .to_owned();
    }
    if judged.iter().any(|a| a.within.is_none()) {
        return format!("Whether the run is within {tolerance} is not known.");
    }
    let discretisation = |level: usize| match found.bodies.levels.get(level) {
        Some(level) => format!(" with {}", level.name),
        None => String::new(),
    };
    if judged.iter().all(|a| a.within == Some(true)) {
        return format!("The run{} is within {tolerance}.", discretisation(0));
    }
    let most = |a: &Accuracy| {
        if a.unit == "m" {
            found.within_m
        } else {
            found.within
        }
    };
    if (judged.iter()).any(|a| a.time.is_some_and(|error| error > most(a))) {
        return format!(
            "The run{} is not within {tolerance}: its time steps alone are not; tighten the tolerance or the step.",
            discretisation(0)
        );
    }
    // the user's time steps with finer bodies
    let enough = |level: &usize| {
        let small = |(at, a): (usize, &Accuracy)| {
            let estimates = found.bodies.estimates.get(at).and_then(Option::as_ref);
            let left = estimates.and_then(|e| e.errors.get(*level).copied());
            match (a.within, left, a.time) {
                (None, ..) => true,
                (_, Some(left), Some(time)) => left + time <= most(a),
                _ => false,
            }
        };
        found.accuracy.iter().enumerate().all(small)
    };
    let finer = (1..found.bodies.levels.len()).find(enough);
    let rest = match finer {
        Some(level) => format!("it would be{}", discretisation(level)),
        None if found.bodies.levels.len() > 1 => {
            let last = found.bodies.levels.len() - 1;
            format!("nor would it be{}", discretisation(last))
        }
        None => "tighten the tolerance or the step".to_owned(),
    };
    format!(
        "The run{} is not within {tolerance}; {rest}.",
        discretisation(0)
    )
}

fn formulation(check: Option<&CrossCheck>) -> Vec<String> {
    let Some(check) = check else {
        return vec!["  formulation: not checked; --cross-check runs the other one".to_owned()];
    };
    let gap = |gap: &lissom::converge::Gap| {
        let size = |value: f64| format!("{} {}", rounded(value, 2), gap.unit);
        let verdict = match gap.explained {
            None => "and what is left of bodies and time steps of both is not known".to_owned(),
            Some(left) if gap.difference <= left => {
                format!(
                    "which is no more than is left of bodies and time steps of both ({})",
                    size(left)
                )
            }
            Some(left) => format!(
                "which is more than is left of bodies and time steps of both ({}): terms that the fidelity leaves out, or bending \
                 beyond what it is good for",
                size(left)
            ),
        };
        format!(
            "  formulation: {} of the other one is {} away, {verdict}",
            gap.quantity,
            size(gap.difference)
        )
    };
    let notes = check
        .notes
        .iter()
        .map(|note| format!("  formulation: {note}"));
    check.gaps.iter().map(gap).chain(notes).collect()
}
