//! Static plots, as papers want them: curves over time or another quantity as PNG, SVG or PDF, drawn without a browser.
//!
//! ```text
//! recordings ──chart──► Chart ──layout──► Drawing ──► svg, pdf, png
//! grids ─────────────► HeatMap ────heat──┘
//!  or other curves                         lines and outlines of letters
//! ```
//!
//! Vector formats stay vector, letters are outlines of a font that the program carries, and nothing depends on the
//! machine: the same chart gives the same bytes.

mod chart;
mod drawing;
mod font;
mod heat;
mod layout;
mod pdf;
mod png;
mod svg;
mod ticks;

use std::path::Path;

pub use chart::{Axis, Chart, Curve, Panel, Scale};
pub use heat::{HeatMap, Layer};

/// What a plot is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Portable Network Graphics, 300 dots per inch.
    Png,
    /// Scalable Vector Graphics.
    Svg,
    /// Portable Document Format, one page of the size of the plot.
    Pdf,
}

impl Format {
    /// Endings of file names, with what they ask for.
    pub const ENDINGS: [(&'static str, Self); 3] =
        [("png", Self::Png), ("svg", Self::Svg), ("pdf", Self::Pdf)];

    /// What the ending of a file name asks for; `None` for other endings.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        let mut known = Self::ENDINGS.into_iter();
        Some(known.find(|(name, _)| *name == ending)?.1)
    }
}

/// Size of a plot and of its letters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Width in millimetres.
    pub width_mm: f64,
    /// Size of type in points.
    pub font_pt: f64,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            width_mm: 160.0,
            font_pt: 8.0,
        }
    }
}

/// A plot that was drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// The file.
    pub bytes: Vec<u8>,
    /// Channels that were wanted or chosen but have no room in it.
    pub left_out: Vec<String>,
}

impl Chart<'_> {
    /// Draws it; `None` if there is nothing to draw.
    pub fn draw(&self, style: Style, format: Format) -> Option<Plot> {
        let (drawing, beyond) = layout::drawing(self, style)?;
        let bytes = encoded(&drawing, format)?;
        let mut left_out = self.left_out.clone();
        left_out.extend(beyond);
        Some(Plot { bytes, left_out })
    }
}

/// A drawing as a file; `None` if it is too small for one.
fn encoded(drawing: &drawing::Drawing, format: Format) -> Option<Vec<u8>> {
    Some(match format {
        Format::Png => png::encode(drawing)?,
        Format::Svg => svg::encode(drawing),
        Format::Pdf => pdf::encode(drawing),
    })
}

#[cfg(test)]
mod tests {
    use super::{Axis, Chart, Curve, Format, Panel, Scale, Style};

    fn chart<'a>(across: &'a [f64], upward: &'a [f64], panels: usize, scale: Scale) -> Chart<'a> {
        let axis = |label: &str| Axis {
            label: label.to_owned(),
            unit: "m".to_owned(),
            scale,
        };
        let panel = |i: usize| Panel {
            upward: axis("Way"),
            curves: vec![Curve {
                name: format!("way {i}"),
                channel: format!("way_{i}"),
                points: [across, upward],
                colour: 0,
                dash: 0,
            }],
        };
        Chart {
            title: "A <way> & more".to_owned(),
            across: axis("Time"),
            panels: (0..panels).map(panel).collect(),
            left_out: vec!["before".to_owned()],
        }
    }

    fn numbers(text: &str) -> Vec<f64> {
        let parts = text.split(|c: char| c != '.' && c != '-' && !c.is_ascii_digit());
        parts.filter_map(|part| part.parse().ok()).collect()
    }

    /// Two ways: the curve of the PNG file is where that of the SVG file is, and the PDF file has it as far from its lower
    /// edge as the SVG file from its upper one.
    #[test]
    fn formats_agree() {
        let across = [0.0, 1.0, 2.0, 3.0];
        let upward = [0.0, 2.0, -1.0, 1.0];
        let chart = chart(&across, &upward, 1, Scale::Linear);
        let style = Style::default();
        let file = |format: Format| chart.draw(style, format).unwrap().bytes;
        let svg = String::from_utf8(file(Format::Svg)).unwrap();
        assert!(svg.contains("<title>A &lt;way> &amp; more</title>"));
        let (_, size) = svg.split_once("viewBox=\"0 0 ").unwrap();
        let height = numbers(&size[..40])[1];
        let mut of_curve = svg.lines().filter(|line| line.contains("#0072b2"));
        // behind the key of the legend comes the curve
        let (_, path) = of_curve.next_back().unwrap().split_once(" d=").unwrap();
        let places = numbers(path);
        assert_eq!(places.len(), 2 * across.len());

        let bytes = file(Format::Png);
        let decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut pixels).unwrap();
        assert!((f64::from(frame.height) - height * 300.0 / 72.0).abs() < 1.0);
        // in the middle of every stretch, where the line is as thick as it is
        for pair in places.chunks(2).collect::<Vec<_>>().windows(2) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "inside the picture"
            )]
            let [x, y] = [0, 1].map(|i| (0.5 * (pair[0][i] + pair[1][i]) * 300.0 / 72.0) as usize);
            let at = 3 * (y * frame.width as usize + x);
            assert_eq!(pixels[at..at + 3], [0, 114, 178], "at {x}, {y}");
        }

        let pdf = file(Format::Pdf);
        let find = |what: &[u8]| pdf.windows(what.len()).position(|part| part == what);
        let from = find(b"stream\n").unwrap() + 7;
        let until = find(b"\nendstream").unwrap();
        let content = miniz_oxide::inflate::decompress_to_vec_zlib(&pdf[from..until]).unwrap();
        let content = String::from_utf8(content).unwrap();
        let [x, y] = [places[2], height - places[3]];
        let near = |line: &&str| {
            let found = numbers(line);
            line.ends_with(" l") && (found[0] - x).abs() < 0.02 && (found[1] - y).abs() < 0.02
        };
        assert_eq!(content.lines().filter(near).count(), 1, "{x} {y}");
    }

    /// Property: panels that a page has no room for are told, behind what was left out before.
    #[test]
    fn what_has_no_room_is_told() {
        let (across, upward) = ([0.0, 1.0], [1.0, 2.0]);
        let few = chart(&across, &upward, 3, Scale::Linear);
        let plot = few.draw(Style::default(), Format::Svg).unwrap();
        assert_eq!(plot.left_out, ["before"]);
        let many = chart(&across, &upward, 40, Scale::Linear);
        let plot = many.draw(Style::default(), Format::Svg).unwrap();
        assert_eq!(plot.left_out[0], "before");
        assert_eq!(plot.left_out.last().map(String::as_str), Some("way_39"));
        let svg = String::from_utf8(plot.bytes).unwrap();
        let drawn = (0..40)
            .filter(|i| svg.contains(&format!("\"way {i}\"")))
            .count();
        assert_eq!(drawn + plot.left_out.len() - 1, 40);
    }

    /// Property: nothing to draw is no plot, and what is not finite or has no logarithm leaves gaps.
    #[test]
    fn odd_numbers() {
        let style = Style::default();
        let draws = |across: &[f64], upward: &[f64], scale| {
            let chart = chart(across, upward, 1, scale);
            chart.draw(style, Format::Svg).is_some()
        };
        assert!(!draws(&[], &[], Scale::Linear));
        assert!(!draws(&[1.0], &[1.0], Scale::Linear));
        assert!(!draws(&[f64::NAN, f64::NAN], &[1.0, 2.0], Scale::Linear));
        assert!(draws(
            &[0.0, 1.0],
            &[f64::NAN, f64::INFINITY],
            Scale::Linear
        ));
        assert!(draws(&[0.0, 1.0], &[5.0, 5.0], Scale::Linear));
        assert!(draws(&[0.0, 1.0], &[0.0, 1e-300], Scale::Linear));
        assert!(draws(&[0.0, 1.0], &[-1e300, 1e300], Scale::Linear));
        assert!(draws(&[1.0, 100.0], &[1e-8, 0.0], Scale::Logarithmic));
        assert!(!draws(&[-1.0, 0.0], &[1.0, 2.0], Scale::Logarithmic));
        let narrow = Style {
            width_mm: 40.0,
            font_pt: 30.0,
        };
        let chart = chart(&[0.0, 1.0], &[1.0, 2.0], 1, Scale::Linear);
        assert!(chart.draw(narrow, Format::Svg).is_none());
    }
}
