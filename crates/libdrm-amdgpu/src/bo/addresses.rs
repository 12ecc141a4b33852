//! Mappings of BOs for the GPU.

use std::ffi::c_int;

use amdgpu_winsys::uapi::{GemVaTimeline, VaFlags, VaOperation};

use super::Bo;
use crate::{
    border::{Answer, Array, Failure, Handle, entry},
    device::Device,
};

/// The words of a mapping that user queues need.
#[derive(Clone, Copy, Default)]
struct Timeline {
    syncobj: u32,
    point: u64,
    inputs: u64,
    count: u32,
}

/// Makes the request.
fn change(device: &Device, handle: u32, numbers: [u64; 4], ops: u32, timeline: Timeline) -> Answer {
    let [offset_in_bo, map_size, va_address, flags] = numbers;
    if !(VaOperation::Map as u32..=VaOperation::Replace as u32).contains(&ops) {
        return Err(Failure::INVALID);
    }
    let mut argument = GemVaTimeline {
        handle,
        pad: 0,
        operation: ops,
        flags: flags as u32,
        va_address,
        offset_in_bo,
        map_size,
        vm_timeline_point: timeline.point,
        vm_timeline_syncobj_out: timeline.syncobj,
        num_syncobj_handles: timeline.count,
        input_fence_syncobj_handles: timeline.inputs,
    };
    // SAFETY: the only address is that of the client's array of handles, with its length.
    unsafe { device.kernel()?.follow(&mut argument) }?;
    if let Some(faults) = &device.faults {
        faults.changed(handle, offset_in_bo, va_address, map_size, ops);
    }
    Ok(())
}

/// Maps or unmaps a BO with all access. The size is rounded up to the page of the CPU, and the flags are ignored.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_bo_va_op(bo: Handle<Bo>, offset: u64, size: u64, address: u64, _flags: u64, ops: u32) -> c_int {
    entry(|| {
        let bo = bo.get()?;
        let mask = page_size() - 1;
        let size = size.wrapping_add(mask) & !mask;
        let flags = VaFlags::READABLE | VaFlags::WRITEABLE | VaFlags::EXECUTABLE;
        change(bo.device(), bo.handle(), [offset, size, address, flags.bits().into()], ops, Timeline::default())
    })
}

/// Returns the page size of the CPU.
fn page_size() -> u64 {
    // SAFETY: a question about a constant of the system.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// Makes a request to map or unmap with everything as given.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_bo_va_op_raw(
    device: Handle<Device>,
    bo: Handle<Bo>,
    offset: u64,
    size: u64,
    address: u64,
    flags: u64,
    ops: u32,
) -> c_int {
    entry(|| {
        let handle = bo.get().map_or(0, Bo::handle);
        change(device.get()?, handle, [offset, size, address, flags], ops, Timeline::default())
    })
}

/// Like `amdgpu_bo_va_op_raw`, with sync objects to wait for, and a point of a timeline to signal.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_bo_va_op_raw2(
    device: Handle<Device>,
    bo: Handle<Bo>,
    offset: u64,
    size: u64,
    address: u64,
    flags: u64,
    ops: u32,
    syncobj: u32,
    point: u64,
    inputs: Array<u32>,
    count: u32,
) -> c_int {
    entry(|| {
        let handle = bo.get().map_or(0, Bo::handle);
        let timeline = Timeline { syncobj, point, inputs: inputs.address(), count };
        change(device.get()?, handle, [offset, size, address, flags], ops, timeline)
    })
}
