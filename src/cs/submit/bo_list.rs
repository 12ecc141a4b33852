//! The BO list of a submission, with each BO once.

use super::in_flight::Resource;
use crate::{
    host_memory::{self, NoHostMemory},
    uapi::BoListEntry,
    winsys::{Binding, BoList, Device, Residents},
};

/// The number of handles that can have a stamp. Handles are small, because the kernel assigns the lowest free handle. A BO with a
/// larger handle may be listed twice, which the kernel allows.
const MOST_STAMPS: usize = 1 << 20;

/// The BO list of a submission: first the members of its sets, which stay in place as long as the sets do not change, then the
/// other BOs.
///
/// A set that has not changed costs nothing, regardless of its size. Every other BO costs one step, because a table by handle shows
/// which are listed already. RADV searches the list for each BO, and copies the list of the device each time (Mesa 25.0.7
/// `radv_amdgpu_cs.c`, `radv_amdgpu_get_bo_list`, `radv_amdgpu_add_cs_to_bo_list`).
#[derive(Debug, Default)]
pub(in crate::cs) struct BoListBuilder {
    entries: Vec<BoListEntry>,
    /// The generations of the sets whose entries come first, which do not keep the members alive: memory that left its set is freed
    /// when its last job is done.
    sets: Vec<u64>,
    /// Number of entries that belong to sets.
    set_entries: usize,
    /// By handle: the round in which the BO was listed last; 0 if never.
    stamps: Vec<u64>,
    /// The round in which the sets were listed (`set_round`), and the current one (`round`), from 1.
    set_round: u64,
    round: u64,
    /// A kernel BO list with the same entries, for queues with `BoListMode::Kept`.
    kernel_list: Option<BoList>,
    /// The entries of `kernel_list`; if there is none, those of the last submission.
    kernel_entries: Vec<BoListEntry>,
    /// The memory in `kernel_list`: no other BO gets one of its handles, so equal entries are the same BOs.
    kernel_refs: Vec<Resource>,
}

impl BoListBuilder {
    /// Returns `true` if exactly the sets with these generations are listed, which may be repeated.
    #[inline]
    pub(super) fn has_listed(&self, generations: impl Iterator<Item = u64>) -> bool {
        let mut rest = &self.sets[..];
        for generation in generations {
            match rest.split_first() {
                Some((&next, others)) if next == generation => rest = others,
                _ if self.sets.contains(&generation) => {}
                _ => return false,
            }
        }
        rest.is_empty()
    }

    /// Replaces the listed sets with these sets. After an error no set is listed.
    pub(super) fn list_sets<'s>(
        &mut self,
        sets: impl Iterator<Item = &'s Residents> + Clone,
    ) -> Result<(), NoHostMemory> {
        self.entries.clear();
        self.set_entries = 0;
        self.sets.clear();
        self.round += 1;
        self.set_round = self.round;
        host_memory::reserve(&mut self.sets, sets.clone().count())?;
        for binding in sets.clone().flat_map(|set| set.iter()) {
            self.add(binding, binding.priority())?;
        }
        self.set_entries = self.entries.len();
        self.sets.extend(sets.map(Residents::generation));
        Ok(())
    }

    /// Begins a submission that uses the listed sets.
    pub(in crate::cs) fn begin(&mut self) {
        self.entries.truncate(self.set_entries);
        self.round += 1;
    }

    /// Lists a BO unless it is listed already.
    #[inline]
    pub(in crate::cs) fn add(&mut self, binding: &Binding, bo_priority: u32) -> Result<(), NoHostMemory> {
        self.add_entry(BoListEntry { bo_handle: binding.bo_handle(), bo_priority })
    }

    #[inline]
    fn add_entry(&mut self, entry: BoListEntry) -> Result<(), NoHostMemory> {
        let index = entry.bo_handle as usize;
        match self.stamps.get_mut(index) {
            Some(stamp) if *stamp != 0 && (*stamp == self.set_round || *stamp == self.round) => return Ok(()),
            Some(stamp) => *stamp = self.round,
            None if index < MOST_STAMPS => return self.add_first(entry),
            None => {}
        }
        host_memory::push(&mut self.entries, entry)
    }

    /// Extends the table of stamps up to the handle of an entry, and lists it.
    #[cold]
    fn add_first(&mut self, entry: BoListEntry) -> Result<(), NoHostMemory> {
        let len = (entry.bo_handle as usize + 1).next_power_of_two();
        let more = len - self.stamps.len();
        host_memory::reserve(&mut self.stamps, more)?;
        self.stamps.resize(len, 0);
        self.add_entry(entry)
    }

    /// Returns the entries of the BO list.
    pub(in crate::cs) fn entries(&self) -> &[BoListEntry] {
        &self.entries
    }

    /// Updates the kernel BO list: it is created when two submissions in a row list the same BOs, and destroyed when a submission
    /// lists others. Without a kernel list, the submission carries the entries itself.
    /// `lists` and `memory` are what the submission uses; `memory` gets what the destroyed list has kept alive.
    pub(super) fn keep_list(
        &mut self,
        device: &Device,
        lists: &[Resource],
        memory: &mut Vec<Resource>,
    ) -> Result<(), NoHostMemory> {
        if self.kernel_entries != self.entries {
            host_memory::extend(memory, self.kernel_refs.drain(..))?;
            self.kernel_list = None;
            self.kernel_entries.clear();
            return host_memory::extend(&mut self.kernel_entries, self.entries.iter().copied());
        }
        if self.kernel_list.is_none() {
            for binding in lists.iter().filter_map(Resource::list).flat_map(|list| list.bindings()) {
                host_memory::push(&mut self.kernel_refs, Resource::Memory(binding.clone()))?;
            }
            for resource in memory.iter() {
                if let Some(shared) = resource.share_memory() {
                    host_memory::push(&mut self.kernel_refs, shared)?;
                }
            }
            self.kernel_list = BoList::new(device, &self.entries).ok();
        }
        Ok(())
    }

    /// Returns the kernel BO list, if there is one.
    pub(super) fn kernel_list(&self) -> Option<&BoList> {
        self.kernel_list.as_ref()
    }
}
