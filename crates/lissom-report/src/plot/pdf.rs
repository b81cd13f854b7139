//! Drawings as PDF: one page with every item as a path.

use miniz_oxide::deflate::compress_to_vec_zlib;
use pdf_writer::types::LineJoinStyle;
use pdf_writer::{Content, Filter, Finish, Pdf, Rect, Ref, TextStr};

use super::drawing::{Drawing, Item, Step, single};

/// Level of compression: no other makes much of numbers.
const LEVEL: u8 = 6;

pub(super) fn encode(drawing: &Drawing) -> Vec<u8> {
    let [catalog, pages, page, content, info] = [1, 2, 3, 4, 5].map(Ref::new);
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    let size = Rect::new(0.0, 0.0, single(drawing.width), single(drawing.height));
    let mut entry = pdf.page(page);
    entry.media_box(size).parent(pages).contents(content);
    entry.resources();
    entry.finish();
    pdf.document_info(info)
        .title(TextStr(&drawing.title))
        .creator(TextStr("Lissom"));
    let stream = compress_to_vec_zlib(&stream(drawing), LEVEL);
    pdf.stream(content, &stream).filter(Filter::FlateDecode);
    pdf.finish()
}

fn stream(drawing: &Drawing) -> Vec<u8> {
    let mut content = Content::new();
    content.set_line_join(LineJoinStyle::RoundJoin);
    for item in &drawing.items {
        match item {
            Item::Stroke {
                path,
                width,
                colour,
                dash,
            } => {
                let [red, green, blue] = parts(*colour);
                content.set_stroke_rgb(red, green, blue);
                content.set_line_width(single(*width));
                content.set_dash_pattern(dash.iter().copied().map(single), 0.0);
                trace(&mut content, drawing.height, path);
                content.stroke();
            }
            Item::Fill { path, colour, .. } => {
                let [red, green, blue] = parts(*colour);
                content.set_fill_rgb(red, green, blue);
                trace(&mut content, drawing.height, path);
                content.fill_nonzero();
            }
        }
    }
    content.finish().into_vec()
}

/// A path, from the lower left corner of the page upward.
fn trace(content: &mut Content, height: f64, path: &[Step]) {
    let at = |[x, y]: [f64; 2]| [rounded(x), rounded(height - y)];
    for &step in path {
        match step {
            Step::Move(to) => {
                let [x, y] = at(to);
                content.move_to(x, y);
            }
            Step::Line(to) => {
                let [x, y] = at(to);
                content.line_to(x, y);
            }
            Step::Cubic(a, b, to) => {
                let [[a, b], [c, d], [x, y]] = [at(a), at(b), at(to)];
                content.cubic_to(a, b, c, d, x, y);
            }
            Step::Close => {
                content.close_path();
            }
        }
    }
}

/// To a hundredth of a point, which takes fewer digits.
fn rounded(x: f64) -> f32 {
    single((100.0 * x).round() / 100.0)
}

fn parts(colour: [u8; 3]) -> [f32; 3] {
    colour.map(|part| f32::from(part) / 255.0)
}
