//! Descriptor sets, which are empty objects.

use ash::vk;

use crate::{
    border::{
        Allocator, Array, Failure, Handed, Ignored, Out, OutArray,
        list::{LayoutLists, SetLists},
        object,
    },
    facts::limits::MAX_DESCRIPTORS,
    objects::{DescriptorPool, Device},
};

pub(crate) fn create_pool(
    _: &Device,
    info: &vk::DescriptorPoolCreateInfo<'_>,
    _: Allocator,
    mut pool: Out<'_, vk::DescriptorPool>,
) -> vk::Result {
    pool.set(Handed::new(DescriptorPool::new(info.max_sets)).give());
    vk::Result::SUCCESS
}

pub(crate) fn destroy_pool(_: &Device, pool: Option<Handed<DescriptorPool>>, _: Allocator) {
    drop(pool);
}

pub(crate) fn reset_pool(_: &Device, pool: &DescriptorPool, _: Ignored) -> vk::Result {
    pool.reset();
    vk::Result::SUCCESS
}

/// Allocates all sets or none. After a failure every handle is null, as Vulkan requires.
pub(crate) fn allocate(
    _: &Device,
    info: &vk::DescriptorSetAllocateInfo<'_>,
    mut sets: OutArray<'_, vk::DescriptorSet>,
) -> Result<(), Failure> {
    let pool = object::<DescriptorPool>(info.descriptor_pool).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let layouts = info.layouts();
    let mut made = Vec::new();
    let all = layouts.iter().try_for_each(|_| pool.allocate().map(|set| made.push(set)));
    if all.is_err() {
        pool.free(&made);
        made.fill(vk::DescriptorSet::null());
        made.resize(layouts.len(), vk::DescriptorSet::null());
    }
    made.into_iter().enumerate().for_each(|(index, set)| sets.put(index, set));
    all
}

pub(crate) fn free(_: &Device, pool: &DescriptorPool, count: u32, sets: Array<'_, vk::DescriptorSet>) -> vk::Result {
    pool.free(sets.of(count));
    vk::Result::SUCCESS
}

/// Does nothing, because descriptors are never read.
pub(crate) fn update(_: &Device, _: Ignored, _: Ignored, _: Ignored, _: Ignored) {}

/// Does nothing, because descriptors are never read.
pub(crate) fn update_with_template(_: &Device, _: Ignored, _: Ignored, _: Ignored) {}

/// Reports a layout as supported if it has at most `maxPerSetDescriptors` descriptors.
pub(crate) fn layout_support(
    _: &Device,
    info: &vk::DescriptorSetLayoutCreateInfo<'_>,
    out: &mut vk::DescriptorSetLayoutSupport<'_>,
) {
    let all = info.bindings().iter().map(|binding| u64::from(binding.descriptor_count)).sum::<u64>();
    out.supported = vk::Bool32::from(all <= u64::from(MAX_DESCRIPTORS));
}
