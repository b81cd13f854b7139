//! A static plot: the panels of the page as a PNG file, drawn without a browser.

mod canvas;
mod font;
mod png;

use canvas::{Anchor, Canvas, Colour, text_width};
use lissom::{Channel, Recording};

use crate::Source;
use crate::panels::{Groups, panels};

/// Colours after Okabe & Ito, which everybody can tell apart.
const COLOURS: [Colour; 8] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [168, 121, 0],
    [58, 155, 213],
    [91, 91, 91],
    [140, 63, 176],
];
/// Dashes by which recordings differ.
const DASHES: [Option<[f64; 2]>; 4] =
    [None, Some([14.0, 7.0]), Some([4.0, 6.0]), Some([24.0, 8.0])];

const INK: Colour = [23, 32, 44];
const INK_2: Colour = [85, 99, 122];
const GRID: Colour = [226, 232, 240];

const WIDTH: usize = 1400;
const LEFT: f64 = 110.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 64.0;
const PLOT: f64 = 210.0;
const LEGEND_LINE: f64 = 24.0;
const BELOW: f64 = 40.0;
const TEXT: f64 = 11.0;

/// A curve with what it is called.
struct Curve<'a> {
    recording: &'a Recording,
    channel: &'a Channel,
    name: String,
    colour: Colour,
    dash: Option<[f64; 2]>,
}

/// The channels whose names begin with one of `channels`, or a choice among all, over time, as a PNG file; `None` if
/// there is nothing to draw.
pub fn png(sources: &[Source<'_>], channels: &[String]) -> Option<Vec<u8>> {
    let first = sources.first()?;
    let panels = panels(
        &Groups::of(&first.loaded.mechanism),
        first.recording,
        channels,
    );
    let spec = &first.loaded.spec;
    let title = spec.name.as_deref().unwrap_or(&first.loaded.label);
    let labelled: Vec<(&str, &Recording)> = (sources.iter())
        .map(|source| (source.label.as_str(), source.recording))
        .collect();
    drawn(title, &labelled, &panels)
}

/// Channels of a recording over time, one panel for every list of names, as a PNG file; `None` if there is nothing to
/// draw.
pub fn curves_png(title: &str, recording: &Recording, panels: &[Vec<String>]) -> Option<Vec<u8>> {
    drawn(title, &[("", recording)], panels)
}

fn drawn(title: &str, sources: &[(&str, &Recording)], panels: &[Vec<String>]) -> Option<Vec<u8>> {
    let panels: Vec<Vec<Curve<'_>>> = (panels.iter())
        .map(|names| curves(sources, names))
        .filter(|curves| !curves.is_empty())
        .collect();
    let times = || sources.iter().flat_map(|(_, recording)| &recording.time_s);
    let from = times().copied().fold(f64::INFINITY, f64::min);
    let until = times().copied().fold(f64::NEG_INFINITY, f64::max);
    if panels.is_empty() || from >= until {
        return None;
    }
    let heights: Vec<f64> = panels
        .iter()
        .map(|panel| legend_height(panel) + PLOT + BELOW)
        .collect();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a sum of a few hundred pixels per panel"
    )]
    let height = (TOP + heights.iter().sum::<f64>()) as usize;
    let mut canvas = Canvas::new(WIDTH, height);
    canvas.text(title, [LEFT - 70.0, 42.0], 17.0, Anchor::Left, INK);
    let mut top = TOP;
    for (panel, height) in panels.iter().zip(heights) {
        draw_panel(&mut canvas, panel, top, [from, until]);
        top += height;
    }
    Some(png::encode(&canvas))
}

fn curves<'a>(sources: &[(&str, &'a Recording)], names: &[String]) -> Vec<Curve<'a>> {
    let mut curves = Vec::new();
    for (i, name) in names.iter().enumerate() {
        for (j, (label, recording)) in sources.iter().enumerate() {
            let Some(channel) = recording.channel(name) else {
                continue;
            };
            let colour = if names.len() == 1 { j } else { i };
            curves.push(Curve {
                recording,
                channel,
                name: if sources.len() > 1 {
                    format!("{name} · {label}")
                } else {
                    name.clone()
                },
                colour: COLOURS[colour % COLOURS.len()],
                dash: DASHES[j % DASHES.len()],
            });
        }
    }
    curves
}

/// Where every key of the legend stands, from its own left and in lines, and the number of lines.
fn legend(panel: &[Curve<'_>]) -> (Vec<[f64; 2]>, f64) {
    let (mut x, mut line) = (0.0, 0.0);
    let mut places = Vec::new();
    for curve in panel {
        let width = text_width(&curve.name, TEXT) + 64.0;
        if x > 0.0 && x + width > WIDTH as f64 - LEFT - RIGHT {
            (x, line) = (0.0, line + 1.0);
        }
        places.push([x, line]);
        x += width;
    }
    (places, line + 1.0)
}

fn legend_height(panel: &[Curve<'_>]) -> f64 {
    legend(panel).1 * LEGEND_LINE
}

fn draw_panel(canvas: &mut Canvas, panel: &[Curve<'_>], top: f64, [from, until]: [f64; 2]) {
    let (places, lines) = legend(panel);
    for (curve, [x, line]) in panel.iter().zip(places) {
        let y = top + line * LEGEND_LINE + 10.0;
        let left = LEFT + x;
        canvas.path(
            &[[left, y], [left + 30.0, y]],
            3.0,
            curve.colour,
            curve.dash,
        );
        canvas.text(
            &curve.name,
            [left + 38.0, y + 0.5 * TEXT],
            TEXT,
            Anchor::Left,
            INK,
        );
    }
    let top = top + lines * LEGEND_LINE;
    let bottom = top + PLOT;
    let right = WIDTH as f64 - RIGHT;

    let values = || panel.iter().flat_map(|curve| &curve.channel.samples);
    let finite = || values().copied().filter(|x| x.is_finite());
    let least = finite().fold(f64::INFINITY, f64::min);
    let greatest = finite().fold(f64::NEG_INFINITY, f64::max);
    let (least, greatest) = if least > greatest {
        (0.0, 1.0)
    } else {
        (least, greatest)
    };
    let room = if greatest > least {
        0.06 * (greatest - least)
    } else {
        (0.1 * least.abs()).max(1e-9)
    };
    let (low, high) = (least - room, greatest + room);
    let across = |t: f64| LEFT + (t - from) / (until - from) * (right - LEFT);
    let upward = |y: f64| bottom - (y - low) / (high - low) * PLOT;

    for (tick, text) in ticks(low, high, 5.0) {
        let y = upward(tick);
        canvas.line([LEFT, y], [right, y], 1.0, GRID);
        canvas.text(
            &text,
            [LEFT - 10.0, y + 0.5 * TEXT],
            TEXT,
            Anchor::Right,
            INK_2,
        );
    }
    for (tick, text) in ticks(from, until, 10.0) {
        let x = across(tick);
        canvas.line([x, top], [x, bottom], 1.0, GRID);
        canvas.text(&text, [x, bottom + 20.0], TEXT, Anchor::Middle, INK_2);
    }
    let mut units: Vec<&str> = Vec::new();
    for curve in panel {
        if !units.contains(&curve.channel.unit.as_str()) {
            units.push(&curve.channel.unit);
        }
    }
    canvas.text(
        &units.join(", "),
        [LEFT - 70.0, top - 6.0],
        TEXT,
        Anchor::Left,
        INK_2,
    );
    canvas.text(
        "s",
        [right + 14.0, bottom + 20.0],
        TEXT,
        Anchor::Left,
        INK_2,
    );
    for curve in panel {
        for run in points(curve, across, upward) {
            canvas.path(&run, 2.0, curve.colour, curve.dash);
        }
    }
}

/// What a curve goes through: every sample, or smallest and largest of each pixel where samples are dense. What is not
/// finite interrupts it.
fn points(
    curve: &Curve<'_>,
    across: impl Fn(f64) -> f64,
    upward: impl Fn(f64) -> f64,
) -> Vec<Vec<[f64; 2]>> {
    let samples = curve.recording.time_s.iter().zip(&curve.channel.samples);
    let mut runs: Vec<Vec<[f64; 2]>> = vec![Vec::new()];
    // of one pixel: its column, first, smallest and largest value
    let mut column: Option<(f64, [f64; 3])> = None;
    let dense = curve.recording.len() > 2 * WIDTH;
    let flush = |column: &mut Option<(f64, [f64; 3])>, runs: &mut Vec<Vec<[f64; 2]>>| {
        if let (Some((x, [first, least, greatest])), Some(run)) = (column.take(), runs.last_mut()) {
            let far = if (first - least).abs() < (first - greatest).abs() {
                [least, greatest]
            } else {
                [greatest, least]
            };
            run.extend(far.map(|y| [x, y]));
        }
    };
    for (&t, &value) in samples {
        if !value.is_finite() {
            flush(&mut column, &mut runs);
            runs.push(Vec::new());
            continue;
        }
        let (x, y) = (across(t), upward(value));
        if !dense {
            if let Some(run) = runs.last_mut() {
                run.push([x, y]);
            }
            continue;
        }
        match &mut column {
            Some((at, [_, least, greatest])) if *at == x.floor() => {
                *least = least.min(y);
                *greatest = greatest.max(y);
            }
            _ => {
                flush(&mut column, &mut runs);
                column = Some((x.floor(), [y; 3]));
            }
        }
    }
    flush(&mut column, &mut runs);
    runs
}

/// Round numbers between two, about `wanted` of them, with their text.
fn ticks(low: f64, high: f64, wanted: f64) -> Vec<(f64, String)> {
    let rough = (high - low) / wanted;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|&step| step >= rough)
        .unwrap_or(10.0 * power);
    let large = low.abs().max(high.abs()) >= 1e6 || step < 1e-5;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 5"
    )]
    let decimals = (-step.log10().floor()).clamp(0.0, 5.0) as usize;
    let first = (low / step).ceil();
    let count = (high / step).floor() - first;
    let mut found = Vec::new();
    let mut i = 0.0;
    while i <= count {
        // adding zero turns a negative zero into zero
        let tick = (first + i) * step + 0.0;
        let text = if large {
            format!("{tick:.1e}")
        } else {
            format!("{tick:.decimals$}")
        };
        found.push((tick, text));
        i += 1.0;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::ticks;

    /// By hand.
    #[test]
    fn ticks_are_round() {
        let texts = |low, high| -> Vec<String> {
            ticks(low, high, 5.0)
                .into_iter()
                .map(|(_, text)| text)
                .collect()
        };
        assert_eq!(texts(-0.03, 1.02), ["0.0", "0.5", "1.0"]);
        assert_eq!(texts(-2.1, 2.1), ["-2", "-1", "0", "1", "2"]);
        assert_eq!(
            texts(0.0, 0.004),
            ["0.000", "0.001", "0.002", "0.003", "0.004"]
        );
        assert_eq!(texts(0.0, 4e7)[1], "1.0e7");
    }
}
