//! Processor time of repeated work.

use std::hint::black_box;

use amdgpu_bench::measure::first_decile;
use nix::time::{ClockId, clock_gettime};

/// Batches that are timed, and repetitions in each.
const BATCHES: usize = 41;
const REPETITIONS: u32 = 2048;

/// Returns the nanoseconds of this thread's processor time that a call takes: addrlib's were taken so, and other work on the
/// machine is not in them.
pub(super) fn timed(work: impl FnOnce()) -> f64 {
    let now = || {
        clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
            .map_or(0.0, |time| time.tv_sec() as f64 * 1e9 + time.tv_nsec() as f64)
    };
    let start = now();
    work();
    now() - start
}

/// Returns the nanoseconds of a repetition where nothing else ran: the first decile of the batches.
pub(super) fn alone(mut work: impl FnMut(u32)) -> f64 {
    let mut batch = || timed(|| (0..REPETITIONS).for_each(&mut work)) / f64::from(REPETITIONS);
    let mut times: Vec<f64> = (0..BATCHES).map(|_| batch()).collect();
    first_decile(&mut times)
}

/// Makes the compiler believe that a result is used.
pub(super) fn seen<T>(result: T) {
    let _ = black_box(result);
}
