//! A cache of freed device memory for similar allocations.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Deref,
    sync::Arc,
    time::Duration,
};

use amdgpu_hw::num::index;
use parking_lot::Mutex;

use super::{Clock, GpuWork, MonotonicClock, error::is_out_of_memory, work::Pending};
use crate::{
    heaps::{AllocateFlags, AllocateInfo, AllocateMemoryError, DeviceMemory, MAX_HEAPS, MemoryManager, Replay},
    winsys::{Binding, Resident},
};

/// The limits of a [`MemoryCache`] in bytes and time.
///
/// The defaults are those of Mesa: half a second, and an eighth of every heap.
///
/// Source: Mesa 25.0.7 `src/gallium/winsys/amdgpu/drm/amdgpu_winsys.c`, `amdgpu_winsys_create`. Mesa takes the eighth of VRAM
/// and GTT together.
///
/// ```
/// use amdgpu_winsys::heaps::{AllocateInfo, suballocation::{CacheLimits, MemoryCache}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let nothing_kept = CacheLimits { heap_divisor: 0, ..CacheLimits::default() };
/// let cache = MemoryCache::new(&manager, nothing_kept);
/// drop(cache.allocate(&AllocateInfo::new(0, 64 << 10))?);
/// assert_eq!(cache.stats().entries, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheLimits {
    /// Time in the cache after which idle memory is freed.
    pub timeout: Duration,
    /// The cache keeps at most this fraction of a heap: the heap's size divided by this number. With 0 it keeps nothing.
    pub heap_divisor: u64,
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self { timeout: Duration::from_millis(500), heap_divisor: 8 }
    }
}

/// Statistics of a [`MemoryCache`].
///
/// ```
/// use amdgpu_winsys::heaps::AllocateInfo;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let cache = amdgpu_winsys::heaps::suballocation::MemoryCache::new(&manager, amdgpu_winsys::heaps::suballocation::CacheLimits::default());
/// let info = AllocateInfo::new(0, 64 << 10);
/// drop(cache.allocate(&info)?);
/// drop(cache.allocate(&info)?);
/// let stats = cache.stats();
/// assert_eq!((stats.hits, stats.misses), (1, 1)); // the second allocation made no ioctl
/// assert_eq!((stats.entries, stats.bytes, stats.busy), (1, 64 << 10, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Number of memory objects in the cache.
    pub entries: usize,
    /// Total size of the cached memory objects in bytes.
    pub bytes: u64,
    /// Number of these objects that the GPU still uses.
    pub busy: usize,
    /// Number of allocations so far that reused cached memory.
    pub hits: u64,
    /// Number of reusable allocations so far that the cache had no memory for.
    pub misses: u64,
}

/// A cache of device memory that reuses freed memory for later allocations.
///
/// Cloning is cheap and gives another handle to the same cache. One lock protects the cached memory, and is never held during
/// an ioctl.
///
/// Memory is reused for an allocation with the same type, flags and priority if it is at most half larger than requested. It is
/// never reused while the GPU uses it: before the work that it was freed after is done, or while a submission holds its
/// binding. Exportable, discardable, replayable and zero-initialized memory is not reused.
///
/// The GPU must be idle when the last handle is dropped, as for `vkDestroyDevice`.
///
/// ```
/// use amdgpu_winsys::heaps::{AllocateInfo, suballocation::{CacheLimits, MemoryCache}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let cache = MemoryCache::new(&manager, CacheLimits::default());
/// let info = AllocateInfo::new(0, 64 << 10);
/// let address = cache.allocate(&info)?.address(); // and freed again
/// assert_eq!(cache.allocate(&info)?.address(), address);
/// assert_eq!(cache.flush(), 64 << 10); // the kernel has it back
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MemoryCache {
    shared: Arc<CacheInner>,
}

struct CacheInner {
    manager: MemoryManager,
    clock: Box<dyn Clock>,
    limits: CacheLimits,
    kept: Mutex<Kept>,
}

impl std::fmt::Debug for CacheInner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CacheInner").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// The properties that must match for reuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    memory_type: u32,
    flags: u32,
    priority: u32,
    reusable: bool,
}

/// Freed memory in the cache.
struct Entry {
    memory: DeviceMemory,
    pending: Pending,
    since: Duration,
}

impl Entry {
    /// Returns `true` if the GPU is finished with the memory. A submission that lists the memory holds its binding.
    fn is_idle(&self) -> bool {
        self.memory.is_unshared() && self.pending.is_done()
    }
}

#[derive(Default)]
struct Kept {
    /// The entries by key and by the base-2 logarithm of the size, oldest first.
    buckets: BTreeMap<(Key, u32), VecDeque<Entry>>,
    heap_bytes: [u64; MAX_HEAPS],
    /// Time of the next check for expired entries.
    sweep_at: Duration,
    hits: u64,
    misses: u64,
}

impl MemoryCache {
    /// Creates an empty cache for the memory of a manager, with the system's monotonic clock.
    pub fn new(manager: &MemoryManager, limits: CacheLimits) -> Self {
        Self::with_clock(manager, limits, MonotonicClock::default())
    }

    /// Creates an empty cache that uses the given clock.
    pub fn with_clock(manager: &MemoryManager, limits: CacheLimits, clock: impl Clock + 'static) -> Self {
        let (manager, clock) = (manager.clone(), Box::new(clock));
        Self { shared: Arc::new(CacheInner { manager, clock, limits, kept: Mutex::default() }) }
    }

    /// Returns the manager that allocates the memory.
    pub fn manager(&self) -> &MemoryManager {
        &self.shared.manager
    }

    /// Allocates memory from the cache or the manager. If the kernel has no memory, all idle memory in the cache is freed, and
    /// the allocation is tried once more.
    ///
    /// The memory may be larger than requested, may already be mapped, and is not cleared.
    ///
    /// # Errors
    ///
    /// The errors of [`MemoryManager::allocate`].
    pub fn allocate(&self, info: &AllocateInfo) -> Result<CachedMemory, AllocateMemoryError> {
        let plan = self.manager().properties().resolve(info)?;
        let key = self.key(info, plan.priority);
        let own = |memory| CachedMemory { memory: Some(memory), pending: Pending::NONE, key, home: self.clone() };
        if key.reusable
            && let Some(memory) = self.reuse(key, plan.bo.size)
        {
            return Ok(own(memory));
        }
        self.manager()
            .allocate(info)
            .or_else(|error| {
                let retry = is_out_of_memory(error.winsys().as_ref()) && self.flush() > 0;
                if retry { self.manager().allocate(info) } else { Err(error) }
            })
            .map(own)
    }

    /// Frees all idle memory in the cache, regardless of its age, and returns the number of bytes freed.
    pub fn flush(&self) -> u64 {
        self.free_where(|_| true)
    }

    /// Frees idle memory that has been in the cache longer than the time-out, and returns the number of bytes freed.
    pub fn trim(&self) -> u64 {
        let now = self.shared.clock.now();
        self.free_where(|entry| self.has_expired(entry.since, now))
    }

    /// Returns the current statistics.
    pub fn stats(&self) -> CacheStats {
        let kept = self.shared.kept.lock();
        let mut stats = CacheStats { hits: kept.hits, misses: kept.misses, ..CacheStats::default() };
        for entry in kept.buckets.values().flatten() {
            stats.entries += 1;
            stats.bytes += entry.memory.size();
            stats.busy += usize::from(!entry.is_idle());
        }
        stats
    }

    fn key(&self, info: &AllocateInfo, priority: u32) -> Key {
        let plain = AllocateFlags::INTERNAL | AllocateFlags::BYPASS_L2;
        let zeroes = self.manager().properties().options().zero_vram;
        let reusable = plain.contains(info.flags) && info.replay == Replay::No && !zeroes;
        Key { memory_type: info.memory_type, flags: info.flags.bits(), priority, reusable }
    }

    /// Removes an idle memory of `size` bytes to one and a half times `size`. Only the oldest one that fits is checked: if that
    /// is busy, the newer ones are likely to be busy too.
    fn reuse(&self, key: Key, size: u64) -> Option<DeviceMemory> {
        let most = size.saturating_add(size / 2);
        let mut kept = self.shared.kept.lock();
        let found = (size.ilog2()..=most.ilog2()).find_map(|order| {
            let bucket = kept.buckets.get_mut(&(key, order))?;
            let fits = |entry: &Entry| (size..=most).contains(&entry.memory.size());
            let oldest = bucket.iter().position(fits)?;
            bucket.get(oldest)?.is_idle().then(|| bucket.remove(oldest))?
        });
        match &found {
            Some(entry) => {
                kept.hits += 1;
                kept.uncount(entry);
            }
            None => kept.misses += 1,
        }
        drop(kept);
        // The work is dropped here, outside the lock.
        found.map(|entry| entry.memory)
    }

    /// Adds freed memory to the cache, or drops it if the limits require this.
    fn keep(&self, memory: DeviceMemory, pending: Pending, key: Key) {
        let now = self.shared.clock.now();
        let entry = Entry { memory, pending, since: now };
        let size = entry.memory.size();
        let limit = self.limit(entry.memory.heap());
        let mut freed = Vec::new();
        // Declared last, so that the lock is released before `freed` is dropped.
        let mut kept = self.shared.kept.lock();
        if now >= kept.sweep_at {
            kept.sweep_at = now.saturating_add(self.shared.limits.timeout / 4);
            kept.take_where(|old| self.has_expired(old.since, now), &mut freed);
        }
        let heap = entry.memory.heap();
        if kept.bytes_of(heap).saturating_add(size) > limit && size <= limit {
            kept.take_oldest(heap, limit - size, &mut freed);
        }
        let may_stay = key.reusable && kept.bytes_of(heap).saturating_add(size) <= limit;
        if may_stay || !entry.is_idle() {
            kept.add(key, entry);
        }
    }

    /// Returns the number of bytes of a heap that may be cached.
    fn limit(&self, heap: u32) -> u64 {
        let size = self.manager().properties().heaps().get(index(heap)).map_or(0, |heap| heap.size);
        size.checked_div(self.shared.limits.heap_divisor).unwrap_or(0)
    }

    fn has_expired(&self, since: Duration, now: Duration) -> bool {
        now.saturating_sub(since) >= self.shared.limits.timeout
    }

    fn free_where(&self, wanted: impl Fn(&Entry) -> bool) -> u64 {
        let mut freed = Vec::new();
        self.shared.kept.lock().take_where(wanted, &mut freed);
        freed.iter().map(|entry| entry.memory.size()).sum()
    }
}

impl Kept {
    fn bytes_of(&self, heap: u32) -> u64 {
        self.heap_bytes.get(index(heap)).copied().unwrap_or(0)
    }

    fn add(&mut self, key: Key, entry: Entry) {
        let (size, heap) = (entry.memory.size(), entry.memory.heap());
        if let Some(bytes) = self.heap_bytes.get_mut(index(heap)) {
            *bytes += size;
        }
        self.buckets.entry((key, size.ilog2())).or_default().push_back(entry);
    }

    fn uncount(&mut self, entry: &Entry) {
        if let Some(bytes) = self.heap_bytes.get_mut(index(entry.memory.heap())) {
            *bytes -= entry.memory.size();
        }
    }

    /// Moves out idle entries that are `wanted` or cannot be reused.
    fn take_where(&mut self, wanted: impl Fn(&Entry) -> bool, into: &mut Vec<Entry>) {
        let first = into.len();
        for ((key, _), bucket) in &mut self.buckets {
            let mut at = 0;
            while let Some(entry) = bucket.get(at) {
                if (!key.reusable || wanted(entry)) && entry.is_idle() {
                    // Removal is cheap near either end, and most removed entries are the oldest.
                    into.extend(bucket.remove(at));
                } else {
                    at += 1;
                }
            }
        }
        for entry in into.iter().skip(first) {
            self.uncount(entry);
        }
        self.buckets.retain(|_, bucket| !bucket.is_empty());
    }

    /// Moves out the oldest idle entries of a heap until at most `most` bytes of the heap are left.
    fn take_oldest(&mut self, heap: u32, most: u64, into: &mut Vec<Entry>) {
        while self.bytes_of(heap) > most {
            let oldest = |bucket: &VecDeque<Entry>| {
                let at = bucket.iter().position(|entry| entry.memory.heap() == heap && entry.is_idle())?;
                Some((bucket.get(at)?.since, at))
            };
            let choice = self.buckets.iter().filter_map(|(key, bucket)| Some((oldest(bucket)?, *key))).min();
            let Some(((_, at), key)) = choice else { return };
            let Some(entry) = self.buckets.get_mut(&key).and_then(|bucket| bucket.remove(at)) else { return };
            self.uncount(&entry);
            into.push(entry);
        }
    }
}

/// Device memory from a cache, to which it returns on drop.
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicBool, Ordering}};
/// use amdgpu_winsys::heaps::AllocateInfo;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let cache = amdgpu_winsys::heaps::suballocation::MemoryCache::new(&manager, amdgpu_winsys::heaps::suballocation::CacheLimits::default());
/// let memory = cache.allocate(&AllocateInfo::new(0, 64 << 10))?;
/// let done = Arc::new(AtomicBool::new(false));
/// let seen = Arc::clone(&done);
/// memory.free_after(move || seen.load(Ordering::Acquire)); // with a fence: move || fence.is_signalled()
/// assert_eq!(cache.stats().busy, 1);
/// done.store(true, Ordering::Release);
/// assert_eq!(cache.stats().busy, 0); // the next allocation may have it
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CachedMemory {
    /// `Some` until `Drop` takes it.
    memory: Option<DeviceMemory>,
    pending: Pending,
    key: Key,
    home: MemoryCache,
}

impl CachedMemory {
    /// Returns the memory to the cache, which reuses or frees it only after `work` has completed. Drop the memory instead if the
    /// GPU no longer uses it.
    pub fn free_after(mut self, work: impl GpuWork + 'static) {
        self.pending.add(Pending::one(work));
    }

    pub(super) fn free_pending(mut self, pending: Pending) {
        self.pending.add(pending);
    }
}

impl Deref for CachedMemory {
    type Target = DeviceMemory;

    fn deref(&self) -> &DeviceMemory {
        // PANIC: only `Drop` takes it.
        self.memory.as_ref().expect("memory is there until the drop")
    }
}

impl Resident for CachedMemory {
    fn each_binding(&self, each: &mut dyn FnMut(&Binding)) {
        each(self.binding());
    }

    fn binding_count(&self) -> usize {
        1
    }
}

impl Drop for CachedMemory {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            self.home.keep(memory, std::mem::take(&mut self.pending), self.key);
        }
    }
}
