//! Definitions of `VK_KHR_device_fault`, which is later than the Vulkan headers of `ash`.

use std::{
    ffi::{CStr, c_char, c_void},
    marker::PhantomData,
    ptr,
};

use ash::vk::{self, TaggedStructure};

/// The name of the extension.
pub(crate) const NAME: &CStr = c"VK_KHR_device_fault";

/// `VK_DEVICE_FAULT_FLAG_DEVICE_LOST_KHR`: the device is lost, and no report follows.
pub(crate) const DEVICE_LOST: u32 = 0x1;
/// `VK_DEVICE_FAULT_FLAG_MEMORY_ADDRESS_KHR`: the report has the address of an access.
pub(crate) const MEMORY_ADDRESS: u32 = 0x2;
/// `VK_DEVICE_FAULT_FLAG_VENDOR_KHR`: the report has codes of the vendor.
pub(crate) const VENDOR: u32 = 0x8;

/// `VkPhysicalDeviceFaultFeaturesKHR`.
#[repr(C)]
pub(crate) struct FaultFeatures<'a> {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    /// `VK_TRUE` if faults are reported.
    pub(crate) device_fault: vk::Bool32,
    /// `VK_TRUE` if there are crash dumps of the vendor.
    pub(crate) vendor_binary: vk::Bool32,
    /// `VK_TRUE` if faults are reported that do not lose the device.
    pub(crate) report_masked: vk::Bool32,
    /// `VK_TRUE` if such faults can be made to lose the device.
    pub(crate) lost_on_masked: vk::Bool32,
    _marker: PhantomData<&'a ()>,
}

// SAFETY: the structure begins with its type and its chain, as every structure of Vulkan.
unsafe impl TaggedStructure for FaultFeatures<'_> {
    const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw(1_000_573_000);
}

/// `VkPhysicalDeviceFaultPropertiesKHR`.
#[repr(C)]
pub(crate) struct FaultProperties<'a> {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    /// The number of reports that are kept.
    pub(crate) max_count: u32,
    _marker: PhantomData<&'a ()>,
}

// SAFETY: the structure begins with its type and its chain, as every structure of Vulkan.
unsafe impl TaggedStructure for FaultProperties<'_> {
    const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw(1_000_573_001);
}

/// `VkDeviceFaultInfoKHR`. Its parts have the layout of those of `VK_EXT_device_fault`.
#[repr(C)]
pub(crate) struct FaultInfo {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    /// The parts that are valid, and [`DEVICE_LOST`].
    pub(crate) flags: u32,
    /// The number of the event that caused the fault.
    pub(crate) group: u64,
    /// The fault in words.
    pub(crate) description: [c_char; vk::MAX_DESCRIPTION_SIZE],
    /// The access.
    pub(crate) access: vk::DeviceFaultAddressInfoEXT,
    /// The instruction.
    pub(crate) instruction: vk::DeviceFaultAddressInfoEXT,
    /// The codes of the vendor.
    pub(crate) vendor: vk::DeviceFaultVendorInfoEXT,
}

impl FaultInfo {
    /// Returns a report of a group in words, without any of the other parts.
    pub(crate) fn new(group: u64, description: [c_char; vk::MAX_DESCRIPTION_SIZE]) -> Self {
        Self {
            s_type: vk::StructureType::from_raw(1_000_573_002),
            p_next: ptr::null_mut(),
            flags: 0,
            group,
            description,
            access: vk::DeviceFaultAddressInfoEXT::default(),
            instruction: vk::DeviceFaultAddressInfoEXT::default(),
            vendor: vk::DeviceFaultVendorInfoEXT::default(),
        }
    }
}

/// `VkDeviceFaultDebugInfoKHR`.
#[repr(C)]
pub(crate) struct FaultDebugInfo {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    /// The bytes of the vendor's crash dump.
    pub(crate) vendor_binary_size: u32,
    vendor_binary: *mut c_void,
}

/// `PFN_vkGetDeviceFaultReportsKHR`.
pub(crate) type GetReports = unsafe extern "system" fn(vk::Device, u64, *mut u32, *mut FaultInfo) -> vk::Result;
/// `PFN_vkGetDeviceFaultDebugInfoKHR`.
pub(crate) type GetDebugInfo = unsafe extern "system" fn(vk::Device, *mut FaultDebugInfo) -> vk::Result;
