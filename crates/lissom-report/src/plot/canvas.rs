//! A picture in memory: lines with smooth edges, and text made of them.

use super::font::{ADVANCE, BASELINE, strokes};

/// Red, green, blue.
pub(super) type Colour = [u8; 3];

/// Pixels by rows from the top, white at first.
#[derive(Debug)]
pub(super) struct Canvas {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) pixels: Vec<Colour>,
}

/// Which point of a text is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Left,
    Middle,
    Right,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            pixels: vec![[255; 3]; width * height],
        }
    }

    /// A straight line with round ends; coordinates in pixels from the upper left corner.
    pub(super) fn line(&mut self, from: [f64; 2], to: [f64; 2], thickness: f64, colour: Colour) {
        let half = 0.5 * thickness;
        let reach = half + 1.0;
        let columns = span(from[0], to[0], reach, self.width);
        let along = [to[0] - from[0], to[1] - from[1]];
        let square = along[0] * along[0] + along[1] * along[1];
        for y in span(from[1], to[1], reach, self.height) {
            for x in columns.clone() {
                let point = [x as f64 + 0.5 - from[0], y as f64 + 0.5 - from[1]];
                let part = if square > 0.0 {
                    ((point[0] * along[0] + point[1] * along[1]) / square).clamp(0.0, 1.0)
                } else {
                    0.0
                };
                let distance = (point[0] - part * along[0]).hypot(point[1] - part * along[1]);
                let cover = (half + 0.5 - distance).clamp(0.0, 1.0);
                if cover > 0.0 {
                    self.blend(x, y, colour, cover);
                }
            }
        }
    }

    fn blend(&mut self, x: usize, y: usize, colour: Colour, cover: f64) {
        for (below, above) in self.pixels[y * self.width + x].iter_mut().zip(colour) {
            let mixed = f64::from(*below) * (1.0 - cover) + f64::from(above) * cover;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between two bytes"
            )]
            {
                *below = mixed.round() as u8;
            }
        }
    }

    /// A line through points, dashed if `dash` says how much is drawn and how much is left out.
    pub(super) fn path(
        &mut self,
        points: &[[f64; 2]],
        thickness: f64,
        colour: Colour,
        dash: Option<[f64; 2]>,
    ) {
        let mut walked = 0.0;
        for pair in points.windows(2) {
            let [from, to] = [pair[0], pair[1]];
            let Some([drawn, left_out]) = dash else {
                self.line(from, to, thickness, colour);
                continue;
            };
            let length = (to[0] - from[0]).hypot(to[1] - from[1]);
            let at = |s: f64| {
                let part = if length > 0.0 { s / length } else { 0.0 };
                [
                    from[0] + (to[0] - from[0]) * part,
                    from[1] + (to[1] - from[1]) * part,
                ]
            };
            let mut s = 0.0;
            while s < length {
                let phase = (walked + s) % (drawn + left_out);
                let (visible, until) = if phase < drawn {
                    (true, s + drawn - phase)
                } else {
                    (false, s + drawn + left_out - phase)
                };
                // a phase that rounding puts at its end would not move on
                let until = until.max(s + 1e-6).min(length);
                if visible {
                    self.line(at(s), at(until), thickness, colour);
                }
                s = until;
            }
            walked += length;
        }
    }

    /// Text with capitals of so many pixels, its baseline at `at`.
    pub(super) fn text(
        &mut self,
        text: &str,
        at: [f64; 2],
        height: f64,
        anchor: Anchor,
        colour: Colour,
    ) {
        let unit = height / 6.0;
        let width = text_width(text, height);
        let mut left = match anchor {
            Anchor::Left => at[0],
            Anchor::Middle => at[0] - 0.5 * width,
            Anchor::Right => at[0] - width,
        };
        for letter in text.chars() {
            for stroke in strokes(letter) {
                let place = |[x, y]: [f64; 2]| [left + unit * x, at[1] - unit * (y - BASELINE)];
                let points: Vec<[f64; 2]> = stroke.map(place).collect();
                self.path(&points, 0.13 * height, colour, None);
            }
            left += unit * ADVANCE;
        }
    }
}

/// Width of a text with capitals of so many pixels.
pub(super) fn text_width(text: &str, height: f64) -> f64 {
    text.chars().count() as f64 * ADVANCE * height / 6.0
}

/// Whole numbers below `limit` that are within `reach` of the span between two places.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cut to the size of the picture"
)]
fn span(a: f64, b: f64, reach: f64, limit: usize) -> std::ops::Range<usize> {
    let first = (a.min(b) - reach).floor().clamp(0.0, limit as f64) as usize;
    let last = (a.max(b) + reach).ceil().clamp(0.0, limit as f64) as usize;
    first..last
}
