//! A request that was made or refused.

use std::{
    ffi::{c_int, c_void},
    marker::PhantomData,
    ptr::NonNull,
};

use amdgpu_uapi::{Argument, Errno, Info, Request};

/// The outcome of a request.
#[must_use]
pub struct Answered<'c> {
    request: Request,
    argument: *mut c_void,
    result: Result<c_int, Errno>,
    call: PhantomData<&'c ()>,
}

impl Answered<'_> {
    /// Takes the outcome of a call.
    ///
    /// # Safety
    ///
    /// `argument` points at `request.size()` bytes of the caller's, or at none, for as long as the lifetime lasts; if it is
    /// that of INFO, the answer's buffer is writable.
    pub(super) unsafe fn new(request: Request, argument: *mut c_void, result: Result<c_int, Errno>) -> Self {
        Self { request, argument, result, call: PhantomData }
    }

    /// Returns the result for the caller.
    ///
    /// # Errors
    ///
    /// The errno.
    pub fn result(&self) -> Result<c_int, Errno> {
        self.result
    }

    /// Returns the argument as the kernel left it; what it has too few bytes for is zero.
    pub fn read<A: Argument>(&self) -> A {
        let Some(argument) = NonNull::new(self.argument.cast::<u8>()) else { return A::new_zeroed() };
        // SAFETY: the caller of `new` vouches for that number of bytes, and the kernel has returned.
        structure(unsafe { std::slice::from_raw_parts(argument.as_ptr(), self.request.size()) })
    }

    /// Writes over the answer of INFO, as far as the caller has room; nothing happens where the request is another one.
    pub fn patch_info(&mut self, offset: usize, bytes: &[u8]) {
        let is_info = (self.request.kind(), self.request.number()) == (Info::REQUEST.kind(), Info::REQUEST.number());
        let info: Info = self.read();
        let len = (info.return_size as usize).saturating_sub(offset).min(bytes.len());
        let Some(answer) = NonNull::new(std::ptr::with_exposed_provenance_mut::<u8>(info.return_pointer as usize))
        else {
            return;
        };
        if is_info && len > 0 {
            let to = answer.as_ptr().wrapping_add(offset);
            // SAFETY: the caller promised `return_size` writable bytes there, and `offset + len` is at most that.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, len) };
        }
    }

    /// Writes over the argument, as far as the caller has room.
    ///
    /// # Safety
    ///
    /// The changed answer keeps the promises of [`Kernel`](amdgpu_uapi::Kernel): whatever it names is new, or nothing at all.
    pub unsafe fn write<A: Argument>(&mut self, argument: &A) {
        // SAFETY: the caller's promise.
        unsafe { self.write_bytes(argument.as_bytes()) };
    }

    /// Writes bytes over the argument, as far as the caller has room.
    ///
    /// # Safety
    ///
    /// As for [`write`](Self::write).
    pub unsafe fn write_bytes(&mut self, bytes: &[u8]) {
        let Some(to) = NonNull::new(self.argument.cast::<u8>()) else { return };
        let len = bytes.len().min(self.request.size());
        // SAFETY: the caller of `new` vouches for that number of bytes, and `bytes` are not among them, being borrowed.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.as_ptr(), len) };
    }
}

/// Takes a structure from the beginning of some bytes; what there are too few bytes for is zero.
pub(super) fn structure<A: Argument>(bytes: &[u8]) -> A {
    let mut structure = A::new_zeroed();
    let len = bytes.len().min(size_of::<A>());
    structure.as_mut_bytes()[..len].copy_from_slice(&bytes[..len]);
    structure
}
