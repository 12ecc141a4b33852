//! Timelines that user space advances.
//!
//! Source: Linux 6.12 `drivers/dma-buf/sw_sync.c`.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use amdgpu_uapi::Errno;
use parking_lot::Mutex;

use crate::kernel::sync::{
    events::Events,
    fence::Fence,
    point::{Name, Point},
};

/// The maximum distance by which the counter advances at once, and by which a point may be ahead of it.
const FARTHEST: u32 = i32::MAX.unsigned_abs();
/// The minimum growth in points before points without a live fence are removed. A larger table is swept when it has doubled.
const GROWTH: usize = 64;

/// An open sw_sync file: a counter, and fences for its future values.
#[derive(Debug)]
pub(crate) struct Timeline {
    name: Arc<Name>,
    events: Arc<Events>,
    state: Mutex<TimelineState>,
}

#[derive(Debug, Default)]
struct TimelineState {
    counter: u32,
    is_closed: bool,
    /// The fences ahead of the counter, by their points. A fence without references needs no signal.
    pending: HashMap<u32, Weak<Fence>>,
    /// The number of points after the last sweep.
    looked_at: usize,
}

impl Timeline {
    pub(crate) fn new(process: &str, context: u64, events: &Arc<Events>) -> Self {
        Self {
            name: Arc::new(Name { process: process.to_owned(), context }),
            events: Arc::clone(events),
            state: Mutex::default(),
        }
    }

    /// Returns the fence of a point. It has signalled if the counter has reached the point; until then all callers share one fence.
    ///
    /// Source: `sync_pt_create`.
    pub(crate) fn fence(&self, value: u32) -> Arc<Fence> {
        let mut state = self.state.lock();
        if let Some(known) = state.pending.get(&value).and_then(Weak::upgrade) {
            return known;
        }
        let fence = Fence::of_point(&self.events, Point::new(&self.name, value));
        let is_ahead = (1..=FARTHEST).contains(&value.wrapping_sub(state.counter));
        if is_ahead && !state.is_closed {
            state.add(value, &fence);
            return fence;
        }
        let outcome = if is_ahead { Err(Errno::ENOENT) } else { Ok(()) };
        drop(state);
        fence.signal(outcome);
        fence
    }

    /// Advances the counter, and signals the points up to it in order.
    ///
    /// Source: `sw_sync_ioctl_inc`, `sync_timeline_signal`.
    pub(crate) fn advance(&self, by: u32) {
        let mut left = by;
        while left > FARTHEST {
            self.step(FARTHEST);
            left -= FARTHEST;
        }
        self.step(left);
    }

    fn step(&self, by: u32) {
        let mut state = self.state.lock();
        let before = state.counter;
        state.counter = before.wrapping_add(by);
        let reached = state.pending.extract_if(|point, _| point.wrapping_sub(before) <= by);
        let mut reached: Vec<_> = reached.map(|(point, fence)| (point.wrapping_sub(before), fence)).collect();
        drop(state);
        reached.sort_unstable_by_key(|(distance, _)| *distance);
        reached.iter().filter_map(|(_, fence)| fence.upgrade()).for_each(|fence| fence.signal(Ok(())));
    }

    /// Handles the closing of the last copy of the descriptor: unsignalled fences end with an error.
    ///
    /// Source: `sw_sync_debugfs_release`.
    pub(crate) fn close(&self) {
        let pending = {
            let mut state = self.state.lock();
            state.is_closed = true;
            std::mem::take(&mut state.pending)
        };
        pending.values().filter_map(Weak::upgrade).for_each(|fence| fence.signal(Err(Errno::ENOENT)));
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state.lock().is_closed
    }
}

impl TimelineState {
    fn add(&mut self, value: u32, fence: &Arc<Fence>) {
        self.pending.insert(value, Arc::downgrade(fence));
        if self.pending.len() > self.looked_at.saturating_add(GROWTH.max(self.looked_at)) {
            self.pending.retain(|_, fence| fence.strong_count() > 0);
            self.looked_at = self.pending.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn timeline() -> Timeline {
        Timeline::new("test", 1, &Arc::default())
    }

    #[test]
    fn points_that_no_client_holds_are_forgotten() {
        let timeline = timeline();
        let kept: Vec<_> = (1..=10).map(|value| timeline.fence(value)).collect();
        for value in 11..10_000 {
            drop(timeline.fence(value));
        }
        assert!(timeline.state.lock().pending.len() <= 2 * GROWTH + kept.len());
        timeline.advance(10);
        assert!(kept.iter().all(|fence| fence.is_signalled()));
    }

    proptest! {
        /// A model with a counter that does not wrap: a point has signalled if the counter has reached it.
        #[test]
        fn a_point_signals_when_the_counter_has_come_so_far(
            start in prop::sample::select(vec![0, 5, i32::MAX as u32, 1 << 31, u32::MAX - 2]),
            steps in vec((1..40_u32, 0..20_u32), 1..40),
        ) {
            let timeline = timeline();
            timeline.advance(start);
            let (mut counter, mut fences) = (u64::from(start), Vec::new());
            for (ahead, by) in steps {
                let point = counter + u64::from(ahead);
                fences.push((point, timeline.fence(point as u32)));
                timeline.advance(by);
                counter += u64::from(by);
                for (point, fence) in &fences {
                    prop_assert_eq!(fence.is_signalled(), *point <= counter, "point {} at {}", point, counter);
                }
            }
            timeline.close();
            for (point, fence) in &fences {
                let outcome = if *point <= counter { Ok(()) } else { Err(Errno::ENOENT) };
                prop_assert_eq!(fence.outcome(), Some(outcome));
            }
        }
    }
}
