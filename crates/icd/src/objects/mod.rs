//! Vulkan's objects, each of which consists of a few values of the library. Their commands are in `entries`.

mod buffer;
mod command_buffer;
mod command_pool;
mod device;
mod empty;
mod event;
mod gpu;
mod image;
mod instance;
mod memory;
mod payload;
mod physical_device;
mod query_pool;
mod queue;
mod report;

pub(crate) use self::{
    buffer::Buffer,
    command_buffer::CommandBuffer,
    command_pool::CommandPool,
    device::{Device, Faults, News, PrivateSlot},
    empty::{
        BufferView, DescriptorPool, DescriptorSet, DescriptorSetLayout, DescriptorUpdateTemplate, Framebuffer,
        ImageView, PipelineCache, PipelineLayout, RenderPass, Sampler, SamplerYcbcrConversion, ShaderModule,
    },
    event::Event,
    gpu::{Face, Gpu},
    image::{Image, Run, Texels, runs},
    instance::{Instance, Machine, Messenger, Program},
    memory::Memory,
    payload::{Fence, Payload, Semaphore},
    physical_device::{Family, PhysicalDevice},
    query_pool::QueryPool,
    queue::{Loss, Queue, Wait, Work},
    report::{MemoryId, Reports, Watch},
};
