//! Structures that grow from version to version.

use std::{mem::MaybeUninit, ptr, slice};

use amdgpu_hw::num::index;

use super::{
    checked::broken,
    failure::{Answer, Failure},
    memory::NOT_ALIGNED,
    result::AGW_ERROR_UNKNOWN_FIELDS,
};

/// The first two fields, which every structure has.
const HEAD_BYTES: usize = 8;
/// No structure is longer; a greater size is a variable that was not set.
const MOST_BYTES: usize = 1 << 16;

/// A structure of C that begins with its size.
///
/// # Safety
///
/// It is `repr(C)` without padding, every pattern of bytes is a value of it, and its first two fields are `struct_size: u32` and
/// `reserved: u32`.
pub(crate) unsafe trait Versioned: Copy {
    const NAME: &'static str;
}

/// Reads a structure of any version. Fields that the caller does not know are zero.
///
/// # Safety
///
/// `place` is null, or valid for reading a `u32`, and as many bytes as it says.
#[inline]
pub(crate) unsafe fn read<T: Versioned>(place: *const T) -> Answer<T> {
    // SAFETY: the caller's promise.
    let size = unsafe { size_of_caller(place) }?;
    if size == size_of::<T>() {
        // SAFETY: the caller's promise; it is aligned, and every pattern of bytes is a value of a `Versioned`.
        return Ok(unsafe { place.read() });
    }
    // SAFETY: the caller's promise.
    unsafe { read_other(place, size) }
}

/// Borrows a structure of this version, or reads one of another into `copy`. To copy what the caller has just stored is to wait for
/// the stores.
///
/// # Safety
///
/// As for [`read`], and nothing writes to the structure as long as the result is used.
#[inline]
pub(crate) unsafe fn view<T: Versioned>(place: *const T, copy: &mut Option<T>) -> Answer<&T> {
    // SAFETY: the caller's promise.
    let size = unsafe { size_of_caller(place) }?;
    if size == size_of::<T>() {
        // SAFETY: the caller's promise; it is aligned, and every pattern of bytes is a value of a `Versioned`.
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
        // SAFETY: the caller vouches for as many bytes.
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
    // SAFETY: every pattern of bytes is a value of a `Versioned`.
    Ok(unsafe { value.assume_init() })
}

/// Writes as much of a structure as the caller knows. The caller's size stays.
///
/// # Safety
///
/// `place` is null, or valid for reading a `u32`, and for writing as many bytes as it says.
pub(crate) unsafe fn write<T: Versioned>(place: *mut T, value: T) -> Answer {
    // SAFETY: the caller's promise.
    let size = unsafe { size_of_caller(place) }?;
    // SAFETY: a variable of this function, whose bytes are all of integers and pointers.
    let from = unsafe { slice::from_raw_parts(ptr::from_ref(&value).cast::<u8>(), size_of::<T>()) };
    // SAFETY: the caller vouches for as many bytes.
    let to = unsafe { slice::from_raw_parts_mut(place.cast::<u8>(), size) };
    for (to, from) in to.iter_mut().zip(from).skip(HEAD_BYTES) {
        *to = *from;
    }
    Ok(())
}

/// Reads and checks the size that the caller gave.
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
