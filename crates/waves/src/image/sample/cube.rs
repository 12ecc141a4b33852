//! Faces of cubes, and the texels beyond their edges.
//!
//! Source: the Vulkan specification, "Cube Map Face Selection" and "Cube Map Edge Handling".

/// Axes of a face: those of its columns, of its rows and of its normal, each with its sign.
type Face = [(usize, i64); 3];

/// The faces +x, -x, +y, -y, +z and -z.
const FACES: [Face; 6] = [
    [(2, -1), (1, -1), (0, 1)],
    [(2, 1), (1, -1), (0, -1)],
    [(0, 1), (2, 1), (1, 1)],
    [(0, 1), (2, -1), (1, -1)],
    [(0, 1), (1, -1), (2, 1)],
    [(0, -1), (1, -1), (2, -1)],
];

/// Returns the face, column and row of a place on a face of `size` texels, which may be one texel beyond one edge; `None`
/// beyond a corner, where there is no texel.
pub(super) fn across(face: u32, column: i64, row: i64, size: u32) -> Option<(u32, u32, u32)> {
    let size = i64::from(size.max(1));
    let axes = FACES[face as usize % 6];
    // Twice the distance from the cube's centre, so that centres of texels are integers.
    let mut place = [2 * column + 1 - size, 2 * row + 1 - size, size];
    let outside = [place[0].abs() > size, place[1].abs() > size];
    if outside == [true, true] {
        return None;
    }
    if let Some(axis) = outside.iter().position(|outside| *outside) {
        // Folds the texel over the edge: as far down the neighbour's side as it was beyond.
        place[2] = size - (place[axis].abs() - size);
        place[axis] = place[axis].signum() * size;
    }
    let mut point = [0; 3];
    for ((axis, sign), distance) in axes.into_iter().zip(place) {
        point[axis] = sign * distance;
    }
    let found = FACES.iter().position(|[_, _, (axis, sign)]| point[*axis] * sign == size)?;
    let [(across, across_sign), (down, down_sign), _] = FACES[found];
    let texel = |axis: usize, sign: i64| u32::try_from((sign * point[axis] + size - 1) / 2).ok();
    Some((found as u32, texel(across, across_sign)?, texel(down, down_sign)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The direction of a texel's centre.
    fn direction(face: u32, column: i64, row: i64, size: i64) -> [f64; 3] {
        let part = |at: i64| (2 * at + 1 - size) as f64 / size as f64;
        let (s, t) = (part(column), part(row));
        match face {
            0 => [1.0, -t, -s],
            1 => [-1.0, -t, s],
            2 => [s, 1.0, t],
            3 => [s, -1.0, -t],
            4 => [s, -t, 1.0],
            _ => [-s, -t, -1.0],
        }
    }

    proptest! {
        #[test]
        fn texels_inside_stay_where_they_are(face in 0_u32..6, size in 1_u32..20, column in 0_u32..20, row in 0_u32..20) {
            let (column, row) = (column % size, row % size);
            prop_assert_eq!(across(face, column.into(), row.into(), size), Some((face, column, row)));
        }

        #[test]
        fn beyond_an_edge_lies_the_texel_that_touches_it(face in 0_u32..6, size in 2_u32..20, row in 0_u32..20, side in 0..4) {
            let (along, n) = (i64::from(row % size), i64::from(size));
            let (column, row) = [(-1, along), (n, along), (along, -1), (along, n)][side as usize];
            let (other, x, y) = across(face, column, row, size).unwrap();
            prop_assert_ne!(other, face);
            // The two centres are neighbours: nearer to each other than two texels of a face.
            let inner = direction(face, column.clamp(0, n - 1), row.clamp(0, n - 1), n);
            let outer = direction(other, x.into(), y.into(), n);
            let distance = inner.iter().zip(outer).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            prop_assert!(distance < 2.0 / f64::from(size), "{distance}");
        }
    }

    #[test]
    fn there_is_no_texel_beyond_a_corner() {
        assert_eq!(across(2, -1, -1, 4), None);
    }
}
