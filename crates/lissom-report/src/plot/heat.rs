//! [`HeatMap`]: values over two axes as colours, one picture per quantity.

use super::chart::Axis;
use super::drawing::{Anchor, Colour, Drawing, Item, Step};
use super::font::Font;
use super::layout::{AXIS, GAP, INK, MM, MOST_HEIGHT, TICK};
use super::ticks::Ruler;
use super::{Format, Plot, Style, encoded};

/// Values on a grid, seen from above.
#[derive(Clone, Debug)]
pub struct HeatMap {
    /// What it is called, in formats that have a place for it.
    pub title: String,
    /// The axis across.
    pub across: Axis,
    /// The axis upward.
    pub upward: Axis,
    /// Places along both, at least two each, rising.
    pub places: [Vec<f64>; 2],
    /// The quantities, from top to bottom.
    pub layers: Vec<Layer>,
}

/// One quantity on the grid.
#[derive(Clone, Debug)]
pub struct Layer {
    /// What is shown, with its unit.
    pub quantity: Axis,
    /// Values, those of the lowest row first; what is not finite stays empty.
    pub values: Vec<f64>,
}

/// Colours from low to high, of rising lightness, after Smith & van der Walt's viridis at nine places.
const COLOURS: [Colour; 9] = [
    [68, 1, 84],
    [71, 44, 122],
    [59, 81, 139],
    [44, 113, 142],
    [33, 144, 141],
    [39, 173, 129],
    [92, 200, 99],
    [170, 220, 50],
    [253, 231, 37],
];
/// Stripes of the scale beside a picture.
const STRIPES: u32 = 64;

impl HeatMap {
    /// Draws it; `None` if there is nothing to draw. What a page has no room for is told.
    pub fn draw(&self, style: Style, format: Format) -> Option<Plot> {
        let (drawing, left_out) = self.drawing(style)?;
        let bytes = encoded(&drawing, format)?;
        Some(Plot { bytes, left_out })
    }

    fn drawing(&self, style: Style) -> Option<(Drawing, Vec<String>)> {
        let font = Font::new(style.font_pt)?;
        let size = font.size;
        let width = style.width_mm * MM;
        let [across, upward] = &self.places;
        let ends = [edges(across)?, edges(upward)?];
        let range = |edges: &[f64]| [edges[0], edges[edges.len() - 1]];
        let shown: Vec<(&Layer, [f64; 2])> = (self.layers.iter())
            .filter_map(|layer| Some((layer, reach(&layer.values)?)))
            .collect();
        let rulers: Vec<Ruler> = (shown.iter())
            .map(|(layer, reach)| Ruler::new(&layer.quantity, *reach, 4.5))
            .collect();
        let vertical = Ruler::new(&self.upward, range(&ends[1]), 4.5);
        let widest = |ruler: &Ruler| {
            let widths = ruler.ticks.iter().map(|(_, text)| font.width(text));
            widths.fold(0.0, f64::max)
        };
        let left = 2.2 * size + widest(&vertical) + TICK;
        let numbers = rulers.iter().map(widest).fold(0.0, f64::max);
        let right = width - (5.0 * size + numbers + TICK);
        if shown.is_empty() || right - left < 4.0 * size {
            return None;
        }
        let horizontal = Ruler::new(
            &self.across,
            range(&ends[0]),
            ((right - left) / (7.0 * size)).clamp(2.0, 9.0),
        );
        let below = TICK + 3.4 * size;
        let beside = GAP * size;
        let each = (0.48 * width).min((MOST_HEIGHT - below) / shown.len() as f64 - beside);
        let least = 8.0 * size;
        let room = ((MOST_HEIGHT - below) / (least + beside)).floor();
        let count = (1..=shown.len())
            .rev()
            .find(|&count| count as f64 <= room)
            .unwrap_or(1);
        let each = each.max(least);
        let mut drawing = Drawing {
            title: self.title.clone(),
            width,
            height: 0.0,
            items: Vec::new(),
        };
        let mut top = 0.6 * size;
        for (index, ((layer, reach), ruler)) in shown.iter().zip(&rulers).take(count).enumerate() {
            let frame = Frame {
                corner: [left, top],
                span: [right - left, each],
            };
            frame.cells(
                &mut drawing,
                &ends,
                &layer.values,
                *reach,
                [&horizontal, &vertical],
            );
            frame.axes(
                &mut drawing,
                &font,
                [&horizontal, &vertical],
                index + 1 == count,
            );
            frame.scale(&mut drawing, &font, ruler, *reach);
            top += each + beside;
        }
        let bottom = top - beside + below;
        let place = [0.5 * (left + right), bottom - 0.8 * size];
        drawing.text(&font, &horizontal.label, place, Anchor::Middle, INK);
        drawing.height = bottom;
        let beyond = shown[count..]
            .iter()
            .map(|(layer, _)| layer.quantity.label.clone());
        Some((drawing, beyond.collect()))
    }
}

/// The box of one picture: its upper left corner, width and height.
struct Frame {
    corner: [f64; 2],
    span: [f64; 2],
}

impl Frame {
    fn x(&self, share: f64) -> f64 {
        self.corner[0] + share * self.span[0]
    }

    fn y(&self, share: f64) -> f64 {
        self.corner[1] + (1.0 - share) * self.span[1]
    }

    fn cells(
        &self,
        drawing: &mut Drawing,
        [across, upward]: &[Vec<f64>; 2],
        values: &[f64],
        reach: [f64; 2],
        [horizontal, vertical]: [&Ruler; 2],
    ) {
        let columns = across.len() - 1;
        for (at, &value) in values
            .iter()
            .enumerate()
            .filter(|(_, value)| value.is_finite())
        {
            let (column, row) = (at % columns, at / columns);
            let [x0, x1] =
                [across[column], across[column + 1]].map(|x| self.x(horizontal.share(x)));
            let [y0, y1] = [upward[row], upward[row + 1]].map(|y| self.y(vertical.share(y)));
            drawing
                .items
                .push(rectangle([x0, y0], [x1, y1], colour(value, reach)));
        }
    }

    fn axes(
        &self,
        drawing: &mut Drawing,
        font: &Font<'_>,
        [horizontal, vertical]: [&Ruler; 2],
        lowest: bool,
    ) {
        let size = font.size;
        let ([left, top], [right, bottom]) = (self.corner, [self.x(1.0), self.y(0.0)]);
        let corners = [
            [left, top],
            [right, top],
            [right, bottom],
            [left, bottom],
            [left, top],
        ];
        drawing.line(&corners, AXIS, INK, &[]);
        for (value, text) in &vertical.ticks {
            let y = self.y(vertical.share(*value));
            drawing.line(&[[left - TICK, y], [left, y]], AXIS, INK, &[]);
            let place = [left - TICK - 0.3 * size, y + 0.35 * size];
            drawing.text(font, text, place, Anchor::Right, INK);
        }
        for (value, text) in &horizontal.ticks {
            let x = self.x(horizontal.share(*value));
            drawing.line(&[[x, bottom], [x, bottom + TICK]], AXIS, INK, &[]);
            if lowest {
                let place = [x, bottom + TICK + 1.2 * size];
                drawing.text(font, text, place, Anchor::Middle, INK);
            }
        }
        let place = [1.1 * size, 0.5 * (top + bottom)];
        drawing.text_upward(font, &vertical.label, place, Anchor::Middle, INK);
    }

    /// Which value which colour is.
    fn scale(&self, drawing: &mut Drawing, font: &Font<'_>, ruler: &Ruler, reach: [f64; 2]) {
        let size = font.size;
        let left = self.x(1.0) + size;
        let right = left + size;
        let share = |part: f64| reach[0] + part * (reach[1] - reach[0]);
        for stripe in 0..STRIPES {
            let part = |at: u32| f64::from(at) / f64::from(STRIPES);
            let [low, high] = [part(stripe), part(stripe + 1)];
            let shown = colour(share(0.5 * (low + high)), reach);
            // to the top, under those that follow: no line is left between them
            let stripe = rectangle([left, self.y(low)], [right, self.y(1.0)], shown);
            drawing.items.push(stripe);
        }
        for (value, text) in &ruler.ticks {
            let y = self.y(ruler.share(*value));
            drawing.line(&[[right, y], [right + TICK, y]], AXIS, INK, &[]);
            let place = [right + TICK + 0.3 * size, y + 0.35 * size];
            drawing.text(font, text, place, Anchor::Left, INK);
        }
        let place = [
            drawing.width - 0.6 * size,
            0.5 * (self.y(0.0) + self.y(1.0)),
        ];
        drawing.text_upward(font, &ruler.label, place, Anchor::Middle, INK);
    }
}

fn rectangle([x0, y0]: [f64; 2], [x1, y1]: [f64; 2], colour: Colour) -> Item {
    Item::Fill {
        path: vec![
            Step::Move([x0, y0]),
            Step::Line([x1, y0]),
            Step::Line([x1, y1]),
            Step::Line([x0, y1]),
            Step::Close,
        ],
        colour,
        text: String::new(),
    }
}

/// Edges of cells around places that rise: half-way between neighbours, and as far outside.
fn edges(places: &[f64]) -> Option<Vec<f64>> {
    if places.len() < 2 || !places.windows(2).all(|pair| pair[0] < pair[1]) {
        return None;
    }
    let middle = places.windows(2).map(|pair| 0.5 * (pair[0] + pair[1]));
    let last = places.len() - 1;
    let first = 1.5 * places[0] - 0.5 * places[1];
    let end = 1.5 * places[last] - 0.5 * places[last - 1];
    Some(std::iter::once(first).chain(middle).chain([end]).collect())
}

/// Smallest and largest of what is finite; a little apart where all is the same.
fn reach(values: &[f64]) -> Option<[f64; 2]> {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let low = finite().min_by(f64::total_cmp)?;
    let high = finite().max_by(f64::total_cmp)?;
    let room = if high > low {
        0.0
    } else {
        (0.1 * low.abs()).max(1e-9)
    };
    Some([low - room, high + room])
}

fn colour(value: f64, [low, high]: [f64; 2]) -> Colour {
    let steps = COLOURS.len() - 1;
    let place = ((value - low) / (high - low)).clamp(0.0, 1.0) * steps as f64;
    let below = (0..steps).rev().find(|&at| at as f64 <= place).unwrap_or(0);
    let part = place - below as f64;
    let mixed = |channel: usize| {
        let [one, other] = [below, below + 1].map(|at| f64::from(COLOURS[at][channel]));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between two colours"
        )]
        {
            (one + part * (other - one)).round() as u8
        }
    };
    [mixed(0), mixed(1), mixed(2)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Scale;

    fn map(values: Vec<f64>) -> HeatMap {
        let axis = |label: &str| Axis {
            label: label.to_owned(),
            unit: "m".to_owned(),
            scale: Scale::Linear,
        };
        HeatMap {
            title: "map".to_owned(),
            across: axis("x"),
            upward: axis("y"),
            places: [vec![0.0, 1.0, 2.0], vec![0.0, 1.0]],
            layers: vec![Layer {
                quantity: axis("stiffness"),
                values,
            }],
        }
    }

    /// By hand: the lowest value has the first colour, the highest the last, and a gap none.
    #[test]
    fn values_are_colours() {
        let style = Style::default();
        let plot = map(vec![1.0, f64::NAN, 2.0, 3.0, 4.0, 5.0])
            .draw(style, Format::Svg)
            .unwrap();
        let svg = String::from_utf8(plot.bytes).unwrap();
        let count = |colour: &str| svg.matches(colour).count();
        // the scale is made of stripes that are nowhere at its ends
        assert_eq!(count("#440154"), 1, "{svg}");
        assert_eq!(count("#fde725"), 1);
        assert_eq!(count("#21908d"), 1);
        for format in [Format::Png, Format::Pdf] {
            assert!(map(vec![1.0; 6]).draw(style, format).is_some());
        }
        assert!(map(vec![f64::NAN; 6]).draw(style, Format::Svg).is_none());
    }

    /// Closed form.
    #[test]
    fn edges_lie_between() {
        assert_eq!(edges(&[0.0, 1.0, 3.0]), Some(vec![-0.5, 0.5, 2.0, 4.0]));
        assert_eq!(edges(&[1.0]), None);
        assert_eq!(edges(&[1.0, 1.0]), None);
    }
}
