//! Memory that submissions use together.

use std::sync::{
    Arc, Weak,
    atomic::{
        AtomicUsize,
        Ordering::{Acquire, Release},
    },
};

use parking_lot::Mutex;

use super::counted_set::CountedSet;
use crate::winsys::Binding;

/// A set of memories for [`Submission::sets`](crate::cs::Submission::sets): what a device's bindless resources, or a
/// sparse range, need resident.
///
/// Adding and removing costs O(1), whatever the size. A memory can be added several times and stays until it was removed
/// as often. A queue that is given the same set again, unchanged, does no work for it.
///
/// Memory that can never be shared ([`VM_ALWAYS_VALID`](crate::uapi::GemCreateFlags::VM_ALWAYS_VALID)) is resident for
/// every submission of its file anyway; it is listed only to be kept alive, which a driver whose users must keep it alive
/// themselves can do without.
///
/// RADV keeps a list for the device that it searches from the end to remove, copies for each submission, and keeps locked
/// during the ioctl (Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_get_bo_list`;
/// `radv_amdgpu_bo.c`, `radv_amdgpu_global_bo_list_del`).
#[derive(Debug, Default)]
pub struct ResidentSet {
    members: Mutex<Members>,
    /// The address of the snapshot; 0 while there is none. Written under the lock, and read without it.
    current: AtomicUsize,
}

/// The members of a [`ResidentSet`] at one time. Two snapshots between which nothing came or went are the same
/// allocation.
pub type Residents = Arc<[Binding]>;

#[derive(Debug, Default)]
struct Members {
    /// By the address of the object; a number, as it is never followed.
    memories: CountedSet<usize, Binding>,
    /// The members as they were when last asked for, as long as they are the same.
    snapshot: Option<Residents>,
}

impl ResidentSet {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a memory; whether it is new to the set.
    pub fn add(&self, memory: &Binding) -> bool {
        self.add_times(memory, 1)
    }

    /// Takes a memory back that was added; whether it has left the set. One that is not there is not an error.
    pub fn remove(&self, memory: &Binding) -> bool {
        self.remove_times(memory, 1)
    }

    /// Memories in the set, each counted once.
    pub fn len(&self) -> usize {
        self.members.lock().memories.len()
    }

    /// Returns `true` if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The members, each once. Copied only if something came or went since the last snapshot.
    pub fn snapshot(&self) -> Residents {
        let mut members = self.members.lock();
        let Members { memories, snapshot } = &mut *members;
        let snapshot = snapshot.get_or_insert_with(|| memories.iter().cloned().collect());
        self.current.store(Arc::as_ptr(snapshot).addr(), Release);
        Arc::clone(snapshot)
    }

    /// The members, if they are still those of this snapshot. Takes no lock.
    pub(crate) fn snapshot_if_still(&self, known: &Weak<[Binding]>) -> Option<Residents> {
        // Nothing else gets the address as long as `known` exists, so equal addresses are the same snapshot.
        if self.current.load(Acquire) == known.as_ptr().addr() { known.upgrade() } else { None }
    }

    pub(crate) fn add_times(&self, memory: &Binding, times: u64) -> bool {
        let mut members = self.members.lock();
        let is_new = members.memories.add(key(memory), times, || memory.clone());
        // The members without the new one may be the last to hold some memory: they go after the lock.
        let old = if is_new { self.take_snapshot(&mut members) } else { None };
        drop(members);
        drop(old);
        is_new
    }

    pub(crate) fn remove_times(&self, memory: &Binding, times: u64) -> bool {
        let mut members = self.members.lock();
        let Some(gone) = members.memories.remove(key(memory), times) else { return false };
        let old = self.take_snapshot(&mut members);
        // The last reference may go here, and with it a BO: not under the lock.
        drop(members);
        drop((gone, old));
        true
    }
}

impl ResidentSet {
    /// Takes the snapshot away, because the members change.
    fn take_snapshot(&self, members: &mut Members) -> Option<Residents> {
        self.current.store(0, Release);
        members.snapshot.take()
    }
}

fn key(memory: &Binding) -> usize {
    memory.state_address()
}
