//! CPU access to a BO: mappings, metadata and waits.

use std::{
    ffi::{c_char, c_void},
    ptr::{self, NonNull},
    sync::atomic::Ordering::{Acquire, Release},
};

use amdgpu_hw::num::{count, index};
use amdgpu_winsys::{uapi::Deadline, winsys::BoMetadata};

use super::bo::{agw_bo, body};
use crate::border::{
    AGW_ERROR_IN_USE, AGW_ERROR_MEMORY_MAP_FAILED, AGW_TIMEOUT, Answer, Failure, Out, Versioned, entry, read, text,
    write,
};

/// Maximum number of bytes of driver-specific metadata of a BO.
pub const AGW_METADATA_BYTES: usize = 256;

/// The metadata of a BO, which importers can read.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_bo_metadata {
    /// `sizeof(struct agw_bo_metadata)`.
    pub struct_size: u32,
    /// Reserved, zero.
    pub reserved: u32,
    /// Tiling word, `AMDGPU_TILING_*`.
    pub tiling: u64,
    /// Flags that the kernel does not interpret.
    pub flags: u64,
    /// Number of valid bytes in `data`.
    pub size: u32,
    /// Reserved, zero.
    pub pad: u32,
    /// Driver-specific metadata.
    pub data: [u8; 256],
}

// SAFETY: all fields are integers, and the first two are the size and zero.
unsafe impl Versioned for agw_bo_metadata {
    const NAME: &'static str = "struct agw_bo_metadata";

    fn unused(&self) -> u32 {
        self.reserved | self.pad
    }
}

/// Maps the whole BO for the CPU. A BO has one mapping, which later calls return again. No other call may map or unmap the BO
/// at the same time.
///
/// # Safety
///
/// `bo` is null or a BO that was not freed; `pointer` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_bo_map(bo: *const agw_bo, pointer: *mut *mut c_void) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { body(bo) }?;
        // SAFETY: the caller's promise.
        let pointer = unsafe { Out::new(pointer, "pointer") }?;
        let mut start = body.mapped.load(Acquire);
        if start.is_null() {
            start = body.binding.bo().map_bare().map_err(not_mapped)?.as_ptr();
            body.mapped.store(start, Release);
        }
        pointer.put(start.cast());
        Ok(())
    })
}

#[cold]
fn not_mapped(error: impl Into<amdgpu_winsys::winsys::Error>) -> Failure {
    let error = error.into();
    let is_lost = error.loss().is_some();
    let failure = Failure::from(error);
    if is_lost { failure } else { failure.with_code(AGW_ERROR_MEMORY_MAP_FAILED) }
}

/// Maps the whole BO at an address, replacing any mapping there. Returns `AGW_ERROR_IN_USE` if the BO is already mapped. No
/// other call may map or unmap the BO at the same time.
///
/// # Safety
///
/// `bo` is null or a BO that was not freed. The range from `address` on, with the size of the BO rounded up to pages, belongs
/// to the caller, and nothing else uses it until the BO is unmapped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_bo_map_at(bo: *const agw_bo, address: *mut c_void) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { body(bo) }?;
        let Some(at) = NonNull::new(address.cast::<u8>()) else {
            return Err(Failure::argument("address", "is null"));
        };
        if !body.mapped.load(Acquire).is_null() {
            return Err(Failure::new(AGW_ERROR_IN_USE, "the BO is mapped already"));
        }
        // SAFETY: the caller's promise.
        let start = unsafe { body.binding.bo().map_bare_at(at) }.map_err(not_mapped)?;
        body.mapped.store(start.as_ptr(), Release);
        Ok(())
    })
}

/// Unmaps a BO from the CPU. With `keep_addresses`, the addresses stay reserved and belong to the caller. Does nothing if the
/// BO is not mapped. No other call may map or unmap the BO at the same time.
///
/// # Safety
///
/// `bo` is null or a BO that was not freed; nothing uses its mapping any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_bo_unmap(bo: *const agw_bo, keep_addresses: bool) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { body(bo) }?;
        let Some(start) = NonNull::new(body.mapped.load(Acquire)) else { return Ok(()) };
        body.mapped.store(ptr::null_mut(), Release);
        let bo = body.binding.bo();
        if !keep_addresses {
            // SAFETY: mapped by a call on this BO and taken here; the caller's promise is that nothing uses it.
            unsafe { bo.unmap_bare(start) };
            return Ok(());
        }
        // SAFETY: as above.
        unsafe { bo.unmap_bare_reserving(start) }.map_err(|(is_mapped, error)| {
            if is_mapped {
                body.mapped.store(start.as_ptr(), Release);
            }
            not_mapped(error)
        })
    })
}

/// Sets the metadata of a BO.
///
/// # Safety
///
/// `bo` is null or a BO that was not freed; `metadata` is null or a structure of its `struct_size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_bo_set_metadata(bo: *const agw_bo, metadata: *const agw_bo_metadata) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { body(bo) }?;
        // SAFETY: the caller's promise.
        let given = unsafe { read(metadata) }?;
        let data = given.data.get(..index(given.size)).ok_or_else(|| Failure::argument("size", "is more than 256"))?;
        let metadata = BoMetadata { tiling: given.tiling, flags: given.flags, data: data.to_vec() };
        Ok(body.binding.bo().set_metadata(&metadata)?)
    })
}

/// Reads the metadata of a BO.
///
/// # Safety
///
/// `bo` is null or a BO that was not freed; `metadata` is null, or valid for writing as many bytes as its `struct_size` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_bo_get_metadata(bo: *const agw_bo, metadata: *mut agw_bo_metadata) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { body(bo) }?;
        let found = body.binding.bo().metadata()?;
        // SAFETY: the caller's promise.
        unsafe { write(metadata, as_c(&found)) }
    })
}

fn as_c(found: &BoMetadata) -> agw_bo_metadata {
    let mut data = [0; AGW_METADATA_BYTES];
    for (to, from) in data.iter_mut().zip(&found.data) {
        *to = *from;
    }
    let size = count(found.data.len().min(AGW_METADATA_BYTES));
    agw_bo_metadata { struct_size: 0, reserved: 0, tiling: found.tiling, flags: found.flags, size, pad: 0, data }
}

/// Waits until all submissions that listed the BO have completed. Returns `AGW_TIMEOUT` if the deadline, in nanoseconds of
/// CLOCK_MONOTONIC, passes first.
///
/// # Safety
///
/// `bo` is null or a BO that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_bo_wait_idle(bo: *const agw_bo, deadline_ns: u64) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { body(bo) }?;
        in_time(body.binding.bo().wait_idle(Deadline::at(deadline_ns))?)
    })
}

/// Returns the result of a wait, which is `AGW_TIMEOUT` unless `is_done`.
pub(crate) fn in_time(is_done: bool) -> Answer {
    if is_done { Ok(()) } else { Err(Failure::outcome(AGW_TIMEOUT)) }
}

/// Sets the debug name of a BO.
///
/// # Safety
///
/// `bo` is null or a BO that was not freed; `name` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_bo_set_name(bo: *const agw_bo, name: *const c_char) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { body(bo) }?;
        // SAFETY: the caller's promise.
        body.binding.bo().set_name(unsafe { text(name, "name") }?);
        Ok(())
    })
}
