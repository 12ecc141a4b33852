//! Eviction order of the BOs of a heap.

use std::collections::BTreeSet;

/// Eviction class: a lower one goes first, whenever it was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// Its contents may be thrown away.
    Discardable,
    /// Everything else.
    Normal,
}

/// A BO's place in the queue: its class, when it was last used as far as the queue knows, and its name.
pub(super) type Ticket = (Class, u64, usize);

/// The BOs of a heap, least recently used first.
///
/// A use is not reported to the queue: with thousands of BOs in each submission that would cost more than the submission. A
/// BO that comes up to go and was used since is put where it belongs then.
#[derive(Debug, Default)]
pub(super) struct Queue(BTreeSet<Ticket>);

impl Queue {
    pub(super) fn insert(&mut self, ticket: Ticket) {
        self.0.insert(ticket);
    }

    pub(super) fn remove(&mut self, ticket: Ticket) {
        self.0.remove(&ticket);
    }

    /// The first one behind another.
    pub(super) fn behind(&self, ticket: Option<Ticket>) -> Option<Ticket> {
        use std::ops::Bound::{Excluded, Unbounded};
        let start = ticket.map_or(Unbounded, Excluded);
        self.0.range((start, Unbounded)).next().copied()
    }
}
