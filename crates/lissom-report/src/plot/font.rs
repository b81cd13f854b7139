//! The font of the plots, which the program carries, so that they look the same everywhere: letters become outlines.

use ttf_parser::{Face, OutlineBuilder};

use super::drawing::Step;

/// Arimo under the SIL Open Font License, which stands beside it.
const FILE: &[u8] = include_bytes!("../../font/arimo.ttf");

/// The font in one size.
#[derive(Clone)]
pub(super) struct Font<'a> {
    face: Face<'a>,
    /// Points per unit of the font.
    scale: f64,
    /// Size in points.
    pub(super) size: f64,
}

/// A letter at the origin, y downward, and how far the next one is.
pub(super) struct Outline {
    pub(super) steps: Vec<Step>,
    pub(super) advance: f64,
}

impl Font<'_> {
    /// In a size in points; `None` cannot be, as the file is part of the program.
    pub(super) fn new(size: f64) -> Option<Self> {
        let face = Face::parse(FILE, 0).ok()?;
        let scale = size / f64::from(face.units_per_em());
        Some(Self { face, scale, size })
    }

    /// Width of a text.
    pub(super) fn width(&self, text: &str) -> f64 {
        text.chars().map(|letter| self.advance(letter)).sum()
    }

    fn advance(&self, letter: char) -> f64 {
        let glyph = self.face.glyph_index(letter).unwrap_or_default();
        let advance = self.face.glyph_hor_advance(glyph).unwrap_or_default();
        f64::from(advance) * self.scale
    }

    /// Outline of a letter; one that the font lacks is an empty box.
    pub(super) fn outline(&self, letter: char) -> Outline {
        let mut pen = Pen {
            steps: Vec::new(),
            at: [0.0; 2],
            scale: self.scale,
        };
        let glyph = self.face.glyph_index(letter).unwrap_or_default();
        // a space has none
        let _ = self.face.outline_glyph(glyph, &mut pen);
        Outline {
            steps: pen.steps,
            advance: self.advance(letter),
        }
    }
}

struct Pen {
    steps: Vec<Step>,
    at: [f64; 2],
    scale: f64,
}

impl Pen {
    fn place(&self, x: f32, y: f32) -> [f64; 2] {
        [f64::from(x) * self.scale, -f64::from(y) * self.scale]
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.at = self.place(x, y);
        self.steps.push(Step::Move(self.at));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.at = self.place(x, y);
        self.steps.push(Step::Line(self.at));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        // the cubic that is this parabola
        let (control, end) = (self.place(x1, y1), self.place(x, y));
        let towards = |from: [f64; 2]| {
            let part = |i: usize| from[i] + 2.0 / 3.0 * (control[i] - from[i]);
            [part(0), part(1)]
        };
        let step = Step::Cubic(towards(self.at), towards(end), end);
        self.steps.push(step);
        self.at = end;
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let end = self.place(x, y);
        let step = Step::Cubic(self.place(x1, y1), self.place(x2, y2), end);
        self.steps.push(step);
        self.at = end;
    }

    fn close(&mut self) {
        self.steps.push(Step::Close);
    }
}

#[cfg(test)]
mod tests {
    use super::Font;

    /// Property: everything that plots write is in the font.
    #[test]
    fn the_font_has_what_plots_write() {
        let font = Font::new(10.0).unwrap();
        let texts = [
            "Time (s)",
            "−0.5 · × 10⁻³⁴",
            "kg m²/s³",
            "µ°θ…",
            "azAZ09_./[],",
        ];
        for letter in texts.concat().chars() {
            assert!(font.face.glyph_index(letter).is_some(), "{letter}");
        }
        assert!(font.width("ii") < font.width("mm"));
        assert!(!font.outline('x').steps.is_empty());
    }
}
