//! The sync object requests.
//!
//! Source: Linux 6.12 `drm_syncobj.c`.

use std::{
    os::fd::AsFd,
    sync::Arc,
    time::{Duration, Instant},
};

use amdgpu_winsys::uapi::{
    CREATE_SIGNALED, QUERY_LAST_SUBMITTED, SYNC_FILE, SyncobjArray, SyncobjCreate, SyncobjDestroy, SyncobjEventfd,
    SyncobjHandle, SyncobjTimelineArray, SyncobjTimelineWait, SyncobjTransfer, SyncobjWait, SyncobjWaitFlags,
};
use nix::{
    errno::Errno,
    sys::memfd::{MFdFlags, memfd_create},
};

use crate::{
    dispatch::{argument, fill},
    events::Until,
    fence::Fence,
    file::File,
    ioctl::prime::{duplicate, inode},
    syncobj::Syncobj,
    user,
};

/// How long CS and TRANSFER wait for a point to be submitted.
const SUBMIT_TIMEOUT: Duration = Duration::from_secs(5);

/// SYNCOBJ_CREATE.
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
    file.syncobjs.lock().insert(syncobj).map_err(|_| Errno::ENOSPC)
}

/// SYNCOBJ_DESTROY. An unknown handle is EINVAL.
pub(crate) fn destroy(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: SyncobjDestroy = argument(bytes)?;
    if request.pad != 0 {
        return Err(Errno::EINVAL);
    }
    file.syncobjs.lock().remove(request.handle).map(drop).ok_or(Errno::EINVAL)
}

/// SYNCOBJ_HANDLE_TO_FD: a descriptor that shares the object. Sync files are not simulated.
pub(crate) fn handle_to_fd(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: SyncobjHandle = argument(bytes)?;
    if request.pad != 0 || request.flags & !SYNC_FILE != 0 {
        return Err(Errno::EINVAL);
    }
    let syncobj = file.syncobj(request.handle);
    if request.flags == SYNC_FILE {
        syncobj.ok_or(Errno::ENOENT)?.fence(0)?;
        return Err(not_simulated(file, "exporting a sync file"));
    }
    let syncobj = syncobj.ok_or(Errno::EINVAL)?;
    let fd = match file.gpu.file_of_syncobj(&syncobj) {
        Some(fd) => fd,
        None => new_descriptor(file, syncobj)?,
    };
    request.fd = user::install(fd)?;
    fill(bytes, &request)
}

/// A descriptor that names the object by its inode.
fn new_descriptor(file: &File, syncobj: Arc<Syncobj>) -> Result<std::os::fd::OwnedFd, Errno> {
    let name = format!("amdgpu-sim syncobj {}", file.gpu.next_descriptor());
    let fd = memfd_create(name.as_str(), MFdFlags::MFD_CLOEXEC)?;
    let keep = duplicate(fd.as_fd(), true)?;
    file.gpu.remember_syncobj(inode(fd.as_fd())?, syncobj, keep);
    Ok(fd)
}

/// SYNCOBJ_FD_TO_HANDLE: a new handle each time.
pub(crate) fn fd_to_handle(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: SyncobjHandle = argument(bytes)?;
    if request.pad != 0 || request.flags & !SYNC_FILE != 0 {
        return Err(Errno::EINVAL);
    }
    if request.flags == SYNC_FILE {
        return Err(not_simulated(file, "importing a sync file"));
    }
    let inode = user::descriptor(request.fd).and_then(inode).map_err(|_| Errno::EINVAL)?;
    let syncobj = file.gpu.syncobj_of_file(inode).ok_or(Errno::EINVAL)?;
    request.handle = add(file, syncobj)?;
    fill(bytes, &request)
}

/// SYNCOBJ_EVENTFD is not simulated.
pub(crate) fn eventfd(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let _: SyncobjEventfd = argument(bytes)?;
    Err(not_simulated(file, "SYNCOBJ_EVENTFD"))
}

fn not_simulated(file: &File, what: &str) -> Errno {
    file.gpu.complaints.say(format!("{what} is not simulated"));
    Errno::EOPNOTSUPP
}

/// SYNCOBJ_RESET.
pub(crate) fn reset(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    for syncobj in array(file, bytes)? {
        syncobj.replace(None);
    }
    Ok(())
}

/// SYNCOBJ_SIGNAL.
pub(crate) fn signal(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    for syncobj in array(file, bytes)? {
        syncobj.replace(Some(Fence::signalled()));
    }
    file.gpu.events.ring();
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
    let handles: Vec<u32> = user::read_slice(handles, count as usize)?;
    handles.into_iter().map(|handle| file.syncobj(handle).ok_or(Errno::ENOENT)).collect()
}

/// SYNCOBJ_TIMELINE_SIGNAL.
pub(crate) fn timeline_signal(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: SyncobjTimelineArray = argument(bytes)?;
    if request.flags != 0 || request.count_handles == 0 {
        return Err(Errno::EINVAL);
    }
    let syncobjs = look_up(file, request.handles, request.count_handles)?;
    let points = read_points(request.points, request.count_handles)?;
    for (syncobj, point) in syncobjs.iter().zip(points) {
        syncobj.add_point(point, Fence::signalled());
    }
    file.gpu.events.ring();
    Ok(())
}

/// An address of zero means that all points are.
fn read_points(address: u64, count: u32) -> Result<Vec<u64>, Errno> {
    if address == 0 { Ok(vec![0; count as usize]) } else { user::read_slice(address, count as usize) }
}

/// SYNCOBJ_QUERY.
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

/// SYNCOBJ_TRANSFER.
pub(crate) fn transfer(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: SyncobjTransfer = argument(bytes)?;
    if request.pad != 0 {
        return Err(Errno::EINVAL);
    }
    let target = file.syncobj(request.dst_handle).ok_or(Errno::ENOENT)?;
    let fence = find_fence(file, request.src_handle, request.src_point, request.flags)?;
    target.add_point(request.dst_point, fence);
    file.gpu.events.ring();
    Ok(())
}

/// The fence of a point, waited for where the flag says so.
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
    file.gpu.events.wait(deadline, || syncobj.find(point)).ok_or(Errno::ETIME)
}

/// SYNCOBJ_WAIT.
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

/// SYNCOBJ_TIMELINE_WAIT.
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

/// Waits for all or any; the index of a signalled one. A waiter keeps the fence it has seen, whatever becomes of the sync
/// object meanwhile.
fn wait_for(
    file: &File,
    syncobjs: &[Arc<Syncobj>],
    points: &[u64],
    flags: SyncobjWaitFlags,
    timeout: i64,
) -> Result<u32, Errno> {
    let available = flags.contains(SyncobjWaitFlags::WAIT_AVAILABLE);
    let may_wait = available || flags.contains(SyncobjWaitFlags::WAIT_FOR_SUBMIT);
    let mut fences: Vec<_> = syncobjs.iter().zip(points).map(|(syncobj, &point)| syncobj.find(point)).collect();
    if !may_wait && fences.iter().any(Option::is_none) {
        return Err(Errno::EINVAL);
    }
    let all = flags.contains(SyncobjWaitFlags::WAIT_ALL);
    let condition = || {
        for ((fence, syncobj), &point) in fences.iter_mut().zip(syncobjs).zip(points) {
            if fence.is_none() {
                *fence = syncobj.find(point);
            }
        }
        let done = |fence: &Option<Arc<Fence>>| fence.as_ref().is_some_and(|fence| available || fence.is_signalled());
        let first = fences.iter().position(done)?;
        (!all || fences.iter().all(done)).then_some(first as u32)
    };
    file.gpu.events.wait(Until::syncobj(timeout), condition).ok_or(Errno::ETIME)
}
