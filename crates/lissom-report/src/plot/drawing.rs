//! A drawing: lines and filled shapes in points (1/72 inch) from the upper left corner, which each format writes in its
//! own way.

use super::font::{Font, Outline};

/// A colour as red, green and blue.
pub(super) type Colour = [u8; 3];

/// A step of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    Move([f64; 2]),
    Line([f64; 2]),
    /// Two control points and the end of a cubic.
    Cubic([f64; 2], [f64; 2], [f64; 2]),
    Close,
}

/// Something that is drawn.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Stroke {
        path: Vec<Step>,
        width: f64,
        colour: Colour,
        /// Lengths of strokes and gaps in turn; empty for a full line.
        dash: Vec<f64>,
    },
    Fill {
        path: Vec<Step>,
        colour: Colour,
        /// What is written, for formats that can say it.
        text: String,
    },
}

/// Where a text stands from its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Anchor {
    Left,
    Middle,
    Right,
}

/// A drawing of some size, in the order of its items.
#[derive(Debug)]
pub(super) struct Drawing {
    pub(super) title: String,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) items: Vec<Item>,
}

impl Drawing {
    /// A line through points.
    pub(super) fn line(&mut self, points: &[[f64; 2]], width: f64, colour: Colour, dash: &[f64]) {
        let steps = points.iter().enumerate().map(|(i, &point)| match i {
            0 => Step::Move(point),
            _ => Step::Line(point),
        });
        self.items.push(Item::Stroke {
            path: steps.collect(),
            width,
            colour,
            dash: dash.to_vec(),
        });
    }

    /// A text whose baseline begins, is centred or ends at a place.
    pub(super) fn text(
        &mut self,
        font: &Font<'_>,
        text: &str,
        place: [f64; 2],
        anchor: Anchor,
        colour: Colour,
    ) {
        self.write(font, text, place, anchor, colour, |x, y| [x, y]);
    }

    /// The same, running upward.
    pub(super) fn text_upward(
        &mut self,
        font: &Font<'_>,
        text: &str,
        place: [f64; 2],
        anchor: Anchor,
        colour: Colour,
    ) {
        self.write(font, text, place, anchor, colour, |x, y| [y, -x]);
    }

    fn write(
        &mut self,
        font: &Font<'_>,
        text: &str,
        place: [f64; 2],
        anchor: Anchor,
        colour: Colour,
        rotated: impl Fn(f64, f64) -> [f64; 2],
    ) {
        let width = font.width(text);
        let mut start = match anchor {
            Anchor::Left => 0.0,
            Anchor::Middle => -0.5 * width,
            Anchor::Right => -width,
        };
        let mut path = Vec::new();
        for letter in text.chars() {
            let Outline { steps, advance } = font.outline(letter);
            let at = |[x, y]: [f64; 2]| {
                let [x, y] = rotated(start + x, y);
                [place[0] + x, place[1] + y]
            };
            path.extend(steps.into_iter().map(|step| match step {
                Step::Move(to) => Step::Move(at(to)),
                Step::Line(to) => Step::Line(at(to)),
                Step::Cubic(a, b, to) => Step::Cubic(at(a), at(b), at(to)),
                Step::Close => Step::Close,
            }));
            start += advance;
        }
        self.items.push(Item::Fill {
            path,
            colour,
            text: text.to_owned(),
        });
    }
}

/// A number in single precision, as libraries that draw want it.
#[expect(
    clippy::cast_possible_truncation,
    reason = "seven digits are more than a page has"
)]
pub(super) fn single(x: f64) -> f32 {
    x as f32
}
