//! The C ABI of `amdgpu-pool`: the functions of `include/amdgpu_pool.h`, which describes them.

mod layout;
mod pool;

use std::{
    ffi::{CStr, c_char, c_int},
    path::Path,
};

use amdgpu_pool::{LookError, Options, Root, look};

pub use self::{
    layout::{CFit, CGpu, CHeap, CLimit, Sized32},
    pool::{Pool, UNKNOWN},
};

/// The call succeeded.
pub const OK: c_int = 0;
/// There is no GPU of the driver amdgpu.
pub const NO_GPU: c_int = 1;
/// sysfs may not be read.
pub const NOT_READABLE: c_int = 2;
/// An argument is null, not UTF-8, has an unknown flag, or a structure of size 0.
pub const BAD_ARGUMENT: c_int = 3;
/// There is no such GPU, heap, limit or line.
pub const OUT_OF_RANGE: c_int = 4;
/// Flag: open GPUs that are asleep.
pub const WAKE: u32 = 1;
/// Flag: do not read processes.
pub const NO_PROCESSES: u32 = 2;

/// Writes a structure over the caller's, as much of it as the caller has.
///
/// # Safety
///
/// `out` is null, or points to as many writable bytes as its first field says.
#[expect(unsafe_code, reason = "the caller's structure may be shorter than ours")]
unsafe fn write<T: Sized32>(out: *mut T, value: &T) -> c_int {
    if out.is_null() {
        return BAD_ARGUMENT;
    }
    // SAFETY: the first field is the size, which the caller has set.
    let size = unsafe { out.cast::<u32>().read_unaligned() };
    let bytes = (size as usize).min(size_of::<T>());
    if bytes <= size_of::<u32>() {
        return BAD_ARGUMENT;
    }
    let skipped = size_of::<u32>();
    let (from, to) =
        (std::ptr::from_ref(value).cast::<u8>().wrapping_add(skipped), out.cast::<u8>().wrapping_add(skipped));
    // SAFETY: both have `bytes` bytes, of which the first `skipped` are passed over, so that the caller's size stays as it is; they
    // do not overlap, because one is ours.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes - skipped) };
    OK
}

/// Looks at the computer.
///
/// # Safety
///
/// `root` is null or a C string; `pool` is null or writable; `message` is null or has `message_size` writable bytes.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "pointers of C")]
pub unsafe extern "C" fn amdgpu_pool_look(
    root: *const c_char,
    flags: u32,
    pool: *mut *mut Pool,
    message: *mut c_char,
    message_size: usize,
) -> c_int {
    let failed = |result: c_int, reason: &str| {
        if !message.is_null() && message_size > 0 {
            let bytes = reason.len().min(message_size - 1);
            // SAFETY: the caller's buffer has `message_size` bytes, of which at most all are written.
            unsafe { std::ptr::copy_nonoverlapping(reason.as_ptr().cast(), message, bytes) };
            // SAFETY: `bytes` is below the size.
            unsafe { message.wrapping_add(bytes).write(0) };
        }
        result
    };
    if pool.is_null() {
        return failed(BAD_ARGUMENT, "pool is null");
    }
    if flags & !(WAKE | NO_PROCESSES) != 0 {
        return failed(BAD_ARGUMENT, "flags has a bit that is unknown");
    }
    let machine = if root.is_null() {
        Root::live()
    } else {
        // SAFETY: a root that is not null is a C string.
        match unsafe { CStr::from_ptr(root) }.to_str() {
            Ok(root) => Root::at(Path::new(root)),
            Err(_) => return failed(BAD_ARGUMENT, "root is not UTF-8"),
        }
    };
    let options = Options { wake: flags & WAKE != 0, processes: flags & NO_PROCESSES == 0, ..Options::default() };
    match look(&machine, &options) {
        Ok(report) => {
            // SAFETY: it is not null, and the caller promises that it is writable.
            unsafe { pool.write(Box::into_raw(Box::new(Pool::new(report)))) };
            OK
        }
        Err(error @ LookError::NoGpu(_)) => failed(NO_GPU, &error.to_string()),
        Err(error @ LookError::NotReadable(_)) => failed(NOT_READABLE, &error.to_string()),
    }
}

/// Frees a pool.
///
/// # Safety
///
/// `pool` is null, or came from [`amdgpu_pool_look`] and is not used afterwards.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "pointers of C")]
pub unsafe extern "C" fn amdgpu_pool_free(pool: *mut Pool) {
    if !pool.is_null() {
        // SAFETY: it came from a box, and nobody else frees it.
        drop(unsafe { Box::from_raw(pool) });
    }
}

/// Returns the number of GPUs.
///
/// # Safety
///
/// `pool` is null, or came from [`amdgpu_pool_look`] and was not freed.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "pointers of C")]
pub unsafe extern "C" fn amdgpu_pool_count(pool: *const Pool) -> usize {
    // SAFETY: a pool that is not null is alive.
    unsafe { pool.as_ref() }.map_or(0, Pool::count)
}

/// Writes a GPU.
///
/// # Safety
///
/// `pool` is null or alive; `out` is null or has as many bytes as its `struct_size` says.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "pointers of C")]
pub unsafe extern "C" fn amdgpu_pool_gpu(pool: *const Pool, gpu: usize, out: *mut CGpu) -> c_int {
    // SAFETY: a pool that is not null is alive.
    let Some(pool) = (unsafe { pool.as_ref() }) else { return BAD_ARGUMENT };
    let Some(found) = pool.gpu(gpu) else { return OUT_OF_RANGE };
    // SAFETY: the caller's promise about `out` is the same.
    unsafe { write(out, &found) }
}

/// Writes a heap.
///
/// # Safety
///
/// As for [`amdgpu_pool_gpu`].
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "pointers of C")]
pub unsafe extern "C" fn amdgpu_pool_heap(pool: *const Pool, gpu: usize, heap: usize, out: *mut CHeap) -> c_int {
    // SAFETY: a pool that is not null is alive.
    let Some(pool) = (unsafe { pool.as_ref() }) else { return BAD_ARGUMENT };
    let Some(found) = pool.heap(gpu, heap) else { return OUT_OF_RANGE };
    // SAFETY: the caller's promise about `out` is the same.
    unsafe { write(out, &found) }
}

/// Writes a limit.
///
/// # Safety
///
/// As for [`amdgpu_pool_gpu`].
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "pointers of C")]
pub unsafe extern "C" fn amdgpu_pool_limit(pool: *const Pool, gpu: usize, limit: usize, out: *mut CLimit) -> c_int {
    // SAFETY: a pool that is not null is alive.
    let Some(pool) = (unsafe { pool.as_ref() }) else { return BAD_ARGUMENT };
    let Some(found) = pool.limit(gpu, limit) else { return OUT_OF_RANGE };
    // SAFETY: the caller's promise about `out` is the same.
    unsafe { write(out, &found) }
}

/// Writes the texts of what could not be read or contradicts itself.
///
/// # Safety
///
/// `pool` is null or alive; `source` and `reason` are null or writable.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "pointers of C")]
pub unsafe extern "C" fn amdgpu_pool_missing(
    pool: *const Pool,
    gpu: usize,
    line: usize,
    source: *mut *const c_char,
    reason: *mut *const c_char,
) -> c_int {
    // SAFETY: a pool that is not null is alive.
    let Some(pool) = (unsafe { pool.as_ref() }) else { return BAD_ARGUMENT };
    if source.is_null() || reason.is_null() {
        return BAD_ARGUMENT;
    }
    let Some((from, why)) = pool.missing(gpu, line) else { return OUT_OF_RANGE };
    // SAFETY: it is not null, and the caller promises that it is writable.
    unsafe { source.write(from) };
    // SAFETY: as above.
    unsafe { reason.write(why) };
    OK
}

/// Writes whether bytes fit.
///
/// # Safety
///
/// As for [`amdgpu_pool_gpu`].
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "pointers of C")]
pub unsafe extern "C" fn amdgpu_pool_fits(pool: *const Pool, gpu: usize, bytes: u64, out: *mut CFit) -> c_int {
    // SAFETY: a pool that is not null is alive.
    let Some(pool) = (unsafe { pool.as_ref() }) else { return BAD_ARGUMENT };
    let Some(found) = pool.fits(gpu, bytes) else { return OUT_OF_RANGE };
    // SAFETY: the caller's promise about `out` is the same.
    unsafe { write(out, &found) }
}
