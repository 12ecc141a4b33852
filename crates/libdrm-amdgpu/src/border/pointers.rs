//! Arguments that are pointers.
//!
//! Values of these types come from callers in C, whose contract is that of libdrm's functions: a pointer is null or valid for the
//! call, and a handle is null or one that a function of this library returned and that was not freed. So the types promise it,
//! and what they do is safe. They copy, and make no reference to the caller's memory: out-parameters may be the same variable, and
//! need no alignment. Where libdrm does not check for null and crashes, the answer is EINVAL.

use std::marker::PhantomData;

use super::{Answer, CValue, Failure};

/// An out-parameter: null, or valid for writing a `T` for the length of the call.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

impl<T: CValue> Out<T> {
    /// Refuses null, before anything is done that would have to be undone.
    pub(crate) fn check(self) -> Answer {
        if self.0.is_null() { Err(Failure::INVALID) } else { Ok(()) }
    }

    /// Writes the value, unless the pointer is null.
    pub(crate) fn put(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: the caller's promise about the type; no alignment is assumed.
            unsafe { self.0.write_unaligned(value) };
        }
    }

    /// Returns the address, for a request that writes there.
    pub(crate) fn address(self) -> u64 {
        self.0.expose_provenance() as u64
    }
}

/// A structure that the caller fills: null, or valid for reading a `T` for the length of the call.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct In<T>(*const T);

impl<T: CValue> In<T> {
    /// Copies the structure.
    pub(crate) fn read(self) -> Answer<T> {
        if self.0.is_null() {
            return Err(Failure::INVALID);
        }
        // SAFETY: the caller's promise about the type; no alignment is assumed, and every bit pattern is a `T`.
        Ok(unsafe { self.0.read_unaligned() })
    }
}

/// An array of the caller's: null, or valid for reading and writing as many values as the argument beside it says.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Array<T>(*mut T);

impl<T: CValue> Array<T> {
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns the address, for a request that reads or writes there.
    pub(crate) fn address(self) -> u64 {
        self.0.expose_provenance() as u64
    }

    /// Returns the array with its length; an error if it is null.
    pub(crate) fn of(self, len: usize) -> Answer<Items<T>> {
        if self.0.is_null() { Err(Failure::INVALID) } else { Ok(Items { first: self.0, len }) }
    }
}

/// An array of the caller's that is not null, with its length.
#[derive(Clone, Copy)]
pub(crate) struct Items<T> {
    first: *mut T,
    len: usize,
}

impl<T: CValue> Items<T> {
    /// Copies the items one after the other.
    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = T> {
        // SAFETY: the caller promised `len` items; no alignment is assumed, and every bit pattern is a `T`.
        (0..self.len).map(move |index| unsafe { self.first.wrapping_add(index).read_unaligned() })
    }

    /// Overwrites an item; nothing if there is none of that index.
    pub(crate) fn put(self, index: usize, value: T) {
        if index < self.len {
            // SAFETY: the caller promised `len` items that may be written; no alignment is assumed.
            unsafe { self.first.wrapping_add(index).write_unaligned(value) };
        }
    }

    /// Overwrites a part of an item that begins at an offset in bytes; nothing if there is no item of that index, or the part does not
    /// end within it.
    pub(crate) fn put_part<F: CValue>(self, index: usize, offset: usize, value: F) {
        if index < self.len && offset.saturating_add(size_of::<F>()) <= size_of::<T>() {
            let part = self.first.wrapping_add(index).wrapping_byte_add(offset).cast::<F>();
            // SAFETY: the caller promised `len` items that may be written, and the part is within one; no alignment is assumed, and
            // what is written is any bytes, as every bit pattern is a `T`.
            unsafe { part.write_unaligned(value) };
        }
    }

    /// Returns the addresses of the items.
    pub(crate) fn addresses(self) -> impl ExactSizeIterator<Item = u64> {
        (0..self.len).map(move |index| self.first.wrapping_add(index).expose_provenance() as u64)
    }
}

/// A handle that a function of this library returned, or null.
#[repr(transparent)]
pub(crate) struct Handle<T>(*mut T, PhantomData<T>);

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

// SAFETY: every bit pattern is a raw pointer. A caller that makes up a handle breaks the contract above.
unsafe impl<T> CValue for Handle<T> {}

impl<T> Handle<T> {
    pub(crate) const NULL: Self = Self::new(std::ptr::null_mut());

    pub(crate) const fn new(object: *mut T) -> Self {
        Self(object, PhantomData)
    }

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub(crate) fn pointer(self) -> *mut T {
        self.0
    }

    /// Returns the handle of the same object as one of another type, for a table that does not know the type.
    pub(crate) const fn cast<U>(self) -> Handle<U> {
        Handle::new(self.0.cast())
    }

    /// Borrows the object; EINVAL for null.
    #[inline]
    pub(crate) fn get<'a>(self) -> Answer<&'a T> {
        // SAFETY: the caller promises that the object was not freed and is not while the call runs.
        unsafe { self.0.as_ref() }.ok_or(Failure::INVALID)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::cast_ptr_alignment, reason = "the pointer is to be misaligned")]
    fn out_parameters_may_be_one_variable_and_need_no_alignment() {
        let mut bytes = [0_u8; 9];
        let place = bytes.as_mut_ptr().wrapping_add(1).cast::<u32>();
        let (one, other) = (Out(place), Out(place));
        one.put(1);
        other.put(0x0403_0201);
        assert_eq!(bytes[..6], [0, 1, 2, 3, 4, 0]);
    }

    #[test]
    fn null_is_refused_and_an_optional_one_is_left_alone() {
        let null = Out::<u32>(std::ptr::null_mut());
        assert_eq!(null.check(), Err(Failure::INVALID));
        null.put(7);
        assert!(In::<u64>(std::ptr::null()).read().is_err());
        assert!(Array::<u64>(std::ptr::null_mut()).of(0).is_err());
        assert!(Handle::<u64>::NULL.get().is_err());
    }
}
