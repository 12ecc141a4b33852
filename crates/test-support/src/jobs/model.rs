//! Results of the shaders that depend on the subgroup size, computed from their source.

/// The invocations of a dispatch of two groups of 64, in subgroups of `size`.
struct Invocations<'a> {
    a: &'a [u32],
    b: &'a [u32],
    size: usize,
}

/// Returns the output buffer of a shader; `None` for an unknown one, and for inputs or subgroups that the models do not fit.
pub(crate) fn output(name: &str, a: &[u32], b: &[u32], size: usize) -> Option<Vec<u32>> {
    let fits = matches!(size, 8 | 16 | 32 | 64) && a.len().is_multiple_of(size) && b.len() >= a.len();
    let all = fits.then_some(Invocations { a, b, size })?;
    let row: fn(&Invocations<'_>, usize) -> Vec<u32> = match name {
        "sg_basic" => basic,
        "sg_vote" => vote,
        "sg_arith" => arithmetic,
        "sg_shuffle" => shuffle,
        "sg_quad" => quad,
        _ => return None,
    };
    Some((0..a.len()).flat_map(|index| row(&all, index)).collect())
}

impl Invocations<'_> {
    fn first(&self, index: usize) -> usize {
        index / self.size * self.size
    }

    fn subgroup(&self, index: usize) -> &[u32] {
        &self.a[self.first(index)..][..self.size]
    }
}

fn basic(all: &Invocations<'_>, index: usize) -> Vec<u32> {
    let values = all.subgroup(index);
    let lane = index % all.size;
    let ballot = values.iter().enumerate().fold(0_u64, |mask, (lane, a)| mask | u64::from(a & 1) << lane);
    let below = ballot & ((1 << lane) - 1);
    vec![
        all.size as u32,
        lane as u32,
        u32::from(lane == 0),
        ballot as u32,
        (ballot >> 32) as u32,
        ballot.count_ones(),
        below.count_ones(),
        (ballot >> lane) as u32 & 1,
        if ballot == 0 { u32::MAX } else { ballot.trailing_zeros() },
        values[0],
        values[5],
        (index % 64 / all.size) as u32,
    ]
}

fn vote(all: &Invocations<'_>, index: usize) -> Vec<u32> {
    let values = all.subgroup(index);
    let a = all.a[index];
    let counted = values.iter().filter(|a| **a & 3 != 0).count() as u32;
    let odd = values.iter().filter(|a| **a & 1 != 0).count() as u32;
    vec![
        u32::from(values.iter().all(|a| *a != 0)),
        u32::from(values.iter().any(|a| a & 0xff == 7)),
        1,
        u32::from(values.iter().all(|a| *a == values[0])),
        if a & 3 != 0 { counted } else { 0 },
        if a & 1 != 0 { odd } else { 0 },
        all.first(index) as u32,
        0,
    ]
}

fn arithmetic(all: &Invocations<'_>, index: usize) -> Vec<u32> {
    let lane = index % all.size;
    let raw = all.subgroup(index);
    let low: Vec<u32> = raw.iter().map(|a| a & 0xffff).collect();
    let floats: Vec<f32> = all.b[all.first(index)..][..all.size].iter().map(|b| f32::from_bits(*b)).collect();
    let flushed = |value: f32| if value.is_subnormal() { 0.0 } else { value };
    vec![
        low.iter().sum(),
        low[..=lane].iter().sum(),
        low[..lane].iter().sum(),
        *low.iter().min().unwrap(),
        raw.iter().map(|a| *a as i32).max().unwrap() as u32,
        raw.iter().fold(u32::MAX, |all, a| all & (a | 1)),
        low.iter().fold(0, |all, a| all | a),
        raw[..=lane].iter().fold(0, |all, a| all ^ a),
        low[..lane].iter().copied().max().unwrap_or(0),
        raw[..=lane].iter().fold(1, |all, a| all.wrapping_mul(a | 1)),
        floats.iter().copied().map(flushed).fold(f32::NEG_INFINITY, f32::max).to_bits(),
        floats[..=lane].iter().copied().map(flushed).fold(f32::INFINITY, f32::min).to_bits(),
    ]
}

fn shuffle(all: &Invocations<'_>, index: usize) -> Vec<u32> {
    let values = all.subgroup(index);
    let (lane, size) = (index % all.size, all.size);
    vec![
        values[(lane * 5 + 3) & (size - 1)],
        values[lane ^ 3],
        values[lane ^ size >> 1],
        values[all.b[index] as usize & (size - 1)],
        if lane >= 2 { values[lane - 2] } else { 0 },
        if lane + 1 < size { values[lane + 1] } else { 0 },
        values[7],
        values[lane ^ 1],
    ]
}

fn quad(all: &Invocations<'_>, index: usize) -> Vec<u32> {
    let values = all.subgroup(index);
    let lane = index % all.size;
    let cluster = |size: usize| &values[lane / size * size..][..size];
    let quad = cluster(4);
    vec![
        quad[1],
        values[lane ^ 1],
        values[lane ^ 2],
        values[lane ^ 3],
        quad.iter().map(|a| a & 255).sum(),
        *cluster(8).iter().max().unwrap(),
        cluster(2).iter().fold(0, |all, a| all ^ a),
        quad[3],
    ]
}

#[cfg(test)]
mod tests {
    use super::output;

    #[test]
    fn each_model_has_rows_for_all_invocations_of_subgroups_that_fit() {
        let (a, b): (Vec<u32>, Vec<u32>) = ((0..128).collect(), (0..128).rev().collect());
        for (name, row) in [("sg_basic", 12), ("sg_vote", 8), ("sg_arith", 12), ("sg_shuffle", 8), ("sg_quad", 8)] {
            for size in [8, 32, 64] {
                assert_eq!(output(name, &a, &b, size).map(|words| words.len()), Some(128 * row), "{name}");
            }
            assert_eq!(output(name, &a, &b, 4), None);
            assert_eq!(output(name, &a[..100], &b, 64), None);
            assert_eq!(output(name, &a, &b[..1], 64), None);
        }
        assert_eq!(output("sg_unknown", &a, &b, 64), None);
    }

    #[test]
    fn sums_are_those_of_the_subgroup() {
        let (a, b): (Vec<u32>, Vec<u32>) = ((0..128).collect(), vec![0; 128]);
        let sums = |size| output("sg_arith", &a, &b, size).unwrap()[12 * 70];
        assert_eq!((sums(32), sums(64)), ((64..96).sum(), (64..128).sum()));
    }
}
