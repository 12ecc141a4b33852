//! Sync objects.

use std::ffi::{c_int, c_uint};

use amdgpu_winsys::uapi::{
    Argument as _, Request, SYNCOBJ_FD_TO_HANDLE, SYNCOBJ_SIGNAL, SYNCOBJ_TIMELINE_SIGNAL, SyncobjArray, SyncobjCreate,
    SyncobjDestroy, SyncobjHandle, SyncobjTimelineArray, SyncobjTimelineWait, SyncobjTransfer, SyncobjWait,
};

use crate::{
    border::{Answer, Array, Handle, Out, Plainly as _, entry},
    device::Device,
    kernel::Lent,
};

/// Creates a sync object and returns its handle.
pub(super) fn create(kernel: &Lent<'_>, flags: u32) -> Answer<u32> {
    let mut argument = SyncobjCreate { handle: 0, flags };
    kernel.plain(&mut argument).plainly()?;
    Ok(argument.handle)
}

/// Destroys a handle.
pub(super) fn destroy(kernel: &Lent<'_>, handle: u32) -> Answer {
    kernel.plain(&mut SyncobjDestroy { handle, pad: 0 }).plainly()
}

/// Copies the fence of a point to another point.
pub(super) fn transfer(
    kernel: &Lent<'_>,
    (dst_handle, dst_point): (u32, u64),
    (src_handle, src_point): (u32, u64),
    flags: u32,
) -> Answer {
    kernel.plain(&mut SyncobjTransfer { src_handle, dst_handle, src_point, dst_point, flags, pad: 0 }).plainly()
}

/// Makes a sync object a descriptor, which is the caller's.
pub(super) fn to_fd(kernel: &Lent<'_>, handle: u32, flags: u32) -> Answer<c_int> {
    let mut argument = SyncobjHandle { handle, flags, fd: -1, pad: 0 };
    kernel.plain(&mut argument).plainly()?;
    Ok(argument.fd)
}

/// Makes a descriptor a handle, or puts the fence of a sync file into the sync object of a handle.
pub(super) fn of_fd(kernel: &Lent<'_>, handle: u32, flags: u32, fd: c_int) -> Answer<u32> {
    let mut argument = SyncobjHandle { handle, flags, fd, pad: 0 };
    kernel.plain_as("SYNCOBJ_FD_TO_HANDLE", SYNCOBJ_FD_TO_HANDLE, &mut argument).plainly()?;
    Ok(argument.handle)
}

/// Creates a sync object.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_create_syncobj(device: Handle<Device>, place: Out<u32>) -> c_int {
    entry(|| hand_out(device, 0, place))
}

/// Creates a sync object; with flag 1 one that is signalled.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_create_syncobj2(device: Handle<Device>, flags: u32, place: Out<u32>) -> c_int {
    entry(|| hand_out(device, flags, place))
}

fn hand_out(device: Handle<Device>, flags: u32, place: Out<u32>) -> Answer {
    let kernel = device.get()?.kernel()?;
    place.check()?;
    place.put(create(&kernel, flags)?);
    Ok(())
}

/// Destroys a sync object.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_destroy_syncobj(device: Handle<Device>, handle: u32) -> c_int {
    entry(|| destroy(&device.get()?.kernel()?, handle))
}

/// Makes a request about an array of sync objects.
fn change(device: Handle<Device>, name: &'static str, request: Request, handles: Array<u32>, count: u32) -> Answer {
    let mut argument = SyncobjArray { handles: handles.address(), count_handles: count, pad: 0 };
    // SAFETY: the address is that of the client's array, with its length.
    unsafe { device.get()?.kernel()?.follow_as(name, request, &mut argument) }.plainly()
}

/// Removes the fences of sync objects.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_syncobj_reset(device: Handle<Device>, handles: Array<u32>, count: u32) -> c_int {
    entry(|| change(device, SyncobjArray::NAME, SyncobjArray::REQUEST, handles, count))
}

/// Signals sync objects.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_syncobj_signal(device: Handle<Device>, handles: Array<u32>, count: u32) -> c_int {
    entry(|| change(device, "SYNCOBJ_SIGNAL", SYNCOBJ_SIGNAL, handles, count))
}

/// Makes a request about points of an array of sync objects.
fn points(
    device: Handle<Device>,
    (name, request): (&'static str, Request),
    (handles, points, count): (Array<u32>, Array<u64>, u32),
    flags: u32,
) -> Answer {
    let mut argument =
        SyncobjTimelineArray { handles: handles.address(), points: points.address(), count_handles: count, flags };
    // SAFETY: the addresses are those of the client's arrays, with their length.
    unsafe { device.get()?.kernel()?.follow_as(name, request, &mut argument) }.plainly()
}

/// Signals points of timelines.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_syncobj_timeline_signal(
    device: Handle<Device>,
    handles: Array<u32>,
    values: Array<u64>,
    count: u32,
) -> c_int {
    entry(|| points(device, ("SYNCOBJ_TIMELINE_SIGNAL", SYNCOBJ_TIMELINE_SIGNAL), (handles, values, count), 0))
}

const QUERY: (&str, Request) = (SyncobjTimelineArray::NAME, SyncobjTimelineArray::REQUEST);

/// Returns the points that timelines have reached.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_syncobj_query(
    device: Handle<Device>,
    handles: Array<u32>,
    values: Array<u64>,
    count: c_uint,
) -> c_int {
    entry(|| points(device, QUERY, (handles, values, count), 0))
}

/// Returns points of timelines; with flag 1 the newest that were submitted.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_syncobj_query2(
    device: Handle<Device>,
    handles: Array<u32>,
    values: Array<u64>,
    count: c_uint,
    flags: u32,
) -> c_int {
    entry(|| points(device, QUERY, (handles, values, count), flags))
}

/// Waits for binary sync objects.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_syncobj_wait(
    device: Handle<Device>,
    handles: Array<u32>,
    count: c_uint,
    timeout: i64,
    flags: c_uint,
    first: Out<u32>,
) -> c_int {
    entry(|| {
        let kernel = device.get()?.kernel()?;
        let mut argument = SyncobjWait {
            handles: handles.address(),
            timeout_nsec: timeout,
            count_handles: count,
            flags,
            ..SyncobjWait::ZEROED
        };
        // SAFETY: the address is that of the client's array, with its length.
        unsafe { kernel.follow(&mut argument) }?;
        first.put(argument.first_signaled);
        Ok(())
    })
}

/// Waits for points of timelines.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_syncobj_timeline_wait(
    device: Handle<Device>,
    handles: Array<u32>,
    values: Array<u64>,
    count: c_uint,
    timeout: i64,
    flags: c_uint,
    first: Out<u32>,
) -> c_int {
    entry(|| {
        let kernel = device.get()?.kernel()?;
        let mut argument = SyncobjTimelineWait {
            handles: handles.address(),
            points: values.address(),
            timeout_nsec: timeout,
            count_handles: count,
            flags,
            ..SyncobjTimelineWait::ZEROED
        };
        // SAFETY: the addresses are those of the client's arrays, with their length.
        unsafe { kernel.follow(&mut argument) }?;
        first.put(argument.first_signaled);
        Ok(())
    })
}

/// Makes a sync object a descriptor.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_export_syncobj(device: Handle<Device>, handle: u32, fd: Out<c_int>) -> c_int {
    entry(|| {
        let kernel = device.get()?.kernel()?;
        fd.check()?;
        fd.put(to_fd(&kernel, handle, 0)?);
        Ok(())
    })
}

/// Makes a descriptor of a sync object a handle. The descriptor stays the caller's.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_import_syncobj(device: Handle<Device>, fd: c_int, handle: Out<u32>) -> c_int {
    entry(|| {
        let kernel = device.get()?.kernel()?;
        handle.check()?;
        handle.put(of_fd(&kernel, 0, 0, fd)?);
        Ok(())
    })
}

/// Copies the fence of a point of a sync object to a point of another one.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_syncobj_transfer(
    device: Handle<Device>,
    to: u32,
    to_point: u64,
    from: u32,
    from_point: u64,
    flags: u32,
) -> c_int {
    entry(|| transfer(&device.get()?.kernel()?, (to, to_point), (from, from_point), flags))
}
