//! Descriptors of Vulkan's samplers, buffer views and image views, and targets of images, built as RADV builds them.

mod buffer;
mod image;
mod requirements;
mod sampler;
mod target;

pub use buffer::{BufferUse, VulkanBuffer};
pub use image::{Aspect, ViewType, VulkanImage, VulkanView};
pub use requirements::{ImageMemory, ImageRequirements};
pub use sampler::{AddressMode, BorderColor, CompareOp, Filter, Reduction, VulkanSampler};
