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

    /// Returns the bits of the fields that must be zero: `reserved` and, in structures that have it, `pad`.
    #[inline]
    fn unused(&self) -> u32 {
        // SAFETY: the second field, which the implementer promises; the pointer is to the whole structure.
        let [_size, reserved] = unsafe { ptr::from_ref(self).cast::<[u32; 2]>().read() };
        reserved
    }
}

/// Returns the name of the arguments that point to structures of a type: the last word of the type's name.
fn argument<T: Versioned>() -> &'static str {
    T::NAME.rsplit(['_', ' ']).next().unwrap_or(T::NAME)
}

/// Checks the fields that must be zero.
#[inline]
fn check_unused<T: Versioned>(value: &T) -> Answer {
    if value.unused() == 0 { Ok(()) } else { Err(not_zero::<T>("reserved or pad is not zero")) }
}

#[cold]
#[inline(never)]
fn not_zero<T: Versioned>(fault: &str) -> Failure {
    Failure::argument(argument::<T>(), fault).with_code(AGW_ERROR_UNKNOWN_FIELDS)
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
        let value = unsafe { place.read() };
        check_unused(&value)?;
        return Ok(value);
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
        let value = unsafe { &*place };
        check_unused(value)?;
        return Ok(value);
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
            return Err(not_zero::<T>("has fields that this version does not know, and they are not zero"));
        }
    }
    let mut value = MaybeUninit::<T>::zeroed();
    let len = size.min(size_of::<T>());
    // SAFETY: both are valid for `len` bytes, and one of them is a variable of this function.
    unsafe { ptr::copy_nonoverlapping(place.cast::<u8>(), value.as_mut_ptr().cast::<u8>(), len) };
    // SAFETY: every bit pattern is a valid `Versioned`.
    let value = unsafe { value.assume_init() };
    check_unused(&value)?;
    Ok(value)
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
        return Err(Failure::null(argument::<T>()));
    }
    if !place.is_aligned() {
        return Err(broken(argument::<T>(), NOT_ALIGNED));
    }
    // SAFETY: the caller's promise.
    let size = index(unsafe { place.cast::<u32>().read() });
    if (HEAD_BYTES..=MOST_BYTES).contains(&size) { Ok(size) } else { Err(no_size::<T>(size)) }
}

#[cold]
#[inline(never)]
fn no_size<T: Versioned>(size: usize) -> Failure {
    broken(argument::<T>(), &format!("struct_size is {size}, and not the size of a {}", T::NAME))
}
