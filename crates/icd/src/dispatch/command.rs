//! The commands of Vulkan.

/// The kind of object by which a command is dispatched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// No object: the command can be called without an instance.
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
    /// The name of the command.
    pub(super) name: &'static str,
    /// The kind of object by which the command is dispatched.
    pub(super) level: Level,
    /// The name of an equivalent command; empty if there is none.
    pub(super) alias: &'static str,
    /// The versions and extensions that provide the command.
    pub(super) by: &'static [&'static str],
}
