//! Small pieces of device memory, allocated from slabs.

use std::sync::Arc;

use amdgpu_hw::num::{count, index, wide};
use parking_lot::Mutex;

use super::{
    CachedMemory, GpuWork, MemoryCache, MemoryView, SizeClass, SuballocationError,
    error::is_out_of_memory,
    slab::{BUSY_LOOKS, Group, Leftovers, SlabEntry},
    work::Pending,
};
use crate::{
    heaps::{AllocateInfo, DeviceMemory, MemoryPropertyFlags},
    vamgr::GpuVa,
    winsys::{Binding, Resident, Unmappable},
};

/// A pool for allocations of up to 1 MiB of device memory, in entries of 256 bytes or more.
///
/// Every memory type has slabs for each [`SizeClass`], with a lock for each size class that is held only briefly. Slabs come from a
/// [`MemoryCache`], mapped if the type is host-visible, and return to it when their last entry is free.
///
/// An entry that is dropped can be reused at once. An entry that is [freed after](SubAllocation::free_after) some GPU work is
/// reused only when that work is done. Cloning is cheap and gives another handle to the same pool.
///
/// The rules follow Mesa 25.0.7 `src/gallium/auxiliary/pipebuffer/pb_slab.c`.
///
/// ```
/// use amdgpu_winsys::heaps::{MemoryUsage, suballocation::SlabPool};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let cache = amdgpu_winsys::heaps::suballocation::MemoryCache::new(&manager, amdgpu_winsys::heaps::suballocation::CacheLimits::default());
/// let upload = manager.properties().type_for(MemoryUsage::Upload).ok_or("no such type")?;
/// let pool = SlabPool::new(&cache);
/// let (first, second) = (pool.allocate(upload, 256, 256)?, pool.allocate(upload, 256, 256)?);
/// first.view()?.write_dwords(0, &[1, 2, 3])?;
/// assert_eq!(first.binding(), second.binding()); // two pieces of one slab, so one BO
/// assert_ne!(first.address(), second.address());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SlabPool {
    shared: Arc<PoolInner>,
}

#[derive(Debug)]
struct PoolInner {
    cache: MemoryCache,
    types: Box<[TypeSlabs]>,
}

/// The slabs of a memory type.
#[derive(Debug)]
struct TypeSlabs {
    /// Alignment of the addresses of slabs, bytes.
    alignment: u64,
    is_mapped: bool,
    /// The groups by [`SizeClass::index`].
    groups: Box<[Mutex<Group>]>,
}

/// Statistics of a [`SlabPool`].
///
/// ```
/// use amdgpu_winsys::heaps::suballocation::SlabPool;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let cache = amdgpu_winsys::heaps::suballocation::MemoryCache::new(&manager, amdgpu_winsys::heaps::suballocation::CacheLimits::default());
/// let pool = SlabPool::new(&cache);
/// let _entries = [pool.allocate(0, 300, 1)?, pool.allocate(0, 300, 1)?];
/// let stats = pool.stats();
/// assert_eq!((stats.slabs, stats.entries, stats.parked), (1, 2, 0));
/// assert_eq!((stats.slab_bytes, stats.entry_bytes), (2 << 20, 2 * 384)); // entries of the next size class
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlabStats {
    /// Number of slabs of all memory types and size classes.
    pub slabs: usize,
    /// Size of the slabs in bytes.
    pub slab_bytes: u64,
    /// Number of entries that the CPU or the GPU uses.
    pub entries: usize,
    /// Size of these entries in bytes.
    pub entry_bytes: u64,
    /// Number of these entries that are freed but wait for the GPU.
    pub parked: usize,
}

impl SlabPool {
    /// Creates a pool without slabs. It will allocate them from the cache.
    pub fn new(cache: &MemoryCache) -> Self {
        let properties = cache.manager().properties();
        let fragment = properties.facts().pte_fragment_size();
        let types = properties.types().iter().zip(0..).map(|(ty, index)| TypeSlabs {
            // A heap too small for a slab refuses every slab later; its alignment does not matter.
            alignment: properties.resolve(&AllocateInfo::new(index, 2 << 20)).map_or(1, |plan| plan.va_alignment),
            is_mapped: ty.properties.contains(MemoryPropertyFlags::HOST_VISIBLE),
            groups: SizeClass::all()
                .map(|class| Mutex::new(Group::new((class.slab_size(fragment) / class.entry_size()) as u32)))
                .collect(),
        });
        Self { shared: Arc::new(PoolInner { cache: cache.clone(), types: types.collect() }) }
    }

    /// Returns the cache that provides the slabs.
    pub fn cache(&self) -> &MemoryCache {
        &self.shared.cache
    }

    /// Allocates `size` bytes of a memory type at an address that is a multiple of `alignment`.
    ///
    /// Reuses a free entry, or else an entry that the GPU no longer uses, and otherwise creates a slab. If the kernel has no memory
    /// for a slab, the pool and the cache free all their idle memory, and the allocation is tried once more.
    ///
    /// # Errors
    ///
    /// * [`SuballocationError::ZeroSize`] if the size is zero; [`SuballocationError::TooLarge`] if it exceeds 1 MiB;
    /// * [`SuballocationError::Alignment`] if the alignment is not a power of two or too large;
    ///   [`SuballocationError::NoSuchType`] if there is no such memory type;
    /// * [`SuballocationError::Memory`] if no slab can be allocated.
    pub fn allocate(&self, memory_type: u32, size: u64, alignment: u64) -> Result<SubAllocation, SuballocationError> {
        let class = self.check(memory_type, size, alignment)?;
        let kind = SlabKind { memory_type, class };
        loop {
            if let Some((place, memory)) = self.take(kind) {
                let pool = Arc::clone(&self.shared);
                return Ok(SubAllocation { memory: Some(memory), pending: Pending::NONE, pool, kind, place, size });
            }
            let slab = self.new_slab(kind)?;
            if let Some(group) = self.shared.group(kind) {
                // Another thread may use up the slab first, which causes another iteration.
                group.lock().add(slab);
            }
        }
    }

    /// Frees the entries that the GPU is finished with, and the slabs that become empty.
    pub fn trim(&self) {
        self.reclaim_all();
    }

    /// Returns the current statistics.
    pub fn stats(&self) -> SlabStats {
        let fragment = self.cache().manager().properties().facts().pte_fragment_size();
        let mut stats = SlabStats::default();
        for ty in &self.shared.types {
            for (group, class) in ty.groups.iter().zip(SizeClass::all()) {
                let (slabs, entries, parked) = group.lock().counts();
                stats.slabs += slabs;
                stats.slab_bytes += wide(slabs) * class.slab_size(fragment);
                stats.entries += entries;
                stats.entry_bytes += wide(entries) * class.entry_size();
                stats.parked += parked;
            }
        }
        stats
    }

    fn check(&self, memory_type: u32, size: u64, alignment: u64) -> Result<SizeClass, SuballocationError> {
        let types = &self.shared.types;
        let Some(ty) = types.get(index(memory_type)) else {
            return Err(SuballocationError::NoSuchType { memory_type, count: count(types.len()) });
        };
        let most = ty.alignment.min(SizeClass::LARGEST);
        if size == 0 {
            return Err(SuballocationError::ZeroSize);
        }
        if !alignment.is_power_of_two() || alignment > most {
            return Err(SuballocationError::Alignment { alignment, most });
        }
        SizeClass::fitting(size, alignment).ok_or(SuballocationError::TooLarge { size })
    }

    fn take(&self, kind: SlabKind) -> Option<(SlabEntry, Arc<CachedMemory>)> {
        let mut leftovers = Leftovers::default();
        // Declared last, so that the lock is released before the leftovers are dropped.
        let mut group = self.shared.group(kind)?.lock();
        group.take().or_else(|| {
            group.reclaim(BUSY_LOOKS, &mut leftovers);
            group.take()
        })
    }

    fn new_slab(&self, kind: SlabKind) -> Result<CachedMemory, SuballocationError> {
        self.try_slab(kind).or_else(|error| match &error {
            SuballocationError::Memory(cause) if is_out_of_memory(cause.winsys().as_ref()) => {
                let freed = self.reclaim_all();
                if self.cache().flush() > 0 || freed { self.try_slab(kind) } else { Err(error) }
            }
            _ => Err(error),
        })
    }

    fn try_slab(&self, SlabKind { memory_type, class }: SlabKind) -> Result<CachedMemory, SuballocationError> {
        let fragment = self.cache().manager().properties().facts().pte_fragment_size();
        let memory = self.cache().allocate(&AllocateInfo::new(memory_type, class.slab_size(fragment)))?;
        if self.shared.types.get(index(memory_type)).is_some_and(|ty| ty.is_mapped) {
            memory.map_lasting()?;
        }
        Ok(memory)
    }

    /// Frees all parked entries that the GPU is finished with. Returns `true` if a slab was freed.
    fn reclaim_all(&self) -> bool {
        let mut any = false;
        for group in self.shared.types.iter().flat_map(|ty| &ty.groups) {
            let mut leftovers = Leftovers::default();
            group.lock().reclaim(usize::MAX, &mut leftovers);
            any |= leftovers.has_memory();
        }
        any
    }
}

/// The kind of a slab: its memory type and size class.
#[derive(Clone, Copy, Debug)]
struct SlabKind {
    memory_type: u32,
    class: SizeClass,
}

impl PoolInner {
    fn group(&self, SlabKind { memory_type, class }: SlabKind) -> Option<&Mutex<Group>> {
        self.types.get(index(memory_type))?.groups.get(class.index())
    }
}

impl Drop for PoolInner {
    fn drop(&mut self) {
        // Every sub-allocation keeps the pool alive, so only the GPU can still use entries.
        for group in self.types.iter_mut().flat_map(|ty| &mut ty.groups) {
            group.get_mut().dissolve();
        }
    }
}

/// A piece of a slab, which is freed on drop.
///
/// Drop it only if the GPU no longer uses it or never did; otherwise call [`SubAllocation::free_after`].
///
/// ```
/// use amdgpu_winsys::heaps::{MemoryUsage, suballocation::SlabPool};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let cache = amdgpu_winsys::heaps::suballocation::MemoryCache::new(&manager, amdgpu_winsys::heaps::suballocation::CacheLimits::default());
/// let upload = manager.properties().type_for(MemoryUsage::Upload).ok_or("no such type")?;
/// let pool = SlabPool::new(&cache);
/// let constants = pool.allocate(upload, 600, 256)?;
/// assert_eq!((constants.size(), constants.class().entry_size()), (600, 768));
/// assert_eq!(constants.address().as_u64(), constants.memory().address().as_u64() + constants.offset());
/// constants.view()?.write(0, b"for the GPU")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SubAllocation {
    /// `Some` until `Drop` takes it, so that the memory never outlives the slab's place in the pool.
    memory: Option<Arc<CachedMemory>>,
    pending: Pending,
    pool: Arc<PoolInner>,
    kind: SlabKind,
    place: SlabEntry,
    size: u64,
}

impl SubAllocation {
    /// Frees the piece. The pool reuses it only after `work` has completed.
    pub fn free_after(mut self, work: impl GpuWork + 'static) {
        self.pending = Pending::one(work);
    }

    /// Returns the device memory of the slab, which contains the piece.
    #[expect(clippy::missing_panics_doc, reason = "only `Drop` takes the memory")]
    pub fn memory(&self) -> &DeviceMemory {
        // PANIC: only `Drop` takes it.
        self.memory.as_deref().expect("memory is there until the drop")
    }

    /// Returns the binding of the whole slab, for the BO lists of submissions.
    pub fn binding(&self) -> &Binding {
        self.memory().binding()
    }

    /// Returns the offset of the piece in the device memory of its slab, in bytes.
    pub fn offset(&self) -> u64 {
        u64::from(self.place.entry) * self.kind.class.entry_size()
    }

    /// Returns the requested size of the piece in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the size class of the slab entry that holds the piece. The entry may be larger than the requested size.
    pub fn class(&self) -> SizeClass {
        self.kind.class
    }

    /// Returns the GPU address of the piece.
    pub fn address(&self) -> GpuVa {
        let start = self.memory().address();
        // INVARIANT: the entry is inside the slab, all of which has addresses.
        start.checked_add(self.offset()).unwrap_or(start)
    }

    /// Returns a view of the requested bytes for CPU access.
    ///
    /// # Errors
    ///
    /// [`SuballocationError::Memory`] with [`Unmappable`](crate::winsys::Error::Unmappable) if the memory type is not
    /// host-visible.
    pub fn view(&self) -> Result<MemoryView<'_>, SuballocationError> {
        let handle = self.memory().bo().handle();
        let mapping = self.memory().lasting_mapping().ok_or(Unmappable::NoCpuAccess { handle })?;
        Ok(MemoryView::new(mapping, self.offset(), self.size))
    }
}

/// Submissions list the whole slab.
impl Resident for SubAllocation {
    fn each_binding(&self, each: &mut dyn FnMut(&Binding)) {
        each(self.binding());
    }

    fn binding_count(&self) -> usize {
        1
    }
}

impl Drop for SubAllocation {
    fn drop(&mut self) {
        // Empty slabs return to the cache when this is dropped, outside the lock.
        let mut leftovers = Leftovers::default();
        self.memory = None;
        if let Some(group) = self.pool.group(self.kind) {
            group.lock().give(self.place, std::mem::take(&mut self.pending), &mut leftovers);
        }
    }
}
