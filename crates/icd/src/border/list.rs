//! Lists in structures.

use std::slice;

/// Returns the elements of an array that a command got, with the length that belongs to it.
pub(super) fn slice<'a, T>(first: *const T, count: u32) -> &'a [T] {
    if first.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: valid usage: "must be a valid pointer to an array of `count` valid" elements, for the length of the call.
    unsafe { slice::from_raw_parts(first, count as usize) }
}

/// Gives structures methods for the lists in them, each of a count and a pointer.
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
}

/// What a [`vk::DeviceCreateInfo`] may point at.
pub(crate) trait DeviceFeatures {
    /// Returns the features of Vulkan 1.0 that are enabled, if they are told here.
    fn features(&self) -> Option<&vk::PhysicalDeviceFeatures>;
}

impl DeviceFeatures for vk::DeviceCreateInfo<'_> {
    fn features(&self) -> Option<&vk::PhysicalDeviceFeatures> {
        // SAFETY: valid usage: null, or a valid pointer to a valid structure, for the length of the call.
        unsafe { self.p_enabled_features.as_ref() }
    }
}
