//! A picture as PNG: the same shapes, and letters of eight by eight dots.

use font8x8::UnicodeFonts as _;
use tiny_skia::{FillRule, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform};

use super::canvas::{Anchor, Canvas, Colour};

/// Pixels from one letter to the next.
const ADVANCE: f32 = 7.0;

/// A bitmap.
pub struct Bitmap {
    pixels: Pixmap,
}

impl Bitmap {
    /// Creates an empty picture on white; `None` without memory for it.
    pub fn new(width: u16, height: u16) -> Option<Self> {
        let mut pixels = Pixmap::new(width.into(), height.into())?;
        pixels.fill(tiny_skia::Color::WHITE);
        Some(Self { pixels })
    }

    /// Returns the picture as PNG.
    ///
    /// # Errors
    ///
    /// Those of the encoder, in words.
    pub fn into_png(self) -> Result<Vec<u8>, String> {
        self.pixels.encode_png().map_err(|error| error.to_string())
    }
}

fn paint((r, g, b): Colour) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(r, g, b, 255);
    paint.anti_alias = true;
    paint
}

fn path(points: &[(f32, f32)], closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    let (first, rest) = points.split_first()?;
    builder.move_to(first.0, first.1);
    for (x, y) in rest {
        builder.line_to(*x, *y);
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

impl Canvas for Bitmap {
    fn polygon(&mut self, points: &[(f32, f32)], colour: Colour) {
        if let Some(path) = path(points, true) {
            self.pixels.fill_path(&path, &paint(colour), FillRule::Winding, Transform::identity(), None);
        }
    }

    fn line(&mut self, points: &[(f32, f32)], colour: Colour, width: f32, dashed: bool) {
        let dash = dashed.then(|| StrokeDash::new(vec![6.0, 4.0], 0.0)).flatten();
        if let Some(path) = path(points, false) {
            let stroke = Stroke { width, dash, ..Stroke::default() };
            self.pixels.stroke_path(&path, &paint(colour), &stroke, Transform::identity(), None);
        }
    }

    fn text(&mut self, x: f32, y: f32, text: &str, anchor: Anchor, colour: Colour) {
        let count = text.chars().count() as u16;
        let left = if anchor == Anchor::End { x - f32::from(count) * ADVANCE } else { x };
        let paint = paint(colour);
        for (index, letter) in (0_u16..).zip(text.chars()) {
            let rows =
                font8x8::BASIC_FONTS.get(letter).or_else(|| font8x8::LATIN_FONTS.get(letter)).unwrap_or([0x7e; 8]);
            for (row, bits) in (0_u8..).zip(rows) {
                for column in (0..8_u8).filter(|column| bits >> column & 1 == 1) {
                    let (x, y) = (left + f32::from(index) * ADVANCE + f32::from(column), y - 8.0 + f32::from(row));
                    if let Some(dot) = Rect::from_xywh(x.floor(), y.floor(), 1.0, 1.0) {
                        self.pixels.fill_rect(dot, &paint, Transform::identity(), None);
                    }
                }
            }
        }
    }
}
