//! Import of memory by descriptor or host pointer.

use std::os::fd::OwnedFd;

use super::{
    device_memory::{DeviceMemory, window},
    request::bo_priority,
};
use crate::{
    heaps::{
        AllocateFlags, ImportFault, ImportFdError, ImportHostPointerError, MemoryProperties, MemoryType, TypeMask,
    },
    uapi::VaFlags,
    vamgr::{VaLease, VaRequest, VaWindow},
    winsys::{Binding, Bo, Device, Mapping, NoAddress, UserMemory},
};

/// Alignment of the addresses of imported dma-bufs in bytes, enough for any image in them.
///
/// Source: Mesa 25.0.7 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_from_fd`.
const DMA_BUF_ALIGNMENT: u64 = 1 << 20;

/// The parameters of an import: the part of `VkMemoryAllocateInfo` that applies to imports.
///
/// ```
/// use amdgpu_winsys::heaps::{AllocateFlags, AllocateInfo, ExternalHandleTypes, ImportFault, ImportInfo};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let exported = AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(0, 8192) };
/// let memory = manager.allocate(&exported)?;
/// let dma_buf = memory.export(ExternalHandleTypes::DMA_BUF)?;
/// let memory_type = manager.fd_types(ExternalHandleTypes::DMA_BUF, &dma_buf)?.iter().next().ok_or("no type")?;
/// let (dma_buf, error) = manager.import_fd(dma_buf, &ImportInfo::new(memory_type, 1 << 20)).unwrap_err();
/// assert_eq!(error, ImportFault::TooSmall { size: 8192, wanted: 1 << 20 }.into());
/// let imported = manager.import_fd(dma_buf, &ImportInfo::new(memory_type, 8192)).map_err(|(_fd, error)| error)?;
/// assert_eq!(imported.bo().handle(), memory.bo().handle()); // one BO, with an address for each
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImportInfo {
    /// Index of a memory type that [`MemoryManager::fd_types`](crate::heaps::MemoryManager::fd_types) or
    /// [`MemoryManager::host_pointer_types`](crate::heaps::MemoryManager::host_pointer_types) returned.
    pub memory_type: u32,
    /// Minimum size of the imported object in bytes; 0 accepts any. The import always covers the whole object. RADV does not
    /// check this.
    pub size: u64,
    /// Options. Those that affect the creation of the BO are ignored, because the BO already exists.
    pub flags: AllocateFlags,
    /// Priority for staying in VRAM, 0.0 to 1.0, see [`AllocateInfo::priority`](crate::heaps::AllocateInfo::priority).
    pub priority: f32,
}

impl ImportInfo {
    /// Creates a request for an object of at least `size` bytes, with Vulkan's default priority of 0.5 and no options.
    pub const fn new(memory_type: u32, size: u64) -> Self {
        Self { memory_type, size, flags: AllocateFlags::empty(), priority: 0.5 }
    }
}

/// Imports a descriptor if `accept` accepts its BO.
///
/// # Errors
///
/// The errors of [`MemoryManager::import_fd`](crate::heaps::MemoryManager::import_fd) and of `accept`.
pub(super) fn import_fd<E: From<ImportFdError>>(
    device: &Device,
    properties: &MemoryProperties,
    fd: &OwnedFd,
    info: &ImportInfo,
    accept: impl FnOnce(&Bo) -> Result<(), E>,
) -> Result<DeviceMemory, E> {
    let span = tracing::trace_span!("import", size = info.size, memory_type = info.memory_type).entered();
    let ty = *properties.type_at(info.memory_type).map_err(ImportFdError::from)?;
    let bo = Bo::import(device, fd).map_err(ImportFdError::from)?;
    check(info, bo.size(), properties.types_of_memory(bo.domains(), bo.flags())).map_err(ImportFdError::from)?;
    accept(&bo)?;
    let alignment = device.addresses().fragment_alignment(bo.size(), DMA_BUF_ALIGNMENT);
    let va_flags = properties.va_flags(&ty, info.flags);
    let lease = lease(device, &bo, window(ty.addressing), alignment).map_err(ImportFdError::from)?;
    let bound = Binding::new(&bo, lease, va_flags);
    let memory = keep(info, &ty, bound.map_err(|(_lease, error)| ImportFdError::Bind(error))?, None);
    // Leave the span while the memory has an owner: a subscriber may panic.
    drop(span);
    Ok(memory)
}

/// Imports host memory of the process.
///
/// # Errors
///
/// The errors of [`MemoryManager::import_host_pointer`](crate::heaps::MemoryManager::import_host_pointer).
///
/// # Safety
///
/// The requirements of [`MemoryManager::import_host_pointer`](crate::heaps::MemoryManager::import_host_pointer).
pub(super) unsafe fn import_host_pointer(
    device: &Device,
    properties: &MemoryProperties,
    memory: UserMemory,
    info: &ImportInfo,
) -> Result<DeviceMemory, ImportHostPointerError> {
    let ty = *properties.type_at(info.memory_type)?;
    check(info, memory.len, properties.host_pointer_types())?;
    // SAFETY: the caller guarantees it.
    let bo = unsafe { Bo::from_user_memory(device, memory) }?;
    let facts = properties.facts();
    let alignment = device.addresses().user_memory_alignment(bo.size(), facts.page_size(), facts.gfx_level());
    let mut va_flags = properties.va_flags(&ty, info.flags);
    va_flags.set(VaFlags::WRITEABLE, va_flags.contains(VaFlags::WRITEABLE) && !memory.is_read_only);
    let lease = lease(device, &bo, VaWindow::High, alignment)?;
    let binding = Binding::new(&bo, lease, va_flags).map_err(|(_lease, error)| error)?;
    // SAFETY: the BO was just created from this memory, which stays mapped and writable as long as the BO exists, as the caller
    // guarantees.
    let host = unsafe { Mapping::of_user_memory(&bo, memory.address) }?;
    Ok(keep(info, &ty, binding, Some(host)))
}

/// Returns an error if existing memory is smaller than `info` requires, or cannot have its memory type.
fn check(info: &ImportInfo, size: u64, types: TypeMask) -> Result<(), ImportFault> {
    if size < info.size {
        return Err(ImportFault::TooSmall { size, wanted: info.size });
    }
    if !types.contains(info.memory_type) {
        return Err(ImportFault::WrongType { memory_type: info.memory_type, types });
    }
    Ok(())
}

/// Leases addresses for a BO.
fn lease(device: &Device, bo: &Bo, window: VaWindow, alignment: u64) -> Result<VaLease, NoAddress> {
    let request = VaRequest::new(bo.size()).aligned(alignment).within(window);
    device.addresses().allocate(request).map_err(|source| NoAddress { is_fixed: false, source })
}

fn keep(info: &ImportInfo, ty: &MemoryType, binding: Binding, host: Option<Mapping>) -> DeviceMemory {
    let &ImportInfo { memory_type, priority, .. } = info;
    binding.set_priority(bo_priority(priority));
    let memory = DeviceMemory::of(binding, memory_type, ty.heap, host);
    memory.announce();
    memory
}
