//! Memory that comes from elsewhere: descriptors and host pointers.

use std::{
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
};

use super::{
    AllocateFlags, ExternalHandleTypes, MemoryError, MemoryManager, MemoryType, TypeMask,
    device_memory::{DeviceMemory, window},
    request::bo_priority,
};
use crate::{
    uapi::VaFlags,
    vamgr::{VaRequest, VaWindow},
    winsys::{Binding, Bo, Mapping, UserMemory},
};

/// Addresses of imported dma-bufs are aligned to this, bytes: whatever image may be in them.
///
/// Source: Mesa 25.0.7 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_from_fd`.
const DMA_BUF_ALIGNMENT: u64 = 1 << 20;

/// How memory from elsewhere is to be seen here: the part of `VkMemoryAllocateInfo` that goes with an import.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImportInfo {
    /// Index of a type that [`MemoryManager::fd_types`] or [`MemoryManager::host_pointer_types`] allow.
    pub memory_type: u32,
    /// The descriptor must have at least so many bytes; 0 takes it as it is. The memory has all it has. RADV does not look.
    pub size: u64,
    /// Wishes. Those about the BO count for nothing: it is there already.
    pub flags: AllocateFlags,
    /// As in [`AllocateInfo`](super::AllocateInfo).
    pub priority: f32,
}

impl ImportInfo {
    /// At least `size` bytes of a type, with Vulkan's default priority of 0.5 and no special wish.
    pub const fn new(memory_type: u32, size: u64) -> Self {
        Self { memory_type, size, flags: AllocateFlags::empty(), priority: 0.5 }
    }
}

impl MemoryManager {
    /// The types that the memory behind a descriptor may be imported as (`vkGetMemoryFdPropertiesKHR`). Nothing is kept.
    ///
    /// # Errors
    ///
    /// [`MemoryError::HandleType`] for anything but a dma-buf: Vulkan tells nothing of opaque descriptors.
    /// [`MemoryError::Winsys`] for a descriptor that is none.
    ///
    /// Source: Mesa 25.0.7 `radv_device.c`, `radv_GetMemoryFdPropertiesKHR`.
    pub fn fd_types(&self, handle_type: ExternalHandleTypes, fd: impl AsFd) -> Result<TypeMask, MemoryError> {
        if handle_type != ExternalHandleTypes::DMA_BUF {
            return Err(MemoryError::HandleType { handle_type });
        }
        Ok(self.properties().dma_buf_types(&Bo::import(self.device(), fd)?))
    }

    /// The types that memory of the process may be imported as (`vkGetMemoryHostPointerPropertiesEXT`).
    ///
    /// # Errors
    ///
    /// [`MemoryError::HandleType`] for anything but `HOST_ALLOCATION`.
    ///
    /// Source: Mesa 25.0.7 `radv_device.c`, `radv_GetMemoryHostPointerPropertiesEXT`.
    pub fn host_pointer_types(&self, handle_type: ExternalHandleTypes) -> Result<TypeMask, MemoryError> {
        if handle_type != ExternalHandleTypes::HOST_ALLOCATION {
            return Err(MemoryError::HandleType { handle_type });
        }
        Ok(self.properties().host_pointer_types())
    }

    /// Imports a descriptor: a dma-buf, also where Vulkan calls it opaque. On success the descriptor is the memory's, and
    /// closed.
    ///
    /// Size and placement are those the kernel tells, whatever the caller says. The same BO imported twice takes memory
    /// once, but has an address for each.
    ///
    /// # Errors
    ///
    /// The descriptor comes back beside the error, and nothing has changed.
    /// * [`MemoryError::Winsys`]: it is no dma-buf; the kernel refuses.
    /// * [`MemoryError::TooSmall`], [`MemoryError::WrongType`]: it is not what the caller says.
    /// * [`MemoryError::Request`]: no such type. [`MemoryError::Address`]: no address.
    ///
    /// Source: Mesa 25.0.7 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_from_fd`, and `radv_device_memory.c`,
    /// `radv_alloc_memory`, which closes the descriptor once there is a BO, also if the allocation then fails.
    pub fn import_fd(&self, fd: OwnedFd, info: &ImportInfo) -> Result<DeviceMemory, (OwnedFd, MemoryError)> {
        self.import_fd_if(fd, info, |_| Ok(()))
    }

    /// As [`MemoryManager::import_fd`], if `accept` has nothing against the BO: a driver that imports an image works out
    /// its layout from the BO's words there, before anything is final.
    ///
    /// # Errors
    ///
    /// As [`MemoryManager::import_fd`], and those of `accept`.
    pub fn import_fd_if(
        &self,
        fd: OwnedFd,
        info: &ImportInfo,
        accept: impl FnOnce(&Bo) -> Result<(), MemoryError>,
    ) -> Result<DeviceMemory, (OwnedFd, MemoryError)> {
        match self.import_borrowed(&fd, info, accept) {
            Ok(memory) => Ok(memory),
            Err(error) => Err((fd, error)),
        }
    }

    fn import_borrowed(
        &self,
        fd: &OwnedFd,
        info: &ImportInfo,
        accept: impl FnOnce(&Bo) -> Result<(), MemoryError>,
    ) -> Result<DeviceMemory, MemoryError> {
        let span = tracing::trace_span!("import", size = info.size, memory_type = info.memory_type).entered();
        let ty = *self.properties().type_at(info.memory_type)?;
        let bo = Arc::new(Bo::import(self.device(), fd)?);
        if bo.size() < info.size {
            return Err(MemoryError::TooSmall { size: bo.size(), wanted: info.size });
        }
        let types = self.properties().types_of_memory(bo.domains(), bo.flags());
        if !types.contains(info.memory_type) {
            return Err(MemoryError::WrongType { memory_type: info.memory_type, types });
        }
        accept(&bo)?;
        let alignment = self.device().addresses().fragment_alignment(bo.size(), DMA_BUF_ALIGNMENT);
        let va_flags = self.properties().va_flags(&ty, info.flags);
        let binding = self.bind(info, bo, window(ty.addressing), alignment, va_flags)?;
        let memory = self.keep(info, &ty, binding, None);
        // Left while the memory has an owner: a subscriber may panic.
        drop(span);
        Ok(memory)
    }

    /// Imports memory of the process (`VkImportMemoryHostPointerInfoEXT`). Address and length are multiples of 4096,
    /// Vulkan's `minImportedHostPointerAlignment`. The mapping is the pointer itself.
    ///
    /// # Errors
    ///
    /// * [`MemoryError::HostPointer`]: misaligned, not there, a file's, or another thing the kernel refuses;
    /// * [`MemoryError::TooSmall`], [`MemoryError::WrongType`]: it is not what the info says;
    /// * [`MemoryError::Request`], [`MemoryError::Address`], [`MemoryError::Winsys`].
    ///
    /// Source: Mesa 25.0.7 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_from_ptr`.
    ///
    /// # Safety
    ///
    /// As for [`Bo::from_user_memory`], for as long as the memory lives; and the process itself may read and write there,
    /// because the mapping does, also where the GPU only reads.
    pub unsafe fn import_host_pointer(
        &self,
        memory: UserMemory,
        info: &ImportInfo,
    ) -> Result<DeviceMemory, MemoryError> {
        let ty = *self.properties().type_at(info.memory_type)?;
        if memory.len < info.size {
            return Err(MemoryError::TooSmall { size: memory.len, wanted: info.size });
        }
        let types = self.properties().host_pointer_types();
        if !types.contains(info.memory_type) {
            return Err(MemoryError::WrongType { memory_type: info.memory_type, types });
        }
        // SAFETY: the caller's word.
        let bo = unsafe { Bo::from_user_memory(self.device(), memory) }.map_err(MemoryError::HostPointer)?;
        let bo = Arc::new(bo);
        let facts = self.properties().facts();
        let alignment =
            self.device().addresses().user_memory_alignment(bo.size(), facts.page_size(), facts.gfx_level());
        let mut va_flags = self.properties().va_flags(&ty, info.flags);
        va_flags.set(VaFlags::WRITEABLE, va_flags.contains(VaFlags::WRITEABLE) && !memory.is_read_only);
        let binding = self.bind(info, Arc::clone(&bo), VaWindow::High, alignment, va_flags)?;
        // SAFETY: the BO was made of this memory just now, which stays mapped and writable as long as the memory lives (the
        // caller).
        let host = unsafe { Mapping::of_user_memory(&bo, memory.address) }?;
        Ok(self.keep(info, &ty, binding, Some(host)))
    }

    fn bind(
        &self,
        info: &ImportInfo,
        bo: Arc<Bo>,
        window: VaWindow,
        alignment: u64,
        flags: VaFlags,
    ) -> Result<Binding, MemoryError> {
        let size = bo.size();
        let request = VaRequest::new(size).aligned(alignment).within(window);
        let lease = self.device().addresses().allocate(request).map_err(|source| MemoryError::Address {
            size,
            memory_type: info.memory_type,
            replay: false,
            source,
        })?;
        Ok(Binding::new(bo, lease, flags).map_err(|(_lease, error)| error)?)
    }

    fn keep(&self, info: &ImportInfo, ty: &MemoryType, binding: Binding, host: Option<Mapping>) -> DeviceMemory {
        let &ImportInfo { memory_type, priority, .. } = info;
        binding.set_priority(bo_priority(priority));
        let memory = DeviceMemory::imported(binding, memory_type, ty.heap, host);
        self.announce(&memory);
        memory
    }
}
