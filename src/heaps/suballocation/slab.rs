//! The slabs of one memory type and one size class, and which of their entries are free.

use std::{collections::VecDeque, sync::Arc};

use amdgpu_hw::num::{count, index};

use super::{CachedMemory, work::Pending};

/// An entry: which slab, and which of its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) slab: u32,
    pub(super) entry: u32,
}

/// One slab.
#[derive(Debug)]
struct Slab {
    memory: Arc<CachedMemory>,
    /// Entries given back.
    free: Vec<u32>,
    /// Entries from here on were never given out.
    fresh: u32,
    /// Entries given out, those parked included.
    live: u32,
    /// Index in [`Group::open`], if it has a free entry.
    open_at: Option<u32>,
}

/// An entry that the GPU may still use.
#[derive(Debug)]
struct Parked {
    place: Place,
    pending: Pending,
}

/// Objects that a step frees, to be dropped after the lock is released.
#[derive(Debug, Default)]
#[must_use = "dropped outside the lock"]
pub(super) struct Leftovers {
    memories: Vec<Arc<CachedMemory>>,
    pending: Vec<Pending>,
}

impl Leftovers {
    /// Returns `true` if any slab was freed.
    pub(super) fn has_memory(&self) -> bool {
        !self.memories.is_empty()
    }
}

/// All slabs of a kind.
#[derive(Debug)]
pub(super) struct Group {
    /// Entries in a slab.
    entries: u32,
    /// By [`Place::slab`]; the empty places are in `vacant`.
    slabs: Vec<Option<Slab>>,
    vacant: Vec<u32>,
    /// Slabs with a free entry. The last is served from until it has none, which keeps neighbours together.
    open: Vec<u32>,
    /// Oldest first.
    parked: VecDeque<Parked>,
}

/// Number of busy entries after which a reclaim stops: what was freed later will be busy too.
///
/// Source: Mesa 25.0.7 `src/gallium/auxiliary/pipebuffer/pb_slab.c`, `MAX_FAILED_RECLAIMS`.
pub(super) const BUSY_LOOKS: usize = 2;

impl Group {
    /// Creates a pool without slabs; each will have the given number of entries.
    pub(super) fn new(entries: u32) -> Self {
        Self { entries, slabs: Vec::new(), vacant: Vec::new(), open: Vec::new(), parked: VecDeque::new() }
    }

    /// A free entry of a slab there is.
    pub(super) fn take(&mut self) -> Option<(Place, Arc<CachedMemory>)> {
        let at = *self.open.last()?;
        let slab = self.slabs.get_mut(index(at))?.as_mut()?;
        let entry = slab.free.pop().unwrap_or_else(|| {
            slab.fresh += 1;
            slab.fresh - 1
        });
        slab.live += 1;
        let memory = Arc::clone(&slab.memory);
        if slab.live == self.entries {
            slab.open_at = None;
            self.open.pop();
        }
        Some((Place { slab: at, entry }, memory))
    }

    /// Adds a slab, all free.
    pub(super) fn add(&mut self, memory: CachedMemory) {
        let open_at = Some(count(self.open.len()));
        let slab = Slab { memory: Arc::new(memory), free: Vec::new(), fresh: 0, live: 0, open_at };
        let at = self.vacant.pop().unwrap_or_else(|| {
            self.slabs.push(None);
            count(self.slabs.len()) - 1
        });
        if let Some(vacancy) = self.slabs.get_mut(index(at)) {
            *vacancy = Some(slab);
        }
        self.open.push(at);
    }

    /// Gives an entry back: for reuse at once, or when the GPU is done with it.
    pub(super) fn give(&mut self, place: Place, pending: Pending, leftovers: &mut Leftovers) {
        if pending.is_none() {
            self.release(place, leftovers);
        } else {
            self.parked.push_back(Parked { place, pending });
        }
    }

    /// Frees parked entries that the GPU is done with, from the oldest on, until it has met `busy` that are not.
    pub(super) fn reclaim(&mut self, busy: usize, leftovers: &mut Leftovers) {
        let (mut met, mut at) = (0, 0);
        while met < busy {
            let Some(parked) = self.parked.get(at) else { return };
            if !parked.pending.is_done() {
                (met, at) = (met + 1, at + 1);
            } else if let Some(Parked { place, pending }) = self.parked.remove(at) {
                leftovers.pending.push(pending);
                self.release(place, leftovers);
            }
        }
    }

    /// Slabs, entries given out, and how many of those are parked.
    pub(super) fn counts(&self) -> (usize, usize, usize) {
        let live = self.slabs.iter().flatten().map(|slab| index(slab.live)).sum();
        (self.slabs.len() - self.vacant.len(), live, self.parked.len())
    }

    /// Gives every slab back, each when the GPU is done with its parked entries. For the end, when no entry is in use.
    pub(super) fn dissolve(&mut self) {
        let mut pending: Vec<Pending> = self.slabs.iter().map(|_| Pending::NONE).collect();
        for Parked { place, pending: work } in self.parked.drain(..) {
            if let Some(all) = pending.get_mut(index(place.slab)) {
                all.add(work);
            }
        }
        for (slab, pending) in self.slabs.drain(..).zip(pending) {
            if let Some(memory) = slab.and_then(|slab| Arc::into_inner(slab.memory)) {
                memory.free_pending(pending);
            }
        }
    }

    /// Makes an entry free; a slab that has no others goes at once.
    fn release(&mut self, place: Place, leftovers: &mut Leftovers) {
        let Some(vacancy) = self.slabs.get_mut(index(place.slab)) else { return };
        let Some(slab) = vacancy else { return };
        slab.live -= 1;
        if slab.live > 0 {
            slab.free.push(place.entry);
            if slab.open_at.is_none() {
                slab.open_at = Some(count(self.open.len()));
                self.open.push(place.slab);
            }
            return;
        }
        let open_at = slab.open_at;
        leftovers.memories.extend(vacancy.take().map(|slab| slab.memory));
        self.vacant.push(place.slab);
        if let Some(at) = open_at {
            self.close(at);
        }
    }

    /// Takes a slab out of the open ones; the last takes its place.
    fn close(&mut self, at: u32) {
        self.open.swap_remove(index(at));
        if let Some(&moved) = self.open.get(index(at))
            && let Some(Some(slab)) = self.slabs.get_mut(index(moved))
        {
            slab.open_at = Some(at);
        }
    }
}
