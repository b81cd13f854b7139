//! Drawings as SVG: one path for every item, texts as outlines.

use std::fmt::Write;

use super::drawing::{Drawing, Item, Step};
use crate::escaped;

/// Millimetres of a point.
const MM: f64 = 25.4 / 72.0;

pub(super) fn encode(drawing: &Drawing) -> Vec<u8> {
    let Drawing { width, height, .. } = drawing;
    let mut out = String::new();
    // writing to a string cannot fail
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.3}mm\" height=\"{:.3}mm\" viewBox=\"0 0 {width:.3} {height:.3}\">\n\
         <title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        width * MM,
        height * MM,
        escaped(&drawing.title),
    );
    for item in &drawing.items {
        let _ = match item {
            Item::Stroke {
                path,
                width,
                colour,
                dash,
            } => {
                let dash: Vec<String> = dash.iter().map(|x| format!("{x:.2}")).collect();
                let dashed = if dash.is_empty() {
                    String::new()
                } else {
                    format!(" stroke-dasharray=\"{}\"", dash.join(" "))
                };
                writeln!(
                    out,
                    "<path fill=\"none\" stroke=\"{}\" stroke-width=\"{width:.2}\" stroke-linejoin=\"round\"{dashed} d=\"{}\"/>",
                    hex(*colour),
                    data(path)
                )
            }
            Item::Fill { path, colour, text } => writeln!(
                out,
                "<path fill=\"{}\" aria-label=\"{}\" d=\"{}\"/>",
                hex(*colour),
                escaped(text),
                data(path)
            ),
        };
    }
    out.push_str("</svg>\n");
    out.into_bytes()
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn data(path: &[Step]) -> String {
    let mut out = String::new();
    for step in path {
        let _ = match step {
            Step::Move([x, y]) => write!(out, "M{x:.2} {y:.2}"),
            Step::Line([x, y]) => write!(out, "L{x:.2} {y:.2}"),
            Step::Cubic([a, b], [c, d], [x, y]) => {
                write!(out, "C{a:.2} {b:.2} {c:.2} {d:.2} {x:.2} {y:.2}")
            }
            Step::Close => write!(out, "Z"),
        };
    }
    out
}
