//! A ring of mapped memory for data that is used by one submission.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::{CachedMemory, GpuWork, MemoryCache, MemoryView, SuballocationError, ring_space::RingSpace, work::Pending};
use crate::{
    heaps::{AllocateInfo, DeviceMemory},
    vamgr::GpuVa,
    winsys::{Binding, Mapping, Unmappable},
};

/// A linear allocator in a ring of mapped memory.
///
/// A [`Batch`] allocates pieces while a submission is recorded. After it is [finished](Batch::finish), its pieces are freed, in
/// the order of allocation, when the submission has completed. A batch that is dropped frees its pieces at once, because
/// nothing was submitted. Several batches may be open at a time, in any threads. Space is freed only up to the oldest batch
/// that has not completed, so a batch that stays open eventually blocks the ring.
///
/// ```
/// use amdgpu_winsys::heaps::{MemoryUsage, suballocation::{SuballocationError, UploadRing}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let cache = amdgpu_winsys::heaps::suballocation::MemoryCache::new(&manager, amdgpu_winsys::heaps::suballocation::CacheLimits::default());
/// let upload = manager.properties().type_for(MemoryUsage::Upload).ok_or("no such type")?;
/// let ring = UploadRing::new(&cache, upload, 64 << 10)?;
/// let batch = ring.batch();
/// batch.allocate(40 << 10, 256)?;
/// assert!(matches!(batch.allocate(40 << 10, 256), Err(SuballocationError::RingFull { .. })));
/// batch.finish(|| true); // the submission is done already
/// ring.batch().allocate(40 << 10, 256)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct UploadRing {
    // Batches borrow the ring, so when it is dropped only the GPU can still use it.
    memory: Option<CachedMemory>,
    space: Mutex<RingSpace<Ticket>>,
}

/// Statistics of an [`UploadRing`] in bytes.
///
/// ```
/// use amdgpu_winsys::heaps::{MemoryUsage, suballocation::UploadRing};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let cache = amdgpu_winsys::heaps::suballocation::MemoryCache::new(&manager, amdgpu_winsys::heaps::suballocation::CacheLimits::default());
/// let upload = manager.properties().type_for(MemoryUsage::Upload).ok_or("no such type")?;
/// let ring = UploadRing::new(&cache, upload, 64 << 10)?;
/// let batch = ring.batch();
/// batch.allocate(1024, 256)?;
/// let stats = ring.stats();
/// assert_eq!((stats.used, stats.capacity), (1024, ring.memory().size()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingStats {
    /// Size of the whole ring.
    pub capacity: u64,
    /// Bytes in use, including bytes that were skipped at the end of the ring.
    pub used: u64,
}

/// A batch as its segments refer to it: empty while it is open, then the work that it waits for.
#[derive(Clone, Debug, Default)]
struct Ticket(Arc<OnceLock<Pending>>);

impl PartialEq for Ticket {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Ticket {
    fn is_done(&self) -> bool {
        self.0.get().is_some_and(Pending::is_done)
    }
}

impl UploadRing {
    /// Allocates and maps a ring of at least `size` bytes of a host-visible memory type.
    ///
    /// # Errors
    ///
    /// [`SuballocationError::ZeroSize`]; [`SuballocationError::Memory`] if the allocation fails or the type is not host-visible.
    pub fn new(cache: &MemoryCache, memory_type: u32, size: u64) -> Result<Self, SuballocationError> {
        if size == 0 {
            return Err(SuballocationError::ZeroSize);
        }
        let memory = cache.allocate(&AllocateInfo::new(memory_type, size))?;
        memory.map_lasting()?;
        let space = Mutex::new(RingSpace::new(memory.size()));
        Ok(Self { memory: Some(memory), space })
    }

    /// Starts an empty batch.
    pub fn batch(&self) -> Batch<'_> {
        Batch { ring: self, ticket: Ticket::default() }
    }

    /// Frees the pieces that the GPU no longer uses. [`Batch::allocate`] does so when the ring is full.
    pub fn reclaim(&self) {
        // The work is dropped outside the lock.
        let _done = self.space.lock().give_back(Ticket::is_done);
    }

    /// Returns the current statistics.
    pub fn stats(&self) -> RingStats {
        let space = self.space.lock();
        RingStats { capacity: space.size(), used: space.used() }
    }

    /// Returns the device memory of the ring.
    #[expect(clippy::missing_panics_doc, reason = "only `Drop` takes the memory")]
    pub fn memory(&self) -> &DeviceMemory {
        // PANIC: only `Drop` takes it.
        self.memory.as_ref().expect("memory is there until the drop")
    }

    fn mapping(&self) -> Result<&Mapping, SuballocationError> {
        let handle = self.memory().bo().handle();
        self.memory().lasting_mapping().ok_or_else(|| Unmappable::NoCpuAccess { handle }.into())
    }

    fn take(&self, size: u64, alignment: u64, ticket: &Ticket) -> Option<u64> {
        if let Some(offset) = self.space.lock().take(size, alignment, ticket.clone()) {
            return Some(offset);
        }
        self.reclaim();
        self.space.lock().take(size, alignment, ticket.clone())
    }
}

impl Drop for UploadRing {
    fn drop(&mut self) {
        // Memory that the GPU still reads is not reused before it has finished. No batch is open any more.
        let mut pending = Pending::NONE;
        for ticket in self.space.get_mut().give_back(|_| true) {
            if let Some(work) = Arc::into_inner(ticket.0).and_then(OnceLock::into_inner) {
                pending.add(work);
            }
        }
        if let Some(memory) = self.memory.take() {
            memory.free_pending(pending);
        }
    }
}

/// A group of pieces for one submission.
///
/// ```
/// use amdgpu_winsys::heaps::{MemoryUsage, suballocation::UploadRing};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let cache = amdgpu_winsys::heaps::suballocation::MemoryCache::new(&manager, amdgpu_winsys::heaps::suballocation::CacheLimits::default());
/// let upload = manager.properties().type_for(MemoryUsage::Upload).ok_or("no such type")?;
/// let ring = UploadRing::new(&cache, upload, 64 << 10)?;
/// let batch = ring.batch();
/// let vertices = batch.allocate(3 * 16, 16)?;
/// vertices.view().write_dwords(0, &[0; 12])?;
/// batch.finish(|| true); // with a fence: move || fence.is_signalled()
/// ring.reclaim();
/// assert_eq!(ring.stats().used, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "dropping a batch gives its pieces back"]
pub struct Batch<'a> {
    ring: &'a UploadRing,
    ticket: Ticket,
}

impl Batch<'_> {
    /// Allocates `size` bytes at an address that is a multiple of `alignment`, which is a power of two up to the alignment of
    /// the ring.
    ///
    /// # Errors
    ///
    /// * [`SuballocationError::ZeroSize`] if the size is zero; [`SuballocationError::Alignment`] if the alignment is not a
    ///   power of two or too large;
    /// * [`SuballocationError::RingFull`] if the GPU or other batches use too much of the ring. Wait for a submission, or use
    ///   other memory.
    pub fn allocate(&self, size: u64, alignment: u64) -> Result<Upload<'_>, SuballocationError> {
        let most = 1 << self.ring.memory().address().as_u64().trailing_zeros().min(63);
        if size == 0 {
            return Err(SuballocationError::ZeroSize);
        }
        if !alignment.is_power_of_two() || alignment > most {
            return Err(SuballocationError::Alignment { alignment, most });
        }
        let mapping = self.ring.mapping()?;
        let offset = self.ring.take(size, alignment, &self.ticket).ok_or_else(|| {
            let RingStats { capacity, used } = self.ring.stats();
            SuballocationError::RingFull { size, used, capacity }
        })?;
        Ok(Upload { ring: self.ring, view: MemoryView::new(mapping, offset, size), offset })
    }

    /// Finishes the batch. Its pieces are freed when the work is done.
    pub fn finish(self, work: impl GpuWork + 'static) {
        self.close(Pending::one(work));
    }

    fn close(&self, pending: Pending) {
        // Only the first call has an effect: that of `finish`, or that of the drop.
        let _already_closed = self.ticket.0.set(pending);
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.close(Pending::NONE);
    }
}

/// A piece of an [`UploadRing`], which the CPU writes and the GPU then reads.
///
/// ```
/// use amdgpu_winsys::heaps::{MemoryUsage, suballocation::UploadRing};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let cache = amdgpu_winsys::heaps::suballocation::MemoryCache::new(&manager, amdgpu_winsys::heaps::suballocation::CacheLimits::default());
/// let upload = manager.properties().type_for(MemoryUsage::Upload).ok_or("no such type")?;
/// let ring = UploadRing::new(&cache, upload, 64 << 10)?;
/// let batch = ring.batch();
/// let constants = batch.allocate(100, 256)?;
/// constants.view().write(0, &[7; 100])?;
/// assert_eq!(constants.address().as_u64(), ring.memory().address().as_u64() + constants.offset());
/// assert_eq!(constants.binding(), ring.memory().binding()); // which the submission lists
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Upload<'a> {
    ring: &'a UploadRing,
    view: MemoryView<'a>,
    offset: u64,
}

impl<'a> Upload<'a> {
    /// Returns the view through which the CPU writes the piece.
    pub fn view(&self) -> MemoryView<'a> {
        self.view
    }

    /// Returns the offset of the piece in the ring's memory, in bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the GPU address of the piece.
    pub fn address(&self) -> GpuVa {
        // INVARIANT: the piece is inside the memory, all of which has addresses.
        let start = self.ring.memory().address();
        start.checked_add(self.offset).unwrap_or(start)
    }

    /// Returns the binding of the ring's memory, for the BO lists of submissions.
    pub fn binding(&self) -> &'a Binding {
        self.ring.memory().binding()
    }
}
