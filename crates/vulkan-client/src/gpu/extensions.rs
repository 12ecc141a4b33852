//! The extensions the checks use, as far as the driver offers them.

use std::ffi::CStr;

use ash::{ext, khr, vk};

use super::features::EXTENSIONS;

/// Extensions that the checks use.
const WANTED: [&CStr; 8] = [
    khr::external_memory_fd::NAME,
    khr::external_semaphore_fd::NAME,
    khr::external_fence_fd::NAME,
    ext::external_memory_dma_buf::NAME,
    ext::external_memory_host::NAME,
    ext::memory_budget::NAME,
    ext::calibrated_timestamps::NAME,
    ext::image_drm_format_modifier::NAME,
];

/// The functions of the extensions that were enabled; `None` means it is not offered.
pub(crate) struct Extensions {
    pub(crate) memory_fd: Option<khr::external_memory_fd::Device>,
    pub(crate) semaphore_fd: Option<khr::external_semaphore_fd::Device>,
    pub(crate) fence_fd: Option<khr::external_fence_fd::Device>,
    pub(crate) host: Option<ext::external_memory_host::Device>,
    pub(crate) clocks: Option<ext::calibrated_timestamps::Device>,
    pub(crate) conditions: Option<ext::conditional_rendering::Device>,
    pub(crate) dma_buf: bool,
    pub(crate) budget: bool,
    pub(crate) modifiers: bool,
}

/// The wanted ones among the offered, with those that only shaders use on request.
pub(super) fn wanted(offered: &[vk::ExtensionProperties], for_shaders: bool) -> Vec<&'static CStr> {
    let has = |name: &CStr| offered.iter().any(|one| one.extension_name_as_c_str().is_ok_and(|it| it == name));
    let more = EXTENSIONS.into_iter().filter(|_| for_shaders);
    WANTED.into_iter().chain(more).filter(|name| has(name)).collect()
}

impl Extensions {
    /// Looks the functions up.
    pub(super) fn load(enabled: &[&'static CStr], instance: &ash::Instance, device: &ash::Device) -> Self {
        let has = |name: &CStr| enabled.contains(&name);
        Self {
            memory_fd: has(khr::external_memory_fd::NAME)
                .then(|| khr::external_memory_fd::Device::new(instance, device)),
            semaphore_fd: has(khr::external_semaphore_fd::NAME)
                .then(|| khr::external_semaphore_fd::Device::new(instance, device)),
            fence_fd: has(khr::external_fence_fd::NAME).then(|| khr::external_fence_fd::Device::new(instance, device)),
            host: has(ext::external_memory_host::NAME)
                .then(|| ext::external_memory_host::Device::new(instance, device)),
            clocks: has(ext::calibrated_timestamps::NAME)
                .then(|| ext::calibrated_timestamps::Device::new(instance, device)),
            conditions: has(ext::conditional_rendering::NAME)
                .then(|| ext::conditional_rendering::Device::new(instance, device)),
            dma_buf: has(ext::external_memory_dma_buf::NAME),
            budget: has(ext::memory_budget::NAME),
            modifiers: has(ext::image_drm_format_modifier::NAME),
        }
    }
}
