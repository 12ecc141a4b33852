//! Compute pipelines of one storage buffer.

use std::marker::PhantomData;

use ash::{prelude::VkResult, vk};

use super::{Gpu, buffer::Buffer};

/// A compute shader with the buffer it stores to, at binding 0 of set 0.
pub(crate) struct Pipeline<'b> {
    gpu: &'b Gpu,
    module: vk::ShaderModule,
    set_layout: vk::DescriptorSetLayout,
    pool: vk::DescriptorPool,
    pub(super) layout: vk::PipelineLayout,
    pub(super) set: vk::DescriptorSet,
    pub(super) raw: vk::Pipeline,
    _buffer: PhantomData<&'b Buffer<'b>>,
}

impl Gpu {
    /// Makes a pipeline of a shader's SPIR-V, with entry point `main`, which stores to all of `buffer`.
    ///
    /// # Errors
    ///
    /// The errors of making the module, the layouts, the descriptor set and the pipeline.
    pub(crate) fn pipeline<'b>(&'b self, words: &[u32], buffer: &'b Buffer<'b>) -> VkResult<Pipeline<'b>> {
        // Null handles may be destroyed, so that what is made so far goes with the value.
        let mut made = Pipeline {
            gpu: self,
            module: vk::ShaderModule::null(),
            set_layout: vk::DescriptorSetLayout::null(),
            pool: vk::DescriptorPool::null(),
            layout: vk::PipelineLayout::null(),
            set: vk::DescriptorSet::null(),
            raw: vk::Pipeline::null(),
            _buffer: PhantomData,
        };
        let module = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: alive, local; the words are a valid module, compiled into this program.
        made.module = unsafe { self.device.create_shader_module(&module, None) }?;
        let kind = vk::DescriptorType::STORAGE_BUFFER;
        let binding = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(kind)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&binding);
        // SAFETY: alive, local.
        made.set_layout = unsafe { self.device.create_descriptor_set_layout(&info, None) }?;
        let layouts = [made.set_layout];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
        // SAFETY: alive, local.
        made.layout = unsafe { self.device.create_pipeline_layout(&info, None) }?;
        let sizes = [vk::DescriptorPoolSize::default().ty(kind).descriptor_count(1)];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        // SAFETY: alive, local.
        made.pool = unsafe { self.device.create_descriptor_pool(&info, None) }?;
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(made.pool).set_layouts(&layouts);
        // SAFETY: alive, alone, local; the pool has room for this one set.
        let sets = unsafe { self.device.allocate_descriptor_sets(&info) }?;
        made.set = sets.first().copied().ok_or(vk::Result::ERROR_UNKNOWN)?;
        let range = [vk::DescriptorBufferInfo::default().buffer(buffer.raw).range(vk::WHOLE_SIZE)];
        let write = [vk::WriteDescriptorSet::default().dst_set(made.set).descriptor_type(kind).buffer_info(&range)];
        // SAFETY: alive, alone, local; no commands use the set yet, and the buffer is borrowed as long as the set is.
        unsafe { self.device.update_descriptor_sets(&write, &[]) };
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(made.module)
            .name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(made.layout)];
        // SAFETY: alive, local.
        let pipelines = unsafe { self.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
        made.raw = pipelines.map_err(|(_, error)| error)?.first().copied().ok_or(vk::Result::ERROR_UNKNOWN)?;
        Ok(made)
    }
}

impl Drop for Pipeline<'_> {
    fn drop(&mut self) {
        let device = &self.gpu.device;
        // SAFETY: alive, alone, done; a null handle is ignored.
        unsafe { device.destroy_pipeline(self.raw, None) };
        // SAFETY: alive, alone, done; the set goes with its pool.
        unsafe { device.destroy_descriptor_pool(self.pool, None) };
        // SAFETY: alive, alone, done.
        unsafe { device.destroy_pipeline_layout(self.layout, None) };
        // SAFETY: alive, alone, done.
        unsafe { device.destroy_descriptor_set_layout(self.set_layout, None) };
        // SAFETY: alive, alone; the pipeline made of it is gone.
        unsafe { device.destroy_shader_module(self.module, None) };
    }
}
