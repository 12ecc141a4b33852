//! The exported functions that make, free and await BOs.

use std::ffi::{c_int, c_void};

use amdgpu_winsys::uapi::{Answered as _, GemClose, GemCreate, GemUserptr, GemWaitIdle, UserptrFlags};

use super::Bo;
use crate::{
    border::{Answer, CValue, Handle, In, Out, complain, entry, value},
    deadline::deadline,
    device::{Count, Device, Entries},
};

/// The structure `amdgpu_bo_alloc_request` of the header.
#[repr(C)]
#[derive(Clone, Copy)]
struct AllocRequest {
    alloc_size: u64,
    phys_alignment: u64,
    preferred_heap: u32,
    flags: u64,
}

const _: () = assert!(size_of::<AllocRequest>() == 32);

// SAFETY: integers.
unsafe impl CValue for AllocRequest {}

/// Makes the record of a handle that has none, or closes the handle.
pub(super) fn record(device: Handle<Device>, entries: &mut Entries, size: u64, handle: u32) -> Answer<Handle<Bo>> {
    let count = Count::of(device)?;
    if let Err(failure) = entries.reserve(handle) {
        if let Ok(kernel) = count.kernel() {
            let _ = kernel.plain(&mut GemClose { handle, pad: 0 });
        }
        return Err(failure);
    }
    if let Some(faults) = &count.faults {
        faults.opened(handle, size);
    }
    let record = Handle::new(Box::into_raw(Box::new(Bo::new(count, size, handle))));
    entries.enter(handle, record.cast());
    Ok(record)
}

/// Makes the record of a BO that this call made.
fn hand_out(device: Handle<Device>, size: u64, handle: u32, place: Out<*mut Bo>) -> Answer {
    let mut entries = device.get()?.table.lock();
    place.put(record(device, &mut entries, size, handle)?.pointer());
    Ok(())
}

/// Allocates a BO. The kernel judges the request.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_bo_alloc(device: Handle<Device>, request: In<AllocRequest>, place: Out<*mut Bo>) -> c_int {
    entry(|| {
        let kernel = device.get()?.kernel()?;
        let request = request.read()?;
        place.check()?;
        let mut argument = GemCreate {
            bo_size: request.alloc_size,
            alignment: request.phys_alignment,
            domains: request.preferred_heap.into(),
            domain_flags: request.flags,
        };
        kernel.plain(&mut argument)?;
        hand_out(device, request.alloc_size, argument.answer().handle, place)
    })
}

/// Makes a BO of pages of the process.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_create_bo_from_user_mem(
    device: Handle<Device>,
    address: *mut c_void,
    size: u64,
    place: Out<*mut Bo>,
) -> c_int {
    entry(|| {
        let kernel = device.get()?.kernel()?;
        place.check()?;
        let flags = UserptrFlags::ANONONLY | UserptrFlags::VALIDATE | UserptrFlags::REGISTER;
        let mut argument =
            GemUserptr { addr: address.expose_provenance() as u64, size, flags: flags.bits(), handle: 0 };
        // SAFETY: the pages are the client's, which lends them to the GPU until it frees the BO.
        unsafe { kernel.follow(&mut argument) }?;
        hand_out(device, size, argument.handle, place)
    })
}

/// Takes a reference back. The last one ends the CPU mapping and closes the handle; mappings of the GPU end with it.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_bo_free(record: Handle<Bo>) -> c_int {
    entry(|| {
        let bo = record.get()?;
        let mut entries = bo.device().table.lock();
        if !bo.unreference() {
            return Ok(());
        }
        entries.remove(bo.handle(), bo.name(), record.cast());
        bo.close();
        // The lock is in the device, which lives until its record is gone.
        drop(entries);
        // SAFETY: made by `Box::into_raw` in `record`; the last reference is gone, and no table leads to it.
        drop(unsafe { Box::from_raw(record.pointer()) });
        Ok(())
    })
}

/// Counts a BO up.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_bo_inc_ref(bo: Handle<Bo>) {
    value((), || {
        if let Ok(bo) = bo.get() {
            bo.reference();
        }
    });
}

/// Waits until a BO is idle.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_bo_wait_for_idle(bo: Handle<Bo>, timeout: u64, is_busy: Out<u8>) -> c_int {
    entry(|| {
        let bo = bo.get()?;
        is_busy.check()?;
        let mut argument = GemWaitIdle { handle: bo.handle(), flags: 0, timeout: deadline(timeout)? };
        bo.device().kernel()?.plain(&mut argument).inspect_err(|errno| {
            complain(format_args!("amdgpu: GEM_WAIT_IDLE failed with {}", -errno.raw()));
        })?;
        is_busy.put(u8::from(argument.answer().status != 0));
        Ok(())
    })
}
