//! The simulated kernel as the library's seam sees it.

use std::{
    ffi::{c_int, c_void},
    num::NonZeroUsize,
    os::fd::BorrowedFd,
    ptr::NonNull,
    sync::Arc,
};

use amdgpu_winsys::{
    uapi::Request,
    winsys::{Kernel, Protection},
};
use nix::{
    errno::Errno,
    sys::mman::{MapFlags, ProtFlags, mmap, munmap},
};

use crate::{
    Census, Profile, SimDevice, SimOptions, auth::Auth, descriptors::FileId, device::Gpu, dispatch, file::File,
};

/// One open file of a simulated node: a render node, or a primary one ([`SimDevice::open_primary`]).
#[derive(Debug)]
pub struct SimKernel {
    file: File,
}

impl SimKernel {
    pub(crate) fn new(gpu: &Arc<Gpu>, auth: Auth) -> Self {
        Self { file: File::new(gpu, auth) }
    }

    /// A file of a fresh GPU with default options.
    pub fn open(profile: &'static Profile) -> Self {
        SimDevice::new(profile, SimOptions::default()).open()
    }

    /// Lets a descriptor of the host stand for this file, where a request names a file by descriptor: AMDGPU_SCHED is the
    /// only one. Whoever gives clients descriptors of nodes calls this once for each open; copies of the descriptor are
    /// recognised too.
    ///
    /// # Errors
    ///
    /// EBADF when the descriptor is not open.
    pub fn stands_for(&self, fd: BorrowedFd<'_>) -> Result<(), Errno> {
        self.file.gpu.machine.descriptors.add_node(FileId::of(fd)?, &self.file.contexts);
        Ok(())
    }

    /// What the file holds.
    pub fn census(&self) -> Census {
        self.file.census()
    }

    /// What clients of the device asked for that is wrong or not simulated, in words, oldest first.
    pub fn complaints(&self) -> Vec<String> {
        self.file.gpu.complaints.list()
    }
}

// SAFETY: `ioctl` copies at most `request.size()` bytes in and out of the argument, and follows only the addresses that
// the request defines, for the lengths the argument gives (`user.rs`). `mmap` returns what the C library's mmap of a
// memfd returned, for exactly the length asked; nothing but `munmap` ends it.
unsafe impl Kernel for SimKernel {
    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        let entry = dispatch::lookup(&self.file, request)?;
        let size = request.size();
        let (copy_in, copy_out) = entry.directions(request);
        // One buffer for both sides' idea of the structure; what was not read is zero.
        let mut buffer = vec![0_u64; size.max(entry.size).div_ceil(8)];
        let bytes = zerocopy::IntoBytes::as_mut_bytes(buffer.as_mut_slice());
        if size > 0 && (copy_in || copy_out) && argument.is_null() {
            return Err(Errno::EFAULT);
        }
        if copy_in && let Some(bytes) = bytes.get_mut(..size) {
            // SAFETY: the caller vouches for `size` readable bytes at `argument`, which was found not to be null.
            unsafe { std::ptr::copy_nonoverlapping(argument.cast::<u8>(), bytes.as_mut_ptr(), size) };
        }
        let result = entry.permit(&self.file).and_then(|()| (entry.handler)(&self.file, bytes));
        if copy_out && let Some(bytes) = bytes.get(..size) {
            // SAFETY: the caller vouches for `size` writable bytes at `argument`.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), argument.cast::<u8>(), size) };
        }
        tracing::trace!(request = entry.name, ?result, "ioctl");
        result.map(|()| 0)
    }

    unsafe fn mmap(
        &self,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Result<NonNull<u8>, Errno> {
        let bo = dispatch::mmap_target(&self.file, offset, len as u64)?;
        let protection = match protection {
            Protection::Read => ProtFlags::PROT_READ,
            Protection::ReadWrite => ProtFlags::PROT_READ | ProtFlags::PROT_WRITE,
        };
        let size = NonZeroUsize::new(len).ok_or(Errno::EINVAL)?;
        let mut flags = MapFlags::MAP_SHARED;
        if at.is_some() {
            flags |= MapFlags::MAP_FIXED;
        }
        let address = at.and_then(|at| NonZeroUsize::new(at.as_ptr().expose_provenance()));
        // SAFETY: without MAP_FIXED free addresses are picked; with it the caller owns the range.
        let mapped = unsafe { mmap(address, size, protection, flags, bo.file_to_map()?, 0) }?;
        self.file.mappings.lock().insert(mapped.as_ptr().addr(), (len, bo));
        Ok(mapped.cast())
    }

    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        // SAFETY: the caller gives one live mapping that nothing uses any more.
        unsafe { munmap(address.cast(), len) }?;
        let gone = self.file.mappings.lock().remove(&address.as_ptr().addr());
        // The BO may go with it, and not under the lock.
        drop(gone);
        Ok(())
    }
}
