//! Commands that copy data, and barriers between them.

use amdgpu_winsys::cs::commands::{Access, Barrier, Scope, Stages};
use ash::vk;

use crate::{
    border::{
        Array, Data, Failure,
        list::{CopyLists, DependencyLists},
        object,
    },
    objects::{Buffer, CommandBuffer},
};

/// The result if the call violates valid usage.
const UNKNOWN: Failure = Failure(vk::Result::ERROR_UNKNOWN);

/// Records copies of regions: pairs of offsets, and sizes.
#[inline]
fn copy_regions(
    to: &CommandBuffer,
    buffers: Option<(&Buffer, &Buffer)>,
    regions: impl Iterator<Item = (u64, u64, u64)>,
) {
    to.attempt(|recorder| {
        let (source, destination) = buffers.ok_or(UNKNOWN)?;
        for (from, onto, bytes) in regions {
            recorder.copy(destination.part(onto, bytes)?, source.part(from, bytes)?)?;
        }
        Ok(())
    });
}

#[inline]
pub(crate) fn copy_buffer(
    this: &CommandBuffer,
    source: &Buffer,
    destination: &Buffer,
    count: u32,
    regions: Array<'_, vk::BufferCopy>,
) {
    let regions = regions.of(count).iter().map(|region| (region.src_offset, region.dst_offset, region.size));
    copy_regions(this, Some((source, destination)), regions);
}

pub(crate) fn copy_buffer2(this: &CommandBuffer, info: &vk::CopyBufferInfo2<'_>) {
    let buffers = object::<Buffer>(info.src_buffer).zip(object::<Buffer>(info.dst_buffer));
    let regions = info.regions().iter().map(|region| (region.src_offset, region.dst_offset, region.size));
    copy_regions(this, buffers, regions);
}

pub(crate) fn fill_buffer(this: &CommandBuffer, buffer: &Buffer, offset: u64, size: u64, word: u32) {
    this.record(|commands| {
        let rest = buffer.size.checked_sub(offset).ok_or(UNKNOWN)?;
        let bytes = if size == vk::WHOLE_SIZE { rest & !3 } else { size };
        if bytes > 0 {
            commands.fill(buffer.part(offset, bytes)?, word)?;
        }
        Ok(())
    });
}

pub(crate) fn update_buffer(this: &CommandBuffer, buffer: &Buffer, offset: u64, size: u64, data: Data<'_>) {
    this.record(|commands| {
        let to = buffer.part(offset, size)?;
        let words: Vec<u32> = data.of(size).as_chunks::<4>().0.iter().map(|word| u32::from_ne_bytes(*word)).collect();
        Ok(commands.update(to, &words)?)
    });
}

/// Returns one side of a barrier. Stages that only draws and dispatches have count as all stages, because a stronger barrier is
/// always correct.
fn scope(stages: vk::PipelineStageFlags2, access: vk::AccessFlags2) -> Scope {
    use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
    let transfers = S::ALL_TRANSFER | S::COPY | S::CLEAR | S::BLIT | S::RESOLVE;
    let known = transfers | S::HOST | S::NONE;
    if !known.contains(stages) {
        return Scope::ALL;
    }
    let mut scope = Scope::default();
    scope.stages.set(Stages::TRANSFER, stages.intersects(transfers));
    scope.stages.set(Stages::HOST, stages.contains(S::HOST));
    scope.access.set(Access::TRANSFER_READ, access.intersects(A::TRANSFER_READ | A::MEMORY_READ));
    scope.access.set(Access::TRANSFER_WRITE, access.intersects(A::TRANSFER_WRITE | A::MEMORY_WRITE));
    scope.access.set(Access::HOST_READ, access.intersects(A::HOST_READ | A::MEMORY_READ));
    scope.access.set(Access::HOST_WRITE, access.intersects(A::HOST_WRITE | A::MEMORY_WRITE));
    scope
}

/// Records one barrier that combines several.
pub(super) fn barrier(this: &CommandBuffer, barriers: impl Iterator<Item = Barrier>) {
    let merge = |one: Scope, other: Scope| Scope::new(one.stages | other.stages, one.access | other.access);
    let merged = barriers.reduce(|one, other| Barrier::new(merge(one.from, other.from), merge(one.to, other.to)));
    this.record(|commands| Ok(merged.map_or(Ok(()), |barrier| commands.barrier(barrier))?));
}

/// Returns the barriers of a [`vk::DependencyInfo`].
pub(super) fn dependencies(info: &vk::DependencyInfo<'_>) -> impl Iterator<Item = Barrier> {
    let memory =
        info.memory().iter().map(|it| (it.src_stage_mask, it.src_access_mask, it.dst_stage_mask, it.dst_access_mask));
    let buffers =
        info.buffers().iter().map(|it| (it.src_stage_mask, it.src_access_mask, it.dst_stage_mask, it.dst_access_mask));
    let images =
        info.images().iter().map(|it| (it.src_stage_mask, it.src_access_mask, it.dst_stage_mask, it.dst_access_mask));
    memory.chain(buffers).chain(images).map(|(from, read, to, write)| Barrier::new(scope(from, read), scope(to, write)))
}

/// Converts a stage mask of Vulkan 1.0 to Vulkan 1.3, which has the same bits.
fn stage2(stages: vk::PipelineStageFlags) -> vk::PipelineStageFlags2 {
    vk::PipelineStageFlags2::from_raw(stages.as_raw().into())
}

/// Converts an access mask of Vulkan 1.0 to Vulkan 1.3, which has the same bits.
fn access2(access: vk::AccessFlags) -> vk::AccessFlags2 {
    vk::AccessFlags2::from_raw(access.as_raw().into())
}

/// Returns the barriers of the lists of Vulkan 1.0, including one for the stages alone.
#[expect(clippy::too_many_arguments, reason = "Vulkan's")]
pub(super) fn barriers<'a>(
    from: vk::PipelineStageFlags,
    to: vk::PipelineStageFlags,
    memory_count: u32,
    memory: Array<'a, vk::MemoryBarrier<'a>>,
    buffer_count: u32,
    buffers: Array<'a, vk::BufferMemoryBarrier<'a>>,
    image_count: u32,
    images: Array<'a, vk::ImageMemoryBarrier<'a>>,
) -> impl Iterator<Item = Barrier> {
    let memory = memory.of(memory_count).iter().map(|it| (it.src_access_mask, it.dst_access_mask));
    let buffers = buffers.of(buffer_count).iter().map(|it| (it.src_access_mask, it.dst_access_mask));
    let images = images.of(image_count).iter().map(|it| (it.src_access_mask, it.dst_access_mask));
    let stages_alone = std::iter::once((vk::AccessFlags::empty(), vk::AccessFlags::empty()));
    let all = stages_alone.chain(memory).chain(buffers).chain(images);
    all.map(move |(before, after)| {
        Barrier::new(scope(stage2(from), access2(before)), scope(stage2(to), access2(after)))
    })
}

#[expect(clippy::too_many_arguments, reason = "Vulkan's")]
pub(crate) fn pipeline_barrier<'a>(
    this: &CommandBuffer,
    from: vk::PipelineStageFlags,
    to: vk::PipelineStageFlags,
    _: vk::DependencyFlags,
    memory_count: u32,
    memory: Array<'a, vk::MemoryBarrier<'a>>,
    buffer_count: u32,
    buffers: Array<'a, vk::BufferMemoryBarrier<'a>>,
    image_count: u32,
    images: Array<'a, vk::ImageMemoryBarrier<'a>>,
) {
    barrier(this, barriers(from, to, memory_count, memory, buffer_count, buffers, image_count, images));
}

pub(crate) fn pipeline_barrier2(this: &CommandBuffer, info: &vk::DependencyInfo<'_>) {
    barrier(this, dependencies(info));
}
