//! A plot as a PNG picture, with text in Noto Sans Mono.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, RasterizedChar, get_raster, get_raster_width};
use tiny_skia::{FillRule, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform};

use super::canvas::{Anchor, Canvas, Colour};

/// Height of a line of letters, pixels.
const SIZE: RasterHeight = RasterHeight::Size16;

/// Pixels from the top of a letter's picture to the line that it stands on.
const BASELINE: f32 = 13.0;

/// A bitmap on which a plot is drawn.
pub struct Bitmap {
    pixels: Pixmap,
}

impl Bitmap {
    /// Creates an empty white picture; `None` if there is no memory for it.
    pub fn new(width: u16, height: u16) -> Option<Self> {
        let mut pixels = Pixmap::new(width.into(), height.into())?;
        pixels.fill(tiny_skia::Color::WHITE);
        Some(Self { pixels })
    }

    /// Darkens a pixel by the coverage of a letter, of 255.
    fn blend(&mut self, (x, y): (f32, f32), colour: Colour, coverage: u8) {
        if coverage > 0
            && let Some(dot) = Rect::from_xywh(x, y, 1.0, 1.0)
        {
            let (red, green, blue) = colour;
            let mut paint = Paint::default();
            paint.set_color_rgba8(red, green, blue, coverage);
            self.pixels.fill_rect(dot, &paint, Transform::identity(), None);
        }
    }

    /// Encodes the picture as PNG.
    ///
    /// # Errors
    ///
    /// The error message of the encoder.
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
        let letter_width = get_raster_width(FontWeight::Regular, SIZE) as u16;
        let width = f32::from(text.chars().count() as u16) * f32::from(letter_width);
        // Whole pixels: the letters were drawn for them.
        let left = (if anchor == Anchor::End { x - width } else { x }).floor();
        let top = y.floor() - BASELINE;
        let mut column = left;
        for letter in text.chars().filter_map(letter_of) {
            for (row, line) in (0_u8..).zip(letter.rows()) {
                for (dot, &coverage) in (0_u8..).zip(line.iter()) {
                    self.blend((column + f32::from(dot), top + f32::from(row)), colour, coverage);
                }
            }
            column += f32::from(letter_width);
        }
    }
}

/// Returns the picture of a letter, or that of a question mark.
fn letter_of(letter: char) -> Option<RasterizedChar> {
    let drawn = |letter| get_raster(letter, FontWeight::Regular, SIZE);
    drawn(letter).or_else(|| drawn('?'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of a picture, with a letter for each grey: dark, half, white.
    fn greys(bitmap: &Bitmap) -> Vec<String> {
        let grey = |pixel: &tiny_skia::PremultipliedColorU8| match pixel.red() {
            0..=80 => '#',
            81..=230 => '+',
            _ => '.',
        };
        let width = bitmap.pixels.width() as usize;
        bitmap.pixels.pixels().chunks(width).map(|row| row.iter().map(grey).collect()).collect()
    }

    #[test]
    fn letters_are_smooth_stand_on_their_line_and_end_where_they_should() {
        let mut bitmap = Bitmap::new(40, 24).unwrap();
        bitmap.text(36.0, 18.0, "AO", Anchor::End, (0, 0, 0));
        let rows = greys(&bitmap);
        let inked: Vec<_> = (0..rows.len()).filter(|&row| rows[row].contains(['#', '+'])).collect();
        assert!(rows.iter().any(|row| row.contains('+')), "no greys: {rows:#?}");
        assert!(inked.contains(&17) && inked.iter().all(|&row| row <= 18), "{rows:#?}");
        let columns = |from: usize, to: usize| rows.iter().any(|row| row[from..to].contains(['#', '+']));
        assert!(columns(22, 29) && columns(29, 36) && !columns(0, 22) && !columns(36, 40), "{rows:#?}");
    }

    #[test]
    fn a_letter_that_the_font_lacks_is_a_question_mark() {
        let drawn = |text: &str| {
            let mut bitmap = Bitmap::new(12, 20).unwrap();
            bitmap.text(0.0, 16.0, text, Anchor::Start, (0, 0, 0));
            greys(&bitmap)
        };
        assert_eq!(drawn("\u{4e00}"), drawn("?"));
        assert_ne!(drawn("é"), drawn("?"));
    }
}
