//! Callbacks of the program, for messages and for reports of memory.

use std::ffi::c_void;

use ash::vk;

/// A callback for messages, with the severities and types of the messages that it receives.
pub(crate) struct Callback {
    severities: vk::DebugUtilsMessageSeverityFlagsEXT,
    kinds: vk::DebugUtilsMessageTypeFlagsEXT,
    function: vk::PFN_vkDebugUtilsMessengerCallbackEXT,
    /// The program's user pointer, which is passed to the callback.
    user: usize,
}

impl Callback {
    /// Creates a callback from its creation parameters.
    pub(crate) fn new(info: &vk::DebugUtilsMessengerCreateInfoEXT<'_>) -> Self {
        let user = info.p_user_data.expose_provenance();
        Self { severities: info.message_severity, kinds: info.message_type, function: info.pfn_user_callback, user }
    }

    /// Calls the callback with a message, if it receives messages of this kind. Its return value is ignored, because it is meant
    /// for layers.
    pub(crate) fn call(
        &self,
        severity: vk::DebugUtilsMessageSeverityFlagsEXT,
        kinds: vk::DebugUtilsMessageTypeFlagsEXT,
        message: &vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    ) {
        if let Some(function) = self.function
            && self.severities.contains(severity)
            && self.kinds.intersects(kinds)
        {
            let user = std::ptr::with_exposed_provenance_mut::<c_void>(self.user);
            // SAFETY: valid usage of `VkDebugUtilsMessengerCreateInfoEXT`: the function can be called from every thread until
            // the messenger is destroyed, with the pointer that was given with it; the message lives for the length of the call.
            unsafe { function(severity, kinds, std::ptr::from_ref(message).cast(), user) };
        }
    }
}

/// A callback for reports of device memory (`VK_EXT_device_memory_report`).
pub(crate) struct MemoryCallback {
    function: vk::PFN_vkDeviceMemoryReportCallbackEXT,
    /// The program's user pointer, which is passed to the callback.
    user: usize,
}

impl MemoryCallback {
    /// Creates a callback from its creation parameters.
    pub(crate) fn new(info: &vk::DeviceDeviceMemoryReportCreateInfoEXT<'_>) -> Self {
        Self { function: info.pfn_user_callback, user: info.p_user_data.expose_provenance() }
    }

    /// Calls the callback with a report.
    pub(crate) fn call(&self, report: &vk::DeviceMemoryReportCallbackDataEXT<'_>) {
        if let Some(function) = self.function {
            let user = std::ptr::with_exposed_provenance_mut::<c_void>(self.user);
            // SAFETY: valid usage of `VkDeviceDeviceMemoryReportCreateInfoEXT`: the function can be called from every thread until
            // the device is destroyed, with the pointer that was given with it; the report lives for the length of the call.
            unsafe { function(std::ptr::from_ref(report).cast(), user) };
        }
    }
}
