//! `lissom response`: frequency response, poles and transmission zeros from inputs to outputs.

use std::f64::consts::{FRAC_PI_2, TAU};

use lissom::{Complex, Flow, Linearized, SignalNames};
use lissom_io::load::Loaded;
use lissom_io::response::{Frequencies, Pair, Response};
use lissom_io::{atomic, linear as io_linear, size};
use lissom_report::{Axis, Chart, Curve, MOST_CURVES, Panel, Scale};
use serde_json::{Value, json};

use super::eval::unknown;
use super::{linear, linearize};
use crate::arguments::ResponseArguments;
use crate::output::short;
use crate::plot::WithPlot;
use crate::source;
use crate::stop::Stop;

/// Pairs that are told one by one.
const TOLD: usize = 24;
/// Options that choose what is told.
const CHOICE: &str = "--inputs and --outputs";
/// Zeros of a pair that are named.
const NAMED: usize = 3;

/// Magnitude and phase of a pair at every frequency.
type Curves = [Vec<f64>; 2];

/// Prints the response of a model.
pub(crate) fn run(arguments: &ResponseArguments) -> Result<(), Stop> {
    let format = linearize::format(arguments.out.as_deref())?;
    (arguments.out.as_deref()).map_or(Ok(()), atomic::refuse_unwritable)?;
    arguments.plot.refuse_unwritable()?;
    let range = range(&arguments.frequencies)?;
    let loaded = source::load(&arguments.model.named()?)?;
    if arguments.closed_loop {
        linear::refuse_without_controllers(&loaded)?;
    }
    let silent = arguments.answer.is_silent();
    let found = linear::at(&loaded, &arguments.start, &arguments.point, silent)?;
    let times = io_linear::instants(&found);
    let [time_s] = times[..] else {
        return Err(Stop::Usage(
            "a response is that of one state; name one instant of the motion with --at".to_owned(),
        ));
    };
    let found = if arguments.closed_loop {
        (loaded.mechanism.with_controllers(&found)).map_err(linear::stopped)?
    } else {
        found
    };
    let saturated = if arguments.closed_loop {
        linear::saturated(&loaded, &found)
    } else {
        Vec::new()
    };
    let pressed = found.pressed_stops();
    let found = found.with_inputs(&linearize::inputs(&found, &arguments.inputs)?);
    let outputs = outputs(&found, &arguments.outputs)?;
    let count = arguments.count;
    let inputs = SignalNames::new(&found.trajectory).inputs.len();
    size::refuse_large_response(inputs * outputs.len(), count)?;
    let frequencies = Frequencies::Spread { range, count };
    // nothing is kept: Ctrl-C ends the command at once
    let response = Response::of(&found, &outputs, &frequencies, &mut |_| Flow::Continue)?;
    if response.pairs.is_empty() {
        return Err(Stop::Failed(
            "the model has no input or no output; name inputs with --inputs all, and write a [[marker]] as an output"
                .to_owned(),
        ));
    }
    let mut files = Vec::new();
    if let (Some(path), Some(format)) = (&arguments.out, format) {
        response.arrays().write(path, format)?;
        files.push(path.display().to_string());
    }
    let curves: Vec<Curves> = response.pairs.iter().map(magnitude_and_phase).collect();
    let chart = || Ok(chart(&loaded, &response, &curves));
    let plot = (arguments.plot).write(arguments.answer, CHOICE, chart)?;
    files.extend((plot.iter()).map(|plot| plot.file.display().to_string()));
    let answer = WithPlot {
        answer: &as_json(&response, time_s, [&saturated, &pressed], &files),
        plot: plot.as_ref(),
    };
    (arguments.answer).give(&answer, || {
        let limits = saturated.iter().map(|name| {
            format!(
                "\nActuator {name} is at its limit there: what its controllers ask for changes nothing in these equations."
            )
        });
        let stops = pressed.iter().map(|joint| linear::pressed_in_words(joint));
        in_words(&loaded, &response, time_s, &files) + &limits.chain(stops).collect::<String>()
    })
}

/// The range of frequencies that was asked for.
fn range(asked: &[f64]) -> Result<Option<[f64; 2]>, Stop> {
    match *asked {
        [] => Ok(None),
        [low, high] if low < high => Ok(Some([low, high])),
        _ => Err(Stop::Usage(
            "--frequencies takes two rising numbers in rad/s, for example 0.1,1000".to_owned(),
        )),
    }
}

/// Numbers of the outputs that were asked for, all unless said.
fn outputs(found: &Linearized, asked: &[String]) -> Result<Vec<usize>, Stop> {
    let known = SignalNames::new(&found.trajectory).outputs;
    if asked.is_empty() {
        return Ok((0..known.len()).collect());
    }
    let mut chosen = Vec::new();
    for name in asked {
        // a position is its components
        let components = ["x", "y", "z"].map(|axis| format!("{name}.{axis}"));
        let is_meant = |own: &String| own == name || components.contains(own);
        let places = (known.iter().enumerate()).filter(|(_, (own, _))| is_meant(own));
        let before = chosen.len();
        chosen.extend(places.map(|(place, _)| place));
        if chosen.len() == before {
            let names = known.iter().map(|(name, _)| name.as_str());
            return Err(Stop::Usage(unknown(name, "output", names)));
        }
    }
    Ok(chosen)
}

/// Phases from -3π/2 to π/2: the 0 and -π of undamped vibrations lie inside, where rounding does not turn them over.
fn magnitude_and_phase(pair: &Pair) -> Curves {
    let phase = |value: &Complex<f64>| match value.arg() {
        phase if phase > FRAC_PI_2 => phase - TAU,
        phase => phase,
    };
    [
        pair.values.iter().map(|value| value.norm()).collect(),
        pair.values.iter().map(phase).collect(),
    ]
}

fn chart<'a>(loaded: &Loaded, response: &'a Response, curves: &'a [Curves]) -> Chart<'a> {
    let mut panels: Vec<Panel<'a>> = Vec::new();
    let mut left_out = Vec::new();
    for (pair, curves) in response.pairs.iter().zip(curves) {
        // one that is zero has neither magnitude nor phase
        if curves[0].iter().all(|&magnitude| magnitude == 0.0) {
            continue;
        }
        let name = name(response, pair);
        let [unit, rad] = [unit(response, pair), "rad".to_owned()];
        let panel = panels.iter().position(|panel| panel.upward.unit == unit);
        let panel = panel.unwrap_or_else(|| {
            for (label, unit, scale) in [
                ("Magnitude", &unit, Scale::Logarithmic),
                ("Phase", &rad, Scale::Linear),
            ] {
                panels.push(Panel {
                    upward: Axis {
                        label: label.to_owned(),
                        unit: unit.clone(),
                        scale,
                    },
                    curves: Vec::new(),
                });
            }
            panels.len() - 2
        });
        let colour = panels[panel].curves.len();
        if colour == MOST_CURVES {
            left_out.push(name);
            continue;
        }
        for (part, values) in curves.iter().enumerate() {
            panels[panel + part].curves.push(Curve {
                name: name.clone(),
                channel: name.clone(),
                points: [&response.frequencies, values],
                colour,
                dash: 0,
            });
        }
    }
    Chart {
        title: format!("{}: frequency response", loaded.name()),
        across: Axis {
            label: "Angular frequency".to_owned(),
            unit: "rad/s".to_owned(),
            scale: Scale::Logarithmic,
        },
        panels,
        left_out,
    }
}

fn name(response: &Response, pair: &Pair) -> String {
    let [input, output] = pair.signals;
    format!(
        "{} to {}",
        response.inputs[input].0, response.outputs[output].0
    )
}

/// The unit of a gain.
fn unit(response: &Response, pair: &Pair) -> String {
    let [input, output] = pair.signals;
    let (input, output) = (&response.inputs[input].1, &response.outputs[output].1);
    if input.contains(' ') {
        format!("{output}/({input})")
    } else {
        format!("{output}/{input}")
    }
}

fn as_json(
    response: &Response,
    time_s: f64,
    [saturated, pressed]: [&[String]; 2],
    files: &[String],
) -> Value {
    let numbers = |all: &[Complex<f64>]| all.iter().map(|x| [x.re, x.im]).collect::<Vec<_>>();
    let pair = |pair: &Pair| {
        let [input, output] = pair.signals;
        let [real, imaginary]: [Vec<f64>; 2] = [|x: &Complex<f64>| x.re, |x: &Complex<f64>| x.im]
            .map(|part| pair.values.iter().map(part).collect());
        json!({
            "input": response.inputs[input].0,
            "output": response.outputs[output].0,
            "unit": unit(response, pair),
            "static_gain": pair.static_gain,
            "real": real,
            "imaginary": imaginary,
            "zeros_per_s": numbers(&pair.zeros),
            "minimum_phase": pair.unstable_zeros().next().is_none(),
        })
    };
    json!({
        "time_s": time_s,
        "frequency_rad_per_s": response.frequencies,
        "poles_per_s": numbers(&response.poles),
        "pairs": response.pairs.iter().map(pair).collect::<Vec<_>>(),
        "saturated_actuators": saturated,
        "pressed_stops": pressed,
        "files": files,
    })
}

fn in_words(loaded: &Loaded, response: &Response, time_s: f64, files: &[String]) -> String {
    let ends = [response.frequencies.first(), response.frequencies.last()];
    let ends = ends.map(|end| end.map_or("-".to_owned(), |&end| short(end)));
    let mut lines = vec![format!(
        "{}: response at {} s, {} frequencies from {} to {} rad/s",
        loaded.name(),
        short(time_s),
        response.frequencies.len(),
        ends[0],
        ends[1]
    )];
    for pair in response.pairs.iter().take(TOLD) {
        lines.push(format!("  {}", name(response, pair)));
        lines.push(format!("    {}", told(response, pair)));
    }
    let more = response.pairs.len().saturating_sub(TOLD);
    if more > 0 {
        lines.push(format!(
            "  and {more} more; choose with {CHOICE}, or have them all with --json"
        ));
    }
    lines.push(match files {
        [] => "\nNothing was written; --plot bode.pdf draws it, --out response.npz writes the numbers."
            .to_owned(),
        files => format!("\nWrote {}.", files.join(" and ")),
    });
    lines.join("\n")
}

/// What there is to say of a pair.
fn told(response: &Response, pair: &Pair) -> String {
    let unit = unit(response, pair);
    let magnitudes = pair.values.iter().map(|value| value.norm());
    let at = magnitudes.zip(&response.frequencies);
    let at = at.filter(|(magnitude, _)| magnitude.is_finite());
    let Some((largest, frequency)) = at.max_by(|a, b| a.0.total_cmp(&b.0)) else {
        return "no response that is a number".to_owned();
    };
    if largest == 0.0 {
        return "none".to_owned();
    }
    let gain = match pair.static_gain {
        Some(gain) => format!("static gain {} {unit}", short(gain)),
        None => "no static gain, since something moves freely".to_owned(),
    };
    let mut unstable = pair.unstable_zeros();
    let named: Vec<String> = (unstable.by_ref().take(NAMED))
        .map(|zero| match zero.im {
            0.0 => short(zero.re),
            im => format!("{} ± {}i", short(zero.re), short(im)),
        })
        .collect();
    let more = match unstable.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let phase = if named.is_empty() {
        "minimum phase".to_owned()
    } else {
        let zeros = if named.len() == 1 { "a zero" } else { "zeros" };
        format!(
            "non-minimum phase: {zeros} in the right half-plane at {}{more} 1/s",
            named.join(", ")
        )
    };
    format!(
        "{gain}; at most {} {unit} at {} rad/s ({} Hz); {phase}",
        short(largest),
        short(*frequency),
        short(frequency / TAU)
    )
}
