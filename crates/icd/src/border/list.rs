//! Lists in structures.

use std::slice;

/// Returns the elements of an array in a structure that was passed to a command.
pub(super) fn slice<'a, T>(first: *const T, count: u32) -> &'a [T] {
    if first.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: valid usage: "must be a valid pointer to an array of `count` valid" elements, for the length of the call.
    unsafe { slice::from_raw_parts(first, count as usize) }
}

/// Adds methods to structures that return their lists, each of which is a count and a pointer.
macro_rules! lists {
    ($($(#[$doc:meta])* $Trait:ident for $Structure:ident { $($method:ident: [$T:ty] = $first:ident, $count:ident;)* })*) => {$(
        $(#[$doc])*
        pub(crate) trait $Trait {
            $(
                #[doc = concat!("Returns `", stringify!($first), "`.")]
                fn $method(&self) -> &[$T];
            )*
        }

        impl $Trait for ash::vk::$Structure<'_> {
            $(fn $method(&self) -> &[$T] {
                slice(self.$first.cast(), self.$count)
            })*
        }
    )*};
}

use ash::vk;

lists! {
    /// Lists of a [`vk::DeviceCreateInfo`].
    DeviceLists for DeviceCreateInfo {
        queues: [vk::DeviceQueueCreateInfo<'static>] = p_queue_create_infos, queue_create_info_count;
        extensions: [*const std::ffi::c_char] = pp_enabled_extension_names, enabled_extension_count;
    }

    /// Lists of a [`vk::InstanceCreateInfo`].
    InstanceLists for InstanceCreateInfo {
        extensions: [*const std::ffi::c_char] = pp_enabled_extension_names, enabled_extension_count;
    }
    /// Lists of a [`vk::SubmitInfo`].
    SubmitLists for SubmitInfo {
        waits: [vk::Semaphore] = p_wait_semaphores, wait_semaphore_count;
        command_buffers: [vk::CommandBuffer] = p_command_buffers, command_buffer_count;
        signals: [vk::Semaphore] = p_signal_semaphores, signal_semaphore_count;
    }

    /// Lists of a [`vk::TimelineSemaphoreSubmitInfo`].
    TimelineLists for TimelineSemaphoreSubmitInfo {
        wait_values: [u64] = p_wait_semaphore_values, wait_semaphore_value_count;
        signal_values: [u64] = p_signal_semaphore_values, signal_semaphore_value_count;
    }

    /// Lists of a [`vk::SubmitInfo2`].
    Submit2Lists for SubmitInfo2 {
        waits: [vk::SemaphoreSubmitInfo<'static>] = p_wait_semaphore_infos, wait_semaphore_info_count;
        command_buffers: [vk::CommandBufferSubmitInfo<'static>] = p_command_buffer_infos, command_buffer_info_count;
        signals: [vk::SemaphoreSubmitInfo<'static>] = p_signal_semaphore_infos, signal_semaphore_info_count;
    }

    /// Lists of a [`vk::SemaphoreWaitInfo`].
    WaitLists for SemaphoreWaitInfo {
        semaphores: [vk::Semaphore] = p_semaphores, semaphore_count;
        values: [u64] = p_values, semaphore_count;
    }

    /// Lists of a [`vk::DependencyInfo`].
    DependencyLists for DependencyInfo {
        memory: [vk::MemoryBarrier2<'static>] = p_memory_barriers, memory_barrier_count;
        buffers: [vk::BufferMemoryBarrier2<'static>] = p_buffer_memory_barriers, buffer_memory_barrier_count;
        images: [vk::ImageMemoryBarrier2<'static>] = p_image_memory_barriers, image_memory_barrier_count;
    }

    /// Lists of a [`vk::CopyBufferInfo2`].
    CopyLists for CopyBufferInfo2 {
        regions: [vk::BufferCopy2<'static>] = p_regions, region_count;
    }

    /// Lists of a [`vk::CopyBufferToImageInfo2`].
    ImageWriteLists for CopyBufferToImageInfo2 {
        regions: [vk::BufferImageCopy2<'static>] = p_regions, region_count;
    }

    /// Lists of a [`vk::CopyImageToBufferInfo2`].
    ImageReadLists for CopyImageToBufferInfo2 {
        regions: [vk::BufferImageCopy2<'static>] = p_regions, region_count;
    }

    /// Lists of a [`vk::CopyImageInfo2`].
    ImageCopyLists for CopyImageInfo2 {
        regions: [vk::ImageCopy2<'static>] = p_regions, region_count;
    }

    /// Lists of a [`vk::CopyMemoryToImageInfoEXT`].
    HostWriteLists for CopyMemoryToImageInfoEXT {
        regions: [vk::MemoryToImageCopyEXT<'static>] = p_regions, region_count;
    }

    /// Lists of a [`vk::CopyImageToMemoryInfoEXT`].
    HostReadLists for CopyImageToMemoryInfoEXT {
        regions: [vk::ImageToMemoryCopyEXT<'static>] = p_regions, region_count;
    }

    /// Lists of a [`vk::CopyImageToImageInfoEXT`].
    HostCopyLists for CopyImageToImageInfoEXT {
        regions: [vk::ImageCopy2<'static>] = p_regions, region_count;
    }

    /// Lists of a [`vk::ImageDrmFormatModifierListCreateInfoEXT`].
    ModifierLists for ImageDrmFormatModifierListCreateInfoEXT {
        modifiers: [u64] = p_drm_format_modifiers, drm_format_modifier_count;
    }

    /// Lists of a [`vk::ImageDrmFormatModifierExplicitCreateInfoEXT`].
    PlaneLists for ImageDrmFormatModifierExplicitCreateInfoEXT {
        planes: [vk::SubresourceLayout] = p_plane_layouts, drm_format_modifier_plane_count;
    }

    /// Lists of a [`vk::BindSparseInfo`].
    BindSparseLists for BindSparseInfo {
        waits: [vk::Semaphore] = p_wait_semaphores, wait_semaphore_count;
        buffers: [vk::SparseBufferMemoryBindInfo<'static>] = p_buffer_binds, buffer_bind_count;
        signals: [vk::Semaphore] = p_signal_semaphores, signal_semaphore_count;
    }

    /// Lists of a [`vk::DescriptorSetAllocateInfo`].
    SetLists for DescriptorSetAllocateInfo {
        layouts: [vk::DescriptorSetLayout] = p_set_layouts, descriptor_set_count;
    }

    /// Lists of a [`vk::DescriptorSetLayoutCreateInfo`].
    LayoutLists for DescriptorSetLayoutCreateInfo {
        bindings: [vk::DescriptorSetLayoutBinding<'static>] = p_bindings, binding_count;
    }

    /// Lists of a [`vk::SparseBufferMemoryBindInfo`].
    SparseBindLists for SparseBufferMemoryBindInfo {
        binds: [vk::SparseMemoryBind] = p_binds, bind_count;
    }
}

/// The features of Vulkan 1.0 in a [`vk::DeviceCreateInfo`].
pub(crate) trait DeviceFeatures {
    /// Returns the enabled features of Vulkan 1.0; `None` if this structure does not list them.
    fn features(&self) -> Option<&vk::PhysicalDeviceFeatures>;
}

impl DeviceFeatures for vk::DeviceCreateInfo<'_> {
    fn features(&self) -> Option<&vk::PhysicalDeviceFeatures> {
        // SAFETY: valid usage: null, or a valid pointer to a valid structure, for the length of the call.
        unsafe { self.p_enabled_features.as_ref() }
    }
}

/// Returns the creation parameters of the buffer, for a query of memory requirements without a buffer object.
pub(crate) fn create_info<'a>(
    info: &'a vk::DeviceBufferMemoryRequirements<'_>,
) -> Option<&'a vk::BufferCreateInfo<'a>> {
    // SAFETY: valid usage: a valid pointer to a valid structure, for the length of the call.
    unsafe { info.p_create_info.cast::<vk::BufferCreateInfo<'a>>().as_ref() }
}

/// Returns the creation parameters of the image, for a query of memory requirements without an image object.
pub(crate) fn image_create_info<'a>(
    info: &'a vk::DeviceImageMemoryRequirements<'_>,
) -> Option<&'a vk::ImageCreateInfo<'a>> {
    // SAFETY: valid usage: a valid pointer to a valid structure, for the length of the call.
    unsafe { info.p_create_info.cast::<vk::ImageCreateInfo<'a>>().as_ref() }
}

/// Returns a list in a structure by Vulkan's protocol: without an array, writes the number of items; with an array, writes the
/// items that fit.
pub(crate) fn put_all<T>(array: *mut T, room: &mut u32, items: impl ExactSizeIterator<Item = T>) {
    let all = u32::try_from(items.len()).unwrap_or(u32::MAX);
    if array.is_null() {
        *room = all;
        return;
    }
    *room = all.min(*room);
    for (index, item) in items.take(*room as usize).enumerate() {
        // SAFETY: valid usage: an array of as many elements as the count beside it says, more than `index`.
        let place = unsafe { array.add(index) };
        // SAFETY: an element of an array that this command alone has for the length of the call.
        unsafe { place.write(item) }
    }
}

/// Writes the first element of an array in a structure. The array must have room for one element.
pub(crate) fn put_first<T>(array: *mut T, value: T) {
    if !array.is_null() {
        // SAFETY: valid usage: an array of as many elements as the counts beside it say, at least one.
        unsafe { array.write(value) }
    }
}
