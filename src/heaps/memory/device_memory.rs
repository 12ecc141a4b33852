//! Device memory, the object that implements `VkDeviceMemory`.

use std::{
    os::fd::OwnedFd,
    ptr::NonNull,
    sync::{atomic::Ordering::SeqCst, atomic::fence},
};

use super::request::bo_priority;
use crate::{
    heaps::{
        Addressing, AllocateMemoryError, AllocationPlan, ExportImageError, ExportMemoryError, ExternalHandleTypes,
        FlushError, MapPlacedError, Replay, UnmapError, UsageEntry,
    },
    uapi::GemCreateFlags,
    vamgr::{GpuVa, VaLease, VaManager, VaRequest, VaWindow},
    winsys::{
        BindError, Binding, Bo, BoMetadata, Device, Event, IsLent, MapError, MapOnce, Mapped, Mapping, NewBo,
        NoAddress, Resident,
    },
};

/// Alignment of ranges to flush or invalidate, in bytes: Vulkan's `nonCoherentAtomSize`.
pub const NON_COHERENT_ATOM: u64 = 64;

/// Vulkan's `VK_WHOLE_SIZE`: as the size of a range, it selects everything from the offset to the end of the memory.
pub const WHOLE_SIZE: u64 = u64::MAX;

/// Device memory: a BO bound at leased GPU addresses, and its CPU mapping, if any. The BO is charged to its heap.
///
/// The compiler rejects a mapping that outlives its memory (`vkFreeMemory`):
///
/// ```compile_fail,E0505
/// # use amdgpu_winsys::{heaps::DeviceMemory, winsys::MapError};
/// fn too_late(memory: DeviceMemory) -> Result<usize, MapError> {
///     let mapping = memory.map()?;
///     drop(memory);
///     Ok(mapping.len())
/// }
/// ```
///
/// It also rejects a mapping that is returned from the function that owns the memory:
///
/// ```compile_fail,E0515
/// # use amdgpu_winsys::{heaps::DeviceMemory, winsys::{MapError, Mapped}};
/// fn outlives<'a>(memory: DeviceMemory) -> Result<Mapped<'a>, MapError> {
///     memory.map()
/// }
/// ```
///
/// A function that uses the mapping before it frees the memory compiles:
///
/// ```
/// # use amdgpu_winsys::{heaps::DeviceMemory, winsys::MapError};
/// fn in_time(memory: DeviceMemory) -> Result<usize, MapError> {
///     let len = memory.map()?.len();
///     drop(memory);
///     Ok(len)
/// }
/// ```
///
/// Threads can share the memory in an `Arc`, and each of them may map and unmap it. A mapping that a thread uses stays valid until
/// that thread drops it:
///
/// ```
/// use std::sync::Arc;
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_winsys::{
///     heaps::{AllocateInfo, MemoryManager, MemoryUsage, TableOptions},
///     winsys::Device,
/// };
///
/// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
/// let manager = MemoryManager::new(&device, &TableOptions::default())?;
/// let memory_type = manager.properties().type_for(MemoryUsage::Readback).ok_or("no such type")?;
/// let memory = Arc::new(manager.allocate(&AllocateInfo::new(memory_type, 4096))?);
/// let shared = Arc::clone(&memory);
///
/// let in_use = memory.map()?;
/// shared.unmap(); // vkUnmapMemory
/// in_use.store_u32(0, 42)?;
/// assert!(memory.mapping().is_none());
/// drop(in_use); // unmapped here
/// assert_eq!(shared.map()?.load_u32(0)?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DeviceMemory {
    // Fields drop from top to bottom, in a legal order: first the CPU mapping, then the binding, which unmaps the GPU
    // addresses, returns their lease, and closes the BO's handle if the BO has no other owner.
    mapping: MapOnce,
    binding: Binding,
    /// Index of the memory type, below [`MAX_TYPES`](crate::heaps::MAX_TYPES).
    memory_type: u8,
    /// Index of the heap, below [`MAX_HEAPS`](crate::heaps::MAX_HEAPS).
    heap: u8,
    /// `true` if the CPU mapping is a lasting one, of the host memory that was imported.
    is_host_memory: bool,
}

impl DeviceMemory {
    /// Notifies the observer of the new device memory.
    #[inline]
    pub(super) fn announce(&self) {
        self.bo().device().notify(|| Event::Allocated {
            handle: self.bo().handle(),
            memory_type: self.memory_type(),
            heap: self.heap(),
            size: self.size(),
        });
    }

    /// Allocates device memory as planned. With `reuses`, a recently freed lease is used if one fits.
    #[inline]
    pub(super) fn new(device: &Device, plan: &AllocationPlan, reuses: bool) -> Result<Self, AllocateMemoryError> {
        let request = va_request(plan);
        let cached = if reuses { device.addresses().cached(&request) } else { None };
        let lease = match cached {
            Some(lease) => lease,
            None => lease(device.addresses(), request, plan)?,
        };
        // A plan for types of this device breaks no rule of the kernel.
        let bo = NewBo::create_checked(device, plan.bo)?;
        let binding =
            Binding::of_new(bo, lease, plan.va_flags, plan.guard_page, plan.priority).map_err(|error| {
                match (plan.replay, error) {
                    (Replay::At(at), BindError::Kernel(source)) => AllocateMemoryError::CapturedAddress { at, source },
                    (_, error) => error.into(),
                }
            })?;
        Ok(Self::of(binding, plan.memory_type, plan.heap, None))
    }

    /// Creates device memory from its binding. `host` is the mapping of host memory, if that was imported.
    #[inline]
    pub(super) fn of(binding: Binding, memory_type: u32, heap: u32, host: Option<Mapping>) -> Self {
        let is_host_memory = host.is_some();
        let mapping = host.map_or_else(MapOnce::new, MapOnce::of);
        Self { mapping, binding, memory_type: memory_type as u8, heap: heap as u8, is_host_memory }
    }

    /// Returns the CPU mapping of the whole memory. The first call creates it, and threads that race get the same mapping. It
    /// stays when the [`Mapped`] is dropped, until [`DeviceMemory::unmap`], so a driver that returns the pointer need not keep
    /// the [`Mapped`]. Imported host memory is always mapped.
    ///
    /// # Errors
    ///
    /// [`MapError::Unmappable`] if the memory type is not host-visible or the memory was imported from another GPU;
    /// [`MapError::Kernel`] if the kernel refuses the mapping.
    pub fn map(&self) -> Result<Mapped<'_>, MapError> {
        self.mapping.get_or_map(|| Mapping::new(self.binding.bo()))
    }

    /// Returns a CPU mapping of the whole memory that lasts as long as the memory: [`DeviceMemory::unmap`] does not remove it.
    /// Later calls take no lock. It is meant for allocators that divide the memory, and for drivers that map memory
    /// permanently.
    ///
    /// ```
    /// use amdgpu_sim::{SimKernel, profile};
    /// use amdgpu_winsys::{
    ///     heaps::{AllocateInfo, MemoryManager, MemoryUsage, TableOptions},
    ///     winsys::{Device, Mapping},
    /// };
    ///
    /// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    /// let manager = MemoryManager::new(&device, &TableOptions::default())?;
    /// let memory_type = manager.properties().type_for(MemoryUsage::Upload).ok_or("no such type")?;
    /// let memory = manager.allocate(&AllocateInfo::new(memory_type, 4096))?;
    /// let mapping: &Mapping = memory.map_lasting()?;
    /// memory.unmap();
    /// mapping.store_u32(0, 42)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`DeviceMemory::map`].
    pub fn map_lasting(&self) -> Result<&Mapping, MapError> {
        self.mapping.get_or_map_lasting(|| Mapping::new(self.binding.bo()))
    }

    /// Maps the whole memory at `at`, replacing any mapping there (`VkMemoryMapPlacedInfoEXT`). The address must be a multiple
    /// of 4096, Vulkan's `minPlacedMemoryMapAlignment`.
    ///
    /// # Errors
    ///
    /// The errors of [`DeviceMemory::map`]; [`MapPlacedError::MappedElsewhere`] if the memory is already mapped at another
    /// address.
    ///
    /// # Safety
    ///
    /// The caller must own the [`DeviceMemory::size`] bytes that start at `at`, and no other code may use them while the memory is
    /// mapped.
    pub unsafe fn map_placed(&self, at: NonNull<u8>) -> Result<Mapped<'_>, MapPlacedError> {
        let mapping = self.mapping.get_or_map(|| {
            // SAFETY: the caller owns the addresses.
            unsafe { Mapping::placed(self.binding.bo(), at) }
        })?;
        if mapping.as_ptr() == at { Ok(mapping) } else { Err(MapPlacedError::MappedElsewhere { at: at.addr().get() }) }
    }

    /// Returns the CPU mapping; `None` if the memory is not mapped.
    pub fn mapping(&self) -> Option<Mapped<'_>> {
        self.mapping.get()
    }

    /// Returns the [lasting](DeviceMemory::map_lasting) CPU mapping; `None` if there is none. Takes no lock.
    pub fn lasting_mapping(&self) -> Option<&Mapping> {
        self.mapping.lasting()
    }

    /// Unmaps the memory from the CPU; [`DeviceMemory::map`] can map it again. A mapping that is [in use](Mapped) is removed
    /// when the last use ends. Does nothing if there is no mapping, if it is a [lasting](DeviceMemory::map_lasting) one, or for
    /// imported host memory.
    pub fn unmap(&self) {
        self.mapping.end();
    }

    /// Unmaps the memory but keeps the addresses reserved (`VK_MEMORY_UNMAP_RESERVE_BIT_EXT`): they become inaccessible and
    /// belong to the caller. Does nothing in the cases in which [`DeviceMemory::unmap`] does nothing.
    ///
    /// # Errors
    ///
    /// [`UnmapError::InUse`] if a [`Mapped`] of the memory exists; [`UnmapError::Kernel`] if the addresses could not
    /// be reserved. After an error the memory is still mapped, unless the kernel removed the mapping.
    pub fn unmap_reserving(&self) -> Result<(), UnmapError> {
        let taken = self.mapping.take().map_err(|IsLent| UnmapError::InUse { memory_type: self.memory_type() })?;
        let Some(mapping) = taken else { return Ok(()) };
        mapping.unmap_reserving().map_err(|(kept, error)| {
            if let Some(mapping) = kept {
                self.mapping.put_back(mapping);
            }
            error.into()
        })
    }

    /// Makes CPU writes to a range visible to the GPU (`vkFlushMappedMemoryRanges`). `offset` and `size` are in bytes; both are
    /// multiples of [`NON_COHERENT_ATOM`], except that the range may extend to the end of the memory, also by [`WHOLE_SIZE`].
    ///
    /// Every host-visible type is coherent, so there is no cache to write back: cached GTT is snooped, and visible VRAM and
    /// write-combined GTT bypass the CPU's caches. The call orders this thread's stores, which may be held in write-combining
    /// buffers, before its later operations. A submission does so too.
    ///
    /// # Errors
    ///
    /// [`FlushError::NotMapped`] if the memory is not mapped; [`FlushError::Range`] if the range is misaligned or not
    /// within the memory.
    pub fn flush(&self, offset: u64, size: u64) -> Result<(), FlushError> {
        self.check_range(offset, size)?;
        fence(SeqCst);
        Ok(())
    }

    /// Makes GPU writes to a range visible to the CPU after their fence has signalled (`vkInvalidateMappedMemoryRanges`): orders
    /// this thread's later loads after its earlier operations.
    ///
    /// # Errors
    ///
    /// The errors of [`DeviceMemory::flush`].
    pub fn invalidate(&self, offset: u64, size: u64) -> Result<(), FlushError> {
        self.flush(offset, size)
    }

    /// Checks a range to flush: offset and size are multiples of [`NON_COHERENT_ATOM`], or the range extends to the end.
    fn check_range(&self, offset: u64, size: u64) -> Result<(), FlushError> {
        if self.mapping.get().is_none() {
            return Err(FlushError::NotMapped { memory_type: self.memory_type() });
        }
        let memory = self.size();
        let refused = FlushError::Range { offset, size, memory };
        if !offset.is_multiple_of(NON_COHERENT_ATOM) || offset >= memory {
            return Err(refused);
        }
        if size == WHOLE_SIZE {
            return Ok(());
        }
        match offset.checked_add(size) {
            Some(end) if end == memory || end < memory && size.is_multiple_of(NON_COHERENT_ATOM) => Ok(()),
            _ => Err(refused),
        }
    }

    /// Returns the handle types as which the memory can be exported: both descriptor types, but none for always-valid memory and
    /// imported host memory. Memory that was allocated with [`EXPORTABLE`](crate::heaps::AllocateFlags::EXPORTABLE) is never always
    /// valid, see [`ResidencyPolicy`](crate::heaps::ResidencyPolicy).
    pub fn exportable_as(&self) -> ExternalHandleTypes {
        if self.is_always_valid() || self.is_host_memory {
            return ExternalHandleTypes::empty();
        }
        ExternalHandleTypes::OPAQUE_FD | ExternalHandleTypes::DMA_BUF
    }

    /// Exports the memory as a file descriptor that the caller owns (`vkGetMemoryFdKHR`). `handle_type` must be one of the
    /// [exportable types](Self::exportable_as); the descriptor is a dma-buf for each of them.
    ///
    /// # Errors
    ///
    /// [`ExportMemoryError::NotExportable`] if `handle_type` is not exactly one of these types; [`ExportMemoryError::Bo`] if the
    /// kernel refuses the request.
    pub fn export(&self, handle_type: ExternalHandleTypes) -> Result<OwnedFd, ExportMemoryError> {
        if !self.exportable_as().contains(handle_type) || handle_type.bits().count_ones() != 1 {
            return Err(ExportMemoryError::NotExportable { memory_type: self.memory_type(), handle_type });
        }
        Ok(self.bo().export()?)
    }

    /// Exports memory that is dedicated to an image. Attaches `metadata`, the image's layout, to the BO first, for importers.
    ///
    /// # Errors
    ///
    /// The errors of [`DeviceMemory::export`] and of [`Bo::set_metadata`].
    pub fn export_image(
        &self,
        handle_type: ExternalHandleTypes,
        metadata: &BoMetadata,
    ) -> Result<OwnedFd, ExportImageError> {
        if self.exportable_as().contains(handle_type) {
            self.bo().set_metadata(metadata)?;
        }
        Ok(self.export(handle_type)?)
    }

    /// Returns the GPU address: the base for `vkGetBufferDeviceAddress`, and the opaque capture address.
    pub fn address(&self) -> GpuVa {
        self.binding.address()
    }

    /// Returns the size in bytes, a multiple of the page size.
    pub fn size(&self) -> u64 {
        self.binding.len()
    }

    /// Returns the index of the memory type.
    pub fn memory_type(&self) -> u32 {
        self.memory_type.into()
    }

    /// Returns the index of the heap.
    pub fn heap(&self) -> u32 {
        self.heap.into()
    }

    /// Returns the priority in submissions, 0 to 27.
    pub fn priority(&self) -> u32 {
        self.binding.priority()
    }

    /// Changes the priority, 0.0 to 1.0, for later submissions (`vkSetDeviceMemoryPriorityEXT`).
    pub fn set_priority(&self, priority: f32) {
        self.binding.set_priority(bo_priority(priority));
    }

    /// Returns `true` if submissions need not list the memory, see [`ResidencyPolicy`](crate::heaps::ResidencyPolicy).
    #[inline]
    pub fn is_always_valid(&self) -> bool {
        self.bo().flags().contains(GemCreateFlags::VM_ALWAYS_VALID)
    }

    /// Returns the BO that provides the memory. A clone of it keeps allocated memory bound, see [`Bo::create_bound`].
    pub fn bo(&self) -> &Bo {
        self.binding.bo()
    }

    /// Returns the binding, which submissions list to keep the memory resident and alive.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// Returns `true` if nothing else refers to memory that was allocated: no submission, no set, and no clone of its binding or BO.
    pub(in crate::heaps) fn is_unshared(&self) -> bool {
        self.binding.handle_count() == 1 + self.mapping.count()
    }

    /// Returns the charge of the BO to its account; `None` for a BO in neither VRAM nor GTT, which no memory type creates.
    pub fn charge(&self) -> Option<UsageEntry> {
        self.bo().charge()
    }
}

impl Resident for DeviceMemory {
    fn each_binding(&self, each: &mut dyn FnMut(&Binding)) {
        each(&self.binding);
    }

    fn binding_count(&self) -> usize {
        1
    }
}

/// Leases new addresses. Not inlined: otherwise every lease, including a reused one, would be copied out of the `Result`
/// through memory.
#[inline(never)]
fn lease(addresses: &VaManager, request: VaRequest, plan: &AllocationPlan) -> Result<VaLease, NoAddress> {
    let is_fixed = matches!(plan.replay, Replay::At(_));
    addresses.allocate(request).map_err(|source| NoAddress { is_fixed, source })
}

/// Returns the request for addresses. A device without a high half uses the low one instead.
#[inline]
fn va_request(plan: &AllocationPlan) -> VaRequest {
    let request = VaRequest::new(plan.va_size).aligned(plan.va_alignment).within(window(plan.addressing));
    match plan.replay {
        Replay::No => request,
        Replay::Capture => request.highest(),
        Replay::At(address) => request.at(address),
    }
}

pub(super) const fn window(addressing: Addressing) -> VaWindow {
    match addressing {
        Addressing::Bits64 => VaWindow::High,
        Addressing::Bits32 => VaWindow::High32,
    }
}
