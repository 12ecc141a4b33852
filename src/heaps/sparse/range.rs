//! Address ranges whose pages are bound and unbound while they are in use.

use std::{ops::Range, sync::Arc};

use parking_lot::Mutex;

use crate::{
    heaps::SparseRangeError,
    vamgr::{GpuVa, IntervalMap, Run, VaRequest},
    winsys::{
        Binding, Device, Error as WinsysError, Event, Misaligned, OutOfRange, PAGE_SIZE, Reservation, ResidencySet,
    },
};

/// A part of device memory that is bound in a sparse range.
///
/// ```
/// use amdgpu_winsys::{
///     heaps::{AllocateInfo, Backing, SparseBind, SparseRange},
///     vamgr::VaRequest,
/// };
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let memory = manager.allocate(&AllocateInfo::new(0, 128 << 10))?;
/// let range = SparseRange::new(&device, VaRequest::new(1 << 20).aligned(64 << 10))?;
/// let second_half = Backing { memory: memory.binding().clone(), offset: 64 << 10 };
/// range.bind(&[SparseBind { offset: 0, len: 64 << 10, backing: Some(second_half) }])?;
/// let (piece, backing) = range.lookup(4096).ok_or("nothing is bound")?;
/// assert_eq!((piece, backing.offset), (0..64 << 10, 64 << 10));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Backing {
    /// The memory, see [`DeviceMemory::binding`](super::super::DeviceMemory::binding). It stays alive while it is bound.
    pub memory: Binding,
    /// Offset in the memory in bytes, where the bound part starts.
    pub offset: u64,
}

impl Run for Backing {
    fn skip(&self, by: u64) -> Self {
        Self { memory: self.memory.clone(), offset: self.offset + by }
    }

    fn continues(&self, len: u64, next: &Self) -> bool {
        self.memory == next.memory && self.offset + len == next.offset
    }
}

/// A change of a sparse range. All numbers are in bytes, and multiples of the 4 KiB page.
///
/// ```
/// use amdgpu_winsys::{
///     heaps::{AllocateInfo, Backing, SparseBind, SparseRange},
///     vamgr::VaRequest,
/// };
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let memory = manager.allocate(&AllocateInfo::new(0, 128 << 10))?;
/// let range = SparseRange::new(&device, VaRequest::new(1 << 20).aligned(64 << 10))?;
/// let backing = Some(Backing { memory: memory.binding().clone(), offset: 0 });
/// range.bind(&[SparseBind { offset: 0, len: 128 << 10, backing }])?;
/// range.bind(&[SparseBind { offset: 64 << 10, len: 64 << 10, backing: None }])?; // reads as zero again
/// assert_eq!(range.bound_bytes(), 64 << 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SparseBind {
    /// Offset in the range in bytes.
    pub offset: u64,
    /// Length in bytes, not zero.
    pub len: u64,
    /// The memory to bind. `None` unbinds the range: reads then return zero, and writes are discarded.
    pub backing: Option<Backing>,
}

/// A range of GPU addresses to which memory is bound page by page, for Vulkan buffers and images created with sparse residency.
///
/// The GPU may access the whole range at any time: unbound parts read as zero, and writes to them are discarded. A submission
/// that uses the range lists [`SparseRange::residents`].
///
/// ```
/// # use amdgpu_winsys::{heaps::{AllocateInfo, Backing, MemoryManager, SparseBind, SparseRange, TableOptions}, winsys::Device};
/// # use amdgpu_winsys::vamgr::VaRequest;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let device = Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let manager = MemoryManager::new(&device, &TableOptions::default())?;
/// let memory = manager.allocate(&AllocateInfo::new(0, 128 << 10))?;
/// let range = SparseRange::new(&device, VaRequest::new(1 << 30).aligned(64 << 10))?;
/// let backing = Backing { memory: memory.binding().clone(), offset: 0 };
/// range.bind(&[SparseBind { offset: 512 << 20, len: 128 << 10, backing: Some(backing) }])?;
/// assert_eq!(range.bound_bytes(), 128 << 10);
/// # Ok(()) }
/// ```
///
/// A `SparseRange` is a handle: a clone of it refers to the same range and compares equal.
#[derive(Clone, Debug)]
pub struct SparseRange(Arc<RangeState>);

/// Two handles are equal if they refer to the same range.
impl PartialEq for SparseRange {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for SparseRange {}

/// The state that all handles of a range share.
#[derive(Debug)]
struct RangeState {
    reservation: Reservation,
    /// The contents of the page tables after the last change that the kernel made.
    bound: Mutex<IntervalMap<Backing>>,
    /// The bound memory; each is counted once for each byte that is bound.
    residents: ResidencySet,
}

impl SparseRange {
    /// Creates a range: leases addresses and makes them accessible, with nothing bound. The constructor does not check
    /// [`Capabilities::SPARSE`], which excludes GFX6, Carrizo and Stoney, so the driver decides whether it exposes sparse
    /// resources there. RADV exposes them on all chips (Mesa 25.0.7 `radv_physical_device.c`,
    /// `radv_physical_device_get_features`).
    ///
    /// [`Capabilities::SPARSE`]: crate::winsys::Capabilities::SPARSE
    ///
    /// # Errors
    ///
    /// [`SparseRangeError::Address`] if no addresses are free; [`SparseRangeError::Winsys`] if the kernel refuses.
    pub fn new(device: &Device, addresses: VaRequest) -> Result<Self, SparseRangeError> {
        let lease = device.addresses().allocate(addresses)?;
        let reservation = Reservation::new(device, lease).map_err(|(_lease, error)| error)?;
        let (bound, residents) = (Mutex::new(IntervalMap::new()), ResidencySet::new());
        Ok(Self(Arc::new(RangeState { reservation, bound, residents })))
    }

    /// Returns the GPU address of the range.
    pub fn address(&self) -> GpuVa {
        self.0.reservation.range().start()
    }

    /// Returns the size of the range in bytes.
    pub fn size(&self) -> u64 {
        self.0.reservation.range().len()
    }

    /// Returns the number of bytes that have memory bound.
    pub fn bound_bytes(&self) -> u64 {
        self.0.bound.lock().iter().map(|(range, _)| range.end - range.start).sum()
    }

    /// Returns the memory that is bound in the range, for [`Submission::sets`](crate::cs::Submission::sets).
    pub fn residents(&self) -> &ResidencySet {
        &self.0.residents
    }

    /// Returns the memory that is bound at a byte, and the bounds of the bound piece that contains it; `None` if nothing is
    /// bound.
    pub fn lookup(&self, offset: u64) -> Option<(Range<u64>, Backing)> {
        self.0.bound.lock().get(offset).map(|(range, backing)| (range, backing.clone()))
    }

    /// Changes bindings immediately, and returns the number of ioctls. Adjacent changes with adjacent memory are combined into one
    /// ioctl, in whatever order they come. If two changes overlap, the later one applies.
    ///
    /// The kernel executes the change after all earlier submissions and before all later ones. To order it after semaphores,
    /// use a [`SparseQueue`](super::SparseQueue).
    ///
    /// # Errors
    ///
    /// [`Misaligned`](WinsysError::Misaligned), [`OutOfRange`](WinsysError::OutOfRange) or
    /// [`ForeignDevice`](WinsysError::ForeignDevice) if a change is invalid; nothing has changed. With
    /// [`Kernel`](WinsysError::Kernel) if the kernel refused one of the changes; [`SparseRange::lookup`] reports which earlier ones
    /// were made.
    pub fn bind(&self, changes: &[SparseBind]) -> Result<usize, WinsysError> {
        let mut merged = IntervalMap::new();
        for change in changes {
            self.check(change)?;
            merged.set(change.offset..change.offset + change.len, Some(change.backing.clone()), |_, _| {});
        }
        // The lock is released before replaced memory is dropped and observers are notified: BOs may be closed, and observers
        // may be slow or panic.
        let (mut gone, mut events) = (Vec::new(), Vec::new());
        let mut bound = self.0.bound.lock();
        let mut changed = merged.iter().map(|(range, backing)| {
            events.push(self.apply(&mut bound, range, backing.as_ref(), &mut gone)?);
            Ok(())
        });
        let outcome = changed.try_for_each(|change| change);
        drop(bound);
        for event in events {
            self.device().notify(|| event);
        }
        drop(gone);
        outcome.map(|()| merged.len())
    }

    /// Makes one change, moves the replaced backings to `gone`, and returns the events for observers.
    fn apply(
        &self,
        bound: &mut IntervalMap<Backing>,
        range: Range<u64>,
        backing: Option<&Backing>,
        gone: &mut Vec<Backing>,
    ) -> Result<Event, WinsysError> {
        let len = range.end - range.start;
        let event = match backing {
            Some(Backing { memory, offset }) => {
                // The memory may itself start at an offset in its BO.
                let bo_offset = memory.offset() + offset;
                self.0.reservation.bind_quiet(range.start, len, memory.bo(), bo_offset, memory.flags())?
            }
            None => self.0.reservation.unbind_quiet(range.start, len)?,
        };
        if let Some(backing) = backing {
            self.0.residents.add_times(&backing.memory, len);
        }
        bound.set(range, backing.cloned(), |replaced, backing| {
            gone.push(backing.clone());
            self.0.residents.remove_times(&backing.memory, replaced.end - replaced.start);
        });
        Ok(event)
    }

    fn check(&self, change: &SparseBind) -> Result<(), WinsysError> {
        let inside = |offset: u64, size: u64, handle: u32| {
            let end = offset.checked_add(change.len).filter(|&end| end <= size);
            end.map(drop).ok_or(WinsysError::OutOfRange(OutOfRange { handle, offset, len: change.len, size }))
        };
        let aligned = |what, value: u64| match value % PAGE_SIZE {
            0 => Ok(()),
            _ => Err(WinsysError::Misaligned(Misaligned { what, value, alignment: PAGE_SIZE })),
        };
        aligned("offset in the sparse range", change.offset)?;
        aligned("length of a sparse binding", change.len)?;
        if change.len == 0 {
            return Err(WinsysError::OutOfRange(OutOfRange {
                handle: 0,
                offset: change.offset,
                len: 0,
                size: self.size(),
            }));
        }
        inside(change.offset, self.size(), 0)?;
        let Some(Backing { memory, offset }) = &change.backing else { return Ok(()) };
        if memory.device() != self.0.reservation.device() {
            return Err(WinsysError::ForeignDevice { what: "memory" });
        }
        aligned("offset in the memory", *offset)?;
        inside(*offset, memory.len(), memory.bo().handle())
    }

    pub(super) fn device(&self) -> &Device {
        self.0.reservation.device()
    }
}
