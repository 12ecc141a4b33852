//! Timing two things in turn.

use std::time::Instant;

use crate::contest::median;

/// How often each side is timed; odd, so that there is a median.
const ROUNDS: usize = 101;

/// Something to be timed: so many repetitions.
pub(crate) type Work<'a> = dyn FnMut(usize) + 'a;

/// Nanoseconds of one repetition of each, medians of batches of `batch` that were timed in turn.
pub(crate) fn in_turn<const N: usize>(batch: usize, mut sides: [&mut Work<'_>; N]) -> [f64; N] {
    let mut times: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(ROUNDS));
    for side in &mut sides {
        side(batch);
    }
    for _ in 0..ROUNDS {
        for (side, times) in sides.iter_mut().zip(&mut times) {
            let start = Instant::now();
            side(batch);
            times.push(start.elapsed().as_secs_f64() * 1e9 / batch as f64);
        }
    }
    times.map(|mut times| median(&mut times))
}
