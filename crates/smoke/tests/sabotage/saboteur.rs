//! A kernel that does one thing wrong.

use std::{
    ffi::{c_int, c_void},
    ptr::NonNull,
    sync::{Mutex, MutexGuard, PoisonError},
};

use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    uapi::{Argument, Request},
    winsys::{Kernel, OpenFile, Protection},
};
use nix::errno::Errno;

use crate::held::Held;

/// Hook that is called before the kernel: returns an answer, or nothing to let the request through.
pub(crate) type Trick = fn(&Below, Request, *mut c_void) -> Option<Result<c_int, Errno>>;

/// A kernel that answers some requests wrongly.
pub(crate) struct Saboteur {
    pub(crate) below: Below,
    pub(crate) trick: Trick,
    pub(crate) private_mappings: bool,
}

/// The honest kernel, and what the saboteur has seen.
pub(crate) struct Below {
    kernel: SimKernel,
    /// The first mapping of at least a mebibyte, while it lasts.
    pub(crate) large_mapping: Mutex<Option<(usize, usize)>>,
    /// A submission that was answered and not yet passed on.
    pub(crate) held: Mutex<Option<Held>>,
}

impl Below {
    pub(crate) fn new(kernel: SimKernel) -> Self {
        Self { kernel, large_mapping: Mutex::default(), held: Mutex::default() }
    }

    /// Lets a request through.
    pub(crate) fn ask(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        // SAFETY: tricks pass on what the library passed, or an argument of the same layout on their stack.
        unsafe { self.kernel.ioctl(request, argument) }
    }
}

/// The argument of a request, which is one of `T`.
pub(crate) fn argument<'a, T: Argument>(argument: *mut c_void) -> &'a mut T {
    // SAFETY: tricks call this only for the request whose argument `T` is, and the caller of `ioctl` promised its size in
    // bytes, exclusively, until it returns.
    unsafe { &mut *argument.cast::<T>() }
}

// SAFETY: every call is forwarded to the simulator or answered within the bytes of its argument; a private mapping is an
// anonymous one of the same length.
unsafe impl Kernel for Saboteur {
    fn open_file(&self) -> OpenFile<'_> {
        self.below.kernel.open_file()
    }

    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        (self.trick)(&self.below, request, argument).unwrap_or_else(|| self.below.ask(request, argument))
    }

    unsafe fn mmap(
        &self,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Result<NonNull<u8>, Errno> {
        if self.private_mappings {
            return anonymous(len);
        }
        // SAFETY: the caller's promises are passed on unchanged.
        let mapped = unsafe { self.below.kernel.mmap(len, protection, at, offset) }?;
        if len >= 1 << 20 {
            lock(&self.below.large_mapping).get_or_insert((mapped.as_ptr().expose_provenance(), len));
        }
        Ok(mapped)
    }

    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        let mut large = lock(&self.below.large_mapping);
        if large.is_some_and(|(base, _)| base == address.as_ptr().addr()) {
            *large = None;
        }
        // SAFETY: the caller's promises are passed on unchanged; an anonymous mapping is one to munmap like any other.
        unsafe { self.below.kernel.munmap(address, len) }
    }
}

fn anonymous(len: usize) -> Result<NonNull<u8>, Errno> {
    use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous};
    let len = std::num::NonZeroUsize::new(len).ok_or(Errno::EINVAL)?;
    let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
    // SAFETY: no address is asked for, so nothing that exists is replaced.
    unsafe { mmap_anonymous(None, len, protection, MapFlags::MAP_PRIVATE) }.map(NonNull::cast)
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
