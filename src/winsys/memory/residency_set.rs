//! Memory that submissions use together.

use std::{
    ops::Deref,
    sync::{
        Arc, Weak,
        atomic::{
            AtomicUsize,
            Ordering::{Acquire, Release},
        },
    },
};

use parking_lot::Mutex;

use super::counted_set::CountedSet;
use crate::{
    host_memory::{self, NoHostMemory},
    winsys::Binding,
};

/// A set of memories for [`Submission::sets`](crate::cs::Submission::sets): what a device's bindless resources, or a
/// sparse range, need resident.
///
/// ```
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_winsys::{heaps::{AllocateInfo, MemoryManager, TableOptions}, winsys::{Device, ResidencySet}};
///
/// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
/// let memory = MemoryManager::new(&device, &TableOptions::default())?.allocate(&AllocateInfo::new(0, 4096))?;
/// let set = ResidencySet::new();
/// set.clone().add(memory.binding());
/// assert_eq!(&*set.snapshot(), [memory.binding().clone()]);
/// assert_eq!(set.snapshot(), set.snapshot());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// A `ResidencySet` is a handle: a clone of it is the same set, and equal to it.
#[derive(Clone, Debug, Default)]
pub struct ResidencySet(Arc<SetState>);

/// Two handles are equal if they are of the same set.
impl PartialEq for ResidencySet {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ResidencySet {}

/// The state that all handles of a set share.
#[derive(Debug, Default)]
struct SetState {
    members: Mutex<Members>,
    /// The address of the snapshot; 0 while there is none. Written under the lock, and read without it.
    current: AtomicUsize,
}

/// The members of a [`ResidencySet`] at one time, as a slice that clones cheaply. Two snapshots are
/// equal if the set did not change between them, or if both are empty.
///
/// ```
/// use amdgpu_winsys::winsys::ResidencySet;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(0, 4096))?;
/// let set = ResidencySet::new();
/// let before = set.snapshot();
/// set.add(memory.binding());
/// let after = set.snapshot();
/// assert!(before.is_empty() && before != after); // a snapshot does not change
/// assert!(after.contains(memory.binding()) && after == set.snapshot());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Residents(Option<Arc<[Binding]>>);

/// A snapshot that keeps no member alive.
#[derive(Debug)]
pub(crate) struct WeakResidents(Option<Weak<[Binding]>>);

/// The address of every snapshot without members, which counts no references. No other snapshot has it.
const EMPTY: usize = 1;

impl Deref for Residents {
    type Target = [Binding];

    #[inline]
    fn deref(&self) -> &[Binding] {
        self.0.as_deref().unwrap_or_default()
    }
}

/// Two snapshots are equal if nothing came or went between them, or if both are empty.
impl PartialEq for Residents {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl Eq for Residents {}

impl Residents {
    /// The snapshot of these members.
    fn of(members: impl ExactSizeIterator<Item = Binding>) -> Self {
        Self((members.len() > 0).then(|| members.collect()))
    }

    /// The snapshot of these members, if there is host memory for it.
    fn of_if_room(members: impl ExactSizeIterator<Item = Binding>) -> Result<Self, NoHostMemory> {
        let mut all = Vec::new();
        host_memory::extend(&mut all, members)?;
        Ok(Self(if all.is_empty() { None } else { Some(host_memory::arc_of(all)?) }))
    }

    /// Returns a snapshot without members that counts references, for tests that follow its life.
    #[cfg(test)]
    pub(crate) fn counted() -> Self {
        Self(Some(Arc::from([])))
    }

    /// Returns an address that no other snapshot has as long as this one lives, but for those without members.
    #[inline]
    fn address(&self) -> usize {
        self.0.as_ref().map_or(EMPTY, |members| Arc::as_ptr(members).addr())
    }

    /// Returns `true` if it is the one without members.
    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_none()
    }

    #[inline]
    pub(crate) fn downgrade(&self) -> WeakResidents {
        WeakResidents(self.0.as_ref().map(Arc::downgrade))
    }
}

impl WeakResidents {
    /// Returns the number of handles of the snapshot.
    #[cfg(test)]
    pub(crate) fn handle_count(&self) -> usize {
        self.0.as_ref().map_or(0, Weak::strong_count)
    }

    /// Returns `true` if it is of this snapshot.
    #[inline]
    pub(crate) fn is_of(&self, residents: &Residents) -> bool {
        self.address() == residents.address()
    }

    /// As [`Residents::address`]; it stays taken as long as this exists.
    #[inline]
    fn address(&self) -> usize {
        self.0.as_ref().map_or(EMPTY, |members| members.as_ptr().addr())
    }
}

#[derive(Debug, Default)]
struct Members {
    /// By the address of the object; a number, as it is never followed.
    memories: CountedSet<usize, Binding>,
    /// The members as they were when last asked for, as long as they are the same.
    snapshot: Option<Residents>,
}

impl ResidencySet {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the address of the shared state, which no other set has as long as this one lives.
    pub(crate) fn state_address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Adds a memory. Returns `true` if it is new to the set.
    pub fn add(&self, memory: &Binding) -> bool {
        self.add_times(memory, 1)
    }

    /// Undoes one [`add`](Self::add). Returns `true` if the memory left the set, and `false` if it was not a member.
    pub fn remove(&self, memory: &Binding) -> bool {
        self.remove_times(memory, 1)
    }

    /// Returns the number of memories in the set, each counted once.
    pub fn len(&self) -> usize {
        self.0.members.lock().memories.len()
    }

    /// Returns `true` if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the members, each once. Copied only if something came or went since the last snapshot.
    pub fn snapshot(&self) -> Residents {
        let mut members = self.0.members.lock();
        let Members { memories, snapshot } = &mut *members;
        let snapshot = snapshot.get_or_insert_with(|| Residents::of(memories.iter().cloned()));
        self.0.current.store(snapshot.address(), Release);
        snapshot.clone()
    }

    /// Returns the members as [`ResidencySet::snapshot`] does, if there is host memory for a copy.
    pub(crate) fn snapshot_if_room(&self) -> Result<Residents, NoHostMemory> {
        let mut members = self.0.members.lock();
        let Members { memories, snapshot } = &mut *members;
        let current = match snapshot {
            Some(current) => current,
            None => snapshot.insert(Residents::of_if_room(memories.iter().cloned())?),
        };
        self.0.current.store(current.address(), Release);
        Ok(current.clone())
    }

    /// Returns `true` if the set was empty when it was last asked for its members, and nothing came since. Takes no lock.
    #[inline]
    pub(crate) fn is_known_empty(&self) -> bool {
        self.0.current.load(Acquire) == EMPTY
    }

    /// Returns `true` if the members are still those of this snapshot. Takes no lock.
    #[inline]
    pub(crate) fn is_still(&self, known: &Residents) -> bool {
        self.0.current.load(Acquire) == known.address()
    }

    /// The members, if they are still those of this snapshot. Takes no lock.
    pub(crate) fn snapshot_if_still(&self, known: &WeakResidents) -> Option<Residents> {
        // Nothing else gets the address as long as `known` exists, so equal addresses are the same snapshot.
        if self.0.current.load(Acquire) != known.address() {
            return None;
        }
        match &known.0 {
            Some(members) => Some(Residents(Some(members.upgrade()?))),
            None => Some(Residents(None)),
        }
    }

    pub(crate) fn add_times(&self, memory: &Binding, times: u64) -> bool {
        let mut members = self.0.members.lock();
        let is_new = members.memories.add(key(memory), times, || memory.clone());
        // The members without the new one may be the last to hold some memory: they go after the lock.
        let old = if is_new { self.take_snapshot(&mut members) } else { None };
        drop(members);
        drop(old);
        is_new
    }

    pub(crate) fn remove_times(&self, memory: &Binding, times: u64) -> bool {
        let mut members = self.0.members.lock();
        let Some(gone) = members.memories.remove(key(memory), times) else { return false };
        let old = self.take_snapshot(&mut members);
        // The last reference may go here, and with it a BO: not under the lock.
        drop(members);
        drop((gone, old));
        true
    }
}

impl ResidencySet {
    /// Takes the snapshot away, because the members change.
    fn take_snapshot(&self, members: &mut Members) -> Option<Residents> {
        self.0.current.store(0, Release);
        members.snapshot.take()
    }
}

fn key(memory: &Binding) -> usize {
    memory.state_address()
}
