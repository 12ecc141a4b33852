//! Compute pipelines with resources of all kinds.

mod record;
mod sampler;

use std::{collections::BTreeMap, marker::PhantomData};

use ash::{prelude::VkResult, vk};

pub(crate) use self::{
    record::Dispatch,
    sampler::{Sampler, SamplerKind},
};
use super::{
    Gpu,
    buffer::{Buffer, TexelView},
    image::ImageView,
};

/// A resource that a descriptor names.
#[derive(Clone, Copy)]
pub(crate) enum Resource<'r> {
    /// All of a storage buffer.
    Storage(&'r Buffer<'r>),
    /// All of a uniform buffer.
    Uniform(&'r Buffer<'r>),
    /// Texels that are fetched.
    UniformTexels(&'r TexelView<'r>),
    /// Texels that are stored.
    StorageTexels(&'r TexelView<'r>),
    /// An image that is stored to and loaded from.
    StorageImage(&'r ImageView<'r>),
    /// An image that is sampled with another binding's sampler.
    SampledImage(&'r ImageView<'r>),
    /// A sampler.
    Sampler(&'r Sampler<'r>),
    /// An image that is sampled with its own sampler.
    Combined(&'r ImageView<'r>, &'r Sampler<'r>),
}

impl Resource<'_> {
    const fn kind(&self) -> vk::DescriptorType {
        match self {
            Self::Storage(_) => vk::DescriptorType::STORAGE_BUFFER,
            Self::Uniform(_) => vk::DescriptorType::UNIFORM_BUFFER,
            Self::UniformTexels(_) => vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
            Self::StorageTexels(_) => vk::DescriptorType::STORAGE_TEXEL_BUFFER,
            Self::StorageImage(_) => vk::DescriptorType::STORAGE_IMAGE,
            Self::SampledImage(_) => vk::DescriptorType::SAMPLED_IMAGE,
            Self::Sampler(_) => vk::DescriptorType::SAMPLER,
            Self::Combined(..) => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        }
    }
}

/// A binding with its array elements, all of one kind.
pub(crate) struct Slot<'r> {
    /// Descriptor set.
    pub(crate) set: u32,
    /// Number in the set.
    pub(crate) binding: u32,
    /// Elements, at least one.
    pub(crate) elements: Vec<Resource<'r>>,
}

/// The constants of a program.
#[derive(Default)]
pub(crate) struct Constants {
    /// 32-bit specialization constants by their numbers.
    pub(crate) spec: BTreeMap<u32, u32>,
    /// Bytes of push constants.
    pub(crate) push: u32,
    /// Lanes of the subgroups, if that is asked for, and `true` if all must be full.
    pub(crate) subgroup: Option<(u32, bool)>,
    /// `true` if the first workgroup may be another one than 0.
    pub(crate) has_base: bool,
}

/// A compute pipeline with its descriptor sets.
pub(crate) struct Program<'p> {
    gpu: &'p Gpu,
    module: vk::ShaderModule,
    set_layouts: Vec<vk::DescriptorSetLayout>,
    pool: vk::DescriptorPool,
    layout: vk::PipelineLayout,
    sets: Vec<vk::DescriptorSet>,
    push: u32,
    raw: vk::Pipeline,
    _resources: PhantomData<&'p Buffer<'p>>,
}

impl Gpu {
    /// Makes a pipeline of a shader's SPIR-V, with entry point `main`. The caller answers for the module: that it is valid, uses
    /// only features that are enabled, and only the given bindings and push constants.
    ///
    /// # Errors
    ///
    /// The errors of making the module, the layouts, the descriptor sets and the pipeline.
    pub(crate) fn program<'p>(
        &'p self,
        words: &[u32],
        slots: &[Slot<'p>],
        constants: &Constants,
    ) -> VkResult<Program<'p>> {
        // Null handles may be destroyed, so that what is made so far goes with the value.
        let mut made = Program {
            gpu: self,
            module: vk::ShaderModule::null(),
            set_layouts: Vec::new(),
            pool: vk::DescriptorPool::null(),
            layout: vk::PipelineLayout::null(),
            sets: Vec::new(),
            push: constants.push,
            raw: vk::Pipeline::null(),
            _resources: PhantomData,
        };
        let module = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`); the caller answers for the words.
        made.module = unsafe { self.device.create_shader_module(&module, None) }?;
        made.make_sets(slots)?;
        made.write(slots);
        let ranges = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(constants.push)];
        let mut info = vk::PipelineLayoutCreateInfo::default().set_layouts(&made.set_layouts);
        if constants.push > 0 {
            info = info.push_constant_ranges(&ranges);
        }
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`).
        made.layout = unsafe { self.device.create_pipeline_layout(&info, None) }?;
        made.raw = made.pipeline(constants)?;
        Ok(made)
    }
}

impl<'p> Program<'p> {
    /// Makes the layouts of all sets up to the last that is used, and the sets.
    fn make_sets(&mut self, slots: &[Slot<'p>]) -> VkResult<()> {
        let device = &self.gpu.device;
        let count = slots.iter().map(|slot| slot.set + 1).max().unwrap_or(0);
        let mut sizes = Vec::new();
        for set in 0..count {
            let mut bindings = Vec::new();
            for slot in slots.iter().filter(|slot| slot.set == set) {
                let Some(first) = slot.elements.first() else { continue };
                let elements = slot.elements.len() as u32;
                sizes.push(vk::DescriptorPoolSize::default().ty(first.kind()).descriptor_count(elements));
                bindings.push(
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(slot.binding)
                        .descriptor_type(first.kind())
                        .descriptor_count(elements)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE),
                );
            }
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
            // pointers is local (the premises of `gpu`).
            self.set_layouts.push(unsafe { device.create_descriptor_set_layout(&info, None) }?);
        }
        if count == 0 {
            return Ok(());
        }
        if sizes.is_empty() {
            // A pool needs room for something.
            sizes.push(vk::DescriptorPoolSize::default().ty(vk::DescriptorType::STORAGE_BUFFER).descriptor_count(1));
        }
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(count).pool_sizes(&sizes);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`).
        self.pool = unsafe { device.create_descriptor_pool(&info, None) }?;
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(self.pool).set_layouts(&self.set_layouts);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); the pool has room for these sets.
        self.sets = unsafe { device.allocate_descriptor_sets(&info) }?;
        Ok(())
    }

    /// Writes all descriptors.
    fn write(&self, slots: &[Slot<'p>]) {
        let elements =
            slots.iter().flat_map(|slot| (0..).zip(&slot.elements).map(move |(index, one)| (slot, index, one)));
        for (slot, index, resource) in elements {
            let Some(&set) = self.sets.get(slot.set as usize) else { continue };
            let whole =
                |buffer: &Buffer<'_>| [vk::DescriptorBufferInfo::default().buffer(buffer.raw).range(vk::WHOLE_SIZE)];
            let seen = |view: &ImageView<'_>| {
                vk::DescriptorImageInfo::default().image_view(view.raw).image_layout(vk::ImageLayout::GENERAL)
            };
            let (mut buffers, mut images, mut texels) = (None, None, None);
            match *resource {
                Resource::Storage(buffer) | Resource::Uniform(buffer) => buffers = Some(whole(buffer)),
                Resource::UniformTexels(view) | Resource::StorageTexels(view) => texels = Some([view.raw]),
                Resource::StorageImage(view) | Resource::SampledImage(view) => images = Some([seen(view)]),
                Resource::Sampler(sampler) => {
                    images = Some([vk::DescriptorImageInfo::default().sampler(sampler.raw)]);
                }
                Resource::Combined(view, sampler) => images = Some([seen(view).sampler(sampler.raw)]),
            }
            let mut write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(slot.binding)
                .dst_array_element(index)
                .descriptor_type(resource.kind());
            if let Some(buffers) = &buffers {
                write = write.buffer_info(buffers);
            }
            if let Some(images) = &images {
                write = write.image_info(images);
            }
            if let Some(texels) = &texels {
                write = write.texel_buffer_view(texels);
            }
            // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once
            // and what the call reads through pointers is local (the premises of `gpu`); no commands use the set yet, and the resources
            // are borrowed as long as the set is.
            unsafe { self.gpu.device.update_descriptor_sets(&[write], &[]) };
        }
    }

    fn pipeline(&self, constants: &Constants) -> VkResult<vk::Pipeline> {
        let values: Vec<u8> = constants.spec.values().flat_map(|value| value.to_le_bytes()).collect();
        let entries: Vec<_> = (0..)
            .zip(constants.spec.keys())
            .map(|(at, &id)| vk::SpecializationMapEntry::default().constant_id(id).offset(4 * at).size(4))
            .collect();
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&values);
        let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(self.module)
            .name(c"main")
            .specialization_info(&specialization);
        if let Some((lanes, is_full)) = constants.subgroup {
            size.required_subgroup_size = lanes;
            if is_full {
                stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS);
            }
            stage = stage.push_next(&mut size);
        }
        let mut info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(self.layout);
        if constants.has_base {
            info = info.flags(vk::PipelineCreateFlags::DISPATCH_BASE);
        }
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`).
        let pipelines = unsafe { self.gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        pipelines.map_err(|(_, error)| error)?.first().copied().ok_or(vk::Result::ERROR_UNKNOWN)
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        let device = &self.gpu.device;
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`); a null handle is ignored.
        unsafe { device.destroy_pipeline(self.raw, None) };
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`); the sets go with their pool.
        unsafe { device.destroy_descriptor_pool(self.pool, None) };
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`).
        unsafe { device.destroy_pipeline_layout(self.layout, None) };
        for &layout in &self.set_layouts {
            // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once
            // and the work that uses them has ended (the premises of `gpu`).
            unsafe { device.destroy_descriptor_set_layout(layout, None) };
        }
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`); the pipeline made of it is gone.
        unsafe { device.destroy_shader_module(self.module, None) };
    }
}
