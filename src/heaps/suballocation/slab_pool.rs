//! Small pieces of device memory, cut from slabs.

use std::sync::Arc;

use amdgpu_hw::num::{count, index, wide};
use parking_lot::Mutex;

use super::{
    CachedMemory, GpuWork, MemoryCache, MemoryView, SizeClass, SuballocationError,
    error::is_out_of_memory,
    slab::{BUSY_LOOKS, Group, Leftovers, Place},
    work::Pending,
};
use crate::{
    heaps::{AllocateInfo, DeviceMemory, MemoryPropertyFlags},
    vamgr::GpuVa,
    winsys::{Binding, Resident},
};

/// A pool of pieces of 256 bytes to 1 MiB.
///
/// Every memory type has slabs for each [`SizeClass`], with a lock of their own that is held for a few steps. Slabs
/// come from a [`MemoryCache`], mapped if the type is host-visible, and go back to it when their last entry is free.
///
/// An entry is reused at once when it is dropped, and not before the GPU is done when it is
/// [freed after](SubAllocation::free_after) something. Cloning is cheap and gives another handle to the same pool.
///
/// Source of the rules: Mesa 25.0.7 `src/gallium/auxiliary/pipebuffer/pb_slab.c`.
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
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    cache: MemoryCache,
    types: Box<[TypeSlabs]>,
}

/// The slabs of a memory type.
#[derive(Debug)]
struct TypeSlabs {
    /// Alignment of every slab's address, bytes.
    alignment: u64,
    is_mapped: bool,
    /// By [`SizeClass::index`].
    groups: Box<[Mutex<Group>]>,
}

/// Figures of a pool.
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
    /// Slabs.
    pub slabs: usize,
    /// Their bytes.
    pub slab_bytes: u64,
    /// Entries in use, by the CPU's side or the GPU's.
    pub entries: usize,
    /// Their bytes.
    pub entry_bytes: u64,
    /// Those of the entries that wait for the GPU.
    pub parked: usize,
}

impl SlabPool {
    /// Creates a pool without slabs, that will take them from the cache.
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
        Self { shared: Arc::new(Shared { cache: cache.clone(), types: types.collect() }) }
    }

    /// Returns the cache that the slabs come from.
    pub fn cache(&self) -> &MemoryCache {
        &self.shared.cache
    }

    /// Allocates `size` bytes of a memory type, whose address is a multiple of `alignment`.
    ///
    /// A free entry if there is one, else one that the GPU has become done with, else one of a new slab. When the kernel
    /// has no memory for that, everything that waits in the pool and the cache is freed, and it is asked once more.
    ///
    /// # Errors
    ///
    /// * [`SuballocationError::ZeroSize`], [`SuballocationError::TooLarge`], [`SuballocationError::Alignment`],
    ///   [`SuballocationError::NoSuchType`]: the request makes no sense here;
    /// * [`SuballocationError::Memory`]: there is no memory for a slab.
    pub fn allocate(&self, memory_type: u32, size: u64, alignment: u64) -> Result<SubAllocation, SuballocationError> {
        let class = self.check(memory_type, size, alignment)?;
        let kind = Kind { memory_type, class };
        loop {
            if let Some((place, memory)) = self.take(kind) {
                let pool = Arc::clone(&self.shared);
                return Ok(SubAllocation { memory: Some(memory), pending: Pending::NONE, pool, kind, place, size });
            }
            let slab = self.new_slab(kind)?;
            if let Some(group) = self.shared.group(kind) {
                // Another thread may be served from it first; then there is another round.
                group.lock().add(slab);
            }
        }
    }

    /// Frees the entries that the GPU is done with, and the slabs that become unused.
    pub fn trim(&self) {
        self.reclaim_all();
    }

    /// Returns the figures of this moment.
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

    fn take(&self, kind: Kind) -> Option<(Place, Arc<CachedMemory>)> {
        let mut leftovers = Leftovers::default();
        // Declared last, and so released before the leftovers go.
        let mut group = self.shared.group(kind)?.lock();
        group.take().or_else(|| {
            group.reclaim(BUSY_LOOKS, &mut leftovers);
            group.take()
        })
    }

    fn new_slab(&self, kind: Kind) -> Result<CachedMemory, SuballocationError> {
        self.try_slab(kind).or_else(|error| match &error {
            SuballocationError::Memory(cause) if is_out_of_memory(cause) => {
                let freed = self.reclaim_all();
                if self.cache().flush() > 0 || freed { self.try_slab(kind) } else { Err(error) }
            }
            _ => Err(error),
        })
    }

    fn try_slab(&self, Kind { memory_type, class }: Kind) -> Result<CachedMemory, SuballocationError> {
        let fragment = self.cache().manager().properties().facts().pte_fragment_size();
        let memory = self.cache().allocate(&AllocateInfo::new(memory_type, class.slab_size(fragment)))?;
        if self.shared.types.get(index(memory_type)).is_some_and(|ty| ty.is_mapped) {
            memory.map_lasting()?;
        }
        Ok(memory)
    }

    /// Frees every parked entry that the GPU is done with; whether a slab went with them.
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

/// Kind of slabs.
#[derive(Clone, Copy, Debug)]
struct Kind {
    memory_type: u32,
    class: SizeClass,
}

impl Shared {
    fn group(&self, Kind { memory_type, class }: Kind) -> Option<&Mutex<Group>> {
        self.types.get(index(memory_type))?.groups.get(class.index())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Every sub-allocation holds the pool, so only the GPU can still use entries.
        for group in self.types.iter_mut().flat_map(|ty| &mut ty.groups) {
            group.get_mut().dissolve();
        }
    }
}

/// A piece of a slab, given back on drop.
///
/// Drop it only if the GPU is finished with it or never used it; otherwise call [`SubAllocation::free_after`].
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
    /// Some until `Drop` takes it, so that it never outlives the slab's place in the pool.
    memory: Option<Arc<CachedMemory>>,
    pending: Pending,
    pool: Arc<Shared>,
    kind: Kind,
    place: Place,
    size: u64,
}

impl SubAllocation {
    /// Gives it back, not to be reused before the work is done.
    pub fn free_after(mut self, work: impl GpuWork + 'static) {
        self.pending = Pending::one(work);
    }

    /// Returns the memory it is part of.
    #[expect(clippy::missing_panics_doc, reason = "only `Drop` takes the memory")]
    pub fn memory(&self) -> &DeviceMemory {
        // PANIC: only `Drop` takes it.
        self.memory.as_deref().expect("memory is there until the drop")
    }

    /// Returns the binding, which submissions list: that of the whole slab.
    pub fn binding(&self) -> &Binding {
        self.memory().binding()
    }

    /// Returns the offset from the start of the memory, bytes.
    pub fn offset(&self) -> u64 {
        u64::from(self.place.entry) * self.kind.class.entry_size()
    }

    /// Returns the number of bytes asked for.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the class it was served from; its entry may be larger than what was asked for.
    pub fn class(&self) -> SizeClass {
        self.kind.class
    }

    /// Returns the GPU address.
    pub fn address(&self) -> GpuVa {
        let start = self.memory().address();
        // INVARIANT: the entry is inside the slab, all of which has addresses.
        start.checked_add(self.offset()).unwrap_or(start)
    }

    /// Returns the CPU's view of the bytes asked for.
    ///
    /// # Errors
    ///
    /// [`SuballocationError::Memory`] with [`NotMappable`](crate::winsys::Error::NotMappable) for a type that is not
    /// host-visible.
    pub fn view(&self) -> Result<MemoryView<'_>, SuballocationError> {
        let handle = self.memory().bo().handle();
        let mapping = self.memory().lasting_mapping().ok_or(crate::winsys::Error::NotMappable { handle })?;
        Ok(MemoryView::new(mapping, self.offset(), self.size))
    }
}

/// The whole slab.
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
        // Slabs without entries go back to the cache when this goes, outside the lock.
        let mut leftovers = Leftovers::default();
        self.memory = None;
        if let Some(group) = self.pool.group(self.kind) {
            group.lock().give(self.place, std::mem::take(&mut self.pending), &mut leftovers);
        }
    }
}
