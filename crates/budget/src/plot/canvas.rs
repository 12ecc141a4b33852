//! Drawing surface of a plot.

/// A colour: red, green and blue, each from 0 to 255.
pub type Colour = (u8, u8, u8);

/// The anchor point of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The position is the start of the text.
    Start,
    /// The position is the end of the text.
    End,
}

/// A drawing surface. Coordinates are in pixels from the upper left corner.
pub trait Canvas {
    /// Fills a polygon.
    fn polygon(&mut self, points: &[(f32, f32)], colour: Colour);
    /// Draws a line through the given points.
    fn line(&mut self, points: &[(f32, f32)], colour: Colour, width: f32, dashed: bool);
    /// Draws a text whose baseline is at `y`.
    fn text(&mut self, x: f32, y: f32, text: &str, anchor: Anchor, colour: Colour);
}
