//! Areas row by row: the pixels of a row that are covered, and the values of the pixels of a quad.
//!
//! Edge functions are whole numbers, so that the first and the last pixel of a row are divisions, and stepping them from pixel to pixel
//! is exact.

use crate::Rectangle;
use crate::execute::cover::{
    quad::QuadValues,
    setup::{Area, place_in_pixel},
};

/// The values that a draw needs of its pixels. Others are zero.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::execute) struct Needs {
    pub(in crate::execute) perspective: bool,
    pub(in crate::execute) linear: bool,
    pub(in crate::execute) depth: bool,
    pub(in crate::execute) w: bool,
}

/// An edge, whose function is positive inside.
#[derive(Clone, Copy, Debug)]
struct Edge {
    /// The difference between its ends.
    along: [i64; 2],
    origin: [i64; 2],
    /// The least value inside: 0 if the edge itself belongs to the area, otherwise 1.
    least: i64,
}

impl Edge {
    const fn at(&self, [x, y]: [i64; 2]) -> i64 {
        self.along[0] * (y - self.origin[1]) - self.along[1] * (x - self.origin[0])
    }
}

/// An area, prepared for rows of pixels.
#[derive(Clone, Debug)]
pub(in crate::execute) struct Rows {
    edges: [Edge; 3],
    /// The first and the last place of both axes, if the area is a rectangle.
    rectangle: Option<[[i64; 2]; 2]>,
    bits: u32,
    area: f64,
    bias: f64,
    /// The values at the corners: each is interpolated as it is, or divided by the first.
    inverse_w: [f64; 3],
    perspective: [[f64; 3]; 2],
    linear: [[f64; 3]; 2],
    z: [f64; 3],
}

impl Rows {
    pub(in crate::execute) fn new(area: &Area) -> Self {
        let corners = &area.corners;
        let sign = area.twice.signum();
        let edges = [(1, 2), (2, 0), (0, 1)].map(|(from, to): (usize, usize)| {
            let (a, b) = (&corners[from], &corners[to]);
            let along = [sign * (b.x - a.x), sign * (b.y - a.y)];
            let is_top_or_left = along[1] < 0 || along[1] == 0 && along[0] > 0;
            Edge { along, origin: [a.x, a.y], least: i64::from(is_top_or_left == area.has_wrong_edges) }
        });
        let range = |places: [i64; 3]| {
            [places.into_iter().min().unwrap_or_default(), places.into_iter().max().unwrap_or_default()]
        };
        let sides = [range(corners.map(|corner| corner.x)), range(corners.map(|corner| corner.y))];
        Self {
            edges,
            rectangle: area.is_rectangle.then_some(sides),
            bits: area.bits,
            area: area.twice.abs() as f64,
            bias: area.bias,
            inverse_w: corners.map(|corner| corner.inverse_w),
            perspective: [1, 2].map(|vertex: usize| corners.map(|corner| corner.inverse_w * corner.shares[vertex])),
            linear: [1, 2].map(|vertex: usize| corners.map(|corner| corner.linear[vertex])),
            z: corners.map(|corner| corner.z),
        }
    }

    /// Returns the first and the end of the pixels of a row that are covered at a place, between two others.
    pub(in crate::execute) fn span(&self, y: i32, place: [i8; 2], [first, end]: [i32; 2]) -> [i32; 2] {
        let [px, py] = place_in_pixel([0, y], place, self.bits);
        let (mut low, mut high) = (i64::from(first), i64::from(end));
        if let Some([[left, right], [top, bottom]]) = self.rectangle {
            if py < top || py >= bottom {
                return [first; 2];
            }
            let last = (1 << self.bits) - 1;
            low = low.max((left - px + last) >> self.bits);
            high = high.min((right - px + last) >> self.bits);
        } else {
            for edge in &self.edges {
                let rest = edge.at([px, py]) - edge.least;
                let step = edge.along[1] << self.bits;
                if step > 0 {
                    high = high.min(rest.div_euclid(step) + 1);
                } else if step < 0 {
                    low = low.max(-rest.div_euclid(-step));
                } else if rest < 0 {
                    return [first; 2];
                }
            }
        }
        let low = low.min(i64::from(end));
        [low as i32, high.max(low) as i32]
    }

    /// Returns the values at the centres of the pixels of a quad, which may be outside.
    pub(in crate::execute) fn quad(&self, quad: [i32; 2], needs: Needs) -> QuadValues {
        let weights = self.weights(place_in_pixel(quad, [0; 2], self.bits));
        let mut all = QuadValues::default();
        if needs.perspective || needs.w {
            let inverse = sum(&weights, &self.inverse_w);
            if needs.perspective {
                for (values, corners) in all.perspective.iter_mut().zip(&self.perspective) {
                    *values = quotients(sum(&weights, corners), inverse);
                }
            }
            if needs.w {
                all.w = quotients([1.0; 4], inverse);
            }
        }
        if needs.linear {
            for (values, corners) in all.linear.iter_mut().zip(&self.linear) {
                *values = sum(&weights, corners).map(|value| value as f32);
            }
        }
        if needs.depth {
            for (value, z) in all.z.iter_mut().zip(sum(&weights, &self.z)) {
                *value = (z + self.bias) as f32;
            }
        }
        all
    }

    /// Returns the weights of the corners at the pixels of a quad, of which the first has its centre at a place.
    fn weights(&self, centre: [i64; 2]) -> [[f64; 4]; 3] {
        let mut weights = [[0.0; 4]; 3];
        for (weights, edge) in weights.iter_mut().zip(&self.edges) {
            let first = edge.at(centre);
            let (down, right) = (edge.along[0] << self.bits, edge.along[1] << self.bits);
            let values = [first, first - right, first + down, first - right + down];
            for (weight, value) in weights.iter_mut().zip(values) {
                *weight = value as f64 / self.area;
            }
        }
        weights
    }
}

/// Returns a value of corners at the pixels of a quad by their weights.
fn sum(weights: &[[f64; 4]; 3], corners: &[f64; 3]) -> [f64; 4] {
    let mut all = [0.0; 4];
    for (lane, value) in all.iter_mut().enumerate() {
        *value = weights[0][lane] * corners[0] + weights[1][lane] * corners[1] + weights[2][lane] * corners[2];
    }
    all
}

/// Divides the values of the pixels of a quad.
fn quotients(dividends: [f64; 4], divisors: [f64; 4]) -> [f32; 4] {
    let mut all = [0.0; 4];
    for (lane, value) in all.iter_mut().enumerate() {
        *value = (dividends[lane] / divisors[lane]) as f32;
    }
    all
}

/// Two rows of quads: the pixels of each that a sample covers.
pub(in crate::execute) struct Spans {
    /// The first and the end of the pixels, by lane and sample.
    of: [[[i32; 2]; 16]; 4],
    samples: usize,
    /// The first and the end of the quads of which a pixel has a sample.
    pub(in crate::execute) any: [i32; 2],
    /// The first and the end of the quads whose pixels have all samples.
    all: [i32; 2],
}

impl Spans {
    /// Finds the samples of two rows at places by lane, inside of bounds.
    pub(in crate::execute) fn new(
        rows: &Rows,
        (y, bounds): (i32, &Rectangle),
        (places, samples): (&[[[i8; 2]; 16]; 4], usize),
    ) -> Self {
        let sides = [bounds.first[0], bounds.end[0]];
        let mut spans = Self { of: [[[0; 2]; 16]; 4], samples, any: [sides[1], sides[0]], all: sides };
        for (lane, of) in spans.of.iter_mut().enumerate() {
            let row = y + (lane as i32 >> 1);
            let is_inside = row >= bounds.first[1] && row < bounds.end[1];
            for (span, place) in of.iter_mut().zip(&places[lane]).take(samples) {
                if is_inside {
                    *span = rows.span(row, *place, sides);
                }
                if span[0] < span[1] {
                    spans.any = [spans.any[0].min(span[0]), spans.any[1].max(span[1])];
                }
                // Quads are at the column of their left pixels.
                let column = lane as i32 & 1;
                spans.all = [spans.all[0].max(span[0] - column), spans.all[1].min(span[1] - column)];
            }
        }
        spans.any[0] &= !1;
        spans
    }

    /// Returns the samples that are covered of the pixels of the quad at a column.
    pub(in crate::execute) fn coverage(&self, x: i32) -> [u16; 4] {
        if self.all[0] <= x && x < self.all[1] {
            return [((1_u32 << self.samples) - 1) as u16; 4];
        }
        let mut coverage = [0; 4];
        for (lane, covered) in coverage.iter_mut().enumerate() {
            let at = x + (lane as i32 & 1);
            for (sample, span) in self.of[lane].iter().take(self.samples).enumerate() {
                *covered |= u16::from(span[0] <= at && at < span[1]) << sample;
            }
        }
        coverage
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::cover::setup::ScreenCorner;

    struct Random(u64);

    impl Random {
        fn next(&mut self, most: i64) -> i64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as i64 % most
        }

        fn float(&mut self) -> f64 {
            self.next(2001) as f64 / 1000.0 - 1.0
        }

        /// Returns an area whose corners lie around 48 pixels, now and then on centres of pixels.
        fn area(&mut self) -> Option<Area> {
            let unit = if self.next(2) == 0 { 1 } else { 128 };
            let is_rectangle = self.next(4) == 0;
            let corners = [0; 3].map(|_| ScreenCorner {
                x: (self.next(48 * 256) - 512) / unit * unit,
                y: (self.next(48 * 256) - 512) / unit * unit,
                z: self.float(),
                inverse_w: self.float(),
                shares: [0; 3].map(|_| self.float()),
                linear: [0; 3].map(|_| self.float()),
            });
            let mut area = Area::new(corners, 8, is_rectangle)?;
            area.has_wrong_edges = self.next(8) == 0;
            area.bias = self.float();
            Some(area)
        }
    }

    #[test]
    fn the_span_of_a_row_has_the_pixels_that_are_covered_one_by_one() {
        let mut random = Random(40);
        let mut covered = 0;
        for area in (0..400).filter_map(|_| random.area()).collect::<Vec<_>>() {
            let place = [random.next(16) - 8, random.next(16) - 8].map(|at| at as i8);
            let rows = Rows::new(&area);
            for y in -3..50 {
                let [first, end] = rows.span(y, place, [1, 47]);
                for x in 1..47 {
                    let is_inside = area.covers([x, y], place);
                    assert_eq!((first..end).contains(&x), is_inside, "{x} {y} {place:?} of {area:?}");
                    covered += u32::from(is_inside);
                }
            }
        }
        assert!(covered > 10_000);
    }

    #[test]
    fn quads_have_the_samples_that_their_pixels_cover_one_by_one() {
        let mut random = Random(11);
        let (mut whole, mut partial) = (0, 0);
        for area in (0..200).filter_map(|_| random.area()).collect::<Vec<_>>() {
            let places = [0; 4].map(|_| [0; 16].map(|_| [random.next(16) - 8, random.next(16) - 8].map(|at| at as i8)));
            let samples = 1 << random.next(4);
            let bounds = Rectangle { first: [3, 1], end: [46, 47] };
            let rows = Rows::new(&area);
            for y in (0..50).step_by(2) {
                let spans = Spans::new(&rows, (y, &bounds), (&places, samples));
                for x in (-2..50).step_by(2) {
                    let mut alone = [0; 4];
                    for (lane, covered) in alone.iter_mut().enumerate() {
                        let pixel = [x + (lane as i32 & 1), y + (lane as i32 >> 1)];
                        for sample in (0..samples).filter(|_| bounds.contains(pixel[0], pixel[1])) {
                            *covered |= u16::from(area.covers(pixel, places[lane][sample])) << sample;
                        }
                    }
                    let coverage = spans.coverage(x);
                    assert_eq!(coverage, alone, "{x} {y} {bounds:?} of {area:?}");
                    assert!(coverage == [0; 4] || spans.any[0] <= x && x < spans.any[1], "{x} {y} of {area:?}");
                    let all = ((1_u32 << samples) - 1) as u16;
                    whole += u32::from(coverage == [all; 4]);
                    partial += u32::from(coverage != [all; 4] && coverage != [0; 4]);
                }
            }
        }
        assert!(whole > 1000 && partial > 1000, "{whole} {partial}");
    }

    #[test]
    fn values_of_a_quad_have_the_bits_of_those_of_its_pixels() {
        let mut random = Random(7);
        let bits = |values: &QuadValues| {
            let QuadValues { perspective, linear, z, w } = values;
            [perspective[0], perspective[1], linear[0], linear[1], *z, *w].map(|all| all.map(f32::to_bits))
        };
        let needs = Needs { perspective: true, linear: true, depth: true, w: true };
        for area in (0..400).filter_map(|_| random.area()).collect::<Vec<_>>() {
            let quad = [random.next(48), random.next(48)].map(|at| at as i32 & !1);
            let all = Rows::new(&area).quad(quad, needs);
            let alone =
                QuadValues::of(|lane| area.values([quad[0] + (lane as i32 & 1), quad[1] + (lane as i32 >> 1)], [0; 2]));
            assert_eq!(bits(&all), bits(&alone), "{quad:?} of {area:?}");
            let none = Rows::new(&area).quad(quad, Needs::default());
            assert_eq!(none, QuadValues::default());
        }
    }
}
