//! The share of time in which the rings were busy.

use std::time::{Duration, Instant};

use amdgpu_hw::Ip;
use parking_lot::Mutex;

/// The length of a bucket.
const BUCKET: Duration = Duration::from_millis(10);
/// The number of buckets over which the share is taken. They cover a second, about as long as firmware averages.
const BUCKETS: usize = 100;

/// Types of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkKind {
    /// Graphics and compute rings.
    Shaders,
    /// Copy engines.
    Copies,
    /// Video engines.
    Video,
}

impl WorkKind {
    const fn of(ip: Ip) -> Self {
        match ip {
            Ip::Gfx | Ip::Compute => Self::Shaders,
            Ip::Sdma => Self::Copies,
            _ => Self::Video,
        }
    }
}

/// The activity of a device's rings in the last second.
#[derive(Debug)]
pub(crate) struct Activity {
    born: Instant,
    histories: [Mutex<History>; 3],
}

impl Activity {
    /// Returns the activity of rings that never ran.
    pub(crate) fn new() -> Self {
        Self { born: Instant::now(), histories: Default::default() }
    }

    /// Starts a job of an IP. The job ends when the result is dropped.
    pub(crate) fn start(&self, ip: Ip) -> Busy<'_> {
        let (history, since) = (self.history(WorkKind::of(ip)), self.born.elapsed());
        history.lock().running.push(since);
        Busy { activity: self, history, since }
    }

    /// Returns the percentage of the last second in which there was work of a type.
    pub(crate) fn percent(&self, kind: WorkKind) -> u32 {
        let now = self.born.elapsed();
        let mut history = self.history(kind).lock();
        let running = history.running.clone();
        let before = history.buckets;
        for since in running {
            history.add(since, now);
        }
        let share = history.percent(now);
        history.buckets = before;
        share
    }

    fn history(&self, kind: WorkKind) -> &Mutex<History> {
        let [shaders, copies, video] = &self.histories;
        match kind {
            WorkKind::Shaders => shaders,
            WorkKind::Copies => copies,
            WorkKind::Video => video,
        }
    }
}

/// A running job. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Busy<'a> {
    activity: &'a Activity,
    history: &'a Mutex<History>,
    since: Duration,
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let now = self.activity.born.elapsed();
        let mut history = self.history.lock();
        if let Some(index) = history.running.iter().position(|&since| since == self.since) {
            history.running.swap_remove(index);
        }
        history.add(self.since, now);
    }
}

/// The work of the last second. Times are counted from the device's creation.
#[derive(Debug)]
struct History {
    /// The number of each bucket, and the time of work in it.
    buckets: [(u64, Duration); BUCKETS],
    /// The start times of running jobs.
    running: Vec<Duration>,
}

impl Default for History {
    fn default() -> Self {
        Self { buckets: [(0, Duration::ZERO); BUCKETS], running: Vec::new() }
    }
}

fn bucket_of(time: Duration) -> u64 {
    (time.as_nanos() / BUCKET.as_nanos()) as u64
}

fn start_of(bucket: u64) -> Duration {
    Duration::from_millis(bucket.saturating_mul(BUCKET.as_millis() as u64))
}

impl History {
    /// Adds work from one time to a later one.
    fn add(&mut self, from: Duration, to: Duration) {
        let last = bucket_of(to);
        let first = bucket_of(from).max(last.saturating_sub(BUCKETS as u64 - 1));
        for number in first..=last {
            let start = start_of(number);
            let part = to.min(start + BUCKET).saturating_sub(from.max(start));
            let Some(bucket) = self.buckets.get_mut(number as usize % BUCKETS) else { continue };
            if bucket.0 != number {
                *bucket = (number, Duration::ZERO);
            }
            // Several rings can work at the same time.
            bucket.1 = BUCKET.min(bucket.1 + part);
        }
    }

    fn percent(&self, now: Duration) -> u32 {
        let last = bucket_of(now);
        let is_recent = |number: u64| number <= last && number + BUCKETS as u64 > last;
        let busy: Duration = self.buckets.iter().filter(|(number, _)| is_recent(*number)).map(|(_, work)| *work).sum();
        (busy.as_nanos() * 100 / (BUCKET.as_nanos() * BUCKETS as u128)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn the_share_is_that_of_the_last_second() {
        let mut history = History::default();
        assert_eq!(history.percent(ms(500)), 0);
        history.add(ms(1000), ms(1250));
        assert_eq!((history.percent(ms(1250)), history.percent(ms(1900))), (25, 25));
        history.add(ms(1100), ms(1150));
        assert_eq!(history.percent(ms(1900)), 25, "two rings at once");
        assert!((9..=11).contains(&history.percent(ms(2150))), "half of it is past");
        assert_eq!(history.percent(ms(2400)), 0);
        history.add(ms(3000), ms(9000));
        assert_eq!(history.percent(ms(9000)), 99, "the bucket at hand has just begun");
    }

    #[test]
    fn a_job_counts_while_it_runs_and_for_a_second_after() {
        let activity = Activity::new();
        let busy = activity.start(Ip::Compute);
        while activity.percent(WorkKind::Shaders) == 0 {}
        assert_eq!(activity.percent(WorkKind::Copies), 0);
        drop(busy);
        assert!(activity.percent(WorkKind::Shaders) > 0);
    }
}
