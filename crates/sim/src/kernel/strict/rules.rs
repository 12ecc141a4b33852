//! The memory of the rules about packets.

use super::event::{Agent, Time};
use crate::gpu::{CacheOperation, Ended, Place, Signal, WaitCondition};

/// The number of stores at the end of the pipe that are remembered for waits.
const MOST_STORED: usize = 64;

/// The values at an address before and after a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Values {
    pub(super) before: u64,
    pub(super) after: u64,
}

/// A store at the end of the pipe or of shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Store {
    pub(super) va: Option<u64>,
    pub(super) time: Time,
    pub(super) ended: Ended,
    /// The values, if they are known.
    pub(super) values: Option<Values>,
}

/// The packets of a job that matter to later ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    /// The number of packets so far, and the numbers of the last ones that matter to others.
    pub(super) packets: u64,
    pub(super) sampled: Option<u64>,
    pub(super) ended: Option<(u64, Place)>,
    /// The work that was started since PFP waited for ME.
    pub(super) started: Option<Place>,
    /// The DMA that wrote memory and for which nothing has waited.
    pub(super) open_dma: Option<Place>,
    /// The event of the current DMA, if it is over when the next packet begins.
    pub(super) synced: Option<Time>,
    /// The last stores at the end of the pipe or of shaders.
    pub(super) stored: Vec<Store>,
    /// The last store of shaders that no write-back of L2 has followed when it was over.
    pub(super) written: Option<(Time, Agent, Place)>,
    /// Cache operations at the end of the pipe, which are over when a wait has seen the store, or at the end of the job.
    pub(super) pending: Vec<(Time, CacheOperation)>,
}

impl Rules {
    /// Remembers a store at the end of the pipe or of shaders.
    pub(super) fn store(&mut self, store: Store) {
        if self.stored.len() >= MOST_STORED {
            self.stored.remove(0);
        }
        self.stored.push(store);
    }

    /// Returns the event of the store that a wait has seen: the first one at its address with which the condition is met. A condition
    /// that was met before all of them has seen none.
    ///
    /// A value that none of them has stored is that of another writer, for which the last one is taken.
    pub(super) fn seen(&self, va: u64, condition: WaitCondition) -> Option<(Time, Ended)> {
        let mut there = self.stored.iter().filter(|store| store.va == Some(va)).peekable();
        if there.peek()?.values.is_some_and(|values| condition.is_met(values.before)) {
            return None;
        }
        let first = there.clone().find(|store| store.values.is_none_or(|values| condition.is_met(values.after)));
        first.or_else(|| there.last()).map(|store| (store.time, store.ended))
    }

    /// Returns the event for which a wait that counts events has waited: one of a counter with so many later ones.
    pub(super) fn counted(&self, counter: Ended, outstanding: u32) -> Option<(Time, Ended)> {
        let counted = self.stored.iter().rev().filter(|store| store.va.is_none() && store.ended == counter);
        counted.map(|store| (store.time, store.ended)).nth(outstanding as usize)
    }

    /// Returns the event that a packet has waited for; `None` for what is no wait.
    pub(super) fn waited(&self, signal: Signal) -> Option<(Time, Ended)> {
        match signal {
            Signal::Waited { va, condition, .. } => self.seen(va, condition),
            Signal::Counted { counter, outstanding } => self.counted(counter, outstanding),
            _ => None,
        }
    }

    /// Forgets the stores that a wait has seen are over, but for the last, whose value is what later waits find.
    pub(super) fn forget(&mut self, va: u64, until: Time) {
        self.stored.retain(|store| store.va != Some(va) || store.time >= until);
    }

    /// Takes the operations at the end of the pipe up to an event.
    pub(super) fn due(&mut self, until: Time) -> Vec<(Time, CacheOperation)> {
        let (due, later) = self.pending.iter().partition(|(time, _)| *time <= until);
        self.pending = later;
        due
    }

    /// Returns `true` if the rules will judge later packets as others will.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let age = |rules: &Self, number: Option<u64>| {
            number.map(|number| rules.packets.saturating_sub(number)).filter(|age| *age < 2)
        };
        let facts = |rules: &Self| {
            let ended = rules.ended.map(|(number, _)| number);
            (age(rules, rules.sampled), ended.map(|number| rules.packets.saturating_sub(number)), rules.synced)
        };
        facts(self) == facts(other)
            && self.started == other.started
            && self.open_dma == other.open_dma
            && self.stored == other.stored
            && self.written == other.written
            && self.pending == other.pending
    }
}
