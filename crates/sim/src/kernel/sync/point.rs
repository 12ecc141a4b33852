//! Points of timelines that user space moves, as their fences know them.
//!
//! Source: Linux 6.12 `drivers/dma-buf/sw_sync.c`.

use std::sync::Arc;

use parking_lot::Mutex;

/// The name of a timeline.
#[derive(Debug)]
pub(crate) struct Name {
    /// The process that opened it.
    pub(crate) process: String,
    /// A number of its own (`dma_fence_context_alloc`).
    pub(crate) context: u64,
}

/// One point of a timeline, as its fence knows it.
#[derive(Debug)]
pub(crate) struct Point {
    timeline: Arc<Name>,
    value: u32,
    deadline_ns: Mutex<Option<u64>>,
}

impl Point {
    /// A point without a deadline.
    pub(crate) fn new(timeline: &Arc<Name>, value: u32) -> Self {
        Self { timeline: Arc::clone(timeline), value, deadline_ns: Mutex::default() }
    }

    /// The name of its timeline.
    pub(crate) fn timeline(&self) -> &str {
        &self.timeline.process
    }

    /// The name of a sync file of it, without the driver's: timeline, context and value (`sync_file_get_name`).
    pub(crate) fn full_name(&self) -> String {
        format!("{}{}-{}", self.timeline.process, self.timeline.context, self.value)
    }

    /// Keeps the earlier of two deadlines.
    pub(crate) fn set_deadline(&self, deadline_ns: u64) {
        let mut earliest = self.deadline_ns.lock();
        *earliest = Some(earliest.map_or(deadline_ns, |known| known.min(deadline_ns)));
    }

    /// The earliest deadline that was set, in ns of CLOCK_MONOTONIC.
    pub(crate) fn deadline(&self) -> Option<u64> {
        *self.deadline_ns.lock()
    }
}
