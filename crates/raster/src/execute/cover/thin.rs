//! Points and lines on the screen.

use crate::execute::cover::setup::{ScreenCorner, Values};
use crate::{LineStipple, Rectangle};

/// A square around a vertex.
#[derive(Clone, Copy, Debug)]
pub(in crate::execute) struct Point {
    pub(in crate::execute) centre: ScreenCorner,
    /// Width and height in pixels.
    pub(in crate::execute) size: [f64; 2],
    pub(in crate::execute) bits: u32,
    /// `true` for the corner of a triangle, whose attributes it has.
    pub(in crate::execute) is_corner: bool,
    /// The bias that is added to depths.
    pub(in crate::execute) bias: f64,
}

/// A line with pixels on end, or columns or rows of them.
#[derive(Clone, Copy, Debug)]
pub(in crate::execute) struct Line {
    pub(in crate::execute) ends: [ScreenCorner; 2],
    pub(in crate::execute) bits: u32,
    /// The number of pixels across.
    pub(in crate::execute) width: i32,
    /// The bias that is added to depths.
    pub(in crate::execute) bias: f64,
    pub(in crate::execute) stipple: Option<Stipple>,
}

/// The pattern of a line.
#[derive(Clone, Copy, Debug)]
pub(in crate::execute) struct Stipple {
    pattern: LineStipple,
    /// The number of pixels of the lines of the strip before this one.
    before: u32,
    /// The longer axis of the line, and the first pixel along it.
    axis: usize,
    first: i32,
}

/// Returns a place in pixels.
fn place(corner: &ScreenCorner, bits: u32) -> [f64; 2] {
    let unit = f64::from(1_u32 << bits);
    [corner.x as f64 / unit, corner.y as f64 / unit]
}

/// The largest coordinate that is drawn.
const MOST: f64 = 1_048_576.0;

impl Point {
    /// Returns the first and the last place of an axis.
    fn range(&self, axis: usize) -> [f64; 2] {
        let (at, half) = (place(&self.centre, self.bits)[axis], self.size[axis] / 2.0);
        [at - half, at + half].map(|value| value.clamp(-MOST, MOST))
    }

    pub(in crate::execute) fn bounds(&self) -> Rectangle {
        let ([left, right], [top, bottom]) = (self.range(0), self.range(1));
        let [left, top, right, bottom] =
            [left.floor(), top.floor(), right.ceil(), bottom.ceil()].map(|side| side as i32);
        Rectangle { first: [left, top], end: [right, bottom] }
    }

    /// Returns `true` if a place in a pixel is inside, or on the left or the upper side.
    pub(in crate::execute) fn covers(&self, pixel: [i32; 2], place: [i8; 2]) -> bool {
        pixel.into_iter().enumerate().all(|(axis, at)| {
            let [low, high] = self.range(axis);
            let at = f64::from(at) + 0.5 + f64::from(place[axis]) / 16.0;
            at >= low && at < high
        })
    }

    /// Returns the values at a place in a pixel. The shares of the other vertices are the place in the square, from the upper left corner: those
    /// attributes that have coordinates of points take them.
    pub(in crate::execute) fn values(&self, pixel: [i32; 2], place: [i8; 2]) -> Values {
        let part = |axis: usize| {
            let [low, high] = self.range(axis);
            let at = f64::from(pixel[axis]) + 0.5 + f64::from(place[axis]) / 16.0;
            ((at - low) / (high - low)) as f32
        };
        let parts = if self.is_corner {
            [self.centre.shares[1] as f32, self.centre.shares[2] as f32]
        } else {
            [part(0), part(1)]
        };
        let z = (self.centre.z + self.bias) as f32;
        Values { perspective: parts, linear: parts, z, w: (1.0 / self.centre.inverse_w) as f32 }
    }
}

impl Line {
    pub(in crate::execute) fn bounds(&self) -> Rectangle {
        let [a, b] = [0, 1].map(|end: usize| place(&self.ends[end], self.bits).map(|at| at.clamp(-MOST, MOST)));
        let first = [0, 1].map(|axis: usize| a[axis].min(b[axis]).floor() as i32 - 1 - self.width / 2);
        let end = [0, 1].map(|axis: usize| a[axis].max(b[axis]).floor() as i32 + 2 + self.width / 2);
        Rectangle { first, end }
    }

    /// Returns `true` if the line leaves the diamond around the centre of a pixel: it comes through, and does not end inside.
    ///
    /// A wide line is moved against its shorter axis, and each of its pixels is a column or a row.
    ///
    /// Source: the Vulkan specification, "Bresenham Line Segment Rasterization".
    pub(in crate::execute) fn covers(&self, x: i32, y: i32) -> bool {
        let is_left_out = |stipple: &Stipple| {
            let number = stipple.before.wrapping_add([x, y][stipple.axis].abs_diff(stipple.first));
            !stipple.pattern.draws(number)
        };
        if self.stipple.as_ref().is_some_and(is_left_out) {
            return false;
        }
        if self.width == 1 {
            return self.is_on(x, y, [0.0; 2]);
        }
        let [a, b] = [0, 1].map(|end: usize| place(&self.ends[end], self.bits));
        let length = [b[0] - a[0], b[1] - a[1]];
        let (major, minor) = if length[0].abs() >= length[1].abs() { (0, 1) } else { (1, 0) };
        if length[major] == 0.0 {
            return false;
        }
        let half = f64::from(self.width - 1) / 2.0;
        let moved = if major == 0 { [0.0, -half] } else { [-half, 0.0] };
        // The pixel of the moved line in this column or row, or one beside it.
        let at = [x, y];
        let part = (f64::from(at[major]) + 0.5 - a[major]) / length[major];
        let own = (a[minor] - half + part * length[minor]).floor() as i32;
        (own.saturating_sub(1)..=own.saturating_add(1)).any(|own| {
            let [x, y] = if major == 0 { [x, own] } else { [own, y] };
            (own..own.saturating_add(self.width)).contains(&at[minor]) && self.is_on(x, y, moved)
        })
    }

    /// Gives the line a pattern that goes on behind some pixels, and returns the number of pixels up to its end.
    ///
    /// Source: the Vulkan specification, "Line Stipple": pixels are counted along the longer axis, from the start of a line or strip.
    pub(in crate::execute) fn stipple(&mut self, pattern: LineStipple, before: u32) -> u32 {
        let [a, b] = [0, 1].map(|end: usize| place(&self.ends[end], self.bits));
        let length = [b[0] - a[0], b[1] - a[1]];
        let axis = usize::from(length[0].abs() < length[1].abs());
        let sign = if length[axis] < 0.0 { -1 } else { 1 };
        // An end has its own pixel, or the next one inward.
        let is_drawn = |at: i32| {
            let part = (f64::from(at) + 0.5 - a[axis]) / length[axis];
            let across = (a[1 - axis] + part * length[1 - axis]).floor() as i32;
            (across.saturating_sub(1)..=across.saturating_add(1)).any(|across| {
                let [x, y] = if axis == 0 { [at, across] } else { [across, at] };
                self.is_on(x, y, [0.0; 2])
            })
        };
        let from = |end: [f64; 2], sign: i32| {
            let at = end[axis].clamp(-MOST, MOST).floor() as i32;
            (0..3).map(|step| at + sign * step).find(|at| is_drawn(*at))
        };
        let Some((first, last)) = from(a, sign).zip(from(b, -sign)) else { return before };
        self.stipple = Some(Stipple { pattern, before, axis, first });
        before.wrapping_add(first.abs_diff(last) + 1)
    }

    /// Returns `true` if a line of one pixel's width that is moved covers a pixel.
    fn is_on(&self, x: i32, y: i32, moved: [f64; 2]) -> bool {
        let [a, b] = [0, 1].map(|end: usize| {
            let at = place(&self.ends[end], self.bits);
            [at[0] + moved[0], at[1] + moved[1]]
        });
        let centre = [f64::from(x) + 0.5, f64::from(y) + 0.5];
        let is_inside = |at: [f64; 2]| (at[0] - centre[0]).abs() + (at[1] - centre[1]).abs() < 0.5;
        if is_inside(b) {
            return false;
        }
        if is_inside(a) {
            return true;
        }
        // The place where the line passes the centre along its longer axis.
        let length = [b[0] - a[0], b[1] - a[1]];
        let (major, minor) = if length[0].abs() >= length[1].abs() { (0, 1) } else { (1, 0) };
        if length[major] == 0.0 {
            return false;
        }
        let part = (centre[major] - a[major]) / length[major];
        let at = a[minor] + part * length[minor] - centre[minor];
        (0.0..=1.0).contains(&part) && (-0.5..0.5).contains(&at)
    }

    /// Returns the values of a pixel: those of the nearest place on the line.
    pub(in crate::execute) fn values(&self, x: i32, y: i32) -> Values {
        let [a, b] = [0, 1].map(|end: usize| place(&self.ends[end], self.bits));
        let length = [b[0] - a[0], b[1] - a[1]];
        let square = length[0] * length[0] + length[1] * length[1];
        let along = (f64::from(x) + 0.5 - a[0]) * length[0] + (f64::from(y) + 0.5 - a[1]) * length[1];
        let part = if square > 0.0 { along / square } else { 0.0 };
        let mix = |of: &dyn Fn(&ScreenCorner) -> f64| of(&self.ends[0]) * (1.0 - part) + of(&self.ends[1]) * part;
        let inverse = mix(&|end| end.inverse_w);
        Values {
            perspective: [1, 2].map(|vertex: usize| (mix(&|end| end.inverse_w * end.shares[vertex]) / inverse) as f32),
            linear: [1, 2].map(|vertex: usize| mix(&|end| end.linear[vertex]) as f32),
            z: (mix(&|end| end.z) + self.bias) as f32,
            w: (1.0 / inverse) as f32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner(x: f64, y: f64, second: f64) -> ScreenCorner {
        let shares = [1.0 - second, second, 0.0];
        let [x, y] = [x, y].map(|at| (at * 256.0) as i64);
        ScreenCorner { x, y, z: second, inverse_w: 1.0, shares, linear: shares }
    }

    fn covered(bounds: Rectangle, covers: impl Fn(i32, i32) -> bool) -> Vec<(i32, i32)> {
        let pixels =
            (bounds.first[1]..bounds.end[1]).flat_map(|y| (bounds.first[0]..bounds.end[0]).map(move |x| (x, y)));
        pixels.filter(|(x, y)| covers(*x, *y)).collect()
    }

    fn line(a: [f64; 2], b: [f64; 2]) -> Vec<(i32, i32)> {
        let line = Line {
            ends: [corner(a[0], a[1], 0.0), corner(b[0], b[1], 1.0)],
            bits: 8,
            width: 1,
            bias: 0.0,
            stipple: None,
        };
        covered(line.bounds(), |x, y| line.covers(x, y))
    }

    #[test]
    fn a_line_has_its_first_pixel_and_not_its_last() {
        assert_eq!(line([1.5, 2.5], [4.5, 2.5]), [(1, 2), (2, 2), (3, 2)]);
        assert_eq!(line([4.5, 2.5], [1.5, 2.5]), [(2, 2), (3, 2), (4, 2)]);
        assert_eq!(line([0.5, 0.5], [0.5, 3.5]), [(0, 0), (0, 1), (0, 2)]);
        assert_eq!(line([0.5, 0.5], [3.5, 3.5]), [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(line([1.5, 1.5], [1.5, 1.5]), []);
    }

    #[test]
    fn a_wide_line_has_a_column_or_a_row_for_each_pixel() {
        let wide = |a: [f64; 2], b: [f64; 2]| {
            let ends = [corner(a[0], a[1], 0.0), corner(b[0], b[1], 1.0)];
            let line = Line { ends, bits: 8, width: 3, bias: 0.0, stipple: None };
            covered(line.bounds(), |x, y| line.covers(x, y))
        };
        assert_eq!(wide([1.5, 2.5], [3.5, 2.5]), [(1, 1), (2, 1), (1, 2), (2, 2), (1, 3), (2, 3)]);
        assert_eq!(wide([5.5, 3.5], [5.5, 1.5]), [(4, 2), (5, 2), (6, 2), (4, 3), (5, 3), (6, 3)]);
    }

    #[test]
    fn a_stippled_line_leaves_out_pixels_by_their_number_from_its_start() {
        let stippled = |a: [f64; 2], b: [f64; 2], before: u32| {
            let ends = [corner(a[0], a[1], 0.0), corner(b[0], b[1], 1.0)];
            let mut line = Line { ends, bits: 8, width: 1, bias: 0.0, stipple: None };
            let end = line.stipple(LineStipple { pattern: 0b1101, repeat: 2 }, before);
            (covered(line.bounds(), |x, y| line.covers(x, y)), end)
        };
        let row = |columns: [i32; 4]| columns.map(|x| (x, 2)).to_vec();
        assert_eq!(stippled([0.5, 2.5], [6.5, 2.5], 0), (row([0, 1, 4, 5]), 6));
        assert_eq!(stippled([6.5, 2.5], [0.5, 2.5], 0), (row([1, 2, 5, 6]), 6));
        // A line of a strip goes on where the one before has ended.
        assert_eq!(stippled([0.5, 2.5], [6.5, 2.5], 1), (row([0, 3, 4, 5]), 7));
        assert_eq!(stippled([2.5, 0.5], [2.5, 3.5], 2), (vec![(2, 2)], 5));
        assert_eq!(stippled([2.5, 2.5], [2.5, 2.5], 7), (vec![], 7));
    }

    #[test]
    fn a_point_covers_a_square_with_its_left_and_upper_sides() {
        let point = Point { centre: corner(2.5, 3.5, 0.0), size: [1.0, 2.0], bits: 8, is_corner: false, bias: 0.0 };
        assert_eq!(covered(point.bounds(), |x, y| point.covers([x, y], [0; 2])), [(2, 2), (2, 3)]);
        assert_eq!(point.values([2, 2], [0; 2]).perspective, [0.5, 0.0]);
    }
}
