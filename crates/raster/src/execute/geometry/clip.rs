//! Clipping in homogeneous coordinates.

use smallvec::SmallVec;

use crate::{Clip, VertexOutputs};

/// A corner of a primitive before the division.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::execute) struct Corner {
    pub(in crate::execute) position: [f64; 4],
    /// The shares of the primitive's three vertices.
    pub(in crate::execute) shares: [f64; 3],
}

/// The corners of a convex polygon. Few triangles are cut more than once.
pub(in crate::execute) type Polygon = SmallVec<[Corner; 4]>;

/// Eight distances of each of three vertices.
pub(in crate::execute) type Distances = [[f32; 8]; 3];

/// Returns `true` if all vertices have a negative distance of one kind, with which nothing is left.
pub(in crate::execute) fn is_culled(outputs: &VertexOutputs, distances: &Distances) -> bool {
    (0..8).any(|index| {
        let is_outside = |vertex: &[f32; 8]| vertex[index].is_nan() || vertex[index] < 0.0;
        outputs.culls >> index & 1 != 0 && distances.iter().all(is_outside)
    })
}

/// Returns the corners of what is left of a triangle: none, or a convex polygon.
///
/// x and y are cut at the guard band, and w at a number above zero, as what lies behind the viewer has no place on the screen.
pub(in crate::execute) fn clip(
    clip: &Clip,
    outputs: &VertexOutputs,
    positions: [[f32; 4]; 3],
    distances: &Distances,
) -> Polygon {
    let mut polygon = whole(positions);
    let user = (0..8).filter(|index| outputs.clips >> index & 1 != 0);
    for index in user {
        let of = [0, 1, 2].map(|vertex: usize| f64::from(distances[vertex][index]));
        cut(&mut polygon, |corner| corner.shares.iter().zip(of).map(|(share, of)| share * of).sum());
    }
    if clip.is_off {
        return polygon;
    }
    for (is_on, distance) in planes(clip) {
        if is_on && !polygon.is_empty() {
            cut(&mut polygon, |corner| distance(corner, guard(clip), clip.is_half_depth));
        }
    }
    polygon
}

/// Returns the corners of a triangle that is not cut.
pub(in crate::execute) fn whole(positions: [[f32; 4]; 3]) -> Polygon {
    let unit = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    (0..3).map(|index| Corner { position: positions[index].map(f64::from), shares: unit[index] }).collect()
}

/// Returns the multiples of w beyond which x and y are cut.
fn guard(clip: &Clip) -> [f64; 2] {
    clip.guard.map(|guard| if guard.is_finite() && guard >= 1.0 { f64::from(guard) } else { 1.0 })
}

/// A distance from a plane, for the guard band and the range of depth.
type Distance = fn(&Corner, [f64; 2], bool) -> f64;

/// Returns the planes and whether each is there.
fn planes(clip: &Clip) -> [(bool, Distance); 7] {
    [
        (true, |corner, _, _| corner.position[3] - f64::from(f32::MIN_POSITIVE)),
        (clip.near, |corner, _, half| corner.position[2] + if half { 0.0 } else { corner.position[3] }),
        (clip.far, |corner, _, _| corner.position[3] - corner.position[2]),
        (true, |corner, guard, _| guard[0] * corner.position[3] + corner.position[0]),
        (true, |corner, guard, _| guard[0] * corner.position[3] - corner.position[0]),
        (true, |corner, guard, _| guard[1] * corner.position[3] + corner.position[1]),
        (true, |corner, guard, _| guard[1] * corner.position[3] - corner.position[1]),
    ]
}

/// Returns the part of a line that is left, or a point; `None` if nothing is. Points are not cut at the guard band, as they have a
/// size.
pub(in crate::execute) fn clip_thin(
    clip: &Clip,
    outputs: &VertexOutputs,
    positions: [[f32; 4]; 2],
    distances: &Distances,
    is_point: bool,
) -> Option<[Corner; 2]> {
    let corner = |index: usize| Corner {
        position: positions[index].map(f64::from),
        shares: [1.0 - index as f64, index as f64, 0.0],
    };
    let whole = [corner(0), corner(1)];
    let mut range = [0.0_f64, 1.0];
    let mut limit = |[from, to]: [f64; 2]| {
        if from < 0.0 && to < 0.0 {
            range = [1.0, 0.0];
        } else if from < 0.0 {
            range[0] = range[0].max(from / (from - to));
        } else if to < 0.0 {
            range[1] = range[1].min(from / (from - to));
        }
    };
    for index in (0..8).filter(|index| outputs.clips >> index & 1 != 0) {
        limit([0, 1].map(|vertex: usize| f64::from(distances[vertex][index])));
    }
    if !clip.is_off {
        let kept = if is_point { 3 } else { 7 };
        for (_, distance) in planes(clip).into_iter().take(kept).filter(|(is_on, _)| *is_on) {
            limit([0, 1].map(|vertex: usize| distance(&whole[vertex], guard(clip), clip.is_half_depth)));
        }
    }
    let [from, to] = range;
    if from > to {
        return None;
    }
    let at = |part: f64| {
        let mix = |a: f64, b: f64| a + (b - a) * part;
        Corner {
            position: [0, 1, 2, 3].map(|axis: usize| mix(whole[0].position[axis], whole[1].position[axis])),
            shares: [1.0 - part, part, 0.0],
        }
    };
    Some([at(from), at(to)])
}

/// Leaves the part of a polygon where a distance is not negative.
fn cut(polygon: &mut Polygon, distance: impl Fn(&Corner) -> f64) {
    if polygon.iter().all(|corner| distance(corner) >= 0.0) {
        return;
    }
    let mut out = Polygon::new();
    for (index, corner) in polygon.iter().enumerate() {
        let next = &polygon[(index + 1) % polygon.len()];
        let (here, there) = (distance(corner), distance(next));
        if here >= 0.0 {
            out.push(*corner);
        }
        if (here >= 0.0) != (there >= 0.0) && (here - there) != 0.0 {
            // From the outer to the inner corner, so that an edge of two triangles is cut in the same place.
            let (outer, inner, from, to) =
                if here >= 0.0 { (next, corner, there, here) } else { (corner, next, here, there) };
            let part = from / (from - to);
            let mix = |a: f64, b: f64| a + (b - a) * part;
            out.push(Corner {
                position: [0, 1, 2, 3].map(|axis: usize| mix(outer.position[axis], inner.position[axis])),
                shares: [0, 1, 2].map(|axis: usize| mix(outer.shares[axis], inner.shares[axis])),
            });
        }
    }
    *polygon = out;
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIP: Clip =
        Clip { is_off: false, is_half_depth: true, near: true, far: true, guard: [32.0; 2], discards_all: false };

    fn outputs(clips: u32, culls: u32) -> VertexOutputs {
        VertexOutputs { clips, culls, ..VertexOutputs::default() }
    }

    #[test]
    fn a_triangle_inside_the_guard_band_is_not_cut_at_the_view_volume() {
        let positions = [[-3.0, 0.0, 0.5, 1.0], [3.0, 0.0, 0.5, 1.0], [0.0, 9.0, 0.5, 1.0]];
        assert_eq!(clip(&CLIP, &outputs(0, 0), positions, &[[0.0; 8]; 3]).len(), 3);
    }

    #[test]
    fn the_near_plane_cuts_and_shares_tell_where() {
        let positions = [[0.0, 0.0, -0.5, 1.0], [1.0, 0.0, 0.5, 1.0], [0.0, 1.0, 0.5, 1.0]];
        let left = clip(&CLIP, &outputs(0, 0), positions, &[[0.0; 8]; 3]);
        assert_eq!(left.len(), 4);
        assert!(left.iter().all(|corner| corner.position[2] >= 0.0));
        assert!(left.iter().any(|corner| corner.shares == [0.5, 0.5, 0.0]));
        let without = Clip { near: false, ..CLIP };
        assert_eq!(clip(&without, &outputs(0, 0), positions, &[[0.0; 8]; 3]).len(), 3);
    }

    #[test]
    fn a_line_is_cut_where_its_distance_is_zero() {
        let positions = [[0.0, 0.0, -1.0, 1.0], [1.0, 0.0, 1.0, 1.0]];
        let [from, to] = clip_thin(&CLIP, &outputs(0, 0), positions, &[[0.0; 8]; 3], false).unwrap();
        assert_eq!((from.position[0], from.shares, to.position[0]), (0.5, [0.5, 0.5, 0.0], 1.0));
        let outside = [[0.0, 0.0, -1.0, 1.0], [1.0, 0.0, -1.0, 1.0]];
        assert_eq!(clip_thin(&CLIP, &outputs(0, 0), outside, &[[0.0; 8]; 3], false), None);
    }

    #[test]
    fn what_lies_behind_the_viewer_is_gone() {
        let positions = [[0.0, 0.0, 0.5, -1.0], [1.0, 0.0, 0.5, -1.0], [0.0, 1.0, 0.5, -2.0]];
        let without = Clip { near: false, far: false, ..CLIP };
        assert!(clip(&without, &outputs(0, 0), positions, &[[0.0; 8]; 3]).is_empty());
    }

    #[test]
    fn negative_distances_clip_parts_and_cull_wholes() {
        let positions = [[0.0, 0.0, 0.5, 1.0], [1.0, 0.0, 0.5, 1.0], [0.0, 1.0, 0.5, 1.0]];
        let mut distances = [[1.0; 8]; 3];
        distances[0][2] = -1.0;
        assert_eq!(clip(&CLIP, &outputs(1 << 2, 0), positions, &distances).len(), 4);
        assert!(!is_culled(&outputs(0, 1 << 2), &distances));
        distances[1][2] = -1.0;
        distances[2][2] = f32::NAN;
        assert!(is_culled(&outputs(0, 1 << 2), &distances));
        assert!(clip(&CLIP, &outputs(1 << 2, 0), positions, &[[-1.0; 8]; 3]).is_empty());
    }
}
