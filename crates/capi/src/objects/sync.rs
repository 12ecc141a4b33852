//! Sync objects.

use std::{cell::UnsafeCell, os::fd::IntoRawFd, sync::Arc};

use amdgpu_winsys::{
    uapi::Deadline,
    winsys::{Syncobj, Until, WaitFor},
};

use smallvec::SmallVec;

use super::{
    bo::lent,
    device::{DeviceState, agw_device, device, ownership},
};
use crate::border::{
    AGW_ERROR_INVALID_EXTERNAL_HANDLE, AGW_TIMEOUT, Answer, Failure, Handle, INLINE_CAPACITY, Out, array, create,
    entry, get, release, value, within,
};

/// A wait ends when the first point is signalled.
pub const AGW_WAIT_ANY: u32 = 1 << 0;
/// A wait ends when work that will signal the point has been submitted.
pub const AGW_WAIT_PENDING: u32 = 1 << 1;

/// A sync object, which can be used as binary or timeline.
pub struct agw_sync {
    _private: [u8; 0],
}

/// A point of a sync object. Point 0 is the binary state, so a caller must leave out waits for value 0 of a timeline, which are
/// always satisfied.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_sync_point {
    /// The sync object.
    pub sync: *const agw_sync,
    /// The timeline point; 0 is the binary state.
    pub point: u64,
}

impl Handle for agw_sync {
    type Head = ();
    type Body = SyncBody;
    const NAME: &'static str = "agw_sync";
}

pub(crate) struct SyncBody {
    /// Written only by `agw_sync_swap`.
    syncobj: UnsafeCell<Syncobj>,
    state: Arc<DeviceState>,
}

impl SyncBody {
    /// Returns the sync object that the handle currently refers to.
    pub(crate) fn syncobj(&self) -> &Syncobj {
        // SAFETY: every reference ends with the C call that created it. The caller of `agw_sync_swap`, the only writer,
        // excludes all other calls on the handle.
        unsafe { &*self.syncobj.get() }
    }
}

/// Returns the body behind a handle, and records that the current call works on its device.
///
/// # Safety
///
/// The requirements of `shell`.
pub(crate) unsafe fn sync<'a>(handle: *const agw_sync) -> Answer<&'a SyncBody> {
    // SAFETY: the caller promises that `handle` is null, which is answered, or a sync object that nothing frees before this call returns.
    // The reference ends with the call, and until then the object is changed through its own cells only.
    unsafe { named(handle, "sync") }
}

/// Returns the body behind a handle that is the argument `argument`, like [`sync`].
///
/// # Safety
///
/// The requirements of `shell`.
unsafe fn named<'a>(handle: *const agw_sync, argument: &str) -> Answer<&'a SyncBody> {
    // SAFETY: the caller promises that `handle` is null, which is answered, or an object of its type that nothing frees before this call
    // returns. The reference ends with the call, and until then the object is changed through its own cells only.
    let body = unsafe { get(handle, argument) }?;
    body.state.touch()?;
    Ok(body)
}

/// Creates the C object of a sync object.
fn object(state: &Arc<DeviceState>, syncobj: Syncobj) -> Answer<*mut agw_sync> {
    create((), SyncBody { syncobj: UnsafeCell::new(syncobj), state: Arc::clone(state) })
}

/// Creates a sync object, with a signalled fence if `signalled` is set, otherwise without a fence.
///
/// # Safety
///
/// `device` is null or a device that was not freed; `sync` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sync_create(device: *const agw_device, signalled: bool, sync: *mut *mut agw_sync) -> i32 {
    entry(|| {
        // SAFETY: the caller promises that `device` is null, which is answered, or a device that nothing frees before this call returns.
        // The reference ends with the call, and until then the object is changed through its own cells only.
        let state = unsafe { self::device(device) }?;
        // SAFETY: the caller's promise.
        let sync = unsafe { Out::new(sync, "sync") }?;
        let syncobj = Syncobj::new(&state.device, signalled)?;
        let made = object(state, syncobj)?;
        sync.put(made);
        Ok(())
    })
}

/// Imports a sync object from a descriptor, which the caller keeps.
///
/// # Safety
///
/// `device` is null or a device that was not freed; `sync` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sync_import_fd(device: *const agw_device, fd: i32, sync: *mut *mut agw_sync) -> i32 {
    entry(|| {
        // SAFETY: the caller promises that `device` is null, which is answered, or a device that nothing frees before this call returns.
        // The reference ends with the call, and until then the object is changed through its own cells only.
        let state = unsafe { self::device(device) }?;
        // SAFETY: the caller's promise.
        let sync = unsafe { Out::new(sync, "sync") }?;
        // SAFETY: the caller keeps the descriptor open until this call returns, and the borrow ends in it.
        let syncobj = Syncobj::import(&state.device, unsafe { lent(fd) }?)?;
        let made = object(state, syncobj)?;
        sync.put(made);
        Ok(())
    })
}

/// Creates an object for a sync object's handle that the caller created on the device's file. If `is_owned` is set, the handle
/// is destroyed with the object; otherwise it remains the caller's. The handle is not checked: if the file has no such handle,
/// its first use fails with `ENOENT`.
///
/// # Safety
///
/// `device` is null or a device that was not freed; `sync` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sync_from_handle(
    device: *const agw_device,
    handle: u32,
    is_owned: bool,
    sync: *mut *mut agw_sync,
) -> i32 {
    entry(|| {
        // SAFETY: the caller promises that `device` is null, which is answered, or a device that nothing frees before this call returns.
        // The reference ends with the call, and until then the object is changed through its own cells only.
        let state = unsafe { self::device(device) }?;
        // SAFETY: the caller's promise.
        let sync = unsafe { Out::new(sync, "sync") }?;
        if handle == 0 {
            return Err(Failure::argument("handle", "is 0, which is no handle"));
        }
        let made = object(state, Syncobj::from_handle(&state.device, handle, ownership(is_owned)))?;
        sync.put(made);
        Ok(())
    })
}

/// Returns the kernel's handle; 0 if `sync` is null.
///
/// # Safety
///
/// `sync` is null or a sync object that was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sync_handle(sync: *const agw_sync) -> u32 {
    // SAFETY: the caller promises that `sync` is null, which is answered, or a sync object that nothing frees before this call returns.
    // The reference ends with the call, and until then the object is changed through its own cells only.
    value(0, || Ok(unsafe { self::sync(sync) }?.syncobj().handle()))
}

/// Signals a point of the timeline, or the binary state if `point` is 0.
///
/// # Safety
///
/// `sync` is null or a sync object that was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sync_signal(sync: *const agw_sync, point: u64) -> i32 {
    entry(|| {
        // SAFETY: the caller promises that `sync` is null, which is answered, or a sync object that nothing frees before this call
        // returns. The reference ends with the call, and until then the object is changed through its own cells only.
        let body = unsafe { self::sync(sync) }?;
        Ok(match point {
            0 => body.syncobj().signal(),
            point => body.syncobj().signal_point(point),
        }?)
    })
}

/// Resets the binary state: removes its fence.
///
/// # Safety
///
/// `sync` is null or a sync object that was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sync_reset(sync: *const agw_sync) -> i32 {
    entry(|| {
        // SAFETY: the caller promises that `sync` is null, which is answered, or a sync object that nothing frees before this call
        // returns. The reference ends with the call, and until then the object is changed through its own cells only.
        let body = unsafe { self::sync(sync) }?;
        Ok(body.syncobj().reset()?)
    })
}

/// Reads the last signalled point of the timeline.
///
/// # Safety
///
/// `sync` is null or a sync object that was not destroyed; `point` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sync_query(sync: *const agw_sync, point: *mut u64) -> i32 {
    entry(|| {
        // SAFETY: the caller promises that `sync` is null, which is answered, or a sync object that nothing frees before this call
        // returns. The reference ends with the call, and until then the object is changed through its own cells only.
        let body = unsafe { self::sync(sync) }?;
        // SAFETY: the caller's promise.
        let point = unsafe { Out::new(point, "point") }?;
        let reached = body.syncobj().query()?;
        point.put(reached);
        Ok(())
    })
}

/// Reads the last point of the timeline for which work was submitted.
///
/// # Safety
///
/// `sync` is null or a sync object that was not destroyed; `point` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sync_last_submitted(sync: *const agw_sync, point: *mut u64) -> i32 {
    entry(|| {
        // SAFETY: the caller promises that `sync` is null, which is answered, or a sync object that nothing frees before this call
        // returns. The reference ends with the call, and until then the object is changed through its own cells only.
        let body = unsafe { self::sync(sync) }?;
        // SAFETY: the caller's promise.
        let point = unsafe { Out::new(point, "point") }?;
        let newest = body.syncobj().last_submitted()?;
        point.put(newest);
        Ok(())
    })
}

/// Copies the fence at `from_point` of `from` to `to_point` of `to`, where 0 is the binary state.
///
/// # Safety
///
/// `to` and `from` are null or sync objects that were not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sync_transfer(
    to: *const agw_sync,
    to_point: u64,
    from: *const agw_sync,
    from_point: u64,
) -> i32 {
    entry(|| {
        // SAFETY: the caller promises that `to` is null, which is answered, or a sync object that nothing frees before this call returns.
        // The reference ends with the call, and until then the object is changed through its own cells only.
        let to = unsafe { named(to, "to") }?;
        // SAFETY: the caller promises that `from` is null, which is answered, or a sync object that nothing frees before this call
        // returns. The reference ends with the call, and until then the object is changed through its own cells only.
        let from = unsafe { named(from, "from") }?;
        Ok(to.syncobj().transfer(to_point, from.syncobj(), from_point)?)
    })
}

/// Swaps the kernel objects of two handles without an ioctl, to move payloads between semaphores. Submissions and descriptors
/// keep the original objects.
///
/// # Safety
///
/// `a` and `b` are null or sync objects that were not destroyed, and nothing else uses them during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sync_swap(a: *const agw_sync, b: *const agw_sync) -> i32 {
    entry(|| {
        // SAFETY: the caller promises that `a` is null, which is answered, or a sync object that nothing frees before this call returns.
        // The reference ends with the call, and until then the object is changed through its own cells only.
        let first = unsafe { named(a, "a") }?;
        // SAFETY: the caller promises that `b` is null, which is answered, or a sync object that nothing frees before this call returns.
        // The reference ends with the call, and until then the object is changed through its own cells only.
        let second = unsafe { named(b, "b") }?;
        if a == b {
            return Ok(());
        }
        // SAFETY: the caller keeps the object from every other call.
        let first = unsafe { &mut *first.syncobj.get() };
        // SAFETY: as above, and it is another object.
        let second = unsafe { &mut *second.syncobj.get() };
        Ok(first.swap(second)?)
    })
}

/// Exports a sync object as a descriptor, which the caller owns, and which is closed on exec.
///
/// # Safety
///
/// `sync` is null or a sync object that was not destroyed; `fd` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sync_export_fd(sync: *const agw_sync, fd: *mut i32) -> i32 {
    entry(|| {
        // SAFETY: the caller promises that `sync` is null, which is answered, or a sync object that nothing frees before this call
        // returns. The reference ends with the call, and until then the object is changed through its own cells only.
        let body = unsafe { self::sync(sync) }?;
        // SAFETY: the caller's promise.
        let fd = unsafe { Out::new(fd, "fd") }?;
        let exported = body.syncobj().export()?;
        fd.put(exported.into_raw_fd());
        Ok(())
    })
}

/// Exports the fence of the binary state as a sync file. The caller owns the descriptor, which is closed on exec.
///
/// # Safety
///
/// `sync` is null or a sync object that was not destroyed; `fd` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sync_export_sync_file(sync: *const agw_sync, fd: *mut i32) -> i32 {
    entry(|| {
        // SAFETY: the caller promises that `sync` is null, which is answered, or a sync object that nothing frees before this call
        // returns. The reference ends with the call, and until then the object is changed through its own cells only.
        let body = unsafe { self::sync(sync) }?;
        // SAFETY: the caller's promise.
        let fd = unsafe { Out::new(fd, "fd") }?;
        let exported = body.syncobj().export_sync_file()?;
        fd.put(exported.into_raw_fd());
        Ok(())
    })
}

/// Exports the fence of a point as a sync file, which takes several ioctls. The caller owns the descriptor, which is closed on
/// exec.
///
/// # Safety
///
/// `sync` is null or a sync object that was not destroyed; `fd` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sync_export_sync_file_at(sync: *const agw_sync, point: u64, fd: *mut i32) -> i32 {
    entry(|| {
        // SAFETY: the caller promises that `sync` is null, which is answered, or a sync object that nothing frees before this call
        // returns. The reference ends with the call, and until then the object is changed through its own cells only.
        let body = unsafe { self::sync(sync) }?;
        // SAFETY: the caller's promise.
        let fd = unsafe { Out::new(fd, "fd") }?;
        let exported = body.syncobj().export_sync_file_at(point)?;
        fd.put(exported.into_raw_fd());
        Ok(())
    })
}

/// Replaces the binary state with the fence of a sync file, which the caller keeps.
///
/// # Safety
///
/// `sync` is null or a sync object that was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sync_import_sync_file(sync: *const agw_sync, fd: i32) -> i32 {
    entry(|| {
        // SAFETY: the caller promises that `sync` is null, which is answered, or a sync object that nothing frees before this call
        // returns. The reference ends with the call, and until then the object is changed through its own cells only.
        let body = unsafe { self::sync(sync) }?;
        // SAFETY: the caller keeps the descriptor open until this call returns, and the borrow ends in it.
        Ok(body.syncobj().import_sync_file(unsafe { lent(fd) }?)?)
    })
}

/// Adds 1 to an eventfd when a point is signalled or, with `AGW_WAIT_PENDING`, when work for the point is submitted.
///
/// # Safety
///
/// `sync` is null or a sync object that was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sync_tell(sync: *const agw_sync, point: u64, flags: u32, eventfd: i32) -> i32 {
    entry(|| {
        // SAFETY: the caller promises that `sync` is null, which is answered, or a sync object that nothing frees before this call
        // returns. The reference ends with the call, and until then the object is changed through its own cells only.
        let body = unsafe { self::sync(sync) }?;
        // SAFETY: the caller keeps the descriptor open until this call returns, and the borrow ends in it.
        let fd = unsafe { lent(eventfd) }
            .map_err(|_| Failure::argument("eventfd", "is negative").with_code(AGW_ERROR_INVALID_EXTERNAL_HANDLE))?;
        // The flag is of waits for several points.
        if flags & AGW_WAIT_ANY != 0 {
            return Err(Failure::argument("flags", "has AGW_WAIT_ANY, which is for agw_sync_wait"));
        }
        Ok(body.syncobj().notify(point, until(flags)?, fd)?)
    })
}

fn until(flags: u32) -> Answer<Until> {
    match flags & !AGW_WAIT_ANY {
        0 => Ok(Until::Signalled),
        AGW_WAIT_PENDING => Ok(Until::Submitted),
        _ => Err(Failure::argument("flags", "has unknown bits")),
    }
}

/// Waits until points are signalled, including points for which no work was submitted yet. The deadline is in nanoseconds of
/// CLOCK_MONOTONIC; `UINT64_MAX` waits without a limit. Returns `AGW_TIMEOUT` if the deadline passes first. A wait for no
/// points succeeds at once.
///
/// A point whose work was lost counts as signalled. Call `agw_ctx_check` or `agw_queue_check` to detect lost work.
///
/// # Safety
///
/// `points` is null or `count` points, whose sync objects were not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sync_wait(points: *const agw_sync_point, count: u32, flags: u32, deadline_ns: u64) -> i32 {
    entry(|| {
        // SAFETY: the caller promises that `points` has the stated length, and that it and the objects in it stay as they are until this
        // call returns, in which all references to them end.
        let points = unsafe { array(points, count, "points") }?;
        // SAFETY: the caller promises that `point.sync` is null, which is answered, or a sync object that nothing frees before this call
        // returns. The reference ends with the call, and until then the object is changed through its own cells only.
        let points = points.iter().map(|point| Ok((unsafe { named(point.sync, "points") }?.syncobj(), point.point)));
        let points: SmallVec<[_; INLINE_CAPACITY]> = points.collect::<Answer<_>>()?;
        let condition = if flags & AGW_WAIT_ANY != 0 { WaitFor::Any } else { WaitFor::All };
        match Syncobj::wait_points(&points, condition, until(flags)?, Deadline::at(deadline_ns))? {
            Some(_) => Ok(()),
            None => Err(Failure::outcome(AGW_TIMEOUT)),
        }
    })
}

/// Destroys a sync object. Waits in progress and exported descriptors keep its fence.
///
/// # Safety
///
/// `sync` is null or a sync object that was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sync_destroy(sync: *mut agw_sync) {
    // SAFETY: the caller promises that `sync` is null, which is ignored, or an object whose reference it gives up: it does not use it again.
    unsafe { within(|| release(sync, "sync")) };
}
