//! Vulkan's objects: each is a few values of the library. The commands on them are in `entries`.

mod buffer;
mod command_buffer;
mod command_pool;
mod device;
mod event;
mod gpu;
mod image;
mod instance;
mod machine;
mod memory;
mod payload;
mod physical_device;
mod query_pool;
mod queue;

pub(crate) use self::{
    buffer::Buffer,
    command_buffer::CommandBuffer,
    command_pool::CommandPool,
    device::{Device, PrivateSlot},
    event::Event,
    gpu::{Face, Gpu},
    image::{Image, Run, Texels, chip, runs},
    instance::Instance,
    machine::Machine,
    memory::Memory,
    payload::{Fence, Payload, Semaphore},
    physical_device::{Family, PhysicalDevice},
    query_pool::QueryPool,
    queue::{Loss, Queue, Wait, Work},
};

/// A `VkImageView`, which holds nothing.
#[derive(Debug)]
pub(crate) struct ImageView;

/// A `VkSampler`, which holds nothing.
#[derive(Debug)]
pub(crate) struct Sampler;
