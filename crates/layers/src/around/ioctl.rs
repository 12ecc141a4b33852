//! An ioctl before it is forwarded.

use std::{ffi::c_void, ptr::NonNull};

use amdgpu_uapi::{Argument, Errno, Info, Kernel, Request};

use super::{Answered, Chunk, answered::structure};

/// An ioctl that a [`Layer`](super::Layer) can inspect, forward, change or refuse.
pub struct Ioctl<'c> {
    kernel: &'c dyn Kernel,
    request: Request,
    argument: *mut c_void,
}

impl<'c> Ioctl<'c> {
    /// Creates the call.
    ///
    /// # Safety
    ///
    /// The conditions of [`Kernel::ioctl`], for the whole lifetime.
    pub(super) unsafe fn new(kernel: &'c dyn Kernel, request: Request, argument: *mut c_void) -> Self {
        Self { kernel, request, argument }
    }

    /// Returns the request number and argument size.
    pub fn request(&self) -> Request {
        self.request
    }

    /// Returns `true` if the ioctl is this request, regardless of the size of the argument.
    pub fn is(&self, wanted: Request) -> bool {
        (self.request.kind(), self.request.number()) == (wanted.kind(), wanted.number())
    }

    /// Returns the INFO query; `None` for other requests.
    pub fn query(&self) -> Option<Info> {
        self.is(Info::REQUEST).then(|| self.read())
    }

    /// Returns the bytes of the argument.
    pub fn bytes(&self) -> &[u8] {
        let Some(argument) = NonNull::new(self.argument.cast::<u8>()) else { return &[] };
        // SAFETY: the caller of `new` vouches for that number of readable bytes, which nothing writes while the call is not made.
        unsafe { std::slice::from_raw_parts(argument.as_ptr(), self.request.size()) }
    }

    /// Returns the argument as a structure. If it is shorter, the missing bytes are zero.
    pub fn read<A: Argument>(&self) -> A {
        structure(self.bytes())
    }

    /// Returns the chunks of a CS ioctl, without chunks that cannot be read. The result is empty for other requests.
    pub fn chunks(&self) -> Vec<Chunk> {
        Chunk::of(self.request, self.bytes())
    }

    /// Forwards the ioctl to the kernel.
    pub fn forward(self) -> Answered<'c> {
        // SAFETY: the promises of the caller of `new`, passed on unchanged; the call is used up.
        let result = unsafe { self.kernel.ioctl(self.request, self.argument) };
        // SAFETY: the argument is that of the call, whose lifetime is the same.
        unsafe { Answered::new(self.request, self.argument, result) }
    }

    /// Forwards the ioctl. If it is INFO, the kernel gets a buffer of at most `most` bytes, so that it answers like an older kernel
    /// with a shorter structure.
    pub fn forward_cut(self, most: u32) -> Answered<'c> {
        let Some(mut info) = self.query() else { return self.forward() };
        info.return_size = info.return_size.min(most);
        // SAFETY: as the caller promised, but for a buffer that is as long or shorter.
        unsafe { self.forward_as(&mut info) }
    }

    /// Forwards the ioctl with another argument. The kernel's answer in this argument is not copied to the caller.
    ///
    /// # Safety
    ///
    /// The argument must be one of this request, its addresses must be valid for the accesses of the kernel, and the caller's use
    /// of its own argument afterwards must be sound for the request that was made.
    pub unsafe fn forward_as<A: Argument>(self, argument: &mut A) -> Answered<'c> {
        let request = self.request.with_size(size_of::<A>());
        // SAFETY: the caller's promise; the argument is exclusive, and as long as the request says now.
        let result = unsafe { self.kernel.ioctl(request, std::ptr::from_mut(argument).cast()) };
        // SAFETY: the argument is that of the call, whose lifetime is the same.
        unsafe { Answered::new(self.request, self.argument, result) }
    }

    /// Makes another ioctl to the same kernel, before this one or instead of it.
    ///
    /// # Errors
    ///
    /// The kernel's errno.
    ///
    /// # Safety
    ///
    /// The conditions of [`Kernel::ioctl`], and no other owner may have the object that the request creates or destroys.
    pub unsafe fn ask<A: Argument>(&self, request: Request, argument: &mut A) -> Result<(), Errno> {
        let request = request.with_size(size_of::<A>());
        // SAFETY: the caller's promise; the argument is exclusive, and as long as the request says.
        unsafe { self.kernel.ioctl(request, std::ptr::from_mut(argument).cast()) }.map(drop)
    }

    /// Refuses the ioctl without forwarding it.
    pub fn refuse(self, errno: Errno) -> Answered<'c> {
        // SAFETY: the argument is that of the call, whose lifetime is the same.
        unsafe { Answered::new(self.request, self.argument, Err(errno)) }
    }

    /// Answers INFO in place of the kernel, with the first bytes of `bytes` that fit into the caller's buffer. Refuses other
    /// requests with EINVAL.
    pub fn answer_info(self, bytes: &[u8]) -> Answered<'c> {
        let result = if self.is(Info::REQUEST) { Ok(0) } else { Err(Errno::EINVAL) };
        // SAFETY: the argument is that of the call, whose lifetime is the same.
        let mut answered = unsafe { Answered::new(self.request, self.argument, result) };
        answered.patch_info(0, bytes);
        answered
    }

    /// Reports success without forwarding the ioctl.
    ///
    /// # Safety
    ///
    /// The caller's use of the answer must be sound under the promises of [`Kernel`]. An unchanged answer names no object. But a
    /// wait that did not happen, or a binding that still exists, may let the GPU write to memory that the caller frees.
    pub unsafe fn agree(self) -> Answered<'c> {
        // SAFETY: the argument is that of the call, whose lifetime is the same.
        unsafe { Answered::new(self.request, self.argument, Ok(0)) }
    }
}
