//! The words that a driver leaves with the memory of an image that it shares.

use std::os::fd::OwnedFd;

use amdgpu_surface::Chip;
use amdgpu_winsys::winsys::{Bo, BoMetadata, Device};
use ash::{prelude::VkResult, vk};

use crate::gpu::{Gpu, external::owned};

/// A device of the library, which takes descriptors in and asks the kernel about them.
pub(crate) struct Importer {
    device: Device,
}

impl Importer {
    /// Opens the render node of the driver's device; `None` where the driver does not name one that opens.
    pub(crate) fn new(gpu: &Gpu) -> Option<Self> {
        let mut drm = vk::PhysicalDeviceDrmPropertiesEXT::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut drm);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`); a driver without the extension leaves the structure as it is.
        unsafe { gpu.instance.get_physical_device_properties2(gpu.physical, &mut properties) };
        let node = (drm.has_render != 0).then(|| format!("/dev/dri/renderD{}", drm.render_minor))?;
        Device::open(node).ok().map(|device| Self { device })
    }

    /// Returns the chip as the layouts of images take it; `None` where they do not know it.
    pub(crate) fn chip(&self) -> Option<Chip> {
        self.device.info().surface_chip().ok()
    }

    /// Returns the words of memory that was exported.
    ///
    /// # Errors
    ///
    /// The message of the import or of the request.
    pub(crate) fn metadata(&self, memory: OwnedFd) -> Result<BoMetadata, String> {
        let bo = Bo::import(&self.device, memory).map_err(|error| error.to_string())?;
        bo.metadata().map_err(|error| error.to_string())
    }
}

impl Gpu {
    /// Exports memory that is dedicated to an image, with the words that the driver leaves there. The memory lives on in the descriptor.
    ///
    /// # Errors
    ///
    /// The errors of vkAllocateMemory and vkGetMemoryFdKHR.
    pub(super) fn export_image(
        &self,
        image: vk::Image,
        needs: &vk::MemoryRequirements,
        handle_type: vk::ExternalMemoryHandleTypeFlags,
    ) -> VkResult<OwnedFd> {
        let functions = self.extensions.memory_fd.as_ref().ok_or(vk::Result::ERROR_EXTENSION_NOT_PRESENT)?;
        let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().image(image);
        let mut exported = vk::ExportMemoryAllocateInfo::default().handle_types(handle_type);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(needs.memory_type_bits.trailing_zeros())
            .push_next(&mut dedicated)
            .push_next(&mut exported);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`); the type is one that the image takes, and the size is its own.
        let memory = unsafe { self.device.allocate_memory(&info, None) }?;
        let info = vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(handle_type);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`); the memory was allocated as exportable in this form.
        let descriptor = unsafe { functions.get_memory_fd(&info) };
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`); nothing was bound to the memory or recorded with it.
        unsafe { self.device.free_memory(memory, None) };
        descriptor.and_then(|fd| owned(fd).ok_or(vk::Result::ERROR_UNKNOWN))
    }
}
