//! The outcome of an ioctl that was forwarded or refused.

use std::{
    ffi::{c_int, c_void},
    marker::PhantomData,
    ptr::NonNull,
};

use amdgpu_uapi::{Argument, Errno, Info, Request};

/// The outcome of an [`Ioctl`](super::Ioctl), which a [`Layer`](super::Layer) returns.
#[must_use]
pub struct Answered<'c> {
    request: Request,
    argument: *mut c_void,
    result: Result<c_int, Errno>,
    call: PhantomData<&'c ()>,
}

impl Answered<'_> {
    /// Creates the outcome of a call.
    ///
    /// # Safety
    ///
    /// `argument` points at `request.size()` bytes of the caller, or is null, for the whole lifetime. If the request is INFO, the
    /// answer's buffer is writable.
    pub(super) unsafe fn new(request: Request, argument: *mut c_void, result: Result<c_int, Errno>) -> Self {
        Self { request, argument, result, call: PhantomData }
    }

    /// Returns the result that the caller gets.
    ///
    /// # Errors
    ///
    /// The errno of the kernel or of the layer.
    pub fn result(&self) -> Result<c_int, Errno> {
        self.result
    }

    /// Returns the argument after the call. If it is shorter than the structure, the missing bytes are zero.
    pub fn read<A: Argument>(&self) -> A {
        let Some(argument) = NonNull::new(self.argument.cast::<u8>()) else { return A::new_zeroed() };
        // SAFETY: the caller of `new` vouches for that number of bytes, and the kernel has returned.
        structure(unsafe { std::slice::from_raw_parts(argument.as_ptr(), self.request.size()) })
    }

    /// Overwrites the answer of INFO, starting at byte `offset`, as far as the caller's buffer extends. Does nothing for other
    /// requests.
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

    /// Overwrites the argument, as far as the caller's structure extends.
    ///
    /// # Safety
    ///
    /// The changed answer must keep the promises of [`Kernel`](amdgpu_uapi::Kernel): an object that it names is new, or does not
    /// exist.
    pub unsafe fn write<A: Argument>(&mut self, argument: &A) {
        // SAFETY: the caller's promise.
        unsafe { self.write_bytes(argument.as_bytes()) };
    }

    /// Overwrites the argument with bytes, as far as the caller's structure extends.
    ///
    /// # Safety
    ///
    /// The conditions of [`write`](Self::write).
    pub unsafe fn write_bytes(&mut self, bytes: &[u8]) {
        let Some(to) = NonNull::new(self.argument.cast::<u8>()) else { return };
        let len = bytes.len().min(self.request.size());
        // SAFETY: the caller of `new` vouches for that number of bytes, and `bytes` are not among them, being borrowed.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.as_ptr(), len) };
    }
}

/// Reads a structure from the start of some bytes. If there are too few, the missing bytes are zero.
pub(super) fn structure<A: Argument>(bytes: &[u8]) -> A {
    let mut structure = A::new_zeroed();
    let len = bytes.len().min(size_of::<A>());
    structure.as_mut_bytes()[..len].copy_from_slice(&bytes[..len]);
    structure
}
