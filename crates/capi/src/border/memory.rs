//! Arguments that are addresses.

use std::{
    ffi::{CStr, c_char},
    slice,
};

use super::failure::{Answer, Failure};

/// Checks an out-parameter, before anything is done that would have to be undone.
pub(crate) fn out<T>(place: *mut T, name: &str) -> Answer {
    if place.is_null() { Err(Failure::argument(name, "is null")) } else { Ok(()) }
}

/// Writes an out-parameter.
///
/// # Safety
///
/// `place` was checked by [`out`], and is valid for writing a `T`.
pub(crate) unsafe fn put<T>(place: *mut T, value: T) {
    // SAFETY: the caller's promise.
    unsafe { place.write(value) };
}

/// Borrows an array. None is empty, whatever its address.
///
/// # Safety
///
/// `start` is null or valid for reading `len` values of `T` for as long as the result is used.
pub(crate) unsafe fn array<'a, T>(start: *const T, len: u32, name: &str) -> Answer<&'a [T]> {
    match (start.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Failure::argument(name, "is null")),
        // SAFETY: the caller's promise; a `u32` of values is less than half of the address space.
        (false, len) => Ok(unsafe { slice::from_raw_parts(start, amdgpu_hw::num::index(len)) }),
    }
}

/// Borrows an array for writing. None is empty, whatever its address.
///
/// # Safety
///
/// `start` is null, or valid for reading and writing `len` values of `T` that nothing else uses for as long as the result is.
pub(crate) unsafe fn array_mut<'a, T>(start: *mut T, len: u32, name: &str) -> Answer<&'a mut [T]> {
    match (start.is_null(), len) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(Failure::argument(name, "is null")),
        // SAFETY: the caller's promise; a `u32` of values is less than half of the address space.
        (false, len) => Ok(unsafe { slice::from_raw_parts_mut(start, amdgpu_hw::num::index(len)) }),
    }
}

/// Borrows a text.
///
/// # Safety
///
/// `start` is null or a text that ends with a zero, for as long as the result is used.
pub(crate) unsafe fn text<'a>(start: *const c_char, name: &str) -> Answer<&'a str> {
    if start.is_null() {
        return Err(Failure::argument(name, "is null"));
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(start) };
    text.to_str().map_err(|_| Failure::argument(name, "is not UTF-8"))
}
