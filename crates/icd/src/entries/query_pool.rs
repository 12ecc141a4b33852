//! Query pools: timestamps.

use amdgpu_winsys::cs::{
    commands::{Point, Span},
    pm4::Compare,
};
use ash::vk;

use crate::{
    border::{Allocator, Failure, Handed, Out, OutData},
    objects::{Buffer, CommandBuffer, Device, QueryPool},
};

/// The result if the call violates valid usage.
const UNKNOWN: Failure = Failure(vk::Result::ERROR_UNKNOWN);

pub(crate) fn create(
    device: &Device,
    info: &vk::QueryPoolCreateInfo<'_>,
    _: Allocator,
    mut pool: Out<'_, vk::QueryPool>,
) -> Result<(), Failure> {
    if info.query_type != vk::QueryType::TIMESTAMP {
        return Err(UNKNOWN);
    }
    pool.set(Handed::new(QueryPool::new(&device.gpu, info.query_count)?).give());
    Ok(())
}

pub(crate) fn destroy(_: &Device, pool: Option<Handed<QueryPool>>, _: Allocator) {
    drop(pool);
}

pub(crate) fn reset(_: &Device, pool: &QueryPool, first: u32, count: u32) {
    // A command without a result: queries that there are not stay what they are.
    let _ = pool.reset(first, count);
}

/// Waits until a query is available, or the device is lost.
fn waited(device: &Device, pool: &QueryPool, query: u32) -> Result<u64, Failure> {
    loop {
        if let Some(value) = pool.value(query)? {
            return Ok(value);
        }
        device.queues.iter().try_for_each(|queue| queue.wait_idle())?;
        std::thread::yield_now();
    }
}

#[expect(clippy::too_many_arguments, reason = "Vulkan's")]
pub(crate) fn results(
    device: &Device,
    pool: &QueryPool,
    first: u32,
    count: u32,
    size: usize,
    mut data: OutData<'_>,
    stride: u64,
    flags: vk::QueryResultFlags,
) -> Result<vk::Result, Failure> {
    let has = |flag| flags.contains(flag);
    let word = if has(vk::QueryResultFlags::TYPE_64) { 8 } else { 4 };
    let words = 1 + usize::from(has(vk::QueryResultFlags::WITH_AVAILABILITY));
    let stride = usize::try_from(stride).map_err(|_| UNKNOWN)?;
    let mut result = vk::Result::SUCCESS;
    for index in 0..count {
        let query = first.checked_add(index).ok_or(UNKNOWN)?;
        let at = usize::try_from(index).ok().and_then(|index| index.checked_mul(stride)).ok_or(UNKNOWN)?;
        if at.checked_add(word * words).is_none_or(|end| end > size) {
            return Err(UNKNOWN);
        }
        let value =
            if has(vk::QueryResultFlags::WAIT) { Some(waited(device, pool, query)?) } else { pool.value(query)? };
        let mut put = |at: usize, value: u64| data.put(at, value.to_le_bytes().get(..word).unwrap_or_default());
        match value {
            Some(value) => put(at, value),
            None if has(vk::QueryResultFlags::PARTIAL) => put(at, 0),
            None => {}
        }
        if has(vk::QueryResultFlags::WITH_AVAILABILITY) {
            put(at + word, u64::from(value.is_some()));
        } else if value.is_none() && !has(vk::QueryResultFlags::PARTIAL) {
            result = vk::Result::NOT_READY;
        }
    }
    device.check()?;
    Ok(result)
}

pub(crate) fn cmd_reset(this: &CommandBuffer, pool: &QueryPool, first: u32, count: u32) {
    this.record(|commands| {
        commands.fill(pool.span(first, count)?, 0)?;
        Ok(commands.settle()?)
    });
}

pub(crate) fn cmd_timestamp(this: &CommandBuffer, stage: vk::PipelineStageFlags, pool: &QueryPool, query: u32) {
    let point = if stage == vk::PipelineStageFlags::TOP_OF_PIPE { Point::Top } else { Point::Bottom };
    timestamp(this, point, pool, query);
}

pub(crate) fn cmd_timestamp2(this: &CommandBuffer, stage: vk::PipelineStageFlags2, pool: &QueryPool, query: u32) {
    let is_top = stage == vk::PipelineStageFlags2::TOP_OF_PIPE || stage == vk::PipelineStageFlags2::NONE;
    timestamp(this, if is_top { Point::Top } else { Point::Bottom }, pool, query);
}

/// Records a timestamp, followed by its availability.
fn timestamp(this: &CommandBuffer, point: Point, pool: &QueryPool, query: u32) {
    this.record(|commands| {
        let (value, is_there) = pool.addresses(query)?;
        commands.timestamp(value, point)?;
        Ok(commands.store(is_there, 1, point)?)
    });
}

/// Records copies of results. Without WAIT, the value of an unavailable query is copied as 0.
#[expect(clippy::too_many_arguments, reason = "Vulkan's")]
pub(crate) fn cmd_copy_results(
    this: &CommandBuffer,
    pool: &QueryPool,
    first: u32,
    count: u32,
    buffer: &Buffer,
    offset: u64,
    stride: u64,
    flags: vk::QueryResultFlags,
) {
    let word = if flags.contains(vk::QueryResultFlags::TYPE_64) { 8 } else { 4 };
    this.record(|commands| {
        for index in 0..count {
            let (value, is_there) = pool.addresses(first.checked_add(index).ok_or(UNKNOWN)?)?;
            let at = u64::from(index).checked_mul(stride).and_then(|at| at.checked_add(offset)).ok_or(UNKNOWN)?;
            if flags.contains(vk::QueryResultFlags::WAIT) {
                commands.wait(is_there, Compare::Equal, 1, u32::MAX)?;
            }
            let from = |address| Span::new(address, word);
            commands.copy(buffer.part(at, word)?, from(value)?)?;
            if flags.contains(vk::QueryResultFlags::WITH_AVAILABILITY) {
                commands.copy(buffer.part(at + word, word)?, from(is_there)?)?;
            }
        }
        Ok(())
    });
}
