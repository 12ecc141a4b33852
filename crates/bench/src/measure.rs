//! Times, taken so that what is compared was measured in the same moments.
//!
//! Machines are shared and noisy: sides are timed in turn, many times, and medians are compared.

use std::time::Instant;

/// Number of times [`in_turn`] times each side; odd, so that there is a median.
const ROUNDS: usize = 101;

/// A measured operation: runs the given number of repetitions.
pub type Work<'a> = dyn FnMut(usize) + 'a;

/// Returns the time of a call, in nanoseconds.
pub fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e9
}

/// Returns the nanoseconds of one of `count` repetitions.
pub fn each(count: u32, mut work: impl FnMut()) -> f64 {
    timed(|| (0..count).for_each(|_| work())) / f64::from(count)
}

/// Returns the middle one; of an even number the upper of the two, of none 0.
pub fn median(times: &mut [f64]) -> f64 {
    part(times, 5)
}

/// Returns the one that a tenth are below: what is left where nothing else ran.
pub fn first_decile(times: &mut [f64]) -> f64 {
    part(times, 1)
}

/// Returns the value below which the given number of tenths lie.
fn part(times: &mut [f64], tenths: usize) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() * tenths / 10).copied().unwrap_or(0.0)
}

/// Returns the nanoseconds of one repetition of each side: medians of batches of `batch` that were timed in turn.
pub fn in_turn<const N: usize>(batch: usize, mut sides: [&mut Work<'_>; N]) -> [f64; N] {
    let mut times: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(ROUNDS));
    for side in &mut sides {
        side(batch);
    }
    for _ in 0..ROUNDS {
        for (side, times) in sides.iter_mut().zip(&mut times) {
            times.push(timed(|| side(batch)) / batch as f64);
        }
    }
    times.map(|mut times| median(&mut times))
}

/// Times of two sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// Of what is looked at.
    pub ours: f64,
    /// Of what it cannot be faster than, or of a rival.
    pub floor: f64,
}

impl Compared {
    /// Returns the ratio of our time to the floor.
    pub fn ratio(self) -> f64 {
        self.ours / self.floor
    }

    /// Returns both for one of `count` parts.
    #[must_use]
    pub fn each(self, count: u32) -> Self {
        Self { ours: self.ours / f64::from(count), floor: self.floor / f64::from(count) }
    }
}

/// Returns the medians of two sides that time themselves, in turn, `rounds` times.
pub fn compare(rounds: usize, mut ours: impl FnMut() -> f64, mut floor: impl FnMut() -> f64) -> Compared {
    let (mut ours, mut floor): (Vec<_>, Vec<_>) = (0..rounds).map(|_| (ours(), floor())).unzip();
    Compared { ours: median(&mut ours), floor: median(&mut floor) }
}

/// Returns the least times of two sides that time themselves, in turn, `rounds` times: for work that fills the memory's bandwidth, which
/// other programs on the machine take from.
pub fn compare_least(rounds: usize, mut ours: impl FnMut() -> f64, mut floor: impl FnMut() -> f64) -> Compared {
    let none = Compared { ours: f64::MAX, floor: f64::MAX };
    (0..rounds).fold(none, |least, _| Compared { ours: least.ours.min(ours()), floor: least.floor.min(floor()) })
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the figures are whole, and only moved about")]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one_or_the_upper_of_two() {
        assert_eq!(median(&mut []), 0.0);
        assert_eq!(median(&mut [3.0]), 3.0);
        assert_eq!(median(&mut [9.0, 1.0, 5.0]), 5.0);
        assert_eq!(median(&mut [9.0, 1.0, 5.0, 7.0]), 7.0);
    }

    #[test]
    fn the_first_decile_has_a_tenth_below_it() {
        let mut times: Vec<f64> = (0..100).rev().map(f64::from).collect();
        assert_eq!(first_decile(&mut times), 10.0);
    }

    #[test]
    fn both_sides_are_measured_in_turn_and_as_often() {
        let order = std::cell::RefCell::new(Vec::new());
        let side = |name: char, time: f64| {
            let order = &order;
            move || {
                order.borrow_mut().push(name);
                time
            }
        };
        let compared = compare(3, side('a', 6.0), side('b', 2.0));
        assert_eq!(order.into_inner(), ['a', 'b', 'a', 'b', 'a', 'b']);
        assert_eq!((compared.ratio(), compared.each(2)), (3.0, Compared { ours: 3.0, floor: 1.0 }));
    }

    #[test]
    fn the_least_of_each_side_is_compared() {
        let (mut ours, mut floor) = ([5.0, 3.0, 4.0].into_iter(), [2.0, 9.0, 1.0].into_iter());
        let compared = compare_least(3, || ours.next().unwrap(), || floor.next().unwrap());
        assert_eq!(compared, Compared { ours: 3.0, floor: 1.0 });
    }
}
