//! Points of timelines that user space advances.
//!
//! Source: Linux 6.12 `drivers/dma-buf/sw_sync.c`.

use std::sync::Arc;

use parking_lot::Mutex;

/// The name of a timeline.
#[derive(Debug)]
pub(crate) struct Name {
    /// The process that opened the timeline.
    pub(crate) process: String,
    /// The unique number of the timeline (`dma_fence_context_alloc`).
    pub(crate) context: u64,
}

/// A point of a timeline, for its fence.
#[derive(Debug)]
pub(crate) struct Point {
    timeline: Arc<Name>,
    value: u32,
    deadline_ns: Mutex<Option<u64>>,
}

impl Point {
    /// Creates a point without a deadline.
    pub(crate) fn new(timeline: &Arc<Name>, value: u32) -> Self {
        Self { timeline: Arc::clone(timeline), value, deadline_ns: Mutex::default() }
    }

    /// The name of its timeline.
    pub(crate) fn timeline(&self) -> &str {
        &self.timeline.process
    }

    /// Returns the number of its timeline.
    pub(crate) fn context(&self) -> u64 {
        self.timeline.context
    }

    /// Returns `true` if the timeline reaches this point after another one of its points, at most half of the numbers behind it.
    ///
    /// Source: Linux 6.12 `include/linux/dma-fence.h`, `__dma_fence_is_later`.
    pub(crate) fn is_later_than(&self, other: &Self) -> bool {
        self.value.wrapping_sub(other.value).cast_signed() > 0
    }

    /// Returns the name of a sync file of the point, without the driver's: timeline, context and value (`sync_file_get_name`).
    pub(crate) fn full_name(&self) -> String {
        format!("{}{}-{}", self.timeline.process, self.timeline.context, self.value)
    }

    /// Sets the deadline if it is earlier than the existing one.
    pub(crate) fn set_deadline(&self, deadline_ns: u64) {
        let mut earliest = self.deadline_ns.lock();
        *earliest = Some(earliest.map_or(deadline_ns, |known| known.min(deadline_ns)));
    }

    /// Returns the earliest deadline in ns of CLOCK_MONOTONIC, if any was set.
    pub(crate) fn deadline(&self) -> Option<u64> {
        *self.deadline_ns.lock()
    }
}
