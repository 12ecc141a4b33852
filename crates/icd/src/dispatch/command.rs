//! Commands of Vulkan.

/// Object that a command is dispatched by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// None: it can be called without an instance.
    Global,
    /// `VkInstance`.
    Instance,
    /// `VkPhysicalDevice`.
    PhysicalDevice,
    /// `VkDevice`, `VkQueue` or `VkCommandBuffer`.
    Device,
}

/// A command of Vulkan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Command {
    /// Its name.
    pub(super) name: &'static str,
    /// Object that it is dispatched by.
    pub(super) level: Level,
    /// The command that does the same; empty if none does.
    pub(super) alias: &'static str,
    /// Versions and extensions, each of which brings the command.
    pub(super) by: &'static [&'static str],
}
