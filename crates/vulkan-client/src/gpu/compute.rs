//! Compute pipelines of storage buffers.

use std::marker::PhantomData;

use ash::{prelude::VkResult, vk};

use super::{Gpu, buffer::Buffer};

/// A compute shader with the buffers it uses, at bindings 0 and on of set 0.
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
    /// Makes a pipeline of a shader's SPIR-V, with entry point `main`, which uses all of each buffer. Its subgroups are whole, and
    /// have `subgroup` lanes if that is given, which must be a size that the device has.
    ///
    /// # Errors
    ///
    /// The errors of making the module, the layouts, the descriptor set and the pipeline.
    pub(crate) fn pipeline<'b>(
        &'b self,
        words: &[u32],
        buffers: &[&'b Buffer<'b>],
        subgroup: Option<u32>,
    ) -> VkResult<Pipeline<'b>> {
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
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`); the words are a valid module: compiled into this program, or of its generator.
        made.module = unsafe { self.device.create_shader_module(&module, None) }?;
        let kind = vk::DescriptorType::STORAGE_BUFFER;
        let count = buffers.len() as u32;
        let binding = |index| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(index)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        };
        let bindings: Vec<_> = (0..count).map(binding).collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`).
        made.set_layout = unsafe { self.device.create_descriptor_set_layout(&info, None) }?;
        let layouts = [made.set_layout];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`).
        made.layout = unsafe { self.device.create_pipeline_layout(&info, None) }?;
        let sizes = [vk::DescriptorPoolSize::default().ty(kind).descriptor_count(count)];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`).
        made.pool = unsafe { self.device.create_descriptor_pool(&info, None) }?;
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(made.pool).set_layouts(&layouts);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); the pool has room for this one set.
        let sets = unsafe { self.device.allocate_descriptor_sets(&info) }?;
        made.set = sets.first().copied().ok_or(vk::Result::ERROR_UNKNOWN)?;
        let whole = |buffer: &&Buffer<'_>| vk::DescriptorBufferInfo::default().buffer(buffer.raw).range(vk::WHOLE_SIZE);
        let ranges: Vec<_> = buffers.iter().map(whole).collect();
        let write = [vk::WriteDescriptorSet::default().dst_set(made.set).descriptor_type(kind).buffer_info(&ranges)];
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); no commands use the set yet, and the buffers are borrowed
        // as long as the set is. One write goes on from binding to binding, which are alike.
        unsafe { self.device.update_descriptor_sets(&write, &[]) };
        let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(made.module)
            .name(c"main");
        if let Some(lanes) = subgroup {
            size.required_subgroup_size = lanes;
            stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS).push_next(&mut size);
        }
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(made.layout)];
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`).
        let pipelines = unsafe { self.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
        made.raw = pipelines.map_err(|(_, error)| error)?.first().copied().ok_or(vk::Result::ERROR_UNKNOWN)?;
        Ok(made)
    }
}

impl Drop for Pipeline<'_> {
    fn drop(&mut self) {
        let device = &self.gpu.device;
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`); a null handle is ignored.
        unsafe { device.destroy_pipeline(self.raw, None) };
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`); the set goes with its pool.
        unsafe { device.destroy_descriptor_pool(self.pool, None) };
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`).
        unsafe { device.destroy_pipeline_layout(self.layout, None) };
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`).
        unsafe { device.destroy_descriptor_set_layout(self.set_layout, None) };
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`); the pipeline made of it is gone.
        unsafe { device.destroy_shader_module(self.module, None) };
    }
}
