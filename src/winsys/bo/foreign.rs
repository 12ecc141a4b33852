//! BOs created from a handle that the caller made.

use super::{
    block::{Block, Bo},
    handle::SharedRoom,
};
use crate::winsys::{Device, HandleOwnership, ImportError};

impl Bo {
    /// Creates a `Bo` from a GEM handle that the caller made with its own requests on the device's open file, for drivers
    /// that move to this library object by object.
    ///
    /// Size, placement and flags come from the kernel. If the same handle is passed twice, or is also
    /// imported, the library counts it as one handle and closes it once; it never closes the handle if any call borrowed
    /// it. On error, the handle still belongs to the caller.
    ///
    /// Request: AMDGPU_GEM_OP (get creation info).
    ///
    /// # Errors
    ///
    /// * [`ImportError::Kernel`] with `ENOENT` if the file has no such handle;
    /// * [`ImportError::InvalidReply`] if the BO's size is not a positive number of pages;
    /// * [`ImportError::HostMemory`] if host memory is exhausted.
    ///
    /// # Safety
    ///
    /// The library gives safe access to a BO's memory, so no other object of the library may lead to the same memory. The
    /// handle alone does not prove that. The caller guarantees:
    ///
    /// * the handle is the caller's: GEM_CREATE, GEM_USERPTR or PRIME_FD_TO_HANDLE returned it for the device's file, and
    ///   it belongs neither to a `Bo` (clone that instead) nor to another object of this library;
    /// * the handle is not closed while a clone of the `Bo`, or an object made from it, exists; with
    ///   [`HandleOwnership::Owned`], only the library closes it;
    /// * other code that has mapped the memory expects the library to change it at any time.
    ///
    /// # Examples
    ///
    /// ```
    /// use amdgpu_winsys::{
    ///     uapi::{self, Answered, GemCreate, GemDomain},
    ///     winsys::{Bo, Device, HandleOwnership},
    /// };
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
    /// let device = Device::new(kernel)?;
    /// // A driver's own request:
    /// let mut made = GemCreate { bo_size: 8192, alignment: 0, domains: GemDomain::GTT.bits(), domain_flags: 0 };
    /// // SAFETY: it only creates an object, which is the driver's.
    /// unsafe { uapi::send_plain(device.kernel(), &mut made) }?;
    /// // SAFETY: the handle was just created, and no other code uses it.
    /// let bo = unsafe { Bo::from_handle(&device, made.answer().handle, HandleOwnership::Owned) }?;
    /// assert_eq!((bo.size(), bo.domains()), (8192, GemDomain::GTT));
    /// # Ok(()) }
    /// ```
    pub unsafe fn from_handle(device: &Device, handle: u32, ownership: HandleOwnership) -> Result<Self, ImportError> {
        let info = super::bo::create_info(device, handle)?;
        let blank = Block::blank(device)?;
        let shared = SharedRoom::new(device).map_err(|error| error.of("a BO"))?;
        let handle = device.shared_handles().adopt(shared, handle, ownership).map_err(|error| error.of("a BO"))?;
        Self::shared(blank, device, handle, info)
    }
}
