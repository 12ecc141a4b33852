//! Buffers.

use amdgpu_winsys::vamgr::GpuVa;
use ash::vk;

use crate::{
    border::{Allocator, Array, Failure, Handed, Out, chain, object},
    facts::{fill_chain, limits},
    objects::{Buffer, Device, Memory},
};

pub(crate) fn create(
    device: &Device,
    info: &vk::BufferCreateInfo<'_>,
    _: Allocator,
    mut buffer: Out<'_, vk::Buffer>,
) -> Result<(), Failure> {
    if info.size > limits::max_allocation(&device.gpu) && !info.flags.contains(vk::BufferCreateFlags::SPARSE_BINDING) {
        return Err(Failure(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
    }
    let captured = chain::find::<vk::BufferOpaqueCaptureAddressCreateInfo<'_>>(info);
    let made = if info.flags.contains(vk::BufferCreateFlags::SPARSE_BINDING) {
        device.gpu.sparse_buffer(info.size, captured.map_or(0, |it| it.opaque_capture_address))?
    } else {
        Buffer::new(info.size)
    };
    buffer.set(Handed::new(made).give());
    Ok(())
}

pub(crate) fn destroy(_: &Device, buffer: Option<Handed<Buffer>>, _: Allocator) {
    drop(buffer);
}

pub(crate) fn requirements(device: &Device, buffer: &Buffer, mut out: Out<'_, vk::MemoryRequirements>) {
    out.set(of(device, buffer));
}

/// Returns the memory requirements of a buffer.
fn of(device: &Device, buffer: &Buffer) -> vk::MemoryRequirements {
    let sparse = vk::BufferCreateFlags::SPARSE_BINDING;
    let flags = if buffer.range().is_some() { sparse } else { vk::BufferCreateFlags::empty() };
    device.gpu.buffer_requirements(buffer.size, flags, device.has_coherent_memory)
}

/// Fills in memory requirements. No buffer requires a dedicated allocation.
fn fill(requirements: vk::MemoryRequirements, out: &mut vk::MemoryRequirements2<'_>) {
    out.memory_requirements = requirements;
    fill_chain!(out; MemoryDedicatedRequirements {
        prefers_dedicated_allocation: vk::FALSE,
        requires_dedicated_allocation: vk::FALSE,
    });
}

pub(crate) fn requirements2(
    device: &Device,
    info: &vk::BufferMemoryRequirementsInfo2<'_>,
    out: &mut vk::MemoryRequirements2<'_>,
) {
    if let Some(buffer) = object::<Buffer>(info.buffer) {
        fill(of(device, buffer), out);
    }
}

pub(crate) fn requirements_without(
    device: &Device,
    info: &vk::DeviceBufferMemoryRequirements<'_>,
    out: &mut vk::MemoryRequirements2<'_>,
) {
    if let Some(info) = crate::border::list::create_info(info) {
        fill(device.gpu.buffer_requirements(info.size, info.flags, device.has_coherent_memory), out);
    }
}

pub(crate) fn bind(_: &Device, buffer: &Buffer, memory: &Memory, offset: u64) -> Result<(), Failure> {
    buffer.bind(memory.binding(), offset)
}

pub(crate) fn bind2(_: &Device, count: u32, infos: Array<'_, vk::BindBufferMemoryInfo<'_>>) -> Result<(), Failure> {
    for info in infos.of(count) {
        let both = object::<Buffer>(info.buffer).zip(object::<Memory>(info.memory));
        let (buffer, memory) = both.ok_or(vk::Result::ERROR_UNKNOWN)?;
        buffer.bind(memory.binding(), info.memory_offset)?;
    }
    Ok(())
}

/// Returns the device address of a buffer, which is also its opaque capture address: the address in its memory or of its sparse
/// range.
pub(crate) fn address(_: &Device, info: &vk::BufferDeviceAddressInfo<'_>) -> u64 {
    object::<Buffer>(info.buffer).and_then(Buffer::address).map_or(0, GpuVa::as_u64)
}
