//! Requests about sync objects.
//!
//! Source: Linux 6.12 `drm_syncobj.c`.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use amdgpu_uapi::{
    CREATE_SIGNALED, Errno, QUERY_LAST_SUBMITTED, SYNC_FILE, SYNC_FILE_OF_POINT, SyncobjArray, SyncobjCreate,
    SyncobjDestroy, SyncobjEventfd, SyncobjHandle, SyncobjHandlePoint, SyncobjTimelineArray, SyncobjTimelineWait,
    SyncobjTransfer, SyncobjWait, SyncobjWaitFlags,
};

use super::dma_buf::sync_file;
use crate::kernel::{
    files::{descriptors::SharedObject, file::File},
    ioctl::args::{argument, fill},
    sync::{
        eventfd::EventFd,
        events::Until,
        fence::Fence,
        sync_file::SyncFile,
        syncobj::{Expected, Syncobj},
    },
    user,
};

/// The time that CS and TRANSFER wait until a point is submitted.
const SUBMIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Performs SYNCOBJ_CREATE.
pub(crate) fn create(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: SyncobjCreate = argument(bytes)?;
    if request.flags & !CREATE_SIGNALED != 0 {
        return Err(Errno::EINVAL);
    }
    let fence = (request.flags & CREATE_SIGNALED != 0).then(Fence::signalled);
    request.handle = add(file, Arc::new(Syncobj::new(fence)))?;
    fill(bytes, &request)
}

fn add(file: &File, syncobj: Arc<Syncobj>) -> Result<u32, Errno> {
    file.syncobjs.lock().insert(syncobj)
}

/// Performs SYNCOBJ_DESTROY. EINVAL for an unknown handle.
pub(crate) fn destroy(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: SyncobjDestroy = argument(bytes)?;
    if request.pad != 0 {
        return Err(Errno::EINVAL);
    }
    file.syncobjs.lock().remove(request.handle).map(drop).ok_or(Errno::EINVAL)
}

/// Performs SYNCOBJ_HANDLE_TO_FD: returns a descriptor that shares the object, or a sync file of its present fence.
pub(crate) fn handle_to_fd(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: SyncobjHandle = argument(bytes)?;
    if request.pad != 0 || request.flags & !SYNC_FILE != 0 {
        return Err(Errno::EINVAL);
    }
    request.fd =
        if request.flags == SYNC_FILE { export_fence(file, request.handle, 0)? } else { share(file, request.handle)? };
    fill(bytes, &request)
}

/// Performs SYNCOBJ_HANDLE_TO_FD with [`Features::SYNCOBJ_POINTS`](crate::Features::SYNCOBJ_POINTS): a sync file can be of a point.
///
/// Source: Linux 7.2 `drm_syncobj.c`, `drm_syncobj_handle_to_fd_ioctl` and `drm_syncobj_export_sync_file`.
pub(crate) fn handle_to_fd_at_a_point(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: SyncobjHandlePoint = argument(bytes)?;
    request.fd = match point_of(&request)? {
        Some(point) => export_fence(file, request.handle, point)?,
        None => share(file, request.handle)?,
    };
    fill(bytes, &request)
}

/// Returns the point of a request about sync files, which is 0 unless a flag says that there is one; `None` for a request about the
/// sync object itself, which has no point.
fn point_of(request: &SyncobjHandlePoint) -> Result<Option<u64>, Errno> {
    if request.pad != 0 || request.flags & !(SYNC_FILE | SYNC_FILE_OF_POINT) != 0 {
        return Err(Errno::EINVAL);
    }
    if request.flags & SYNC_FILE != 0 {
        return Ok(Some(if request.flags & SYNC_FILE_OF_POINT != 0 { request.point } else { 0 }));
    }
    if request.point == 0 { Ok(None) } else { Err(Errno::EINVAL) }
}

/// Creates a sync file of a point; 0 for the newest state.
fn export_fence(file: &File, handle: u32, point: u64) -> Result<i32, Errno> {
    let fence = file.syncobj(handle).ok_or(Errno::ENOENT)?.fence(point)?;
    user::install(file.gpu.machine.descriptors.add_sync_file(SyncFile::new(fence))?)
}

/// Creates a descriptor of a sync object itself.
fn share(file: &File, handle: u32) -> Result<i32, Errno> {
    let syncobj = file.syncobj(handle).ok_or(Errno::EINVAL)?;
    user::install(file.gpu.machine.descriptors.add_syncobj(syncobj)?)
}

/// Performs SYNCOBJ_FD_TO_HANDLE: returns a new handle each time, or puts the fence of a sync file into an existing sync object.
pub(crate) fn fd_to_handle(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: SyncobjHandle = argument(bytes)?;
    if request.pad != 0 || request.flags & !SYNC_FILE != 0 {
        return Err(Errno::EINVAL);
    }
    if request.flags == SYNC_FILE {
        let sync_file = sync_file(&file.gpu.machine, request.fd)?;
        file.syncobj(request.handle).ok_or(Errno::ENOENT)?.replace(Arc::clone(sync_file.fence()));
        file.gpu.machine.events.wake_all();
        return Ok(());
    }
    request.handle = open(file, request.fd)?;
    fill(bytes, &request)
}

/// Performs SYNCOBJ_FD_TO_HANDLE with [`Features::SYNCOBJ_POINTS`](crate::Features::SYNCOBJ_POINTS): the fence of a sync file can
/// become a point.
///
/// Source: Linux 7.2 `drm_syncobj.c`, `drm_syncobj_fd_to_handle_ioctl` and `drm_syncobj_import_sync_file_fence`.
pub(crate) fn fd_to_handle_at_a_point(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: SyncobjHandlePoint = argument(bytes)?;
    let Some(point) = point_of(&request)? else {
        request.handle = open(file, request.fd)?;
        return fill(bytes, &request);
    };
    let sync_file = sync_file(&file.gpu.machine, request.fd)?;
    let syncobj = file.syncobj(request.handle).ok_or(Errno::ENOENT)?;
    let fence = Arc::clone(sync_file.fence());
    // A point keeps the fence with its error, and a timeline as it is. The kernel warns of that in its log; here timelines are nested
    // once, and their parts are taken instead beyond that, because what walks them would need a stack for each.
    if point == 0 {
        syncobj.replace(fence);
    } else if fence.leaves().iter().any(|leaf| matches!(**leaf, Fence::Link(_))) {
        syncobj.append(point, Fence::merge([fence]));
    } else {
        syncobj.append(point, fence);
    }
    file.gpu.machine.events.wake_all();
    Ok(())
}

/// Creates a handle of a shared sync object.
fn open(file: &File, fd: i32) -> Result<u32, Errno> {
    let shared = user::descriptor(fd).and_then(|fd| file.gpu.machine.descriptors.find(fd));
    let Ok(Some(SharedObject::Syncobj(syncobj))) = shared else { return Err(Errno::EINVAL) };
    add(file, syncobj)
}

/// Performs SYNCOBJ_EVENTFD.
pub(crate) fn eventfd(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: SyncobjEventfd = argument(bytes)?;
    let available = SyncobjWaitFlags::WAIT_AVAILABLE.bits();
    if request.flags & !available != 0 || request.pad != 0 {
        return Err(Errno::EINVAL);
    }
    let syncobj = file.syncobj(request.handle).ok_or(Errno::ENOENT)?;
    let eventfd = EventFd::new(user::descriptor(request.fd)?)?;
    syncobj.add_eventfd(request.point, eventfd, request.flags & available != 0);
    Ok(())
}

/// Performs SYNCOBJ_RESET.
pub(crate) fn reset(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    for syncobj in array(file, bytes)? {
        syncobj.reset();
    }
    Ok(())
}

/// Performs SYNCOBJ_SIGNAL.
pub(crate) fn signal(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    for syncobj in array(file, bytes)? {
        syncobj.replace(Fence::signalled());
    }
    file.gpu.machine.events.wake_all();
    Ok(())
}

fn array(file: &File, bytes: &[u8]) -> Result<Vec<Arc<Syncobj>>, Errno> {
    let request: SyncobjArray = argument(bytes)?;
    if request.pad != 0 || request.count_handles == 0 {
        return Err(Errno::EINVAL);
    }
    look_up(file, request.handles, request.count_handles)
}

fn look_up(file: &File, handles: u64, count: u32) -> Result<Vec<Arc<Syncobj>>, Errno> {
    user::check_array::<u32>(count)?;
    let handles: Vec<u32> = user::read_slice(handles, count as usize)?;
    // The kernel's pointers to the sync objects.
    user::check_array::<u64>(count)?;
    handles.into_iter().map(|handle| file.syncobj(handle).ok_or(Errno::ENOENT)).collect()
}

/// Performs SYNCOBJ_TIMELINE_SIGNAL.
pub(crate) fn timeline_signal(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: SyncobjTimelineArray = argument(bytes)?;
    if request.flags != 0 || request.count_handles == 0 {
        return Err(Errno::EINVAL);
    }
    let syncobjs = look_up(file, request.handles, request.count_handles)?;
    let points = read_points(request.points, request.count_handles)?;
    for (syncobj, point) in syncobjs.iter().zip(points) {
        syncobj.append(point, Fence::signalled());
    }
    file.gpu.machine.events.wake_all();
    Ok(())
}

/// Reads the points of a request. With the address 0, all points are 0.
fn read_points(address: u64, count: u32) -> Result<Vec<u64>, Errno> {
    if address == 0 { Ok(vec![0; count as usize]) } else { user::read_slice(address, count as usize) }
}

/// Performs SYNCOBJ_QUERY.
pub(crate) fn query(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: SyncobjTimelineArray = argument(bytes)?;
    if request.flags & !QUERY_LAST_SUBMITTED != 0 || request.count_handles == 0 {
        return Err(Errno::EINVAL);
    }
    let syncobjs = look_up(file, request.handles, request.count_handles)?;
    let last = request.flags & QUERY_LAST_SUBMITTED != 0;
    let points: Vec<u64> = syncobjs.iter().map(|syncobj| syncobj.query(last)).collect();
    user::write_slice(request.points, &points)
}

/// Performs SYNCOBJ_TRANSFER.
pub(crate) fn transfer(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: SyncobjTransfer = argument(bytes)?;
    if request.pad != 0 {
        return Err(Errno::EINVAL);
    }
    let target = file.syncobj(request.dst_handle).ok_or(Errno::ENOENT)?;
    let fence = find_fence(file, request.src_handle, request.src_point, request.flags)?;
    // Replacing takes the fence as it is, including the points of a timeline; a point consists of plain fences.
    let fence = if request.dst_point == 0 { fence } else { Fence::merge([fence]) };
    target.add_point(request.dst_point, fence);
    file.gpu.machine.events.wake_all();
    Ok(())
}

/// Returns the fence of a point. If the flag is set, it waits until the point has a fence.
///
/// Source: Linux 6.12 `drm_syncobj.c`, `drm_syncobj_find_fence`.
pub(crate) fn find_fence(file: &File, handle: u32, point: u64, flags: u32) -> Result<Arc<Fence>, Errno> {
    let syncobj = file.syncobj(handle).ok_or(Errno::ENOENT)?;
    let wait_for_submit = SyncobjWaitFlags::WAIT_FOR_SUBMIT.bits();
    if flags & !wait_for_submit != 0 {
        return Err(Errno::EINVAL);
    }
    if flags & wait_for_submit == 0 {
        return syncobj.fence(point);
    }
    let deadline = Until::At(Instant::now() + SUBMIT_TIMEOUT);
    let expected = syncobj.expect(point);
    file.gpu.machine.events.wait(deadline, || expected.get().cloned()).ok_or(Errno::ETIME)
}

/// Performs SYNCOBJ_WAIT.
pub(crate) fn wait(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: SyncobjWait = argument(bytes)?;
    let allowed = SyncobjWaitFlags::WAIT_ALL | SyncobjWaitFlags::WAIT_FOR_SUBMIT | SyncobjWaitFlags::WAIT_DEADLINE;
    let flags = checked_flags(request.flags, allowed)?;
    if request.count_handles == 0 {
        return Ok(());
    }
    let syncobjs = look_up(file, request.handles, request.count_handles)?;
    let points = vec![0; syncobjs.len()];
    request.first_signaled = wait_for(file, &syncobjs, &points, flags, request.timeout_nsec)?;
    fill(bytes, &request)
}

/// Performs SYNCOBJ_TIMELINE_WAIT.
pub(crate) fn timeline_wait(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: SyncobjTimelineWait = argument(bytes)?;
    let flags = checked_flags(request.flags, SyncobjWaitFlags::all())?;
    if request.count_handles == 0 {
        return Ok(());
    }
    let syncobjs = look_up(file, request.handles, request.count_handles)?;
    let points = read_points(request.points, request.count_handles)?;
    request.first_signaled = wait_for(file, &syncobjs, &points, flags, request.timeout_nsec)?;
    fill(bytes, &request)
}

fn checked_flags(raw: u32, allowed: SyncobjWaitFlags) -> Result<SyncobjWaitFlags, Errno> {
    SyncobjWaitFlags::from_bits(raw).filter(|flags| allowed.contains(*flags)).ok_or(Errno::EINVAL)
}

/// Waits for all fences or any of them, and returns the index of a signalled one. A waiter keeps the fence that it has found, even
/// if the sync object changes meanwhile.
fn wait_for(
    file: &File,
    syncobjs: &[Arc<Syncobj>],
    points: &[u64],
    flags: SyncobjWaitFlags,
    timeout: i64,
) -> Result<u32, Errno> {
    let available = flags.contains(SyncobjWaitFlags::WAIT_AVAILABLE);
    let may_wait = available || flags.contains(SyncobjWaitFlags::WAIT_FOR_SUBMIT);
    let fences: Vec<_> = if may_wait {
        syncobjs.iter().zip(points).map(|(syncobj, &point)| syncobj.expect(point)).collect()
    } else {
        let found = syncobjs.iter().zip(points).map(|(syncobj, &point)| syncobj.fence(point));
        found.map(|fence| fence.map(|fence| Arc::new(Expected::from(fence)))).collect::<Result<_, _>>()?
    };
    let all = flags.contains(SyncobjWaitFlags::WAIT_ALL);
    let is_done = |slot: &Arc<Expected>| slot.get().is_some_and(|fence| available || fence.is_signalled());
    let condition = || {
        let first = fences.iter().position(is_done)?;
        (!all || fences.iter().all(is_done)).then_some(first as u32)
    };
    file.gpu.machine.events.wait(Until::syncobj(timeout), condition).ok_or(Errno::ETIME)
}
