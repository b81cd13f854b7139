//! A chart as lines and letters: panels one below the other with one axis across, legends above the curves.

use super::Style;
use super::chart::{Axis, Chart, Curve, Panel, Scale};
use super::drawing::{Anchor, Colour, Drawing};
use super::font::Font;
use super::ticks::Ruler;

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
/// Dashes by which recordings differ, in widths of the line.
pub(super) const DASHES: [&[f64]; 8] = [
    &[],
    &[5.0, 2.0],
    &[1.2, 1.6],
    &[7.0, 2.0, 1.2, 2.0],
    &[11.0, 3.0],
    &[7.0, 2.0, 1.2, 2.0, 1.2, 2.0],
    &[1.2, 4.5],
    &[9.0, 2.0, 3.0, 2.0],
];

pub(super) const INK: Colour = [26, 26, 26];
const GRID: Colour = [226, 226, 226];

/// Points of a millimetre.
pub(super) const MM: f64 = 72.0 / 25.4;
/// Highest plot: what a page has room for beside its caption.
pub(super) const MOST_HEIGHT: f64 = 230.0 * MM;
/// Lowest panel.
const LEAST_PANEL: f64 = 22.0 * MM;

/// Widths of lines in points.
const CURVE: f64 = 1.0;
pub(super) const AXIS: f64 = 0.6;
const HAIR: f64 = 0.4;
pub(super) const TICK: f64 = 2.5;
/// Samples closer than this across, in points, are drawn by their smallest and largest value, which looks the same.
const COLUMN: f64 = 0.24;
/// Part of the range that is left free above and below curves.
const ROOM: f64 = 0.05;

/// The drawing of a chart, and the channels of panels that a page has no room for; `None` if there is nothing to draw.
pub(super) fn drawing(chart: &Chart<'_>, style: Style) -> Option<(Drawing, Vec<String>)> {
    let font = Font::new(style.font_pt)?;
    let panels: Vec<&Panel<'_>> = (chart.panels.iter())
        .filter(|panel| panel.curves.iter().any(|curve| !curve.points[0].is_empty()))
        .collect();
    let width = style.width_mm * MM;
    let across = reach(
        panels.iter().flat_map(|panel| &panel.curves),
        0,
        chart.across.scale,
    )?;
    let [from, until] = across;
    if from >= until {
        return None;
    }
    let rulers: Vec<Ruler> = (panels.iter())
        .map(|panel| Ruler::new(&panel.upward, upward_range(panel), 4.5))
        .collect();
    let size = font.size;
    // axis label, gap, the widest number, tick
    let numbers = rulers.iter().flat_map(|ruler| &ruler.ticks);
    let widest = numbers
        .map(|(_, text)| font.width(text))
        .fold(0.0, f64::max);
    let left = 2.2 * size + widest + TICK;
    let right = width - 1.2 * size;
    if right - left < 4.0 * size {
        return None;
    }
    let time = Ruler::new(
        &chart.across,
        across,
        ((right - left) / (7.0 * size)).clamp(2.0, 9.0),
    );

    let below = TICK + 3.4 * size;
    let legends: Vec<Legend> = (panels.iter())
        .map(|panel| Legend::new(&font, panel, right - left))
        .collect();
    let (count, each) = heights(&legends, width, size, below);
    let beyond = (panels[count..].iter().flat_map(|panel| &panel.curves)).fold(
        Vec::new(),
        |mut names: Vec<String>, curve| {
            if !names.contains(&curve.channel) {
                names.push(curve.channel.clone());
            }
            names
        },
    );

    let mut drawing = Drawing {
        title: chart.title.clone(),
        width,
        height: 0.0,
        items: Vec::new(),
    };
    let mut top = 0.4 * size;
    for (index, panel) in panels[..count].iter().enumerate() {
        legends[index].draw(&mut drawing, &font, panel, [left, top]);
        top += legends[index].height(size) + GAP * size;
        let frame = Frame {
            left,
            right,
            top,
            bottom: top + each,
        };
        frame.draw(
            &mut drawing,
            &font,
            &rulers[index],
            &time,
            index + 1 == count,
        );
        for curve in &panel.curves {
            frame.draw_curve(&mut drawing, curve, &time, &rulers[index]);
        }
        top = frame.bottom + GAP * size;
    }
    let bottom = top - GAP * size + below;
    let middle = 0.5 * (left + right);
    let place = [middle, bottom - 0.8 * size];
    drawing.text(&font, &time.label, place, Anchor::Middle, INK);
    drawing.height = bottom;
    Some((drawing, beyond))
}

/// Free space between panels and their legends, in sizes of type.
pub(super) const GAP: f64 = 0.9;

/// How many panels there is room for, and how high each is.
fn heights(legends: &[Legend], width: f64, size: f64, below: f64) -> (usize, f64) {
    let wanted = match legends.len() {
        1 => 0.48,
        2 => 0.3,
        _ => 0.2,
    };
    let wanted = (wanted * width).max(LEAST_PANEL);
    let beside = |count: usize| -> f64 {
        let legends = legends[..count].iter().map(|legend| legend.height(size));
        legends.sum::<f64>() + 2.0 * GAP * size * count as f64 + below
    };
    let each = |count: usize| ((MOST_HEIGHT - beside(count)) / count as f64).min(wanted);
    let count = (1..=legends.len())
        .rev()
        .find(|&count| each(count) >= LEAST_PANEL);
    let count = count.unwrap_or(1);
    (count, each(count).max(LEAST_PANEL))
}

/// Smallest and largest of what curves reach along an axis; `None` without a number that it can show.
fn reach<'a>(
    curves: impl Iterator<Item = &'a Curve<'a>>,
    axis: usize,
    scale: Scale,
) -> Option<[f64; 2]> {
    let shown = |x: &&f64| x.is_finite() && (scale != Scale::Logarithmic || **x > 0.0);
    let mut values = curves.flat_map(|curve| curve.points[axis]).filter(shown);
    let first = *values.next()?;
    let ends = values.fold([first; 2], |[low, high], &x| [low.min(x), high.max(x)]);
    Some(ends)
}

fn upward_range(panel: &Panel<'_>) -> [f64; 2] {
    let Axis { scale, .. } = panel.upward;
    let [low, high] = reach(panel.curves.iter(), 1, scale).unwrap_or([0.0, 1.0]);
    match scale {
        Scale::Linear | Scale::Whole => {
            let room = if high > low {
                ROOM * (high - low)
            } else {
                (0.1 * low.abs()).max(1e-9)
            };
            [low - room, high + room]
        }
        Scale::Logarithmic => {
            let room = (high / low).powf(ROOM).max(1.2);
            [low / room, high * room]
        }
    }
}

/// Where every key of a legend stands.
struct Legend {
    /// From the left of the panel, and in lines.
    places: Vec<[f64; 2]>,
    lines: f64,
}

impl Legend {
    const LINE: f64 = 1.35;
    /// Length of a sample of the line and its distance from the name, in sizes of type.
    const SAMPLE: f64 = 2.0;
    const BESIDE: f64 = 0.5;

    fn new(font: &Font<'_>, panel: &Panel<'_>, room: f64) -> Self {
        let size = font.size;
        let (mut x, mut line) = (0.0, 0.0);
        let mut places = Vec::new();
        for curve in &panel.curves {
            let width = font.width(&curve.name) + (Self::SAMPLE + Self::BESIDE) * size;
            if x > 0.0 && x + width > room {
                (x, line) = (0.0, line + 1.0);
            }
            places.push([x, line]);
            x += width + 1.4 * size;
        }
        Self {
            places,
            lines: line + 1.0,
        }
    }

    fn height(&self, size: f64) -> f64 {
        self.lines * Self::LINE * size
    }

    fn draw(&self, drawing: &mut Drawing, font: &Font<'_>, panel: &Panel<'_>, at: [f64; 2]) {
        let size = font.size;
        for (curve, [x, line]) in panel.curves.iter().zip(&self.places) {
            let left = at[0] + x;
            let baseline = at[1] + (line + 1.0) * Self::LINE * size - 0.3 * size;
            let y = baseline - 0.33 * size;
            let sample = [[left, y], [left + Self::SAMPLE * size, y]];
            let (colour, dash) = look(curve);
            drawing.line(&sample, CURVE, colour, &dash);
            let place = [left + (Self::SAMPLE + Self::BESIDE) * size, baseline];
            drawing.text(font, &curve.name, place, Anchor::Left, INK);
        }
    }
}

/// Colour and dashes of a curve.
pub(super) fn look(curve: &Curve<'_>) -> (Colour, Vec<f64>) {
    let dash = DASHES[curve.dash % DASHES.len()].iter();
    (
        COLOURS[curve.colour % COLOURS.len()],
        dash.map(|length| length * CURVE).collect(),
    )
}

/// The box of a panel.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Frame {
    fn x(&self, ruler: &Ruler, value: f64) -> f64 {
        self.left + ruler.share(value) * (self.right - self.left)
    }

    fn y(&self, ruler: &Ruler, value: f64) -> f64 {
        self.bottom - ruler.share(value) * (self.bottom - self.top)
    }

    /// Axes with their ticks, and numbers across if it is the lowest.
    fn draw(
        &self,
        drawing: &mut Drawing,
        font: &Font<'_>,
        upward: &Ruler,
        across: &Ruler,
        lowest: bool,
    ) {
        let size = font.size;
        for (value, text) in &upward.ticks {
            let y = self.y(upward, *value);
            drawing.line(&[[self.left, y], [self.right, y]], HAIR, GRID, &[]);
            drawing.line(&[[self.left - TICK, y], [self.left, y]], AXIS, INK, &[]);
            let place = [self.left - TICK - 0.3 * size, y + 0.35 * size];
            drawing.text(font, text, place, Anchor::Right, INK);
        }
        for (value, text) in &across.ticks {
            let x = self.x(across, *value);
            drawing.line(&[[x, self.bottom], [x, self.bottom + TICK]], AXIS, INK, &[]);
            if lowest {
                let place = [x, self.bottom + TICK + 1.2 * size];
                drawing.text(font, text, place, Anchor::Middle, INK);
            }
        }
        let corners = [
            [self.left, self.top],
            [self.left, self.bottom],
            [self.right, self.bottom],
        ];
        drawing.line(&corners, AXIS, INK, &[]);
        let place = [1.1 * size, 0.5 * (self.top + self.bottom)];
        let room = self.bottom - self.top + 2.0 * GAP * size;
        let fits = font.width(&upward.label) <= room;
        let label = if fits { &upward.label } else { &upward.unit };
        drawing.text_upward(font, label, place, Anchor::Middle, INK);
    }

    fn draw_curve(&self, drawing: &mut Drawing, curve: &Curve<'_>, across: &Ruler, upward: &Ruler) {
        let mut trace = Trace::default();
        for (&x, &y) in curve.points[0].iter().zip(curve.points[1]) {
            let place = [self.x(across, x), self.y(upward, y)];
            if place.iter().all(|x| x.is_finite()) {
                trace.go(place);
            } else {
                trace.lift();
            }
        }
        trace.lift();
        let (colour, dash) = look(curve);
        for run in trace.runs {
            drawing.line(&run, CURVE, colour, &dash);
        }
    }
}

/// What a curve goes through. Columns with many samples keep the first, the smallest, the largest and the last of them.
#[derive(Default)]
struct Trace {
    runs: Vec<Vec<[f64; 2]>>,
    run: Vec<[f64; 2]>,
    /// Samples of the column that is being gone through, in their order: first, smallest, largest, last.
    column: Vec<[f64; 2]>,
}

impl Trace {
    fn go(&mut self, place: [f64; 2]) {
        let same = |first: &[f64; 2]| (place[0] - first[0]).abs() < COLUMN;
        if !self.column.first().is_some_and(same) {
            self.run.append(&mut self.column);
        }
        self.column.push(place);
        // five: one of those between the ends is neither the smallest nor the largest
        if self.column.len() > 4 {
            let [_, inner @ .., _] = &self.column[..] else {
                return;
            };
            let by_height = |i: &usize, j: &usize| inner[*i][1].total_cmp(&inner[*j][1]);
            let extremes = [
                (0..inner.len()).min_by(by_height),
                (0..inner.len()).max_by(by_height),
            ];
            let middling = (0..inner.len()).find(|i| !extremes.contains(&Some(*i)));
            self.column.remove(1 + middling.unwrap_or(0));
        }
    }

    /// What is not finite interrupts the curve.
    fn lift(&mut self) {
        self.run.append(&mut self.column);
        if self.run.len() > 1 {
            self.runs.push(std::mem::take(&mut self.run));
        }
        self.run.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::Trace;

    /// Property: dense samples keep the ends and the extremes of every column, in their order, and gaps stay.
    #[test]
    fn dense_curves_keep_their_extremes() {
        let mut trace = Trace::default();
        let samples = [0.0, 1.0, -3.0, 2.0, 7.0, -1.0, 4.0];
        for (i, y) in samples.into_iter().enumerate() {
            trace.go([1e-3 * i as f64, y]);
        }
        trace.go([5.0, 1.0]);
        trace.lift();
        trace.go([6.0, 1.0]);
        trace.go([7.0, 2.0]);
        trace.lift();
        let heights: Vec<Vec<f64>> = (trace.runs.iter())
            .map(|run| run.iter().map(|p| p[1]).collect())
            .collect();
        assert_eq!(heights, [vec![0.0, -3.0, 7.0, 4.0, 1.0], vec![1.0, 2.0]]);
    }
}
