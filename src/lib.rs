//! A userspace amdgpu winsys and Vulkan-style memory manager.

pub mod cs;
pub mod heaps;
pub mod uapi;
pub mod vamgr;
pub mod winsys;
