//! Fences.

use std::{os::fd::IntoRawFd, time::Duration};

use amdgpu_winsys::winsys::{Deadline, Syncobj, WaitFor};
use ash::vk;

use crate::{
    border::{Allocator, Array, Failure, Handed, Out, descriptor, object},
    objects::{Device, Fence, Payload},
};

/// Converts a Vulkan timeout to a deadline.
pub(super) fn deadline(nanoseconds: u64) -> Deadline {
    match nanoseconds {
        0 => Deadline::POLL,
        u64::MAX => Deadline::NEVER,
        _ => Deadline::after(Duration::from_nanos(nanoseconds)),
    }
}

pub(crate) fn create(
    device: &Device,
    info: &vk::FenceCreateInfo<'_>,
    _: Allocator,
    mut fence: Out<'_, vk::Fence>,
) -> Result<(), Failure> {
    let is_signalled = info.flags.contains(vk::FenceCreateFlags::SIGNALED);
    fence.set(Handed::new(Fence(Payload::new(&device.gpu.device, is_signalled)?)).give());
    Ok(())
}

pub(crate) fn destroy(_: &Device, fence: Option<Handed<Fence>>, _: Allocator) {
    drop(fence);
}

pub(crate) fn reset(_: &Device, count: u32, fences: Array<'_, vk::Fence>) -> Result<(), Failure> {
    fences.of(count).iter().filter_map(|&fence| object::<Fence>(fence)).try_for_each(|fence| fence.0.reset())
}

pub(crate) fn status(device: &Device, fence: &Fence) -> Result<vk::Result, Failure> {
    let current = fence.0.current();
    let is_signalled = device.wait(Deadline::POLL, |step| Ok(current.wait(step)?))?;
    Ok(if is_signalled { vk::Result::SUCCESS } else { vk::Result::NOT_READY })
}

pub(crate) fn wait(
    device: &Device,
    count: u32,
    fences: Array<'_, vk::Fence>,
    wait_all: vk::Bool32,
    timeout: u64,
) -> Result<vk::Result, Failure> {
    let fences: Vec<Syncobj> =
        fences.of(count).iter().filter_map(|&fence| object::<Fence>(fence)).map(|fence| fence.0.current()).collect();
    let fences: Vec<&Syncobj> = fences.iter().collect();
    let condition = if wait_all == vk::FALSE { WaitFor::Any } else { WaitFor::All };
    let is_met = device.wait(deadline(timeout), |step| Ok(Syncobj::wait_many(&fences, condition, step)?))?;
    Ok(if is_met { vk::Result::SUCCESS } else { vk::Result::TIMEOUT })
}

pub(crate) fn export(_: &Device, info: &vk::FenceGetFdInfoKHR<'_>, mut fd: Out<'_, i32>) -> Result<(), Failure> {
    let fence = object::<Fence>(info.fence).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let current = fence.0.current();
    if info.handle_type == vk::ExternalFenceHandleTypeFlags::SYNC_FD {
        fd.set(current.export_sync_file()?.into_raw_fd());
        return fence.0.reset();
    }
    fd.set(current.export()?.into_raw_fd());
    Ok(())
}

pub(crate) fn import(device: &Device, info: &vk::ImportFenceFdInfoKHR<'_>) -> Result<(), Failure> {
    let fence = object::<Fence>(info.fence).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let is_sync_file = info.handle_type == vk::ExternalFenceHandleTypeFlags::SYNC_FD;
    let imported = import_sync(device, info.fd, is_sync_file)?;
    fence.0.import(imported, is_sync_file || info.flags.contains(vk::FenceImportFlags::TEMPORARY));
    Ok(())
}

/// Imports a sync object from its descriptor or from a sync file; -1 as a sync file stands for a signalled fence.
///
/// # Errors
///
/// `VK_ERROR_INVALID_EXTERNAL_HANDLE`.
pub(super) fn import_sync(device: &Device, fd: i32, is_sync_file: bool) -> Result<Syncobj, Failure> {
    let device = &device.gpu.device;
    if is_sync_file && fd == -1 {
        return Ok(Syncobj::new(device, true)?);
    }
    descriptor::import(fd, |fd| {
        if !is_sync_file {
            return Ok(Syncobj::import(device, fd)?);
        }
        let made = Syncobj::new(device, false)?;
        made.import_sync_file(fd)?;
        Ok(made)
    })
}
