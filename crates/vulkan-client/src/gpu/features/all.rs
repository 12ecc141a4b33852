//! All features of a device, for shaders whose needs only their descriptions tell.

use std::ffi::CStr;

use ash::{ext, khr, vk};

/// Extensions that only shaders and their dispatches use.
pub(crate) const EXTENSIONS: [&CStr; 3] =
    [ext::conditional_rendering::NAME, ext::shader_image_atomic_int64::NAME, khr::shader_subgroup_rotate::NAME];

/// The features of Vulkan 1.0 to 1.3 and of [`EXTENSIONS`].
pub(crate) struct AllFeatures {
    pub(super) core_1_0: vk::PhysicalDeviceFeatures,
    pub(super) core_1_1: vk::PhysicalDeviceVulkan11Features<'static>,
    pub(super) core_1_2: vk::PhysicalDeviceVulkan12Features<'static>,
    pub(super) core_1_3: vk::PhysicalDeviceVulkan13Features<'static>,
    pub(super) image_int64: Option<vk::PhysicalDeviceShaderImageAtomicInt64FeaturesEXT<'static>>,
    pub(super) rotate: Option<vk::PhysicalDeviceShaderSubgroupRotateFeaturesKHR<'static>>,
    conditions: Option<vk::PhysicalDeviceConditionalRenderingFeaturesEXT<'static>>,
    /// Rounding and denormals, which shaders choose.
    floats: vk::PhysicalDeviceFloatControlsProperties<'static>,
}

impl AllFeatures {
    /// Asks a device of Vulkan 1.3 that offers the extensions `names`.
    pub(crate) fn of(instance: &ash::Instance, physical: vk::PhysicalDevice, names: &[&CStr]) -> Self {
        let mut all = Self {
            core_1_0: vk::PhysicalDeviceFeatures::default(),
            core_1_1: vk::PhysicalDeviceVulkan11Features::default(),
            core_1_2: vk::PhysicalDeviceVulkan12Features::default(),
            core_1_3: vk::PhysicalDeviceVulkan13Features::default(),
            image_int64: names.contains(&ext::shader_image_atomic_int64::NAME).then(Default::default),
            rotate: names.contains(&khr::shader_subgroup_rotate::NAME).then(Default::default),
            conditions: names.contains(&ext::conditional_rendering::NAME).then(Default::default),
            floats: vk::PhysicalDeviceFloatControlsProperties::default(),
        };
        let mut features = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut all.core_1_1)
            .push_next(&mut all.core_1_2)
            .push_next(&mut all.core_1_3);
        if let Some(image_int64) = &mut all.image_int64 {
            features = features.push_next(image_int64);
        }
        if let Some(rotate) = &mut all.rotate {
            features = features.push_next(rotate);
        }
        if let Some(conditions) = &mut all.conditions {
            features = features.push_next(conditions);
        }
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`); `physical` is of this instance, and has the version and the extensions of the
        // structures.
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        all.core_1_0 = features.features;
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut all.floats);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`); `physical` is of this instance, and has the version of the structure.
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
        all.unchained()
    }

    /// Adds all features to the creation of a device.
    pub(crate) fn enable<'a>(&'a mut self, info: vk::DeviceCreateInfo<'a>) -> vk::DeviceCreateInfo<'a> {
        let info = info
            .enabled_features(&self.core_1_0)
            .push_next(&mut self.core_1_1)
            .push_next(&mut self.core_1_2)
            .push_next(&mut self.core_1_3);
        let info = match &mut self.image_int64 {
            Some(image_int64) => info.push_next(image_int64),
            None => info,
        };
        let info = match &mut self.conditions {
            Some(conditions) => info.push_next(conditions),
            None => info,
        };
        match &mut self.rotate {
            Some(rotate) => info.push_next(rotate),
            None => info,
        }
    }

    /// Returns the features without the pointers from one structure to the next.
    pub(crate) fn unchained(mut self) -> Self {
        self.core_1_1.p_next = std::ptr::null_mut();
        self.core_1_2.p_next = std::ptr::null_mut();
        self.core_1_3.p_next = std::ptr::null_mut();
        self.floats.p_next = std::ptr::null_mut();
        if let Some(image_int64) = &mut self.image_int64 {
            image_int64.p_next = std::ptr::null_mut();
        }
        if let Some(rotate) = &mut self.rotate {
            rotate.p_next = std::ptr::null_mut();
        }
        if let Some(conditions) = &mut self.conditions {
            conditions.p_next = std::ptr::null_mut();
        }
        self
    }

    /// Returns `true` if the device has a feature or a float control, by Vulkan's name; `None` if the name is unknown.
    pub(crate) fn has(&self, name: &str) -> Option<bool> {
        let Self { core_1_0, core_1_1, core_1_2, .. } = self;
        let value = match name {
            "robustBufferAccess" => core_1_0.robust_buffer_access,
            "shaderFloat64" => core_1_0.shader_float64,
            "shaderInt64" => core_1_0.shader_int64,
            "shaderInt16" => core_1_0.shader_int16,
            "imageCubeArray" => core_1_0.image_cube_array,
            "samplerAnisotropy" => core_1_0.sampler_anisotropy,
            "shaderImageGatherExtended" => core_1_0.shader_image_gather_extended,
            "shaderStorageImageExtendedFormats" => core_1_0.shader_storage_image_extended_formats,
            "shaderStorageImageReadWithoutFormat" => core_1_0.shader_storage_image_read_without_format,
            "shaderStorageImageWriteWithoutFormat" => core_1_0.shader_storage_image_write_without_format,
            "storageBuffer16BitAccess" => core_1_1.storage_buffer16_bit_access,
            "variablePointers" => core_1_1.variable_pointers,
            "variablePointersStorageBuffer" => core_1_1.variable_pointers_storage_buffer,
            "storageBuffer8BitAccess" => core_1_2.storage_buffer8_bit_access,
            "shaderFloat16" => core_1_2.shader_float16,
            "shaderInt8" => core_1_2.shader_int8,
            "shaderBufferInt64Atomics" => core_1_2.shader_buffer_int64_atomics,
            "shaderSharedInt64Atomics" => core_1_2.shader_shared_int64_atomics,
            "bufferDeviceAddress" => core_1_2.buffer_device_address,
            "scalarBlockLayout" => core_1_2.scalar_block_layout,
            "samplerMirrorClampToEdge" => core_1_2.sampler_mirror_clamp_to_edge,
            "shaderStorageBufferArrayNonUniformIndexing" => core_1_2.shader_storage_buffer_array_non_uniform_indexing,
            "shaderSubgroupExtendedTypes" => core_1_2.shader_subgroup_extended_types,
            "vulkanMemoryModel" => core_1_2.vulkan_memory_model,
            "shaderImageInt64Atomics" => self.image_int64.map_or(vk::FALSE, |it| it.shader_image_int64_atomics),
            "shaderSubgroupRotate" => self.rotate.map_or(vk::FALSE, |it| it.shader_subgroup_rotate),
            "shaderSubgroupRotateClustered" => self.rotate.map_or(vk::FALSE, |it| it.shader_subgroup_rotate_clustered),
            "conditionalRendering" => self.conditions.map_or(vk::FALSE, |it| it.conditional_rendering),
            "shaderDenormPreserveFloat32" => self.floats.shader_denorm_preserve_float32,
            "shaderDenormFlushToZeroFloat32" => self.floats.shader_denorm_flush_to_zero_float32,
            "shaderRoundingModeRTZFloat32" => self.floats.shader_rounding_mode_rtz_float32,
            _ => return None,
        };
        Some(value == vk::TRUE)
    }
}
