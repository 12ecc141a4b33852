//! The BO list of a submission, with each BO once.

use crate::{
    host_memory::{self, NoHostMemory},
    uapi::BoListEntry,
    winsys::{Binding, BoList, Device, ResidencySet, Residents, WeakResidents},
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
pub(in crate::cs) struct WorkingSet {
    entries: Vec<BoListEntry>,
    /// The sets whose entries come first. Weak references reserve their addresses for comparison, but do not keep the members
    /// alive: memory that left its set is freed when its last job is done.
    sets: Vec<WeakResidents>,
    /// Number of entries that belong to sets.
    set_entries: usize,
    /// By handle: the round in which the BO was listed last; 0 if never.
    stamps: Vec<u64>,
    /// The round in which the sets were listed (`set_round`), and the current one (`round`), from 1.
    set_round: u64,
    round: u64,
    kernel_list: KernelList,
}

/// A kernel BO list with the same entries, for queues with `BoListMode::Kept`.
#[derive(Debug, Default)]
struct KernelList {
    list: Option<BoList>,
    /// The round of the sets in `list`; if there is no list, of the sets of the last submission.
    set_round: u64,
    rest: Vec<BoListEntry>,
}

impl WorkingSet {
    /// Returns `true` if exactly these sets are listed.
    pub(in crate::cs) fn has_listed(&self, sets: &[Residents]) -> bool {
        let same = |(listed, set): (&WeakResidents, &Residents)| listed.is_of(set);
        self.sets.len() == sets.len() && self.sets.iter().zip(sets).all(same)
    }

    /// Returns `true` if exactly these sets are listed and have not changed since, and there is at most one. Another thread may
    /// remove and free a member at any time.
    #[inline]
    pub(in crate::cs) fn is_listed(&self, sets: &[&ResidencySet]) -> bool {
        match (sets, self.sets.as_slice()) {
            ([], []) => true,
            ([set], []) => set.is_known_empty(),
            ([set], [listed]) => set.has_last(listed),
            _ => false,
        }
    }

    /// Replaces the listed sets with these sets. After an error no set is listed.
    pub(in crate::cs) fn list_sets(&mut self, sets: &[Residents]) -> Result<(), NoHostMemory> {
        self.entries.clear();
        self.set_entries = 0;
        self.sets.clear();
        self.round += 1;
        self.set_round = self.round;
        host_memory::reserve(&mut self.sets, sets.len())?;
        for binding in sets.iter().flat_map(|set| set.iter()) {
            self.add(binding, binding.priority())?;
        }
        self.set_entries = self.entries.len();
        self.sets.extend(sets.iter().map(Residents::downgrade));
        Ok(())
    }

    /// Begins a submission that uses the listed sets.
    pub(in crate::cs) fn begin(&mut self) {
        self.entries.truncate(self.set_entries);
        self.round += 1;
    }

    /// Adds the members of these sets to `into`, except for sets without members. A set that has not changed is not locked.
    #[inline]
    pub(in crate::cs) fn take_snapshots<'s>(
        &self,
        sets: impl ExactSizeIterator<Item = &'s ResidencySet>,
        into: &mut Vec<Residents>,
    ) -> Result<(), NoHostMemory> {
        sets.filter(|set| !set.is_known_empty()).try_for_each(|set| self.take_snapshot(set, into))
    }

    fn take_snapshot(&self, set: &ResidencySet, into: &mut Vec<Residents>) -> Result<(), NoHostMemory> {
        let unchanged = self.sets.get(into.len()).and_then(|listed| set.snapshot_if_still(listed));
        let members = unchanged.map_or_else(|| set.snapshot_if_room(), Ok)?;
        if members.is_none() { Ok(()) } else { host_memory::push(into, members) }
    }

    /// Lists a BO unless it is listed already.
    #[inline]
    pub(in crate::cs) fn add(&mut self, binding: &Binding, bo_priority: u32) -> Result<(), NoHostMemory> {
        let bo_handle = binding.bo_handle();
        let index = bo_handle as usize;
        if index < MOST_STAMPS {
            if index >= self.stamps.len() {
                self.add_stamps(index)?;
            }
            if let Some(stamp) = self.stamps.get_mut(index) {
                if *stamp != 0 && (*stamp == self.set_round || *stamp == self.round) {
                    return Ok(());
                }
                *stamp = self.round;
            }
        }
        host_memory::push(&mut self.entries, BoListEntry { bo_handle, bo_priority })
    }

    /// Extends the table of stamps up to a handle.
    #[cold]
    fn add_stamps(&mut self, index: usize) -> Result<(), NoHostMemory> {
        let len = (index + 1).next_power_of_two();
        let more = len - self.stamps.len();
        host_memory::reserve(&mut self.stamps, more)?;
        self.stamps.resize(len, 0);
        Ok(())
    }

    /// Returns the entries of the BO list.
    pub(in crate::cs) fn entries(&self) -> &[BoListEntry] {
        &self.entries
    }

    /// Updates the kernel BO list: it is created when two submissions in a row list the same BOs, and destroyed when a submission
    /// lists others.
    pub(in crate::cs) fn keep_list(&mut self, device: &Device) {
        let KernelList { list, set_round, rest } = &mut self.kernel_list;
        let now = self.entries.get(self.set_entries..).unwrap_or_default();
        if *set_round != self.set_round || rest != now {
            *list = None;
            rest.clear();
            // The kernel list is created only if its entries could be remembered here.
            let is_known = host_memory::extend(rest, now.iter().copied()).is_ok();
            *set_round = if is_known { self.set_round } else { 0 };
        } else if list.is_none() {
            // Without a kernel list, the submission carries the entries itself.
            *list = BoList::new(device, &self.entries)
                .inspect_err(|error| tracing::debug!(%error, "the kernel keeps no list"))
                .ok();
        }
    }

    /// Returns the kernel BO list, if there is one.
    pub(in crate::cs) fn kept_list(&self) -> Option<&BoList> {
        self.kernel_list.list.as_ref()
    }

    /// Takes the kernel BO list, which keeps its BOs alive in the kernel.
    pub(in crate::cs) fn take_kernel_list(&mut self) -> Option<BoList> {
        std::mem::take(&mut self.kernel_list).list
    }
}
