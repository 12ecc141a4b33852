//! Pages of this process as a BO.

use std::{ptr::NonNull, sync::Arc};

use nix::errno::Errno;

use super::{Bo, OwnedHandle, PAGE_SIZE};
use crate::{
    uapi::{Argument, GemCreateFlags, GemDomain, GemUserptr, UserptrFlags},
    winsys::{Device, Error, Result, kernel::send_raw},
};

impl Bo {
    /// Makes a BO of `len` bytes of this process's anonymous memory from `address` on. GPU and CPU see the same pages.
    ///
    /// Request: AMDGPU_GEM_USERPTR, with the flags ANONONLY, REGISTER and VALIDATE, as libdrm and RADV pass them.
    ///
    /// # Errors
    ///
    /// [`Error::Misaligned`] when address or length is not a multiple of the page size. [`Error::Ioctl`]: `EPERM` for
    /// file-backed memory or a range of several areas, `EFAULT` where nothing is mapped.
    ///
    /// # Safety
    ///
    /// Whatever the GPU is made to write there replaces what the process stored, behind the compiler's back. The range
    /// must belong to the caller, hold nothing that Rust may assume unchanged while the GPU can write (no live
    /// references, no owned values), and stay mapped until the BO is dropped and the GPU is done with it.
    pub unsafe fn from_user_memory(device: &Arc<Device>, address: NonNull<u8>, len: u64) -> Result<Self> {
        let start = address.as_ptr().expose_provenance() as u64;
        for (what, value) in [("user memory address", start), ("user memory length", len)] {
            if !value.is_multiple_of(PAGE_SIZE) {
                return Err(Error::Misaligned { what, value, alignment: PAGE_SIZE });
            }
        }
        let flags = UserptrFlags::ANONONLY | UserptrFlags::REGISTER | UserptrFlags::VALIDATE;
        let mut argument = GemUserptr { addr: start, size: len, flags: flags.bits(), handle: 0 };
        // SAFETY: the kernel follows `addr` only to look the pages up; that the GPU may later write there is what the
        // caller vouches for.
        unsafe { send_raw(device.kernel(), GemUserptr::REQUEST, &mut argument) }
            .map_err(|errno| Error::Ioctl { request: GemUserptr::NAME, errno })?;
        if argument.handle == 0 {
            // Handle 0 never exists; a shim without user memory says yes and writes nothing.
            return Err(Error::Ioctl { request: GemUserptr::NAME, errno: Errno::EBADF });
        }
        Ok(Self {
            handle: Arc::new(OwnedHandle::new(device, argument.handle)),
            size: len,
            domains: GemDomain::GTT,
            flags: GemCreateFlags::NO_CPU_ACCESS,
        }
        .opened())
    }
}
