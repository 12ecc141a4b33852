//! The slabs of one memory type and one size class, and their free entries.

use std::{collections::VecDeque, sync::Arc};

use amdgpu_hw::num::{count, index};

use super::{CachedMemory, work::Pending};

/// The position of an entry: its slab, and its index in the slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlabEntry {
    pub(super) slab: u32,
    pub(super) entry: u32,
}

/// A slab.
#[derive(Debug)]
struct Slab {
    memory: Arc<CachedMemory>,
    /// Entries that were freed.
    free: Vec<u32>,
    /// Entries from this index on were never allocated.
    fresh: u32,
    /// Number of allocated entries, including parked ones.
    live: u32,
    /// Index in [`Group::open`], if it has a free entry.
    open_at: Option<u32>,
}

/// A freed entry that the GPU may still use.
#[derive(Debug)]
struct Parked {
    place: SlabEntry,
    pending: Pending,
}

/// Objects that an operation frees, to be dropped after the lock is released.
#[derive(Debug, Default)]
#[must_use = "dropped outside the lock"]
pub(super) struct Leftovers {
    memories: Vec<Arc<CachedMemory>>,
    pending: Vec<Pending>,
}

impl Leftovers {
    /// Returns `true` if a slab was freed.
    pub(super) fn has_memory(&self) -> bool {
        !self.memories.is_empty()
    }
}

/// All slabs of one memory type and size class.
#[derive(Debug)]
pub(super) struct Group {
    /// Number of entries in a slab.
    entries: u32,
    /// The slabs by [`SlabEntry::slab`]. The indices of the empty places are in `vacant`.
    slabs: Vec<Option<Slab>>,
    vacant: Vec<u32>,
    /// Slabs with a free entry. Entries come from the last one until it is full, which keeps neighbouring allocations together.
    open: Vec<u32>,
    /// Freed entries that the GPU may still use, oldest first.
    parked: VecDeque<Parked>,
}

/// Number of busy entries after which a reclaim stops, because entries that were freed later are likely to be busy too.
///
/// Source: Mesa 25.0.7 `src/gallium/auxiliary/pipebuffer/pb_slab.c`, `MAX_FAILED_RECLAIMS`.
pub(super) const BUSY_LOOKS: usize = 2;

impl Group {
    /// Creates a group without slabs. Each slab will have the given number of entries.
    pub(super) fn new(entries: u32) -> Self {
        Self { entries, slabs: Vec::new(), vacant: Vec::new(), open: Vec::new(), parked: VecDeque::new() }
    }

    /// Allocates a free entry of an existing slab; `None` if there is none.
    pub(super) fn take(&mut self) -> Option<(SlabEntry, Arc<CachedMemory>)> {
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
        Some((SlabEntry { slab: at, entry }, memory))
    }

    /// Adds a slab with all entries free.
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

    /// Frees an entry, for reuse now or when the GPU is finished with it.
    pub(super) fn give(&mut self, place: SlabEntry, pending: Pending, leftovers: &mut Leftovers) {
        if pending.is_none() {
            self.release(place, leftovers);
        } else {
            self.parked.push_back(Parked { place, pending });
        }
    }

    /// Frees parked entries that the GPU is finished with, from the oldest on, until `busy` entries were found in use.
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

    /// Returns the numbers of slabs, of allocated entries, and of the parked ones among them.
    pub(super) fn counts(&self) -> (usize, usize, usize) {
        let live = self.slabs.iter().flatten().map(|slab| index(slab.live)).sum();
        (self.slabs.len() - self.vacant.len(), live, self.parked.len())
    }

    /// Frees every slab, each when the GPU is finished with its parked entries. Called when no entry is in use.
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

    /// Marks an entry as free. A slab without other allocated entries is removed.
    fn release(&mut self, place: SlabEntry, leftovers: &mut Leftovers) {
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

    /// Removes a slab from the open ones. The last open slab takes its place.
    fn close(&mut self, at: u32) {
        self.open.swap_remove(index(at));
        if let Some(&moved) = self.open.get(index(at))
            && let Some(Some(slab)) = self.slabs.get_mut(index(moved))
        {
            slab.open_at = Some(at);
        }
    }
}
