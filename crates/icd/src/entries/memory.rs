//! Device memory.

use std::ffi::c_void;
use std::os::fd::IntoRawFd;

use amdgpu_winsys::{
    heaps::{AllocateFlags, AllocateInfo, DeviceMemory, ExternalHandleTypes, ImportInfo, Replay},
    vamgr::GpuVa,
};
use ash::vk;

use crate::{
    border::{Allocator, Array, Data, Failure, Handed, Out, chain, descriptor, object, zero},
    objects::{Device, Memory, MemoryId, Reports, Watch},
};

#[inline]
pub(crate) fn allocate(
    device: &Device,
    info: &vk::MemoryAllocateInfo<'_>,
    _: Allocator,
    mut memory: Out<'_, vk::DeviceMemory>,
) -> Result<(), Failure> {
    memory.set(vk::DeviceMemory::null());
    if device.reports.is_on() {
        return allocate_reported(device, info, memory);
    }
    let (made, _) = made(device, info)?;
    memory.set(Handed::new(Memory::new(&device.gpu, made)).give());
    Ok(())
}

/// Allocates or imports memory. What is imported has an identity if the program requested reports.
#[inline]
fn made(device: &Device, info: &vk::MemoryAllocateInfo<'_>) -> Result<(DeviceMemory, Option<MemoryId>), Failure> {
    match import(device, info)? {
        Some(imported) => Ok(imported),
        None => Ok((device.memory.allocate(&request(info)?)?, None)),
    }
}

/// Allocates memory and reports it, or the failure.
#[cold]
fn allocate_reported(
    device: &Device,
    info: &vk::MemoryAllocateInfo<'_>,
    mut memory: Out<'_, vk::DeviceMemory>,
) -> Result<(), Failure> {
    let outcome = Watch::of_object(|| made(device, info));
    let (made, id) = outcome.inspect_err(|failure| {
        let types = device.gpu.memory.properties().types();
        let kind = usize::try_from(info.memory_type_index).ok().and_then(|index| types.get(index));
        if let Some(kind) = kind
            && failure.0 != vk::Result::SUCCESS
        {
            device.reports.failed(info.allocation_size, kind.heap);
        }
    })?;
    let made = Memory::new(&device.gpu, made);
    let made = if device.reports.has_callbacks() {
        let id = id.unwrap_or_else(|| Reports::id_of(&made));
        made.reported_as(id)
    } else {
        made
    };
    let made = Handed::new(made);
    if let Some(id) = &made.id {
        device.reports.allocated(id, &made, made.handle());
    }
    device.reports.addresses.bound(made.handle(), Some(made.place()));
    memory.set(made.give());
    Ok(())
}

/// Returns the library's request for an allocation.
#[inline]
fn request(info: &vk::MemoryAllocateInfo<'_>) -> Result<AllocateInfo, Failure> {
    let mut request = AllocateInfo::new(info.memory_type_index, info.allocation_size);
    request.priority = priority(info);
    let exports = chain::find::<vk::ExportMemoryAllocateInfo<'_>>(info);
    request.flags.set(AllocateFlags::EXPORTABLE, exports.is_some_and(|it| !it.handle_types.is_empty()));
    let flags =
        chain::find::<vk::MemoryAllocateFlagsInfo<'_>>(info).map_or(vk::MemoryAllocateFlags::empty(), |it| it.flags);
    request.flags.set(AllocateFlags::ZERO, flags.contains(zero::ALLOCATE_ZEROED));
    let captured = chain::find::<vk::MemoryOpaqueCaptureAddressAllocateInfo<'_>>(info);
    request.replay = match captured.map_or(0, |it| it.opaque_capture_address) {
        0 if flags.contains(vk::MemoryAllocateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY) => Replay::Capture,
        0 => Replay::No,
        raw => Replay::At(GpuVa::new(raw).map_err(|_| Failure(vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS))?),
    };
    Ok(request)
}

/// Returns the requested priority of an allocation, or Vulkan's default.
fn priority(info: &vk::MemoryAllocateInfo<'_>) -> f32 {
    chain::find::<vk::MemoryPriorityAllocateInfoEXT<'_>>(info).map_or(0.5, |it| it.priority)
}

/// Imports memory from a descriptor or from pages of the process, if the chain specifies one; otherwise returns `None`. The identity
/// is for reports, if the program requested any.
fn import(
    device: &Device,
    info: &vk::MemoryAllocateInfo<'_>,
) -> Result<Option<(DeviceMemory, Option<MemoryId>)>, Failure> {
    let manager = &device.memory;
    let wanted =
        ImportInfo { priority: priority(info), ..ImportInfo::new(info.memory_type_index, info.allocation_size) };
    if let Some(from) = chain::find::<vk::ImportMemoryFdInfoKHR<'_>>(info).filter(|from| !from.handle_type.is_empty()) {
        let imported = descriptor::import(from.fd, |fd| {
            let copy = fd.try_clone().map_err(|_| Failure(vk::Result::ERROR_TOO_MANY_OBJECTS))?;
            let kept = if device.reports.has_callbacks() { fd.try_clone().ok() } else { None };
            let imported = manager.import_fd(copy, &wanted).map_err(|(_copy, error)| Failure::from(error))?;
            Ok((imported, kept.map(|kept| MemoryId::of_dma_buf(kept, true))))
        });
        return imported.map(Some);
    }
    if let Some(from) = chain::find::<vk::ImportMemoryHostPointerInfoEXT<'_>>(info)
        && !from.handle_type.is_empty()
    {
        let imported = descriptor::import_host(manager, from.p_host_pointer, info.allocation_size, &wanted)?;
        return Ok(Some((imported, device.reports.has_callbacks().then(|| MemoryId::of_process(true)))));
    }
    Ok(None)
}

#[inline]
pub(crate) fn free(device: &Device, memory: Option<Handed<Memory>>, _: Allocator) {
    if let Some(memory) = memory {
        if let Some(id) = &memory.id {
            device.reports.freed(id, &memory, memory.handle());
        }
        device.reports.addresses.unbound(memory.handle(), Some(memory.place()));
        drop(memory.take());
    }
}

/// Maps the whole memory, if it is not mapped yet, and returns the address of a byte.
fn mapped(memory: &Memory, offset: u64) -> Result<*mut c_void, Failure> {
    let failed = Failure(vk::Result::ERROR_MEMORY_MAP_FAILED);
    let offset = usize::try_from(offset).ok().filter(|_| offset < memory.size()).ok_or(failed)?;
    Ok(memory.map()?.as_ptr().as_ptr().wrapping_add(offset).cast())
}

pub(crate) fn map(
    _: &Device,
    memory: &Memory,
    offset: u64,
    _size: u64,
    _: vk::MemoryMapFlags,
    mut pointer: Out<'_, *mut c_void>,
) -> Result<(), Failure> {
    pointer.set(mapped(memory, offset)?);
    Ok(())
}

pub(crate) fn map2(
    _: &Device,
    info: &vk::MemoryMapInfoKHR<'_>,
    mut pointer: Out<'_, *mut c_void>,
) -> Result<(), Failure> {
    let memory = object::<Memory>(info.memory).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let is_placed = info.flags.contains(vk::MemoryMapFlags::PLACED_EXT);
    match chain::find::<vk::MemoryMapPlacedInfoEXT<'_>>(info).filter(|_| is_placed) {
        // The whole of it, for ranges cannot be placed.
        Some(placed) => pointer.set(descriptor::map_placed(memory, placed.p_placed_address)?.cast()),
        None => pointer.set(mapped(memory, info.offset)?),
    }
    Ok(())
}

pub(crate) fn unmap(_: &Device, memory: &Memory) {
    memory.unmap();
}

pub(crate) fn unmap2(_: &Device, info: &vk::MemoryUnmapInfoKHR<'_>) -> Result<(), Failure> {
    let memory = object::<Memory>(info.memory).ok_or(vk::Result::ERROR_UNKNOWN)?;
    if info.flags.contains(vk::MemoryUnmapFlagsKHR::RESERVE_EXT) {
        memory.unmap_reserving()?;
    } else {
        memory.unmap();
    }
    Ok(())
}

pub(crate) fn flush(_: &Device, count: u32, ranges: Array<'_, vk::MappedMemoryRange<'_>>) -> Result<(), Failure> {
    for range in ranges.of(count) {
        let memory = object::<Memory>(range.memory).ok_or(vk::Result::ERROR_UNKNOWN)?;
        memory.flush(range.offset, range.size)?;
    }
    Ok(())
}

pub(crate) fn invalidate(_: &Device, count: u32, ranges: Array<'_, vk::MappedMemoryRange<'_>>) -> Result<(), Failure> {
    for range in ranges.of(count) {
        let memory = object::<Memory>(range.memory).ok_or(vk::Result::ERROR_UNKNOWN)?;
        memory.invalidate(range.offset, range.size)?;
    }
    Ok(())
}

/// Returns the size of the memory, because no memory type is allocated lazily.
pub(crate) fn commitment(_: &Device, memory: &Memory, mut bytes: Out<'_, u64>) {
    bytes.set(memory.size());
}

pub(crate) fn capture_address(_: &Device, info: &vk::DeviceMemoryOpaqueCaptureAddressInfo<'_>) -> u64 {
    object::<Memory>(info.memory).map_or(0, |memory| memory.address().as_u64())
}

pub(crate) fn set_priority(_: &Device, memory: &Memory, priority: f32) {
    memory.set_priority(priority);
}

pub(crate) fn export(_: &Device, info: &vk::MemoryGetFdInfoKHR<'_>, mut fd: Out<'_, i32>) -> Result<(), Failure> {
    let memory = object::<Memory>(info.memory).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let kind = ExternalHandleTypes::from_bits_truncate(info.handle_type.as_raw());
    fd.set(memory.export(kind)?.into_raw_fd());
    Ok(())
}

pub(crate) fn fd_properties(
    device: &Device,
    kind: vk::ExternalMemoryHandleTypeFlags,
    fd: i32,
    out: &mut vk::MemoryFdPropertiesKHR<'_>,
) -> Result<(), Failure> {
    let kind = ExternalHandleTypes::from_bits_truncate(kind.as_raw());
    let types = descriptor::borrow(fd, |fd| Ok(device.gpu.memory.fd_types(kind, fd)?));
    out.memory_type_bits = types.map_err(|_| vk::Result::ERROR_INVALID_EXTERNAL_HANDLE)?.bits();
    Ok(())
}

pub(crate) fn host_properties(
    device: &Device,
    kind: vk::ExternalMemoryHandleTypeFlags,
    _: Data<'_>,
    out: &mut vk::MemoryHostPointerPropertiesEXT<'_>,
) -> Result<(), Failure> {
    let kind = ExternalHandleTypes::from_bits_truncate(kind.as_raw());
    out.memory_type_bits = device.gpu.memory.host_pointer_types(kind)?.bits();
    Ok(())
}
