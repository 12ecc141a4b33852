//! Triangles and rectangles on the screen: coverage and interpolation.

use crate::Rectangle;

/// A corner on the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::execute) struct ScreenCorner {
    /// The place in units of the snapping.
    pub(in crate::execute) x: i64,
    pub(in crate::execute) y: i64,
    pub(in crate::execute) z: f64,
    /// The reciprocal of w.
    pub(in crate::execute) inverse_w: f64,
    /// The shares of the primitive's vertices, for perspective and for linear interpolation.
    pub(in crate::execute) shares: [f64; 3],
    pub(in crate::execute) linear: [f64; 3],
}

/// The values of a pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::execute) struct Values {
    pub(in crate::execute) perspective: [f32; 2],
    pub(in crate::execute) linear: [f32; 2],
    pub(in crate::execute) z: f32,
    pub(in crate::execute) w: f32,
}

/// A triangle, or a rectangle of which a triangle is half.
#[derive(Clone, Copy, Debug)]
pub(in crate::execute) struct Area {
    pub(super) corners: [ScreenCorner; 3],
    /// Twice the area, negative if the corners go round counter-clockwise.
    pub(super) twice: i64,
    pub(super) bits: u32,
    pub(super) is_rectangle: bool,
    /// The bias that is added to depths.
    pub(in crate::execute) bias: f64,
    /// `true` if right and bottom edges belong to the area: see [`DrawMutation::WrongEdge`](crate::DrawMutation::WrongEdge).
    pub(in crate::execute) has_wrong_edges: bool,
}

/// The largest coordinate in units of the snapping; larger ones would overflow the edge functions.
pub(in crate::execute) const MOST: u64 = 1 << 29;

impl Area {
    /// Creates an area of three corners; `None` if it covers nothing.
    pub(in crate::execute) fn new(corners: [ScreenCorner; 3], bits: u32, is_rectangle: bool) -> Option<Self> {
        if corners.iter().any(|corner| corner.x.unsigned_abs() > MOST || corner.y.unsigned_abs() > MOST) {
            return None;
        }
        let [a, b, c] = corners;
        let twice = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
        (twice != 0).then_some(Self { corners, twice, bits, is_rectangle, bias: 0.0, has_wrong_edges: false })
    }

    /// Returns `true` if the corners go round clockwise as seen: y grows downward.
    pub(in crate::execute) const fn is_clockwise(&self) -> bool {
        self.twice > 0
    }

    /// Returns the pixels that may be covered.
    pub(in crate::execute) fn bounds(&self) -> Rectangle {
        let range = |of: fn(&ScreenCorner) -> i64| {
            let values = self.corners.map(|corner| of(&corner));
            let (low, high) = (values.into_iter().min().unwrap_or(0), values.into_iter().max().unwrap_or(0));
            [(low >> self.bits) as i32, ((high >> self.bits) + 1) as i32]
        };
        let ([left, right], [top, bottom]) = (range(|corner| corner.x), range(|corner| corner.y));
        Rectangle { first: [left, top], end: [right, bottom] }
    }

    /// Returns `true` if the centre of a pixel is between the corners along both axes, without which nothing is covered.
    pub(in crate::execute) fn has_centres(&self) -> bool {
        let half = 1_i64 << self.bits >> 1;
        [self.corners.map(|corner| corner.x), self.corners.map(|corner| corner.y)].iter().all(|places| {
            let [a, b, c] = *places;
            let (low, high) = (a.min(b).min(c), a.max(b).max(c));
            // The first pixel whose centre is not before, and the last whose is not behind.
            (low + half - 1) >> self.bits <= (high - half) >> self.bits
        })
    }

    /// Returns the larger of the changes of depth from pixel to pixel along both axes.
    pub(in crate::execute) fn slope(&self) -> f64 {
        let [a, b, c] = &self.corners;
        let [bx, by, cx, cy] = [b.x - a.x, b.y - a.y, c.x - a.x, c.y - a.y].map(|length| length as f64);
        let (bz, cz) = (b.z - a.z, c.z - a.z);
        let unit = f64::from(1_u32 << self.bits) / self.twice as f64;
        let (along_x, along_y) = ((bz * cy - cz * by) * unit, (cz * bx - bz * cx) * unit);
        along_x.abs().max(along_y.abs())
    }

    /// Returns the largest depth of a corner.
    pub(in crate::execute) fn largest_depth(&self) -> f64 {
        self.corners.iter().map(|corner| corner.z.abs()).fold(0.0, f64::max)
    }

    /// Returns the edge functions at a place, which are positive inside, and whether each edge is a top or a left one.
    fn edges(&self, [px, py]: [i64; 2]) -> [(i64, bool); 3] {
        let sign = self.twice.signum();
        [(1, 2), (2, 0), (0, 1)].map(|(from, to)| {
            let (a, b) = (&self.corners[from], &self.corners[to]);
            let (dx, dy) = (sign * (b.x - a.x), sign * (b.y - a.y));
            (dx * (py - a.y) - dy * (px - a.x), dy < 0 || dy == 0 && dx > 0)
        })
    }

    /// Returns `true` if a place in a pixel is inside, or on a top or left edge.
    pub(in crate::execute) fn covers(&self, pixel: [i32; 2], place: [i8; 2]) -> bool {
        let place = place_in_pixel(pixel, place, self.bits);
        if self.is_rectangle {
            let [px, py] = place;
            let inside = |at: i64, of: fn(&ScreenCorner) -> i64| {
                let values = self.corners.map(|corner| of(&corner));
                let (low, high) = (values.into_iter().min(), values.into_iter().max());
                low.is_some_and(|low| at >= low) && high.is_some_and(|high| at < high)
            };
            return inside(px, |corner| corner.x) && inside(py, |corner| corner.y);
        }
        self.edges(place)
            .iter()
            .all(|(value, is_top_or_left)| *value > 0 || *value == 0 && *is_top_or_left != self.has_wrong_edges)
    }

    /// Returns the values at a place in a pixel, which may be outside.
    pub(in crate::execute) fn values(&self, pixel: [i32; 2], place: [i8; 2]) -> Values {
        let area = self.twice.abs() as f64;
        let weights = self.edges(place_in_pixel(pixel, place, self.bits)).map(|(value, _)| value as f64 / area);
        let sum = |of: &dyn Fn(&ScreenCorner) -> f64| -> f64 {
            weights.iter().zip(&self.corners).map(|(weight, corner)| weight * of(corner)).sum()
        };
        let inverse = sum(&|corner| corner.inverse_w);
        let perspective =
            [1, 2].map(|vertex: usize| (sum(&|corner| corner.inverse_w * corner.shares[vertex]) / inverse) as f32);
        let linear = [1, 2].map(|vertex: usize| sum(&|corner| corner.linear[vertex]) as f32);
        Values { perspective, linear, z: (sum(&|corner| corner.z) + self.bias) as f32, w: (1.0 / inverse) as f32 }
    }
}

/// Returns a place in a pixel in units of the snapping, given in sixteenths of a pixel from its centre.
pub(super) fn place_in_pixel([x, y]: [i32; 2], place: [i8; 2], bits: u32) -> [i64; 2] {
    let half = 1_i64 << bits >> 1;
    let part = |sixteenths: i8| (i64::from(sixteenths) << bits) >> 4;
    [(i64::from(x) << bits) + half + part(place[0]), (i64::from(y) << bits) + half + part(place[1])]
}

/// Returns a coordinate in units of the snapping.
pub(in crate::execute) fn snapped(value: f32, bits: u32, rounding: u32, centre_is_half: bool) -> i64 {
    let scaled = f64::from(value) * f64::from(1_u32 << bits);
    let rounded = match rounding {
        0 => scaled.trunc(),
        1 => (scaled + 0.5).floor(),
        _ => scaled.round_ties_even(),
    };
    // With whole numbers at the centres of pixels, everything is half a pixel to the left.
    (rounded as i64).saturating_add(if centre_is_half { 0 } else { 1 << bits >> 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(points: [[i64; 2]; 3], is_rectangle: bool) -> Option<Area> {
        let unit = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let corner = |index: usize| ScreenCorner {
            x: points[index][0],
            y: points[index][1],
            z: index as f64 / 4.0,
            inverse_w: 1.0,
            shares: unit[index],
            linear: unit[index],
        };
        Area::new([corner(0), corner(1), corner(2)], 8, is_rectangle)
    }

    fn covers(area: &Area, x: i32, y: i32) -> bool {
        area.covers([x, y], [0; 2])
    }

    #[test]
    fn samples_are_covered_at_their_own_places() {
        // A left edge through the centre of pixels.
        let area = area([[128, 0], [2048, 0], [128, 2048]], false).unwrap();
        assert_eq!([-1, 0, 1].map(|at| area.covers([0, 1], [at, 0])), [false, true, true]);
        let [centre, right] = [[0, 0], [8, 0]].map(|place| area.values([1, 1], place).linear[0]);
        // Half a pixel of a side of seven and a half.
        assert!((right - centre - 0.5 / 7.5).abs() < 1e-6);
    }

    #[test]
    fn the_slope_of_a_triangle_is_the_change_of_its_depth_in_a_pixel() {
        // Depths are 0, 1/4 and 1/2; corners are eight pixels apart.
        assert_eq!(area([[0, 0], [2048, 0], [0, 2048]], false).unwrap().slope(), 0.0625);
    }

    #[test]
    fn pixels_of_a_mesh_are_covered_once() {
        // Vertices lie on centres of pixels too, where the rule decides.
        let mut seed = 7_u32;
        let mut next = |most: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % most
        };
        for _ in 0..200 {
            let centre = [next(16) * 256 + 128, next(16) * 256 + 128].map(i64::from);
            let corners = [[0, 0], [4096, 0], [4096, 4096], [0, 4096]];
            for y in 0..16 {
                for x in 0..16 {
                    let covered = (0..4)
                        .filter_map(|side: usize| area([corners[side], corners[(side + 1) % 4], centre], false))
                        .filter(|area| area.covers([x, y], [0; 2]))
                        .count();
                    assert_eq!(covered, 1, "{x} {y} of {centre:?}");
                }
            }
        }
    }

    #[test]
    fn an_edge_that_leaves_the_screen_is_the_one_between_its_corners() {
        // Corners in sixteenths of a pixel, of which one is beyond the right side of 32 pixels. An edge that is cut off there, and whose
        // new corner is snapped, has the pixel in the first and lacks it in the second.
        let sixteenths = |points: [[i64; 2]; 3]| area(points.map(|point| point.map(|at| at * 16)), false).unwrap();
        assert!(!covers(&sixteenths([[431, 181], [522, 85], [354, 98]]), 31, 6));
        assert!(covers(&sixteenths([[574, 480], [209, -64], [134, 371]]), 29, 20));
    }

    #[test]
    fn top_and_left_edges_belong_to_a_triangle_and_others_do_not() {
        let square = area([[128, 128], [1152, 128], [128, 1152]], false).unwrap();
        assert!(square.is_clockwise());
        assert!(covers(&square, 0, 0) && covers(&square, 3, 0) && covers(&square, 0, 3));
        assert!(!covers(&square, 4, 0) && !covers(&square, 0, 4) && !covers(&square, 2, 2));
        let turned = area([[128, 128], [128, 1152], [1152, 128]], false).unwrap();
        assert!(!turned.is_clockwise() && covers(&turned, 0, 0) && !covers(&turned, 2, 2));
    }

    #[test]
    fn a_rectangle_covers_its_bounds_and_extends_its_planes() {
        let rectangle = area([[0, 0], [0, 1024], [1024, 0]], true).unwrap();
        let covered =
            (-1..5).flat_map(|y| (-1..5).map(move |x| (x, y))).filter(|(x, y)| covers(&rectangle, *x, *y)).count();
        assert_eq!(covered, 16);
        let values = rectangle.values([3, 3], [0; 2]);
        assert_eq!(values.perspective, [0.875, 0.875]);
        assert_eq!(values.z, 0.875 * 0.25 + 0.875 * 0.5);
    }

    #[test]
    fn areas_between_the_centres_of_pixels_have_none() {
        let at = |x: i64, y: i64| area([[x, y], [x + 60, y], [x, y + 60]], false).unwrap().has_centres();
        assert_eq!(
            [at(0, 0), at(67, 67), at(68, 68), at(128, 128), at(129, 128), at(128, 129)],
            [false, false, true, true, false, false]
        );
        // A long one between two columns.
        assert!(!area([[130, 0], [380, 0], [130, 4096]], false).unwrap().has_centres());
        let mut seed = 11_u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            i64::from(seed >> 8) % 900
        };
        for _ in 0..500 {
            let Some(small) = area([[next(), next()], [next(), next()], [next(), next()]], false) else { continue };
            let covers_any = (-1..5).any(|y| (-1..5).any(|x| covers(&small, x, y)));
            assert!(small.has_centres() || !covers_any);
        }
    }

    #[test]
    fn degenerate_and_huge_triangles_cover_nothing() {
        assert!(area([[0, 0], [256, 256], [512, 512]], false).is_none());
        assert!(area([[0, 0], [i64::MAX, 0], [0, 256]], false).is_none());
    }

    #[test]
    fn coordinates_snap_to_the_nearest_and_ties_to_even() {
        let snap = |value| snapped(value, 8, 2, true);
        assert_eq!([snap(0.5), snap(1.5 / 256.0), snap(2.5 / 256.0), snap(-0.25)], [128, 2, 2, -64]);
        assert_eq!(snapped(1.0, 8, 2, false), 384);
    }
}
