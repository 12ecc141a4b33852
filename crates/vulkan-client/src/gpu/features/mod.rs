//! Features of shaders from Vulkan 1.2 and 1.3.

mod all;

use std::ops::RangeInclusive;

use ash::vk;

pub(crate) use self::all::{AllFeatures, EXTENSIONS};

/// The features that the device has, all of which are enabled.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a feature of the device")]
pub(crate) struct Newer {
    /// `true` if the device has Vulkan 1.3.
    pub(crate) has_1_3: bool,
    /// `true` if rendering needs no render passes.
    pub(crate) rendering: bool,
    /// `true` if shaders may compute with 16-bit floats.
    pub(crate) float16: bool,
    /// `true` if shaders may use dot products of packed bytes.
    pub(crate) dot_product: bool,
    /// Lanes of a subgroup where nothing else is asked for.
    pub(crate) subgroup_size: u32,
    /// Sizes that a pipeline may ask its subgroups to have, in lanes; `None` if it may not ask.
    pub(crate) subgroup_sizes: Option<RangeInclusive<u32>>,
}

impl Newer {
    /// Asks a device.
    pub(super) fn of(
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        properties: &vk::PhysicalDeviceProperties,
    ) -> Self {
        let has_1_3 = properties.api_version >= vk::API_VERSION_1_3;
        let mut core_1_2 = vk::PhysicalDeviceVulkan12Features::default();
        let mut core_1_3 = vk::PhysicalDeviceVulkan13Features::default();
        let mut sizes = vk::PhysicalDeviceVulkan13Properties::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut core_1_2);
        let mut core_1_1 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut more = vk::PhysicalDeviceProperties2::default().push_next(&mut core_1_1);
        if has_1_3 {
            features = features.push_next(&mut core_1_3);
            more = more.push_next(&mut sizes);
        }
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`); `physical` is of this instance, and has the version of the structures.
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`); `physical` is of this instance, and has the version of the structure.
        unsafe { instance.get_physical_device_properties2(physical, &mut more) };
        let asks = core_1_3.subgroup_size_control == vk::TRUE
            && core_1_3.compute_full_subgroups == vk::TRUE
            && sizes.required_subgroup_size_stages.contains(vk::ShaderStageFlags::COMPUTE);
        Self {
            has_1_3,
            rendering: core_1_3.dynamic_rendering == vk::TRUE,
            float16: core_1_2.shader_float16 == vk::TRUE,
            dot_product: core_1_3.shader_integer_dot_product == vk::TRUE,
            subgroup_size: core_1_1.subgroup_size,
            subgroup_sizes: asks.then_some(sizes.min_subgroup_size..=sizes.max_subgroup_size),
        }
    }

    /// Returns what is enabled when a device is made. Every driver of Vulkan 1.2 has timeline semaphores and host query
    /// reset (both mandatory).
    pub(super) fn enabled(
        &self,
    ) -> (vk::PhysicalDeviceVulkan12Features<'static>, vk::PhysicalDeviceVulkan13Features<'static>) {
        let core_1_2 = vk::PhysicalDeviceVulkan12Features::default()
            .timeline_semaphore(true)
            .host_query_reset(true)
            .shader_float16(self.float16);
        let asks = self.subgroup_sizes.is_some();
        let core_1_3 = vk::PhysicalDeviceVulkan13Features::default()
            .dynamic_rendering(self.rendering)
            .shader_integer_dot_product(self.dot_product)
            .subgroup_size_control(asks)
            .compute_full_subgroups(asks);
        (core_1_2, core_1_3)
    }
}
