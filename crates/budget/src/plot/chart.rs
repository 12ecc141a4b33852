//! The layout of a plot: panels below each other, each with its layers, axes with round numbers, and a legend.

use super::{
    canvas::{Anchor, Canvas, Colour},
    series::Panel,
};
use crate::snapshot::units::Units;

/// The width of a plot in pixels.
pub const WIDTH: u16 = 960;
/// The height of one panel in pixels.
pub const PANEL_HEIGHT: u16 = 300;

/// Edges of the field.
const LEFT: f32 = 90.0;
const RIGHT: f32 = 740.0;
const TOP: f32 = 40.0;
const BOTTOM: f32 = 264.0;

/// Colours that are distinct for all kinds of colour vision (Okabe and Ito 2008).
const COLOURS: [Colour; 7] =
    [(0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167), (86, 180, 233), (213, 94, 0), (150, 150, 150)];
const INK: Colour = (40, 40, 40);
const GRID: Colour = (215, 215, 215);
const LIMIT: Colour = (160, 0, 0);
/// Bytes that are not where their owner wants them.
const MISSING: Colour = (240, 180, 150);

/// Returns the height in pixels of a plot with this number of panels.
pub fn height(panels: usize) -> u16 {
    u16::try_from(panels.max(1)).unwrap_or(u16::MAX).saturating_mul(PANEL_HEIGHT)
}

/// Draws the panels onto a canvas.
pub fn draw<C: Canvas>(panels: &[Panel], mut canvas: C) -> C {
    for (panel, number) in panels.iter().zip(0_u16..) {
        let mut place = Place { canvas: &mut canvas, down: f32::from(number.saturating_mul(PANEL_HEIGHT)) };
        draw_panel(panel, &mut place);
    }
    canvas
}

fn draw_panel(panel: &Panel, canvas: &mut impl Canvas) {
    canvas.text(LEFT, 22.0, &panel.title, Anchor::Start, INK);
    let field = Field::new(panel);
    field.grid(panel, canvas);
    let mut below = vec![0_u64; panel.seconds.len()];
    for (layer, colour) in panel.layers.iter().zip(COLOURS.iter().cycle()) {
        let above: Vec<u64> = below.iter().zip(&layer.bytes).map(|(a, b)| a.saturating_add(*b)).collect();
        let mut outline = field.points(panel, &above);
        outline.extend(field.points(panel, &below).into_iter().rev());
        if layer.bytes.iter().any(|&bytes| bytes > 0) {
            canvas.polygon(&outline, if layer.is_missing { MISSING } else { *colour });
        }
        below = above;
    }
    if let Some(limit) = &panel.limit {
        let y = field.y(limit.bytes);
        canvas.line(&[(LEFT, y), (RIGHT, y)], LIMIT, 1.5, true);
    }
    canvas.line(&[(LEFT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM)], INK, 1.0, false);
    legend(panel, canvas);
}

/// A part of a canvas, moved down.
struct Place<'c, C> {
    canvas: &'c mut C,
    down: f32,
}

impl<C: Canvas> Place<'_, C> {
    fn moved(&self, points: &[(f32, f32)]) -> Vec<(f32, f32)> {
        points.iter().map(|(x, y)| (*x, y + self.down)).collect()
    }
}

impl<C: Canvas> Canvas for Place<'_, C> {
    fn polygon(&mut self, points: &[(f32, f32)], colour: Colour) {
        let moved = self.moved(points);
        self.canvas.polygon(&moved, colour);
    }

    fn line(&mut self, points: &[(f32, f32)], colour: Colour, width: f32, dashed: bool) {
        let moved = self.moved(points);
        self.canvas.line(&moved, colour, width, dashed);
    }

    fn text(&mut self, x: f32, y: f32, text: &str, anchor: Anchor, colour: Colour) {
        self.canvas.text(x, y + self.down, text, anchor, colour);
    }
}

/// The field of the picture and what its edges stand for.
struct Field {
    seconds: f64,
    bytes: u64,
    step: u64,
}

impl Field {
    fn new(series: &Panel) -> Self {
        let top = series.top();
        // Powers of two are the round numbers of memory: four to eight lines.
        let step = (top / 4).max(1).next_power_of_two() / 2;
        let step = step.max(1);
        let bytes = top.checked_next_multiple_of(step).unwrap_or(u64::MAX);
        let seconds = series.seconds.last().copied().unwrap_or(0.0).max(f64::MIN_POSITIVE);
        Self { seconds, bytes, step }
    }

    #[expect(clippy::cast_precision_loss, reason = "a picture has a thousand pixels")]
    fn y(&self, bytes: u64) -> f32 {
        BOTTOM - (BOTTOM - TOP) * (bytes as f64 / self.bytes as f64) as f32
    }

    fn x(&self, seconds: f64) -> f32 {
        LEFT + (RIGHT - LEFT) * (seconds / self.seconds).clamp(0.0, 1.0) as f32
    }

    /// A single moment is as wide as the field.
    fn points(&self, series: &Panel, bytes: &[u64]) -> Vec<(f32, f32)> {
        if let ([_], [only]) = (series.seconds.as_slice(), bytes) {
            return vec![(LEFT, self.y(*only)), (RIGHT, self.y(*only))];
        }
        series.seconds.iter().zip(bytes).map(|(seconds, bytes)| (self.x(*seconds), self.y(*bytes))).collect()
    }

    fn grid(&self, panel: &Panel, canvas: &mut impl Canvas) {
        for line in 0..=(self.bytes / self.step).min(16) {
            let bytes = line * self.step;
            canvas.line(&[(LEFT, self.y(bytes)), (RIGHT, self.y(bytes))], GRID, 1.0, false);
            canvas.text(LEFT - 6.0, self.y(bytes) + 4.0, &Units::Auto.text(bytes), Anchor::End, INK);
        }
        for quarter in 0..=4_u8 {
            let seconds = self.seconds * f64::from(quarter) / 4.0;
            let anchor = if quarter == 4 { Anchor::End } else { Anchor::Start };
            canvas.text(self.x(seconds), BOTTOM + 18.0, &panel.clock(seconds), anchor, INK);
        }
    }
}

/// The topmost layer first, as in the picture.
fn legend(panel: &Panel, canvas: &mut impl Canvas) {
    let x = RIGHT + 16.0;
    let mut y = TOP + 10.0;
    let edge = f32::from(WIDTH) - 8.0;
    let layers: Vec<_> = panel.layers.iter().zip(COLOURS.iter().cycle()).collect();
    for (layer, colour) in layers.into_iter().rev() {
        let colour = if layer.is_missing { MISSING } else { *colour };
        canvas.polygon(&[(x, y - 9.0), (x + 10.0, y - 9.0), (x + 10.0, y + 1.0), (x, y + 1.0)], colour);
        canvas.text(x + 16.0, y, &crate::text::cut(&layer.name, 16), Anchor::Start, INK);
        canvas.text(edge, y, &Units::Auto.text(layer.bytes.last().copied().unwrap_or(0)), Anchor::End, INK);
        y += 18.0;
    }
    if let Some(limit) = &panel.limit {
        canvas.line(&[(x, y - 4.0), (x + 10.0, y - 4.0)], LIMIT, 1.5, true);
        canvas.text(x + 16.0, y, &limit.name, Anchor::Start, INK);
        canvas.text(edge, y, &Units::Auto.text(limit.bytes), Anchor::End, INK);
    }
}
