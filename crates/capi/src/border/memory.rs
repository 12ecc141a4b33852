//! Arguments that are pointers.

use std::{
    ffi::{CStr, c_char},
    ptr::NonNull,
    slice,
};

use super::{
    checked::broken,
    failure::{Answer, Failure},
    result::AGW_INCOMPLETE,
};

/// Number of items that are looked up without allocating memory for them.
pub(crate) const INLINE_CAPACITY: usize = 16;
/// Maximum size of an array in bytes. A greater length indicates an uninitialized variable.
const MOST_BYTES: usize = 1 << 30;

/// The fault of a pointer that is not aligned for its type.
pub(super) const NOT_ALIGNED: &str = "is not aligned as its type is";

/// Checks the pointer and the length of an array that is neither null nor empty.
#[inline]
fn plausible<T>(start: *const T, len: u32, name: &str) -> Answer<usize> {
    let len = amdgpu_hw::num::index(len);
    if !start.is_aligned() {
        return Err(broken(name, NOT_ALIGNED));
    }
    if size_of::<T>().saturating_mul(len) > MOST_BYTES {
        return Err(broken(name, "has more than 1 GiB"));
    }
    Ok(len)
}

/// Checks an out-parameter, before anything is done that would have to be undone.
#[inline]
pub(crate) fn check_out<T>(place: *mut T, name: &str) -> Answer {
    match () {
        () if place.is_null() => Err(Failure::null(name)),
        () if !place.is_aligned() => Err(broken(name, NOT_ALIGNED)),
        () => Ok(()),
    }
}

/// An out-parameter: a place of the caller that is written when the call has succeeded, and not before.
///
/// # Invariants
///
/// The place is valid for writing a `T`.
#[must_use = "the caller expects a value"]
pub(crate) struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// Checks an out-parameter, before anything is done that would have to be undone.
    ///
    /// # Safety
    ///
    /// `place` is null, misaligned, or valid for writing a `T` as long as the result is used.
    #[inline]
    pub(crate) unsafe fn new(place: *mut T, name: &str) -> Answer<Self> {
        check_out(place, name)?;
        NonNull::new(place).map(Self).ok_or_else(|| Failure::null(name))
    }

    /// Writes the value.
    #[inline]
    pub(crate) fn put(self, value: T) {
        // SAFETY: by the invariants.
        unsafe { self.0.write(value) };
    }
}

/// Writes an out-parameter that may be null.
///
/// # Safety
///
/// `place` is null or valid for writing a `T`.
#[inline]
pub(crate) unsafe fn put_unless_null<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: the caller's promise.
        unsafe { place.write(value) };
    }
}

/// Borrows an array. With a length of 0 it is empty, whatever the pointer is.
///
/// # Safety
///
/// `start` is null or valid for reading `len` values of `T` for as long as the result is used.
#[inline]
pub(crate) unsafe fn array<'a, T>(start: *const T, len: u32, name: &str) -> Answer<&'a [T]> {
    match (start.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Failure::null(name)),
        (false, len) => {
            let len = plausible(start, len, name)?;
            // SAFETY: the caller's promise; aligned, and far less than half of the address space.
            Ok(unsafe { slice::from_raw_parts(start, len) })
        }
    }
}

/// Borrows an array for writing. With a length of 0 it is empty, whatever the pointer is.
///
/// # Safety
///
/// `start` is null, or valid for reading and writing `len` values of `T` that nothing else uses for as long as the result is.
pub(crate) unsafe fn array_mut<'a, T>(start: *mut T, len: u32, name: &str) -> Answer<&'a mut [T]> {
    match (start.is_null(), len) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(Failure::null(name)),
        (false, len) => {
            let len = plausible(start, len, name)?;
            // SAFETY: the caller's promise; aligned, and far less than half of the address space.
            Ok(unsafe { slice::from_raw_parts_mut(start, len) })
        }
    }
}

/// Writes items to a caller's array, up to its length, and the total number of items to `count`. The names are those of the two
/// arguments.
///
/// # Errors
///
/// `AGW_INCOMPLETE` if there are more items than the array holds. It is filled nevertheless.
///
/// # Safety
///
/// `count` is null or valid for reading and writing; `start` is null, or valid for writing as many items as `count` says.
pub(crate) unsafe fn fill<T>(
    start: *mut T,
    count: *mut u32,
    [array_name, count_name]: [&str; 2],
    items: impl ExactSizeIterator<Item = T>,
) -> Answer {
    check_out(count, count_name)?;
    // SAFETY: checked above, and the caller's promise.
    let room = if start.is_null() { 0 } else { unsafe { count.read() } };
    // SAFETY: the caller's promise.
    let places = unsafe { array_mut(start, room, array_name) }?;
    let there_are = amdgpu_hw::num::count(items.len());
    for (place, item) in places.iter_mut().zip(items) {
        *place = item;
    }
    // SAFETY: checked above, and the caller's promise.
    unsafe { count.write(there_are) };
    if !start.is_null() && there_are > room { Err(Failure::outcome(AGW_INCOMPLETE)) } else { Ok(()) }
}

/// Borrows a string.
///
/// # Safety
///
/// `start` is null or a zero-terminated string, for as long as the result is used.
pub(crate) unsafe fn text<'a>(start: *const c_char, name: &str) -> Answer<&'a str> {
    if start.is_null() {
        return Err(Failure::null(name));
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(start) };
    text.to_str().map_err(|_| Failure::argument(name, "is not UTF-8"))
}
