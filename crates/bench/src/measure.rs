//! Measurements of times that are compared with each other, taken in the same period.
//!
//! Because machines are shared and noisy, the sides are timed alternately, many times, and medians are compared.

use std::time::Instant;

/// The number of times that [`in_turn`] times each side; odd, so that the median is one of the times.
const ROUNDS: usize = 101;

/// A measured operation: runs the given number of repetitions.
pub type Work<'a> = dyn FnMut(usize) + 'a;

/// Returns the duration of a call in nanoseconds.
pub fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e9
}

/// Repeats a call `count` times and returns the average duration in nanoseconds.
pub fn each(count: u32, mut work: impl FnMut()) -> f64 {
    timed(|| (0..count).for_each(|_| work())) / f64::from(count)
}

/// Returns the median; the upper of the two middle values if their number is even, and 0 if there are none.
pub fn median(times: &mut [f64]) -> f64 {
    part(times, 5)
}

/// Returns the first decile, which approximates the time on an otherwise idle machine.
pub fn first_decile(times: &mut [f64]) -> f64 {
    part(times, 1)
}

/// Returns the value below which the given number of tenths lie.
fn part(times: &mut [f64], tenths: usize) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() * tenths / 10).copied().unwrap_or(0.0)
}

/// Times several operations alternately, in batches of `batch` repetitions, and returns the median duration of one repetition of
/// each in nanoseconds.
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

/// The times of two operations that are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// The time of the measured operation, in nanoseconds.
    pub ours: f64,
    /// The time of its lower bound or of a competing implementation, in nanoseconds.
    pub floor: f64,
}

impl Compared {
    /// Returns the ratio of the measured time to the floor.
    pub fn ratio(self) -> f64 {
        self.ours / self.floor
    }

    /// Returns both times divided by `count`.
    #[must_use]
    pub fn each(self, count: u32) -> Self {
        Self { ours: self.ours / f64::from(count), floor: self.floor / f64::from(count) }
    }
}

/// Calls two functions alternately, `rounds` times, and returns the medians of the times that they return.
pub fn compare(rounds: usize, mut ours: impl FnMut() -> f64, mut floor: impl FnMut() -> f64) -> Compared {
    let (mut ours, mut floor): (Vec<_>, Vec<_>) = (0..rounds).map(|_| (ours(), floor())).unzip();
    Compared { ours: median(&mut ours), floor: median(&mut floor) }
}

/// Calls two functions alternately, `rounds` times, and returns the minimum of the times that they return. The minimum suits work
/// that is limited by memory bandwidth, which other programs of the machine also use.
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
