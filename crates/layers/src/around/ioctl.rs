//! A request on its way.

use std::{ffi::c_void, ptr::NonNull};

use amdgpu_uapi::{Argument, Errno, Info, Kernel, Request};

use super::{Answered, Chunk, answered::structure};

/// A request that has not been made yet.
pub struct Ioctl<'c> {
    kernel: &'c dyn Kernel,
    request: Request,
    argument: *mut c_void,
}

impl<'c> Ioctl<'c> {
    /// Takes a call.
    ///
    /// # Safety
    ///
    /// As [`Kernel::ioctl`], for as long as the lifetime lasts.
    pub(super) unsafe fn new(kernel: &'c dyn Kernel, request: Request, argument: *mut c_void) -> Self {
        Self { kernel, request, argument }
    }

    /// Returns the request.
    pub fn request(&self) -> Request {
        self.request
    }

    /// Returns `true` if it is this request, whatever size it is sent with.
    pub fn is(&self, wanted: Request) -> bool {
        (self.request.kind(), self.request.number()) == (wanted.kind(), wanted.number())
    }

    /// Returns the INFO query that is asked; `None` for other requests.
    pub fn query(&self) -> Option<Info> {
        self.is(Info::REQUEST).then(|| self.read())
    }

    /// Returns the argument's bytes.
    pub fn bytes(&self) -> &[u8] {
        let Some(argument) = NonNull::new(self.argument.cast::<u8>()) else { return &[] };
        // SAFETY: the caller of `new` vouches for that number of readable bytes, which nothing writes while the call is not made.
        unsafe { std::slice::from_raw_parts(argument.as_ptr(), self.request.size()) }
    }

    /// Returns the argument as a structure; what it has too few bytes for is zero.
    pub fn read<A: Argument>(&self) -> A {
        structure(self.bytes())
    }

    /// Returns the chunks of a submission; none for other requests, and of those none that cannot be read.
    pub fn chunks(&self) -> Vec<Chunk> {
        Chunk::of(self.request, self.bytes())
    }

    /// Makes the request.
    pub fn forward(self) -> Answered<'c> {
        // SAFETY: the promises of the caller of `new`, passed on unchanged; the call is used up.
        let result = unsafe { self.kernel.ioctl(self.request, self.argument) };
        // SAFETY: the argument is that of the call, whose lifetime is the same.
        unsafe { Answered::new(self.request, self.argument, result) }
    }

    /// Makes the request, but if it is INFO, the kernel is given room for no more than `most` bytes, as one that knows a
    /// shorter answer would take.
    pub fn forward_cut(self, most: u32) -> Answered<'c> {
        let Some(mut info) = self.query() else { return self.forward() };
        info.return_size = info.return_size.min(most);
        // SAFETY: as the caller promised, but for a buffer that is as long or shorter.
        unsafe { self.forward_as(&mut info) }
    }

    /// Makes the request with another argument. The kernel's answer in it does not reach the caller.
    ///
    /// # Safety
    ///
    /// The argument is one of this request, whose addresses are valid for what the kernel does there; and what the caller
    /// makes of its own argument afterwards fits what was done.
    pub unsafe fn forward_as<A: Argument>(self, argument: &mut A) -> Answered<'c> {
        let request = self.request.with_size(size_of::<A>());
        // SAFETY: the caller's promise; the argument is exclusive, and as long as the request says now.
        let result = unsafe { self.kernel.ioctl(request, std::ptr::from_mut(argument).cast()) };
        // SAFETY: the argument is that of the call, whose lifetime is the same.
        unsafe { Answered::new(self.request, self.argument, result) }
    }

    /// Makes another request of the same kernel, before this one or in its place.
    ///
    /// # Errors
    ///
    /// The kernel's errno.
    ///
    /// # Safety
    ///
    /// As for [`Kernel::ioctl`]; and no other owner has what the request makes or ends.
    pub unsafe fn ask<A: Argument>(&self, request: Request, argument: &mut A) -> Result<(), Errno> {
        let request = request.with_size(size_of::<A>());
        // SAFETY: the caller's promise; the argument is exclusive, and as long as the request says.
        unsafe { self.kernel.ioctl(request, std::ptr::from_mut(argument).cast()) }.map(drop)
    }

    /// Refuses the request; the kernel does not hear of it.
    pub fn refuse(self, errno: Errno) -> Answered<'c> {
        // SAFETY: the argument is that of the call, whose lifetime is the same.
        unsafe { Answered::new(self.request, self.argument, Err(errno)) }
    }

    /// Answers INFO in the kernel's place with the beginning of `bytes` that the caller has room for; refuses anything else
    /// with EINVAL.
    pub fn answer_info(self, bytes: &[u8]) -> Answered<'c> {
        let result = if self.is(Info::REQUEST) { Ok(0) } else { Err(Errno::EINVAL) };
        // SAFETY: the argument is that of the call, whose lifetime is the same.
        let mut answered = unsafe { Answered::new(self.request, self.argument, result) };
        answered.patch_info(0, bytes);
        answered
    }

    /// Says that the request was made, although the kernel does not hear of it.
    ///
    /// # Safety
    ///
    /// The caller's use of the answer is sound under the promises of [`Kernel`]: an answer that is not written names nothing, but
    /// a wait that has not been waited for, or a binding that has not gone, may let the GPU write what the caller gives up.
    pub unsafe fn agree(self) -> Answered<'c> {
        // SAFETY: the argument is that of the call, whose lifetime is the same.
        unsafe { Answered::new(self.request, self.argument, Ok(0)) }
    }
}
