//! Structures viewed as plain numbers.

use std::slice;

use ash::vk::{self, BaseInStructure, TaggedStructure};

/// A structure that contains only switches after the two fields of a chain.
///
/// # Safety
///
/// The structure is `#[repr(C)]`, and `COUNT` fields of type `VkBool32` follow its `p_next`.
pub(crate) unsafe trait Switches: TaggedStructure {
    /// The number of switches.
    const COUNT: usize;
}

/// Returns the switches of a structure of features.
pub(crate) fn switches<T: Switches>(structure: &T) -> &[vk::Bool32] {
    const { assert!(size_of::<BaseInStructure<'_>>() + T::COUNT * size_of::<vk::Bool32>() <= size_of::<T>()) };
    let head = std::ptr::from_ref(structure).cast::<BaseInStructure<'_>>();
    // SAFETY: the structure is longer than its head (asserted).
    let first = unsafe { head.add(1) }.cast::<vk::Bool32>();
    // SAFETY: `COUNT` switches follow the head, as the trait's implementations promise.
    unsafe { slice::from_raw_parts(first, T::COUNT) }
}

/// Returns the four words of a clear colour.
pub(crate) fn clear_words(color: &vk::ClearColorValue) -> [u32; 4] {
    // SAFETY: every member of the union is four words, and any bits are a `u32`.
    unsafe { color.uint32 }
}

/// Declares structures of features with their numbers of switches.
macro_rules! features {
    ($($Structure:ident: $count:expr;)*) => {$(
        // SAFETY: `ash` generates these from Vulkan's registry, in which this many members follow `pNext`, all of type
        // `VkBool32`; that the size fits is asserted where they are read, and that no more fit by the test below.
        unsafe impl Switches for vk::$Structure<'_> {
            const COUNT: usize = $count;
        }
    )*

    #[cfg(test)]
    #[test]
    fn structures_of_features_have_no_more_switches() {
        $(assert!(size_of::<vk::$Structure<'_>>() < size_of::<BaseInStructure<'_>>() + ($count + 2) * size_of::<vk::Bool32>());)*
    }};
}

features! {
    PhysicalDeviceFeatures2: 55;
    PhysicalDeviceVulkan11Features: 12;
    PhysicalDeviceVulkan12Features: 47;
    PhysicalDeviceVulkan13Features: 15;
    PhysicalDeviceTimelineSemaphoreFeatures: 1;
    PhysicalDeviceHostQueryResetFeatures: 1;
    PhysicalDeviceBufferDeviceAddressFeatures: 3;
    PhysicalDeviceSynchronization2Features: 1;
    PhysicalDeviceMaintenance4Features: 1;
    PhysicalDevicePrivateDataFeatures: 1;
    PhysicalDeviceMemoryPriorityFeaturesEXT: 1;
    PhysicalDevicePageableDeviceLocalMemoryFeaturesEXT: 1;
    PhysicalDeviceFaultFeaturesEXT: 2;
    PhysicalDeviceMapMemoryPlacedFeaturesEXT: 3;
    PhysicalDeviceCoherentMemoryFeaturesAMD: 1;
    PhysicalDeviceGlobalPriorityQueryFeaturesKHR: 1;
    PhysicalDeviceHostImageCopyFeaturesEXT: 1;
    PhysicalDeviceDeviceMemoryReportFeaturesEXT: 1;
    PhysicalDeviceAddressBindingReportFeaturesEXT: 1;
}
