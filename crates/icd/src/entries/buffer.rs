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
    let made = Handed::new(made);
    device.reports.addresses.bound(made.handle(), made.place());
    buffer.set(made.give());
    Ok(())
}

pub(crate) fn destroy(device: &Device, buffer: Option<Handed<Buffer>>, _: Allocator) {
    if let Some(buffer) = buffer {
        device.reports.addresses.unbound(buffer.handle(), buffer.place());
    }
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

pub(crate) fn bind(device: &Device, handle: vk::Buffer, memory: &Memory, offset: u64) -> Result<(), Failure> {
    let buffer = object::<Buffer>(handle).ok_or(vk::Result::ERROR_UNKNOWN)?;
    buffer.bind(memory.binding(), offset)?;
    device.reports.addresses.bound(handle, buffer.place());
    Ok(())
}

pub(crate) fn bind2(
    device: &Device,
    count: u32,
    infos: Array<'_, vk::BindBufferMemoryInfo<'_>>,
) -> Result<(), Failure> {
    infos.of(count).iter().try_for_each(|info| {
        let memory = object::<Memory>(info.memory).ok_or(vk::Result::ERROR_UNKNOWN)?;
        bind(device, info.buffer, memory, info.memory_offset)
    })
}

/// Returns the device address of a buffer, which is also its opaque capture address: the address in its memory or of its sparse
/// range.
pub(crate) fn address(_: &Device, info: &vk::BufferDeviceAddressInfo<'_>) -> u64 {
    object::<Buffer>(info.buffer).and_then(Buffer::address).map_or(0, GpuVa::as_u64)
}
