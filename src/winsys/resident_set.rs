//! Memory that submissions use together.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

use super::Binding;

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
}

/// The members of a [`ResidentSet`] at one time. Two snapshots between which nothing came or went are the same
/// allocation.
pub type Residents = Arc<[Arc<Binding>]>;

#[derive(Debug, Default)]
struct Members {
    /// Where in `list` a memory is, by the address of the object; a number, as it is never followed.
    places: HashMap<usize, usize>,
    /// Memories, and how often they were added.
    list: Vec<(Arc<Binding>, u64)>,
    /// The members as they were when last asked for, as long as they are the same.
    snapshot: Option<Residents>,
}

impl ResidentSet {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a memory; whether it is new to the set.
    pub fn add(&self, memory: &Arc<Binding>) -> bool {
        self.add_times(memory, 1)
    }

    /// Takes a memory back that was added; whether it has left the set. One that is not there is not an error.
    pub fn remove(&self, memory: &Arc<Binding>) -> bool {
        self.remove_times(memory, 1)
    }

    /// Memories in the set, each counted once.
    pub fn len(&self) -> usize {
        self.members.lock().list.len()
    }

    /// Whether nothing is in the set.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The members, each once. Copied only if something came or went since the last snapshot.
    pub fn snapshot(&self) -> Residents {
        let mut members = self.members.lock();
        let Members { list, snapshot, .. } = &mut *members;
        Arc::clone(snapshot.get_or_insert_with(|| list.iter().map(|(memory, _)| Arc::clone(memory)).collect()))
    }

    pub(crate) fn add_times(&self, memory: &Arc<Binding>, times: u64) -> bool {
        let mut members = self.members.lock();
        let Members { places, list, snapshot } = &mut *members;
        let is_new = !places.contains_key(&key(memory));
        if is_new {
            places.insert(key(memory), list.len());
            list.push((Arc::clone(memory), 0));
            *snapshot = None;
        }
        if let Some((_, count)) = places.get(&key(memory)).and_then(|&place| list.get_mut(place)) {
            *count = count.saturating_add(times);
        }
        is_new
    }

    pub(crate) fn remove_times(&self, memory: &Arc<Binding>, times: u64) -> bool {
        let mut members = self.members.lock();
        let Members { places, list, snapshot } = &mut *members;
        let Some(&place) = places.get(&key(memory)) else { return false };
        let Some((_, count)) = list.get_mut(place) else { return false };
        *count = count.saturating_sub(times);
        if *count > 0 {
            return false;
        }
        places.remove(&key(memory));
        let gone = list.swap_remove(place);
        if let Some((moved, _)) = list.get(place) {
            places.insert(key(moved), place);
        }
        let old = snapshot.take();
        // The last reference may go here, and with it a BO: not under the lock.
        drop(members);
        drop((gone, old));
        true
    }
}

fn key(memory: &Arc<Binding>) -> usize {
    Arc::as_ptr(memory).addr()
}
