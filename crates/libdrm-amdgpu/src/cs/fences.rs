//! Waiting for submissions, and their fences as handles.

use std::ffi::c_int;

use amdgpu_winsys::uapi::{Answered as _, CsFence as KernelFence, FenceToHandle, WaitCs, WaitFences};
use smallvec::SmallVec;

use super::fence::CsFence;
use crate::{
    border::{Array, Failure, Handle, In, Out, entry},
    deadline::deadline,
    device::Device,
};

/// The flag of a time-out that is absolute.
const IS_ABSOLUTE: u64 = 1;

/// Waits for a submission. A time-out is a success with an `expired` of 0.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_query_fence_status(fence: In<CsFence>, timeout: u64, flags: u64, expired: Out<u32>) -> c_int {
    entry(|| {
        let fence = fence.read()?;
        expired.check()?;
        let context = fence.checked()?;
        // The number of a submission without IBs.
        if fence.fence == 0 {
            expired.put(1);
            return Ok(());
        }
        expired.put(0);
        let timeout = if flags & IS_ABSOLUTE == 0 { deadline(timeout)? } else { timeout };
        let mut argument = WaitCs {
            handle: fence.fence,
            timeout,
            ip_type: fence.ip_type,
            ip_instance: fence.ip_instance,
            ring: fence.ring,
            ctx_id: context.id(),
        };
        context.device().kernel()?.plain(&mut argument)?;
        if argument.answer().status == 0 {
            expired.put(1);
        }
        Ok(())
    })
}

/// Waits for all or one of several submissions.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_wait_fences(
    fences: Array<CsFence>,
    count: u32,
    waits_for_all: u8,
    timeout: u64,
    status: Out<u32>,
    first: Out<u32>,
) -> c_int {
    entry(|| {
        let items = fences.of(count as usize)?;
        status.check()?;
        if count == 0 {
            return Err(Failure::INVALID);
        }
        let mut known = SmallVec::<[KernelFence; 8]>::new();
        known.try_reserve(count as usize).map_err(|_| Failure::NO_MEMORY)?;
        let mut device = None;
        for fence in items.iter() {
            let context = fence.checked()?;
            device = device.or(Some(context.device()));
            known.push(fence.of_kernel(context));
        }
        let device = device.ok_or(Failure::INVALID)?;
        status.put(0);
        let mut argument = WaitFences {
            fences: known.as_ptr().expose_provenance() as u64,
            fence_count: count,
            wait_all: u32::from(waits_for_all != 0),
            timeout_ns: deadline(timeout)?,
        };
        // SAFETY: the address is that of `known`, which has as many fences as the number says.
        unsafe { device.kernel()?.follow(&mut argument) }?;
        let answer = argument.answer();
        status.put(answer.status);
        first.put(answer.first_signaled);
        Ok(())
    })
}

/// Makes a sync object, the descriptor of one, or a sync file of a fence. Descriptors are the caller's.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_fence_to_handle(
    device: Handle<Device>,
    fence: In<CsFence>,
    what: u32,
    place: Out<u32>,
) -> c_int {
    entry(|| {
        let device = device.get()?;
        let fence = fence.read()?;
        place.check()?;
        let fence = fence.of_kernel(fence.context.get()?);
        let mut argument = FenceToHandle { fence, what, pad: 0 };
        device.kernel()?.plain(&mut argument)?;
        place.put(argument.answer().handle);
        Ok(())
    })
}
