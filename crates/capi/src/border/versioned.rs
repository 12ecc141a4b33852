//! Structures that grow with new versions.

use std::{mem::MaybeUninit, ptr, slice};

use amdgpu_hw::num::index;

use super::{
    checked::broken,
    failure::{Answer, Failure},
    memory::NOT_ALIGNED,
    result::AGW_ERROR_UNKNOWN_FIELDS,
};

/// Size of the first two fields, which every structure has.
const HEAD_BYTES: usize = 8;
/// Maximum size of a structure in bytes. A greater size indicates an uninitialized variable.
const MOST_BYTES: usize = 1 << 16;

/// A C structure that begins with its size.
///
/// # Safety
///
/// The type is `repr(C)` without padding, every bit pattern is a valid value, and its first two fields are `struct_size: u32`
/// and `reserved: u32`.
pub(crate) unsafe trait Versioned: Copy {
    const NAME: &'static str;
}

/// Reads a structure of any version. Fields beyond the caller's size are zero.
///
/// # Safety
///
/// `place` is null, or valid for reading a `u32`, and as many bytes as that states.
#[inline]
pub(crate) unsafe fn read<T: Versioned>(place: *const T) -> Answer<T> {
    // SAFETY: the caller's promise.
    let size = unsafe { size_of_caller(place) }?;
    if size == size_of::<T>() {
        // SAFETY: the caller's promise; it is aligned, and every bit pattern is a valid `Versioned`.
        return Ok(unsafe { place.read() });
    }
    // SAFETY: the caller's promise.
    unsafe { read_other(place, size) }
}

/// Borrows a structure of this version, or reads one of another version into `copy`. Copying a structure that the caller has
/// just stored would wait for the stores.
///
/// # Safety
///
/// The requirements of [`read`], and nothing writes to the structure while the result is used.
#[inline]
pub(crate) unsafe fn view<T: Versioned>(place: *const T, copy: &mut Option<T>) -> Answer<&T> {
    // SAFETY: the caller's promise.
    let size = unsafe { size_of_caller(place) }?;
    if size == size_of::<T>() {
        // SAFETY: the caller's promise; it is aligned, and every bit pattern is a valid `Versioned`.
        return Ok(unsafe { &*place });
    }
    // SAFETY: the caller's promise.
    Ok(copy.insert(unsafe { read_other(place, size) }?))
}

/// Reads a structure of another version, which has `size` bytes.
///
/// # Safety
///
/// `place` is valid for reading `size` bytes.
#[cold]
unsafe fn read_other<T: Versioned>(place: *const T, size: usize) -> Answer<T> {
    if size > size_of::<T>() {
        // SAFETY: the caller promises that many readable bytes.
        let all = unsafe { slice::from_raw_parts(place.cast::<u8>(), size) };
        if all.iter().skip(size_of::<T>()).any(|&byte| byte != 0) {
            let text = format!("{} has fields that this version does not know, and they are not zero", T::NAME);
            return Err(Failure::new(AGW_ERROR_UNKNOWN_FIELDS, text));
        }
    }
    let mut value = MaybeUninit::<T>::zeroed();
    let len = size.min(size_of::<T>());
    // SAFETY: both are valid for `len` bytes, and one of them is a variable of this function.
    unsafe { ptr::copy_nonoverlapping(place.cast::<u8>(), value.as_mut_ptr().cast::<u8>(), len) };
    // SAFETY: every bit pattern is a valid `Versioned`.
    Ok(unsafe { value.assume_init() })
}

/// Writes the part of a structure that fits the caller's size, and keeps that size.
///
/// # Safety
///
/// `place` is null, or valid for reading a `u32`, and for writing as many bytes as that states.
pub(crate) unsafe fn write<T: Versioned>(place: *mut T, value: T) -> Answer {
    // SAFETY: the caller's promise.
    let size = unsafe { size_of_caller(place) }?;
    // SAFETY: a variable of this function, all of whose bytes belong to integers and pointers.
    let from = unsafe { slice::from_raw_parts(ptr::from_ref(&value).cast::<u8>(), size_of::<T>()) };
    // SAFETY: the caller promises that many writable bytes.
    let to = unsafe { slice::from_raw_parts_mut(place.cast::<u8>(), size) };
    for (to, from) in to.iter_mut().zip(from).skip(HEAD_BYTES) {
        *to = *from;
    }
    Ok(())
}

/// Reads and checks the size that the caller set.
///
/// # Safety
///
/// `place` is null, or valid for reading a `u32`.
#[inline]
unsafe fn size_of_caller<T: Versioned>(place: *const T) -> Answer<usize> {
    if place.is_null() {
        return Err(Failure::argument(T::NAME, "is null"));
    }
    if !place.is_aligned() {
        return Err(broken(T::NAME, NOT_ALIGNED));
    }
    // SAFETY: the caller's promise.
    let size = index(unsafe { place.cast::<u32>().read() });
    if (HEAD_BYTES..=MOST_BYTES).contains(&size) {
        Ok(size)
    } else {
        Err(broken(T::NAME, "struct_size is not its size"))
    }
}
