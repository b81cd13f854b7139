//! Drawings as PNG, with as many dots as printers want.

use tiny_skia::{
    Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};

use super::drawing::{Drawing, Item, Step, single};

/// Dots per inch.
const DPI: f64 = 300.0;
const DOTS_PER_POINT: f64 = DPI / 72.0;
const DOTS_PER_METRE: u32 = 11811;

/// `None` for a drawing without extent, or too large for a picture.
pub(super) fn encode(drawing: &Drawing) -> Option<Vec<u8>> {
    let [width, height] = [drawing.width, drawing.height].map(dots);
    let mut map = Pixmap::new(width, height)?;
    map.fill(Color::WHITE);
    let scale = Transform::from_scale(single(DOTS_PER_POINT), single(DOTS_PER_POINT));
    for item in &drawing.items {
        let (Item::Stroke { path, colour, .. } | Item::Fill { path, colour, .. }) = item;
        // a text of spaces has no outline
        let Some(outline) = outline(path) else {
            continue;
        };
        let mut paint = Paint::default();
        let [red, green, blue] = *colour;
        paint.set_color_rgba8(red, green, blue, 255);
        match item {
            Item::Stroke { width, dash, .. } => {
                let stroke = Stroke {
                    width: single(*width),
                    line_join: LineJoin::Round,
                    dash: StrokeDash::new(dash.iter().copied().map(single).collect(), 0.0),
                    ..Stroke::default()
                };
                map.stroke_path(&outline, &paint, &stroke, scale, None);
            }
            Item::Fill { .. } => {
                map.fill_path(&outline, &paint, FillRule::Winding, scale, None);
            }
        }
    }
    let pixels = map.pixels().iter();
    let bytes: Vec<u8> = pixels
        .flat_map(|p| [p.red(), p.green(), p.blue()])
        .collect();
    compressed(width, height, &bytes)
}

fn compressed(width: u32, height: u32, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_pixel_dims(Some(png::PixelDimensions {
        xppu: DOTS_PER_METRE,
        yppu: DOTS_PER_METRE,
        unit: png::Unit::Meter,
    }));
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(bytes).ok()?;
    writer.finish().ok()?;
    Some(file)
}

fn outline(path: &[Step]) -> Option<Path> {
    let mut builder = PathBuilder::new();
    let at = |point: [f64; 2]| point.map(single);
    for &step in path {
        match step {
            Step::Move(to) => {
                let [x, y] = at(to);
                builder.move_to(x, y);
            }
            Step::Line(to) => {
                let [x, y] = at(to);
                builder.line_to(x, y);
            }
            Step::Cubic(a, b, to) => {
                let [[a, b], [c, d], [x, y]] = [at(a), at(b), at(to)];
                builder.cubic_to(a, b, c, d, x, y);
            }
            Step::Close => builder.close(),
        }
    }
    builder.finish()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a few thousand"
)]
fn dots(points: f64) -> u32 {
    (points * DOTS_PER_POINT).round() as u32
}
