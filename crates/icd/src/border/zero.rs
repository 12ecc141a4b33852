//! Definitions of `VK_EXT_zero_initialize_device_memory`, which is later than the Vulkan headers of `ash`.

use std::{
    ffi::{CStr, c_void},
    marker::PhantomData,
};

use ash::vk::{self, TaggedStructure};

/// The name of the extension.
pub(crate) const NAME: &CStr = c"VK_EXT_zero_initialize_device_memory";

/// `VK_MEMORY_ALLOCATE_ZERO_INITIALIZE_BIT_EXT`: the allocated memory reads as zero.
pub(crate) const ALLOCATE_ZEROED: vk::MemoryAllocateFlags = vk::MemoryAllocateFlags::from_raw(0x8);

/// `VkPhysicalDeviceZeroInitializeDeviceMemoryFeaturesEXT`.
#[repr(C)]
pub(crate) struct ZeroInitializeFeatures<'a> {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    /// `VK_TRUE` if memory can be allocated with [`ALLOCATE_ZEROED`].
    pub(crate) zero_initialize_device_memory: vk::Bool32,
    _marker: PhantomData<&'a ()>,
}

// SAFETY: the structure begins with its type and its chain, as every structure of Vulkan.
unsafe impl TaggedStructure for ZeroInitializeFeatures<'_> {
    const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw(1_000_620_000);
}
