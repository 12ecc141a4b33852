//! BOs made from pages of this process.

use std::ptr::NonNull;

use amdgpu_hw::num::wide;

use super::block::{Block, Bo};
use crate::{
    uapi::{Argument, GemCreateFlags, GemDomain, GemUserptr, UserptrFlags},
    winsys::{
        BoRuleError, BrokenBoRule, Device, KernelError, Misaligned, PAGE_SIZE, UserMemoryError, answers,
        kernel::send_raw,
    },
};

/// A range of this process's memory for [`Bo::from_user_memory`].
///
/// ```
/// use amdgpu_winsys::winsys::{Bo, UserMemory};
/// use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, munmap};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let (len, protection) = (4096.try_into()?, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE);
/// // SAFETY: the kernel picks free addresses, so no mapping is replaced.
/// let pages = unsafe { mmap_anonymous(None, len, protection, MapFlags::MAP_PRIVATE) }?;
/// // SAFETY: no other code uses the pages, and they outlive the BO.
/// let bo = unsafe { Bo::from_user_memory(&device, UserMemory::new(pages.cast(), 4096)) }?;
/// assert_eq!(bo.size(), 4096);
/// drop(bo);
/// // SAFETY: the pages are no longer in use.
/// unsafe { munmap(pages, 4096) }?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserMemory {
    /// Address of the first byte, which must be page-aligned.
    pub address: NonNull<u8>,
    /// Length in bytes, a multiple of the page size.
    pub len: u64,
    /// `true` if the GPU only reads the pages. Required for pages that this process cannot write.
    pub is_read_only: bool,
    /// `true` if the pages may belong to a mapped file or span several memory areas. libdrm and RADV never set this,
    /// because the kernel might have to write the GPU's data back to the file.
    pub may_be_file: bool,
}

impl UserMemory {
    /// Describes `len` bytes of anonymous memory that the GPU may read and write; libdrm and RADV use the same flags.
    pub const fn new(address: NonNull<u8>, len: u64) -> Self {
        Self { address, len, is_read_only: false, may_be_file: false }
    }

    /// Returns the flags of the request. VALIDATE looks the pages up now instead of at the first submission. REGISTER
    /// tracks changes of the CPU's page tables; without it, the kernel allows no writes.
    fn flags(&self) -> UserptrFlags {
        let mut flags = UserptrFlags::REGISTER | UserptrFlags::VALIDATE;
        flags.set(UserptrFlags::ANONONLY, !self.may_be_file);
        flags.set(UserptrFlags::READONLY, self.is_read_only);
        flags
    }
}

impl Bo {
    /// Creates a BO from memory of this process. GPU and CPU see the same pages.
    ///
    /// Request: AMDGPU_GEM_USERPTR. On `EAGAIN` (the pages were changing) the request is made again a few times.
    ///
    /// # Errors
    ///
    /// * [`UserMemoryError::Misaligned`] if address or length is not a multiple of the page size;
    /// * [`UserMemoryError::Rule`] if the length is 0;
    /// * [`UserMemoryError::Kernel`] if the kernel refuses the request: `EPERM` for pages of a file, of several
    ///   areas or without write permission, `EFAULT` for unmapped addresses;
    /// * [`UserMemoryError::HostMemory`] if host memory is exhausted.
    ///
    /// # Safety
    ///
    /// The GPU's writes change the memory without the compiler's knowledge. The range must belong to the caller, hold
    /// nothing that Rust may assume unchanged while the GPU can write (no live references, no owned values), and stay
    /// mapped until the BO is dropped and the GPU no longer uses it.
    pub unsafe fn from_user_memory(device: &Device, memory: UserMemory) -> Result<Self, UserMemoryError> {
        let (start, len) = (wide(memory.address.as_ptr().expose_provenance()), memory.len);
        for (what, value) in [("user memory address", start), ("user memory length", len)] {
            if !value.is_multiple_of(PAGE_SIZE) {
                return Err(Misaligned { what, value, alignment: PAGE_SIZE }.into());
            }
        }
        let (domains, flags) = (GemDomain::GTT, GemCreateFlags::NO_CPU_ACCESS);
        if len == 0 {
            return Err(BrokenBoRule { size: len, domains, flags, rule: BoRuleError::ZeroSize }.into());
        }
        let mut blank = Block::blank(device)?;
        let mut argument = GemUserptr { addr: start, size: len, flags: memory.flags().bits(), handle: 0 };
        // SAFETY: the kernel follows `addr` only to look the pages up. The caller guarantees that the GPU may later write there. The
        // request makes a new object and changes no other.
        let asked = unsafe { send_raw(device.kernel(), GemUserptr::REQUEST, &mut argument) };
        let handle = asked.and_then(|()| answers::handle(argument.handle));
        let handle = handle.map_err(|errno| KernelError::new(GemUserptr::NAME, errno))?;
        blank.own(handle, len, domains, flags);
        blank.bo().announce();
        Ok(Self(blank.shareable()))
    }
}
