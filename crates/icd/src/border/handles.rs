//! The object types of handles, and the result of a panic in a command whose first argument is such a handle.

use ash::vk;

use super::handle::{Handed, Object, object, objects};
use crate::objects::{
    Buffer, BufferView, CommandBuffer, CommandPool, DescriptorPool, DescriptorSet, DescriptorSetLayout,
    DescriptorUpdateTemplate, Device, Event, Fence, Framebuffer, Image, ImageView, Instance, Memory, Messenger,
    PhysicalDevice, PipelineCache, PipelineLayout, PrivateSlot, QueryPool, Queue, RenderPass, Sampler,
    SamplerYcbcrConversion, Semaphore, ShaderModule,
};

objects! {
    Instance: vk::Instance, vk::Result::ERROR_UNKNOWN;
    PhysicalDevice: vk::PhysicalDevice, vk::Result::ERROR_UNKNOWN;
    Device: vk::Device, vk::Result::ERROR_DEVICE_LOST;
    Queue: vk::Queue, vk::Result::ERROR_DEVICE_LOST;
    CommandBuffer: vk::CommandBuffer, vk::Result::ERROR_DEVICE_LOST;
    Buffer: vk::Buffer, vk::Result::ERROR_UNKNOWN;
    BufferView: vk::BufferView, vk::Result::ERROR_UNKNOWN;
    CommandPool: vk::CommandPool, vk::Result::ERROR_UNKNOWN;
    DescriptorPool: vk::DescriptorPool, vk::Result::ERROR_UNKNOWN;
    DescriptorSet: vk::DescriptorSet, vk::Result::ERROR_UNKNOWN;
    DescriptorSetLayout: vk::DescriptorSetLayout, vk::Result::ERROR_UNKNOWN;
    DescriptorUpdateTemplate: vk::DescriptorUpdateTemplate, vk::Result::ERROR_UNKNOWN;
    Event: vk::Event, vk::Result::ERROR_UNKNOWN;
    Fence: vk::Fence, vk::Result::ERROR_UNKNOWN;
    Framebuffer: vk::Framebuffer, vk::Result::ERROR_UNKNOWN;
    Image: vk::Image, vk::Result::ERROR_UNKNOWN;
    ImageView: vk::ImageView, vk::Result::ERROR_UNKNOWN;
    Memory: vk::DeviceMemory, vk::Result::ERROR_UNKNOWN;
    Messenger: vk::DebugUtilsMessengerEXT, vk::Result::ERROR_UNKNOWN;
    PipelineCache: vk::PipelineCache, vk::Result::ERROR_UNKNOWN;
    PipelineLayout: vk::PipelineLayout, vk::Result::ERROR_UNKNOWN;
    PrivateSlot: vk::PrivateDataSlot, vk::Result::ERROR_UNKNOWN;
    QueryPool: vk::QueryPool, vk::Result::ERROR_UNKNOWN;
    RenderPass: vk::RenderPass, vk::Result::ERROR_UNKNOWN;
    Sampler: vk::Sampler, vk::Result::ERROR_UNKNOWN;
    SamplerYcbcrConversion: vk::SamplerYcbcrConversion, vk::Result::ERROR_UNKNOWN;
    Semaphore: vk::Semaphore, vk::Result::ERROR_UNKNOWN;
    ShaderModule: vk::ShaderModule, vk::Result::ERROR_UNKNOWN;
}
