//! A model of draws: the picture that one should leave, computed pixel by pixel from the corners of primitives.
//!
//! Written from the Vulkan specification, sections "Basic Polygon Rasterization" and "Depth Test": a pixel belongs to a triangle if its
//! centre is inside, or on a top or left edge. Places are whole numbers of 1/256 pixel, so that coverage is exact.

#![expect(clippy::cast_precision_loss, reason = "places in pictures of some pixels are far below 2^53")]

/// A corner of a primitive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corner {
    /// The place in 1/256 pixel from the upper left corner of the picture.
    pub(crate) place: [i64; 2],
    /// The depth, 0 to 1.
    pub(crate) z: f32,
    /// The homogeneous coordinate: a power of two, so that dividing by it is exact.
    pub(crate) w: f32,
    /// The parameter.
    pub(crate) parameter: [f32; 4],
}

/// The units of a pixel.
pub(crate) const UNIT: i64 = 256;

impl Corner {
    /// Returns the vertex of the corner in a picture of this size: a position in clip coordinates and the parameter.
    pub(crate) fn vertex(&self, size: [u32; 2]) -> [f32; 8] {
        let clip = |axis: usize| {
            // Sizes are powers of two and places small, so that nothing is rounded.
            let half = f64::from(size[axis]) * UNIT as f64 / 2.0;
            ((self.place[axis] as f64 / half - 1.0) * f64::from(self.w)) as f32
        };
        let [r, g, b, a] = self.parameter;
        [clip(0), clip(1), self.z * self.w, self.w, r, g, b, a]
    }
}

/// Returns twice the area of a triangle of a directed line and a point: positive if the point is on its right, as y grows downward.
fn side(from: [i64; 2], to: [i64; 2], at: [i64; 2]) -> i64 {
    (to[0] - from[0]) * (at[1] - from[1]) - (to[1] - from[1]) * (at[0] - from[0])
}

/// A triangle with its corners in clockwise order.
struct Triangle<'c>([&'c Corner; 3]);

impl<'c> Triangle<'c> {
    /// Returns `None` for a triangle without an area.
    fn new([a, b, c]: [&'c Corner; 3]) -> Option<Self> {
        match side(a.place, b.place, c.place) {
            0 => None,
            area if area > 0 => Some(Self([a, b, c])),
            _ => Some(Self([a, c, b])),
        }
    }

    /// Returns the distances of a point from the edges opposite to each corner, if it belongs to the triangle.
    fn inside(&self, at: [i64; 2]) -> Option<[i64; 3]> {
        let mut distances = [0; 3];
        for (corner, distance) in distances.iter_mut().enumerate() {
            let (from, to) = (self.0[(corner + 1) % 3].place, self.0[(corner + 2) % 3].place);
            *distance = side(from, to, at);
            // Clockwise, the top edge goes right, and left edges go up.
            let belongs = if from[1] == to[1] { to[0] > from[0] } else { to[1] < from[1] };
            if *distance < i64::from(!belongs) {
                return None;
            }
        }
        Some(distances)
    }

    /// Returns the depth and the parameter at distances from the edges.
    fn values(&self, distances: [i64; 3]) -> (f64, [f64; 4]) {
        let area = distances.iter().sum::<i64>() as f64;
        let shares = distances.map(|distance| distance as f64 / area);
        let mut of_w = [0.0; 3];
        let mut depth = 0.0;
        for ((share, corner), over_w) in shares.iter().zip(&self.0).zip(&mut of_w) {
            *over_w = share / f64::from(corner.w);
            depth += share * f64::from(corner.z);
        }
        let total: f64 = of_w.iter().sum();
        let mut parameter = [0.0; 4];
        for (over_w, corner) in of_w.iter().zip(&self.0) {
            for (sum, value) in parameter.iter_mut().zip(corner.parameter) {
                *sum += over_w / total * f64::from(value);
            }
        }
        (depth, parameter)
    }
}

/// The value of a pixel after the draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pixel {
    /// The parameter of the primitive that the pixel shows.
    pub(crate) parameter: [f64; 4],
    pub(crate) depth: f64,
}

/// Draws triangles in order; with `depth`, only where they are nearer than what was drawn before, and than this. Returns the pixels row
/// by row; `None` where nothing was drawn.
pub(crate) fn triangles(corners: &[Corner], [width, height]: [u32; 2], depth: Option<f32>) -> Vec<Option<Pixel>> {
    let mut picture = vec![None; (width * height) as usize];
    for three in corners.as_chunks::<3>().0 {
        let Some(triangle) = Triangle::new(three.each_ref()) else { continue };
        for (place, pixel) in (0..).zip(picture.iter_mut()) {
            let (x, y) = (place % i64::from(width), place / i64::from(width));
            let centre = [x * UNIT + UNIT / 2, y * UNIT + UNIT / 2];
            let Some(distances) = triangle.inside(centre) else { continue };
            let (z, parameter) = triangle.values(distances);
            let nearest = match (depth, *pixel) {
                (None, _) => f64::INFINITY,
                (Some(_), Some(Pixel { depth, .. })) => depth,
                (Some(first), None) => f64::from(first),
            };
            if z < nearest {
                *pixel = Some(Pixel { parameter, depth: z });
            }
        }
    }
    picture
}

/// Draws the rectangle between two opposite corners, from the first, which is inside, to the second, which is outside.
pub(crate) fn rectangle(
    from: [i64; 2],
    to: [i64; 2],
    [width, height]: [u32; 2],
    parameter: [f64; 4],
) -> Vec<Option<Pixel>> {
    let pixel = |place: u32| {
        let at = [place % width, place / width].map(|axis| i64::from(axis) * UNIT + UNIT / 2);
        let is_inside = (0..2).all(|axis| from[axis] <= at[axis] && at[axis] < to[axis]);
        is_inside.then_some(Pixel { parameter, depth: 0.0 })
    };
    (0..width * height).map(pixel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner(x: i64, y: i64, z: f32) -> Corner {
        Corner { place: [x, y], z, w: 1.0, parameter: [z; 4] }
    }

    #[test]
    fn two_triangles_of_a_square_share_no_pixel_and_leave_none_out() {
        let square = [corner(0, 0, 0.0), corner(1024, 0, 0.0), corner(0, 1024, 0.0), corner(1024, 1024, 0.0)];
        let count =
            |order: [usize; 3]| triangles(&order.map(|index| square[index]), [4, 4], None).iter().flatten().count();
        // The diagonal goes through the centres of four pixels, which belong to the triangle whose left edge it is.
        assert_eq!((count([0, 1, 2]), count([1, 3, 2])), (6, 10));
        assert_eq!(count([2, 1, 0]), 6, "winding does not matter");
    }

    #[test]
    fn the_nearest_triangle_is_seen() {
        let of = |z: f32| [corner(0, 0, z), corner(2048, 0, z), corner(0, 2048, z)];
        let all = [of(0.5), of(0.75), of(0.25)];
        let depths = |corners: &[Corner]| triangles(corners, [2, 2], Some(1.0))[0].map(|pixel| pixel.depth);
        assert_eq!(depths(all.as_flattened()), Some(0.25));
        assert_eq!(depths(all[..2].as_flattened()), Some(0.5));
    }
}
