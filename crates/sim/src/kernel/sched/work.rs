//! The engine time of files.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use amdgpu_hw::Ip;
use parking_lot::Mutex;

/// The engine time of an open file, by IP.
#[derive(Debug)]
pub(crate) struct Work([Arc<Meter>; Ip::ALL.len()]);

impl Default for Work {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Arc::default()))
    }
}

impl Work {
    /// Returns the meter of an IP, to which the file's jobs add their time.
    pub(crate) fn meter(&self, ip: Ip) -> Arc<Meter> {
        Arc::clone(&self.0[ip as usize])
    }

    /// Returns the engine time of each IP up to now.
    pub(crate) fn times(&self) -> impl Iterator<Item = (Ip, Duration)> {
        let now = Instant::now();
        Ip::ALL.into_iter().zip(&self.0).map(move |(ip, meter)| (ip, meter.time(now)))
    }
}

/// The sum of the times from the start to the end of each job. Waiting jobs do not count.
///
/// Source: Linux 6.12 `amdgpu_ctx.c`, `amdgpu_ctx_fence_time`.
#[derive(Debug, Default)]
pub(crate) struct Meter(Mutex<Times>);

#[derive(Debug, Default)]
struct Times {
    over: Duration,
    /// The start times of running jobs.
    running: Vec<Instant>,
}

/// A running job, until it is dropped.
#[derive(Debug)]
pub(crate) struct Running<'m> {
    meter: &'m Meter,
    since: Instant,
}

impl Meter {
    /// Starts the time of a job.
    pub(crate) fn start(&self) -> Running<'_> {
        let since = Instant::now();
        self.0.lock().running.push(since);
        Running { meter: self, since }
    }

    fn time(&self, now: Instant) -> Duration {
        let times = self.0.lock();
        let running: Duration = times.running.iter().map(|&since| now.saturating_duration_since(since)).sum();
        times.over + running
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // Even the shortest job takes some time.
        let time = self.since.elapsed().max(Duration::from_nanos(1));
        let mut times = self.meter.0.lock();
        times.over += time;
        if let Some(index) = times.running.iter().position(|&since| since == self.since) {
            times.running.swap_remove(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_counts_up_to_now_and_what_is_over_stays() {
        let work = Work::default();
        let of = |wanted| work.times().find(|&(ip, _)| ip == wanted).unwrap().1;
        let meter = work.meter(Ip::Sdma);
        let running = meter.start();
        let before = of(Ip::Sdma);
        while of(Ip::Sdma) == before {}
        drop(running);
        let after = of(Ip::Sdma);
        assert!(after > before);
        assert_eq!((of(Ip::Sdma), of(Ip::Gfx)), (after, Duration::ZERO));
    }
}
