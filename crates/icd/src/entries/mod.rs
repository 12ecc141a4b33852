//! Vulkan's commands, a module for each kind of object they work on. Each is a few lines over the library.

pub(crate) mod device;
pub(crate) mod instance;
pub(crate) mod physical_device;
