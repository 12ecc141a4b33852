//! USERQ_SIGNAL and USERQ_WAIT: other users wait for fences of user queues, and user queues wait for fences of others.
//!
//! Source: Linux 6.17 `amdgpu_userq_fence.c`, `amdgpu_userq_signal_ioctl` and `amdgpu_userq_wait_ioctl`.

use std::{collections::HashSet, sync::Arc};

use amdgpu_uapi::{Errno, SyncobjWaitFlags, UserqFenceInfo, UserqSignal, UserqWait};

use super::userq::require;
use crate::{
    features::Features,
    kernel::{
        files::file::File,
        ioctl::{
            args::{argument, fill},
            sync::syncobj::find_fence,
        },
        mm::bo::Bo,
        sync::{events::Until, fence::Fence, number::Number, syncobj::Syncobj},
        user,
        userq::View,
    },
};

/// The most handles of one type in a request (`AMDGPU_USERQ_MAX_HANDLES`).
const MOST_HANDLES: u32 = 1 << 16;

/// Performs USERQ_SIGNAL.
pub(crate) fn signal(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    require(file)?;
    let request: UserqSignal = argument(bytes)?;
    let handles: Vec<u32> = user::read_slice(request.syncobj_handles, request.num_syncobj_handles.into())?;
    let syncobjs = handles.into_iter().map(|handle| file.syncobj(handle).ok_or(Errno::ENOENT));
    let syncobjs: Vec<Arc<Syncobj>> = syncobjs.collect::<Result<_, _>>()?;
    let read = bos(file, request.bo_read_handles, request.num_bo_read_handles)?;
    let written = bos(file, request.bo_write_handles, request.num_bo_write_handles)?;
    let queue = file.user_queues.lock().get(request.queue_id).cloned().ok_or(Errno::ENOENT)?;
    refuse_twice(file, &read, &written)?;
    let _device_order = file.gpu.queues.submitting.lock();
    let fence = queue.signal()?;
    for (bos, writes) in [(&read, false), (&written, true)] {
        for bo in bos {
            bo.reservation.import(&fence, writes);
        }
    }
    for syncobj in syncobjs {
        syncobj.replace(Arc::clone(&fence));
    }
    file.gpu.machine.events.wake_all();
    Ok(())
}

fn bos(file: &File, handles: u64, count: u32) -> Result<Vec<Arc<Bo>>, Errno> {
    if count > MOST_HANDLES {
        return Err(Errno::EINVAL);
    }
    let handles: Vec<u32> = user::read_slice(handles, count as usize)?;
    handles.into_iter().map(|handle| file.bo(handle).ok_or(Errno::ENOENT)).collect()
}

/// Returns an error if a BO is listed twice, unless the kernel permits that.
///
/// Source: Linux 7.2 `drm_exec.c`, `drm_exec_lock_obj`; Linux 7.3 `amdgpu_userq_fence.c`, `amdgpu_userq_signal_ioctl`.
fn refuse_twice(file: &File, read: &[Arc<Bo>], written: &[Arc<Bo>]) -> Result<(), Errno> {
    if file.gpu.facts.has(Features::QUEUE_BOS_TWICE) {
        return Ok(());
    }
    let mut seen = HashSet::new();
    let is_new = |bo: &Arc<Bo>| seen.insert(Arc::as_ptr(bo));
    if read.iter().chain(written).all(is_new) { Ok(()) } else { Err(Errno::EALREADY) }
}

/// Performs USERQ_WAIT. Fences that are not of user queues are waited for during the request.
pub(crate) fn wait(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    require(file)?;
    let mut request: UserqWait = argument(bytes)?;
    let found = fences(file, &request)?;
    if request.num_fences == 0 {
        request.num_fences = u16::try_from(found.len()).unwrap_or(u16::MAX);
        return fill(bytes, &request);
    }
    if found.len() > request.num_fences.into() {
        return Err(Errno::EINVAL);
    }
    file.user_queues.lock().get(request.waitq_id).map(drop).ok_or(Errno::EINVAL)?;
    let mut latest = Vec::<(Arc<Number>, u64)>::new();
    for fence in found {
        let Some((number, value)) = fence.number() else {
            file.gpu.machine.events.wait(Until::Never, || fence.is_signalled().then_some(()));
            continue;
        };
        match latest.iter_mut().find(|(known, _)| Arc::ptr_eq(known, number)) {
            Some((_, known)) => *known = value.max(*known),
            None => latest.push((Arc::clone(number), value)),
        }
    }
    let window = View::window(&file.vm.lock());
    let info =
        |(number, value): &(Arc<Number>, u64)| UserqFenceInfo { va: number.address(window).as_u64(), value: *value };
    let infos: Vec<_> = latest.iter().map(info).collect();
    user::write_slice(request.out_fences, &infos)?;
    request.num_fences = infos.len() as u16;
    fill(bytes, &request)
}

/// Returns all requested fences, in the kernel's order.
fn fences(file: &File, request: &UserqWait) -> Result<Vec<Arc<Fence>>, Errno> {
    let wait_for_submit = SyncobjWaitFlags::WAIT_FOR_SUBMIT.bits();
    let read = bos(file, request.bo_read_handles, request.num_bo_read_handles)?;
    let written = bos(file, request.bo_write_handles, request.num_bo_write_handles)?;
    let handles: Vec<u32> = user::read_slice(request.syncobj_handles, request.num_syncobj_handles.into())?;
    let points = usize::from(request.num_syncobj_timeline_handles);
    let timelines: Vec<u32> = user::read_slice(request.syncobj_timeline_handles, points)?;
    let points: Vec<u64> = user::read_slice(request.syncobj_timeline_points, points)?;
    refuse_twice(file, &read, &written)?;
    let mut found = Vec::new();
    // A reader gets the fences of all users and a writer those of the writers, as in the kernel.
    found.extend(read.iter().flat_map(|bo| bo.reservation.uses()).map(|user| user.fence));
    let writers = written.iter().flat_map(|bo| bo.reservation.uses()).filter(|user| user.writes);
    found.extend(writers.map(|user| user.fence));
    for (handle, point) in timelines.into_iter().zip(points) {
        found.extend(find_fence(file, handle, point, wait_for_submit)?.leaves());
    }
    for handle in handles {
        found.extend(find_fence(file, handle, 0, wait_for_submit)?.leaves());
    }
    Ok(found)
}
