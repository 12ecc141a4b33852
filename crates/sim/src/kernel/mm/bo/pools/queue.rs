//! The eviction order of the BOs of a heap.

use std::collections::BTreeSet;

/// The eviction class. A lower class is evicted first, regardless of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// The contents may be discarded.
    Discardable,
    /// All other BOs.
    Normal,
}

/// A BO's position in the queue: its class, the last use known to the queue, and its ID.
pub(super) type Ticket = (Class, u64, usize);

/// The BOs of a heap, the least recently used first.
///
/// Uses are not reported to the queue: with thousands of BOs in each submission that would cost more than the submission. A BO at
/// the front that was used since it was queued is moved to its proper position.
#[derive(Debug, Default)]
pub(super) struct Queue(BTreeSet<Ticket>);

impl Queue {
    pub(super) fn insert(&mut self, ticket: Ticket) {
        self.0.insert(ticket);
    }

    pub(super) fn remove(&mut self, ticket: Ticket) {
        self.0.remove(&ticket);
    }

    /// Returns the first position after another.
    pub(super) fn behind(&self, ticket: Option<Ticket>) -> Option<Ticket> {
        use std::ops::Bound::{Excluded, Unbounded};
        let start = ticket.map_or(Unbounded, Excluded);
        self.0.range((start, Unbounded)).next().copied()
    }
}
