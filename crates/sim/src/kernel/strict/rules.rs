//! The memory of the rules about packets.

use super::event::Time;
use crate::gpu::{CacheOperation, Ended, Place};

/// The number of stores at the end of the pipe that are remembered for waits.
const MOST_STORED: usize = 64;

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
    /// The events of the last stores at the end of the pipe or of shaders, with their addresses.
    stored: Vec<(Option<u64>, Time, Ended)>,
    /// Cache operations at the end of the pipe, which are over when a wait has seen the store, or at the end of the job.
    pub(super) pending: Vec<(Time, CacheOperation)>,
}

impl Rules {
    /// Remembers a store at the end of the pipe or of shaders.
    pub(super) fn store(&mut self, va: Option<u64>, time: Time, ended: Ended) {
        if va.is_some() {
            self.stored.retain(|(old, ..)| *old != va);
        }
        if self.stored.len() >= MOST_STORED {
            self.stored.remove(0);
        }
        self.stored.push((va, time, ended));
    }

    /// Returns the event of the store that a wait has seen: the last one at its address, or the last of all for a wait that counts
    /// events.
    pub(super) fn seen(&self, va: Option<u64>) -> Option<(Time, Ended)> {
        let found = self.stored.iter().rev().find(|(stored, ..)| va.is_none() || *stored == va);
        found.map(|(_, time, ended)| (*time, *ended))
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
            && self.pending == other.pending
    }
}
