//! Sets of memory that submissions use together.

use std::{
    ops::Deref,
    sync::{
        Arc,
        atomic::{
            AtomicU64,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
};

use parking_lot::Mutex;

use super::counted_set::CountedSet;
use crate::{
    host_memory::{self, NoHostMemory},
    winsys::Binding,
};

/// A set of memory for [`Submission::sets`](crate::cs::Submission::sets), such as the memory that a device's bindless
/// resources or a sparse range need resident.
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
/// Adding and removing takes constant time, regardless of the size of the set. A memory object can be added several times; it stays
/// in the set until it has been removed the same number of times. A submission with the same set as before costs nothing if the set
/// has not changed.
///
/// Memory that can never be shared ([`VM_ALWAYS_VALID`](crate::uapi::GemCreateFlags::VM_ALWAYS_VALID)) is resident for
/// every submission of its file. The set lists it only to keep it alive; a driver whose applications must keep it alive
/// themselves need not add it.
///
/// RADV instead keeps a list for the device. It searches that list from the end on removal, copies it for each submission,
/// and keeps it locked during the ioctl (Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`,
/// `radv_amdgpu_get_bo_list`; `radv_amdgpu_bo.c`, `radv_amdgpu_global_bo_list_del`).
///
/// A `ResidencySet` is a reference-counted handle: its clones are the same set and compare equal.
#[derive(Clone, Debug, Default)]
pub struct ResidencySet(Arc<SetState>);

/// Two handles are equal if they refer to the same set.
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
    /// The generation of the snapshot; 0 if there is none. Written with the lock held, read without it.
    current: AtomicU64,
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
pub struct Residents {
    /// A number that is unique in the process and never reused, except that all empty snapshots have the same.
    generation: u64,
    members: Option<Arc<[Binding]>>,
}

/// The generation of every empty snapshot, which has no reference count.
const EMPTY: u64 = 1;

/// The generation of the last snapshot of any set.
static LAST_GENERATION: AtomicU64 = AtomicU64::new(EMPTY);

impl Deref for Residents {
    type Target = [Binding];

    #[inline]
    fn deref(&self) -> &[Binding] {
        self.members.as_deref().unwrap_or_default()
    }
}

/// Two snapshots are equal if the set did not change between them, or if both are empty.
impl PartialEq for Residents {
    fn eq(&self, other: &Self) -> bool {
        self.generation == other.generation
    }
}

impl Eq for Residents {}

impl Residents {
    /// Creates a snapshot of these members.
    fn of(members: impl ExactSizeIterator<Item = Binding>) -> Self {
        Self::with((members.len() > 0).then(|| members.collect()))
    }

    /// Creates a snapshot of these members; an error if host memory is exhausted.
    fn of_if_room(members: impl ExactSizeIterator<Item = Binding>) -> Result<Self, NoHostMemory> {
        let mut all = Vec::new();
        host_memory::extend(&mut all, members)?;
        Ok(Self::with(if all.is_empty() { None } else { Some(host_memory::arc_of(all)?) }))
    }

    fn with(members: Option<Arc<[Binding]>>) -> Self {
        let generation = if members.is_some() { LAST_GENERATION.fetch_add(1, Relaxed) + 1 } else { EMPTY };
        Self { generation, members }
    }

    /// Returns an empty snapshot with a reference count and a handle that does not keep it, for tests of its lifetime.
    #[cfg(test)]
    pub(crate) fn counted() -> (Self, std::sync::Weak<[Binding]>) {
        let members = Arc::from([]);
        let trace = Arc::downgrade(&members);
        (Self::with(Some(members)), trace)
    }

    /// Returns `true` if the snapshot is the empty one without a reference count.
    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.members.is_none()
    }

    /// Returns the generation of the snapshot.
    #[inline]
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }
}

#[derive(Debug, Default)]
struct Members {
    /// Keyed by the address of the binding's state, as a number.
    memories: CountedSet<usize, Binding>,
    /// The last snapshot, unless the members have changed since.
    snapshot: Option<Residents>,
}

impl ResidencySet {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the address of the shared state, which no other set has while this one exists.
    pub(crate) fn state_address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Adds a memory object. Returns `true` if it was not in the set before.
    pub fn add(&self, memory: &Binding) -> bool {
        self.add_times(memory, 1)
    }

    /// Undoes one [`add`](Self::add). Returns `true` if the memory left the set, `false` if it is still in the set or never
    /// was.
    pub fn remove(&self, memory: &Binding) -> bool {
        self.remove_times(memory, 1)
    }

    /// Returns the number of distinct memory objects in the set.
    pub fn len(&self) -> usize {
        self.0.members.lock().memories.len()
    }

    /// Returns `true` if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the members, each listed once. The list is copied only if the set has changed since the last snapshot.
    pub fn snapshot(&self) -> Residents {
        let mut members = self.0.members.lock();
        let Members { memories, snapshot } = &mut *members;
        let snapshot = snapshot.get_or_insert_with(|| Residents::of(memories.iter().cloned()));
        self.0.current.store(snapshot.generation, Release);
        snapshot.clone()
    }

    /// Returns the members like [`ResidencySet::snapshot`]; an error if host memory for a copy is exhausted.
    pub(crate) fn snapshot_if_room(&self) -> Result<Residents, NoHostMemory> {
        let mut members = self.0.members.lock();
        let Members { memories, snapshot } = &mut *members;
        let current = match snapshot {
            Some(current) => current,
            None => snapshot.insert(Residents::of_if_room(memories.iter().cloned())?),
        };
        self.0.current.store(current.generation, Release);
        Ok(current.clone())
    }

    /// Returns `true` if the last snapshot was empty and no memory was added since. Takes no lock.
    #[inline]
    pub(crate) fn is_known_empty(&self) -> bool {
        self.generation() == EMPTY
    }

    /// Returns the generation of the last snapshot; 0 if the members have changed since. Takes no lock.
    #[inline]
    pub(crate) fn generation(&self) -> u64 {
        self.0.current.load(Acquire)
    }

    pub(crate) fn add_times(&self, memory: &Binding, times: u64) -> bool {
        let mut members = self.0.members.lock();
        let is_new = members.memories.add(key(memory), times, || memory.clone());
        // The old snapshot may hold the last reference to a memory, so it is dropped after the lock is released.
        let old = if is_new { self.take_snapshot(&mut members) } else { None };
        drop(members);
        drop(old);
        is_new
    }

    pub(crate) fn remove_times(&self, memory: &Binding, times: u64) -> bool {
        let mut members = self.0.members.lock();
        let Some(gone) = members.memories.remove(key(memory), times) else { return false };
        let old = self.take_snapshot(&mut members);
        // This may drop the last reference to a BO, so it happens after the lock is released.
        drop(members);
        drop((gone, old));
        true
    }
}

impl ResidencySet {
    /// Invalidates the snapshot because the members change, and returns it.
    fn take_snapshot(&self, members: &mut Members) -> Option<Residents> {
        self.0.current.store(0, Release);
        members.snapshot.take()
    }
}

fn key(memory: &Binding) -> usize {
    memory.state_address()
}
