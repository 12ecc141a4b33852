//! The picture itself: layers on top of each other, axes with round numbers, a legend.

use super::{
    canvas::{Anchor, Canvas, Colour},
    series::Series,
};
use crate::snapshot::units::Units;

/// Pixels.
pub const WIDTH: u16 = 960;
/// Pixels.
pub const HEIGHT: u16 = 420;

/// Edges of the field.
const LEFT: f32 = 90.0;
const RIGHT: f32 = 740.0;
const TOP: f32 = 40.0;
const BOTTOM: f32 = 380.0;

/// Colours that are distinct for all kinds of colour vision (Okabe and Ito 2008).
const COLOURS: [Colour; 7] =
    [(0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167), (86, 180, 233), (213, 94, 0), (150, 150, 150)];
const INK: Colour = (40, 40, 40);
const GRID: Colour = (215, 215, 215);
const LIMIT: Colour = (160, 0, 0);

/// Draws the series.
pub fn draw<C: Canvas>(series: &Series, mut canvas: C) -> C {
    canvas.text(LEFT, 22.0, &series.title, Anchor::Start, INK);
    let field = Field::new(series);
    field.grid(&mut canvas);
    let mut below = vec![0_u64; series.seconds.len()];
    for (layer, colour) in series.layers.iter().zip(COLOURS.iter().cycle()) {
        let above: Vec<u64> = below.iter().zip(&layer.bytes).map(|(a, b)| a.saturating_add(*b)).collect();
        let mut outline = field.points(series, &above);
        outline.extend(field.points(series, &below).into_iter().rev());
        canvas.polygon(&outline, *colour);
        below = above;
    }
    if let Some(limit) = series.limit {
        let y = field.y(limit);
        canvas.line(&[(LEFT, y), (RIGHT, y)], LIMIT, 1.5, true);
    }
    if series.evicted.iter().any(|&bytes| bytes > 0) {
        canvas.line(&field.points(series, &series.evicted), INK, 1.5, false);
    }
    canvas.line(&[(LEFT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM)], INK, 1.0, false);
    legend(series, &mut canvas);
    canvas
}

/// The field of the picture and what its edges stand for.
struct Field {
    seconds: f64,
    bytes: u64,
    step: u64,
}

impl Field {
    fn new(series: &Series) -> Self {
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
    fn points(&self, series: &Series, bytes: &[u64]) -> Vec<(f32, f32)> {
        if let ([_], [only]) = (series.seconds.as_slice(), bytes) {
            return vec![(LEFT, self.y(*only)), (RIGHT, self.y(*only))];
        }
        series.seconds.iter().zip(bytes).map(|(seconds, bytes)| (self.x(*seconds), self.y(*bytes))).collect()
    }

    fn grid(&self, canvas: &mut impl Canvas) {
        for line in 0..=(self.bytes / self.step).min(16) {
            let bytes = line * self.step;
            canvas.line(&[(LEFT, self.y(bytes)), (RIGHT, self.y(bytes))], GRID, 1.0, false);
            canvas.text(LEFT - 6.0, self.y(bytes) + 4.0, &Units::Auto.text(bytes), Anchor::End, INK);
        }
        for quarter in 0..=4_u8 {
            let seconds = self.seconds * f64::from(quarter) / 4.0;
            let anchor = if quarter == 4 { Anchor::End } else { Anchor::Start };
            canvas.text(self.x(seconds), BOTTOM + 18.0, &format!("{seconds:.0} s"), anchor, INK);
        }
    }
}

fn legend(series: &Series, canvas: &mut impl Canvas) {
    let x = RIGHT + 16.0;
    let mut y = TOP + 10.0;
    for (layer, colour) in series.layers.iter().zip(COLOURS.iter().cycle()).rev_list() {
        canvas.polygon(&[(x, y - 9.0), (x + 10.0, y - 9.0), (x + 10.0, y + 1.0), (x, y + 1.0)], *colour);
        canvas.text(x + 16.0, y, &crate::text::cut(&layer.name, 24), Anchor::Start, INK);
        y += 15.0;
        canvas.text(x + 16.0, y, &Units::Auto.text(layer.bytes.last().copied().unwrap_or(0)), Anchor::Start, INK);
        y += 20.0;
    }
    if let Some(limit) = series.limit {
        canvas.line(&[(x, y - 4.0), (x + 10.0, y - 4.0)], LIMIT, 1.5, true);
        canvas.text(x + 16.0, y, &format!("pool {}", Units::Auto.text(limit)), Anchor::Start, INK);
        y += 20.0;
    }
    if let Some(last) = series.evicted.last().filter(|_| series.evicted.iter().any(|&bytes| bytes > 0)) {
        canvas.line(&[(x, y - 4.0), (x + 10.0, y - 4.0)], INK, 1.5, false);
        canvas.text(x + 16.0, y, &format!("evicted {}", Units::Auto.text(*last)), Anchor::Start, INK);
    }
}

/// The legend has the same order as the layers: the topmost first.
trait RevList: Iterator + Sized {
    fn rev_list(self) -> std::iter::Rev<std::vec::IntoIter<Self::Item>> {
        self.collect::<Vec<_>>().into_iter().rev()
    }
}

impl<I: Iterator> RevList for I {}
