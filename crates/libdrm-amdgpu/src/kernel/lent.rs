//! A descriptor for the length of a call.

use std::{
    ffi::c_int,
    mem::ManuallyDrop,
    os::fd::{FromRawFd as _, OwnedFd},
    ptr::NonNull,
};

use amdgpu_winsys::{
    uapi::{Argument, Plain, Request},
    winsys::{Errno, Kernel as _, Protection, RenderNode},
};

use super::Trace;

/// A node that somebody else closes: the descriptor of a device, or one that the caller passed.
pub(crate) struct Lent<'t> {
    node: ManuallyDrop<RenderNode>,
    trace: Option<&'t Trace>,
}

impl<'t> Lent<'t> {
    /// Borrows a descriptor; EBADF if it is no number of one.
    #[inline]
    pub(crate) fn new(fd: c_int, trace: Option<&'t Trace>) -> Result<Self, Errno> {
        if fd < 0 {
            return Err(Errno::EBADF);
        }
        // SAFETY: the owner that is made here is never dropped, so nothing is closed. The descriptor is open while the call runs:
        // a device's until its last `amdgpu_device_deinitialize`, the caller's by the contract of the function. Where a caller
        // breaks that, the kernel answers EBADF or reaches another file of the process, as with libdrm.
        let node = ManuallyDrop::new(RenderNode::from_fd(unsafe { OwnedFd::from_raw_fd(fd) }));
        Ok(Self { node, trace })
    }

    /// Makes a request without addresses.
    #[inline]
    pub(crate) fn plain<A: Plain>(&self, argument: &mut A) -> Result<(), Errno> {
        self.plain_as(A::NAME, A::REQUEST, argument)
    }

    /// Makes a request without addresses that carries the structure of another one.
    #[inline]
    pub(crate) fn plain_as<A: Plain>(
        &self,
        name: &'static str,
        request: Request,
        argument: &mut A,
    ) -> Result<(), Errno> {
        // SAFETY: an `A: Plain` holds no addresses. All objects of the file are the client's, and this library gives safe code no
        // access to their memory.
        unsafe { self.follow_as(name, request, argument) }
    }

    /// Makes a request with addresses.
    ///
    /// # Errors
    ///
    /// The kernel's errno.
    ///
    /// # Safety
    ///
    /// Every address in `argument` that the kernel follows is valid for its accesses, or was passed by the client as such.
    #[inline]
    pub(crate) unsafe fn follow<A: Argument>(&self, argument: &mut A) -> Result<(), Errno> {
        // SAFETY: the caller's promise.
        unsafe { self.follow_as(A::NAME, A::REQUEST, argument) }
    }

    /// Makes a request with addresses that carries the structure of another one. It is repeated for as long as the kernel answers
    /// EINTR or EAGAIN, as libdrm does.
    ///
    /// # Errors
    ///
    /// The kernel's errno; EINVAL if the request does not have the argument's size.
    ///
    /// # Safety
    ///
    /// The requirements of [`Lent::follow`], and `request` carries an `A`.
    #[inline]
    pub(crate) unsafe fn follow_as<A: Argument>(
        &self,
        name: &'static str,
        request: Request,
        argument: &mut A,
    ) -> Result<(), Errno> {
        if request.size() != size_of::<A>() {
            return Err(Errno::EINVAL);
        }
        let pointer: *mut A = argument;
        let outcome = loop {
            // SAFETY: `argument` is exclusive and as long as the request says; the caller promises the rest.
            match unsafe { self.node.ioctl(request, pointer.cast()) } {
                Err(Errno::EAGAIN) => std::thread::yield_now(),
                outcome => break outcome.map(drop),
            }
        };
        if let Some(trace) = self.trace {
            trace.request(name, argument.as_bytes(), outcome);
        }
        outcome
    }

    /// Maps `len` bytes of the node, shared, for reading and writing.
    pub(crate) fn map(&self, len: usize, offset: u64) -> Result<NonNull<u8>, Errno> {
        // SAFETY: without an address the kernel picks free ones, so no mapping is replaced.
        unsafe { self.node.mmap(len, Protection::ReadWrite, None, offset) }
    }
}
