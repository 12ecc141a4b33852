//! Drawing surface of a plot.

/// Red, green, blue.
pub type Colour = (u8, u8, u8);

/// Anchor point of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// At its start.
    Start,
    /// At its end.
    End,
}

/// Shapes in pixels from the upper left corner.
pub trait Canvas {
    /// A filled shape.
    fn polygon(&mut self, points: &[(f32, f32)], colour: Colour);
    /// A line through points.
    fn line(&mut self, points: &[(f32, f32)], colour: Colour, width: f32, dashed: bool);
    /// A text whose base line is at `y`.
    fn text(&mut self, x: f32, y: f32, text: &str, anchor: Anchor, colour: Colour);
}
