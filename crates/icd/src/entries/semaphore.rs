//! Binary and timeline semaphores.

use std::os::fd::IntoRawFd;

use amdgpu_winsys::winsys::{Syncobj, Until, WaitFor};
use ash::vk;

use super::fence::{deadline, import_sync};
use crate::{
    border::{Allocator, Failure, Handed, Out, chain, list::WaitLists, object},
    objects::{Device, Payload, Semaphore},
};

pub(crate) fn create(
    device: &Device,
    info: &vk::SemaphoreCreateInfo<'_>,
    _: Allocator,
    mut semaphore: Out<'_, vk::Semaphore>,
) -> Result<(), Failure> {
    let kind = chain::find::<vk::SemaphoreTypeCreateInfo<'_>>(info);
    let timeline = kind.filter(|kind| kind.semaphore_type == vk::SemaphoreType::TIMELINE);
    let payload = Payload::new(&device.gpu.device, false)?;
    if let Some(value) = timeline.map(|timeline| timeline.initial_value).filter(|value| *value > 0) {
        payload.current().signal_point(value)?;
    }
    semaphore.set(Handed::new(Semaphore { payload, is_timeline: timeline.is_some() }).give());
    Ok(())
}

pub(crate) fn destroy(_: &Device, semaphore: Option<Handed<Semaphore>>, _: Allocator) {
    drop(semaphore);
}

pub(crate) fn value(device: &Device, semaphore: &Semaphore, mut value: Out<'_, u64>) -> Result<(), Failure> {
    value.set(semaphore.payload.current().query()?);
    device.check()
}

pub(crate) fn signal(_: &Device, info: &vk::SemaphoreSignalInfo<'_>) -> Result<(), Failure> {
    let semaphore = object::<Semaphore>(info.semaphore).ok_or(vk::Result::ERROR_UNKNOWN)?;
    Ok(semaphore.payload.current().signal_point(info.value)?)
}

pub(crate) fn wait(device: &Device, info: &vk::SemaphoreWaitInfo<'_>, timeout: u64) -> Result<vk::Result, Failure> {
    let is_any = info.flags.contains(vk::SemaphoreWaitFlags::ANY);
    let (mut points, mut is_begun) = (Vec::new(), info.semaphores().is_empty());
    for (&semaphore, &value) in info.semaphores().iter().zip(info.values()) {
        let semaphore = object::<Semaphore>(semaphore).ok_or(vk::Result::ERROR_UNKNOWN)?;
        // Every timeline has reached 0, where it begins. For the kernel that is no point, but the binary state.
        if value == 0 {
            is_begun = true;
        } else {
            points.push((semaphore.payload.current(), value));
        }
    }
    if is_begun && (is_any || points.is_empty()) {
        device.check()?;
        return Ok(vk::Result::SUCCESS);
    }
    let points: Vec<(&Syncobj, u64)> = points.iter().map(|(syncobj, value)| (syncobj, *value)).collect();
    let condition = if is_any { WaitFor::Any } else { WaitFor::All };
    let is_met = device.wait(deadline(timeout), |step| {
        Ok(Syncobj::wait_points(&points, condition, Until::Signalled, step)?.is_some())
    })?;
    Ok(if is_met { vk::Result::SUCCESS } else { vk::Result::TIMEOUT })
}

pub(crate) fn export(_: &Device, info: &vk::SemaphoreGetFdInfoKHR<'_>, mut fd: Out<'_, i32>) -> Result<(), Failure> {
    let semaphore = object::<Semaphore>(info.semaphore).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let current = semaphore.payload.current();
    if info.handle_type == vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD {
        fd.set(current.export_sync_file()?.into_raw_fd());
        return semaphore.payload.consume();
    }
    fd.set(current.export()?.into_raw_fd());
    Ok(())
}

pub(crate) fn import(device: &Device, info: &vk::ImportSemaphoreFdInfoKHR<'_>) -> Result<(), Failure> {
    let semaphore = object::<Semaphore>(info.semaphore).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let is_sync_file = info.handle_type == vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD;
    let imported = import_sync(device, info.fd, is_sync_file)?;
    semaphore.payload.import(imported, is_sync_file || info.flags.contains(vk::SemaphoreImportFlags::TEMPORARY));
    Ok(())
}
