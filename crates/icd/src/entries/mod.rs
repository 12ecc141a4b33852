//! Vulkan's commands, with a module for each kind of object. Each command takes a few lines on top of the library.

pub(crate) mod buffer;
pub(crate) mod command_buffer;
pub(crate) mod device;
pub(crate) mod event;
pub(crate) mod fault;
pub(crate) mod fence;
pub(crate) mod full;
pub(crate) mod image;
pub(crate) mod instance;
pub(crate) mod memory;
pub(crate) mod message;
pub(crate) mod physical_device;
pub(crate) mod query_pool;
pub(crate) mod queue;
pub(crate) mod semaphore;
pub(crate) mod transfer;
