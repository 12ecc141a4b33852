//! The number of changes of a device's page tables, for queues that the kernel does not see.

use std::sync::atomic::Ordering;

use crate::sync::{AtomicBool, AtomicU64};

/// The number of changes that the library has asked for in a device's page tables. Jobs of the kernel's queues wait for them; a user
/// queue asks for a fence behind the last one, and compares numbers to see that there is nothing new to ask for.
///
/// Threads that bind memory contend for the number, so nothing is counted before the first user queue exists.
#[derive(Debug, Default)]
pub(crate) struct PageTableChanges {
    is_counted: AtomicBool,
    count: AtomicU64,
}

impl PageTableChanges {
    /// Counts a change, after the kernel has accepted it.
    #[inline]
    pub(crate) fn note(&self) {
        // The request precedes this load. If the load finds `false`, it precedes the store of `start`, and with it all requests for
        // fences of the page tables; these are then behind this change.
        if self.is_counted.load(Ordering::SeqCst) {
            self.count.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Starts to count, before the first request for a fence.
    pub(crate) fn start(&self) {
        self.is_counted.store(true, Ordering::SeqCst);
    }

    /// Returns the number of changes so far. All of them precede a fence that is requested afterwards.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_counted_from_the_start_on() {
        let changes = PageTableChanges::default();
        changes.note();
        assert_eq!(changes.count(), 0, "nobody asks yet");
        changes.start();
        changes.note();
        changes.start();
        changes.note();
        assert_eq!(changes.count(), 2);
    }
}
