//! `lissom perturb`: vibrations about the nominal motion by a linear system.

use std::time::Instant;

use lissom::spec::InputSpec;
use lissom::{
    Interpolation, OperatingPoint, OutputOrder, PerturbOptions, PerturbedRun, Terms,
    sample_instants_from,
};
use lissom_io::linear::evenly;
use lissom_io::load::Loaded;
use lissom_io::{perturb, record};
use lissom_report::Chart;
use serde_json::json;

use super::{linear, run};
use crate::arguments::{InterpolationArgument, PerturbArguments};
use crate::interrupt::Keeping;
use crate::output::{counted, rounded, short};
use crate::plot::{CHANNELS, WithPlot};
use crate::stop::Stop;
use crate::{interrupt, source};

/// Deviation of an angle whose square is no longer small against it: a tenth.
const SMALL_RAD: f64 = 0.1;

/// Runs the perturbation method on a model.
pub(crate) fn run(arguments: &PerturbArguments) -> Result<(), Stop> {
    let named = arguments.model.named()?;
    let loaded = source::load(&named)?;
    let simulation = &loaded.spec.simulation;
    run::refuse_too_large(&loaded, None)?;
    let from = source::start_on_the_way(&loaded, &arguments.start)?;
    let start_s = from.time_s;
    let duration_s = simulation.end_s() - start_s;
    let batch = run::batch_for(
        arguments.out.as_deref(),
        &format!("{}-perturb", loaded.label),
        record::file_names(&loaded),
    )?;
    let folder = batch.folder().to_owned();
    arguments.plot.refuse_unwritable()?;
    let samples = sample_instants_from(&loaded.spec, start_s, &[]);
    let times = evenly(start_s, duration_s, arguments.points);
    let options = PerturbOptions {
        terms: Terms::CASES[usize::from(arguments.case) - 1],
        interpolation: match arguments.interpolation {
            InterpolationArgument::Matrices => Interpolation::Matrices,
            InterpolationArgument::StateSpace => Interpolation::StateSpace,
        },
        order: if arguments.first_order {
            OutputOrder::First
        } else {
            OutputOrder::Second
        },
    };
    let silent = arguments.answer.is_silent();
    let began = Instant::now();
    let found = run::watched(start_s, duration_s, silent, |watch| {
        let times = loaded.mechanism.with_breaks(&times)?;
        loaded
            .mechanism
            .linearize(&from, OperatingPoint::Nominal, &times, watch)
    })
    .map_err(linear::stopped)?;
    let linearized_s = began.elapsed().as_secs_f64();
    interrupt::watch();
    let began = Instant::now();
    let done = run::watched(start_s, duration_s, silent, |watch| {
        (loaded.mechanism).perturb(&found, &samples, options, watch)
    })
    .map_err(linear::stopped)?;
    let _keeping = Keeping::begin();
    let solved_s = began.elapsed().as_secs_f64();

    let asked = json!({
        "verb": "perturb", "model": named.name, "set": named.changes(), "from": arguments.start.from,
        "points": arguments.points, "case": arguments.case, "second_order": !arguments.first_order,
        "interpolation": match options.interpolation {
            Interpolation::Matrices => "matrices",
            Interpolation::StateSpace => "state_space",
        },
    });
    let case = usize::from(arguments.case);
    let costs_s = [linearized_s, solved_s];
    let mut summary = perturb::summary(&loaded, &done, case, arguments.points, costs_s);
    let files = record::write_recording(
        batch,
        &loaded,
        &done.recording,
        None,
        asked,
        summary.clone(),
        perturb::ended_early(&done),
    )?;
    let chart = || {
        let labelled = [("", &done.recording)];
        let channels = &arguments.channels.channels;
        Ok(Chart::of_recordings(&loaded, &labelled, channels))
    };
    let plot = (arguments.plot).write(arguments.answer, CHANNELS, chart)?;
    summary["files"] = (files.iter().chain(plot.iter().map(|plot| &plot.file)))
        .map(|path| json!(path.display().to_string()))
        .collect();
    let answer = WithPlot {
        answer: &summary,
        plot: plot.as_ref(),
    };
    arguments.answer.give(&answer, || {
        let mut lines = vec![
            in_words(&loaded, &done, arguments, costs_s),
            format!("\nWrote {}.", folder.display()),
        ];
        lines.extend((plot.iter()).map(|plot| format!("Wrote {}.", plot.file.display())));
        lines.join("\n")
    })?;
    match (&done.failure, done.stopped_at) {
        (Some(error), _) => Err(Stop::Failed(format!(
            "{error}; what was computed until then is in {}",
            folder.display()
        ))),
        (None, Some(at_s)) => Err(Stop::interrupted(at_s, "the run", &folder)),
        (None, None) => Ok(()),
    }
}

fn in_words(
    loaded: &Loaded,
    done: &PerturbedRun,
    arguments: &PerturbArguments,
    [linearized_s, solved_s]: [f64; 2],
) -> String {
    let mut lines = vec![
        format!(
            "{}: perturbation method, case {}, {}",
            loaded.name(),
            arguments.case,
            counted(arguments.points, "point")
        ),
        format!(
            "  linearised in {} s, solved in {} s ({} steps, {} evaluations)",
            rounded(linearized_s, 2),
            rounded(solved_s, 2),
            done.statistics.steps,
            done.statistics.evaluations
        ),
    ];
    for (at, channel) in done.recording.extremes().into_iter().enumerate() {
        let deviates = done.markers.deviations.contains(&at);
        if deviates && channel.minimum.value != channel.maximum.value {
            lines.push(format!(
                "  {:<23} {:>11} to {:>11} {}, at the end {}",
                channel.name,
                short(channel.minimum.value),
                short(channel.maximum.value),
                channel.unit,
                short(channel.last.value)
            ));
        }
    }
    lines.extend(interpolation_in_words(done));
    if let Some(angle) = &done.largest_angle
        && angle.deviation_rad > SMALL_RAD
    {
        lines.push(format!(
            "  note: {} is up to {} rad off the nominal motion, at {} s; linear equations leave out what is of second order in it: \
             compare with `lissom run`",
            angle.coordinate,
            rounded(angle.deviation_rad, 2),
            short(angle.time_s)
        ));
    }
    let spec = &loaded.spec;
    let in_feedforward =
        |input: &InputSpec| input.rigid_inverse_dynamics.is_some() || input.nominal_motion;
    if spec.motion.is_empty()
        && spec.controller.is_empty()
        && spec.nominal_motion.is_none()
        && !spec.input.iter().any(in_feedforward)
    {
        lines.push(
            "  note: nothing says how the mechanism should move, so that its nominal motion is that of rigid bodies under its loads"
                .to_owned(),
        );
    }
    lines.join("\n")
}

/// What interpolating between the points leaves in the markers, if there are any.
fn interpolation_in_words(done: &PerturbedRun) -> Option<String> {
    let Some(_) = &done.interpolation_error else {
        let unknown = "  the error of interpolating between the points is not known, since there are too few of them: take more --points";
        return Some(unknown.to_owned());
    };
    Some(match perturb::worst_interpolation(done)? {
        (_, 0.0) => "  interpolating between the points leaves no error".to_owned(),
        (channel, error) => format!(
            "  interpolating between the points leaves an error of about {} m in {channel}, by a solution with half of them \
             (an estimate, not a bound); more --points make it smaller",
            short(error)
        ),
    })
}
