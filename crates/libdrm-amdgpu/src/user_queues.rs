//! User queues.

use std::ffi::{c_int, c_void};

use amdgpu_winsys::uapi::{Userq, UserqSignal, UserqWait, userq_op};

use crate::{
    border::{Array, Failure, Handle, Out, entry},
    device::Device,
};

/// The IPs that have user queues: graphics, compute and the copy engine.
mod ip {
    pub(super) const GFX: u32 = 0;
    pub(super) const COMPUTE: u32 = 1;
    pub(super) const SDMA: u32 = 2;
}

/// Creates a queue. The ID is written even if the kernel refuses; then it is the number of the operation, as in libdrm.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_create_userqueue(
    device: Handle<Device>,
    ip_type: u32,
    doorbell_handle: u32,
    doorbell_offset: u32,
    queue_va: u64,
    queue_size: u64,
    wptr_va: u64,
    rptr_va: u64,
    mqd: *mut c_void,
    flags: u32,
    queue_id: Out<u32>,
) -> c_int {
    entry(|| {
        let device = device.get()?;
        let mqd_size = match ip_type {
            ip::GFX => 16,
            ip::COMPUTE | ip::SDMA => 8,
            _ => return Err(Failure::INVALID),
        };
        queue_id.check()?;
        let mut argument = Userq {
            op: userq_op::CREATE,
            queue_id: 0,
            ip_type,
            doorbell_handle,
            doorbell_offset,
            flags,
            queue_va,
            queue_size,
            rptr_va,
            wptr_va,
            mqd: mqd.expose_provenance() as u64,
            mqd_size,
        };
        // SAFETY: the address is that of the client's parameters for the engine.
        let created = unsafe { device.kernel()?.follow(&mut argument) };
        // The answer begins where the operation was.
        queue_id.put(argument.op);
        Ok(created?)
    })
}

/// Frees a queue.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_free_userqueue(device: Handle<Device>, queue_id: u32) -> c_int {
    entry(|| {
        let mut argument = Userq { op: userq_op::FREE, queue_id, ..Userq::ZEROED };
        // SAFETY: there is no address.
        Ok(unsafe { device.get()?.kernel()?.follow(&mut argument) }?)
    })
}

/// Makes a fence of all work of a queue.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_userq_signal(device: Handle<Device>, place: Array<UserqSignal>) -> c_int {
    entry(|| {
        let kernel = device.get()?.kernel()?;
        let place = place.of(1)?;
        let mut argument = place.iter().next().ok_or(Failure::INVALID)?;
        // SAFETY: the addresses are those of the client's arrays.
        let outcome = unsafe { kernel.follow(&mut argument) };
        place.put(0, argument);
        Ok(outcome?)
    })
}

/// Converts fences to addresses and values that a queue can wait for.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_userq_wait(device: Handle<Device>, place: Array<UserqWait>) -> c_int {
    entry(|| {
        let kernel = device.get()?.kernel()?;
        let place = place.of(1)?;
        let mut argument = place.iter().next().ok_or(Failure::INVALID)?;
        // SAFETY: the addresses are those of the client's arrays.
        let outcome = unsafe { kernel.follow(&mut argument) };
        place.put(0, argument);
        Ok(outcome?)
    })
}
