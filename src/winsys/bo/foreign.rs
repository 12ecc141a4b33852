//! BOs whose handle the caller made.

use super::{bo::Bo, handle::SharedRoom};
use crate::winsys::{Device, HandleOwnership, Result};

impl Bo {
    /// Takes a GEM handle of the device's open file that the caller made with requests of its own, as a driver has it that
    /// moves to this library object by object.
    ///
    /// Size, placement and flags are those the kernel reports. The same number taken twice, or taken and imported, is one
    /// handle for the library: it closes it once, and never if it was borrowed once. After an error the handle is the
    /// caller's as before.
    ///
    /// Request: AMDGPU_GEM_OP (get creation info).
    ///
    /// # Errors
    ///
    /// [`Error::Bo`](crate::winsys::Error::Bo) with `ENOENT` for a number that the file has not;
    /// [`Error::Absurd`](crate::winsys::Error::Absurd): a BO without bytes.
    ///
    /// # Safety
    ///
    /// The library gives safe access to a BO's memory, and relies on it that a handle which it made leads to memory that
    /// no other of its objects leads to. A number alone does not show that. So:
    ///
    /// * the handle is the caller's: made by GEM_CREATE, GEM_USERPTR or PRIME_FD_TO_HANDLE on the device's file, and not that
    ///   of a `Bo` (which is cloned instead) or of another object of this library;
    /// * nothing closes it while a clone of the `Bo`, or anything made of it, lives; with [`HandleOwnership::Owned`] nothing
    ///   but the library closes it at all;
    /// * what other code has mapped of it is memory that the library may change at any time.
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
    /// // What a driver did before it came to this library:
    /// let mut made = GemCreate { bo_size: 8192, alignment: 0, domains: GemDomain::GTT.bits(), domain_flags: 0 };
    /// uapi::send(device.kernel(), &mut made)?;
    /// // SAFETY: the handle was made just now, and is not used otherwise.
    /// let bo = unsafe { Bo::from_handle(&device, made.answer().handle, HandleOwnership::Owned) }?;
    /// assert_eq!((bo.size(), bo.domains()), (8192, GemDomain::GTT));
    /// # Ok(()) }
    /// ```
    pub unsafe fn from_handle(device: &Device, handle: u32, ownership: HandleOwnership) -> Result<Self> {
        let info = super::bo::create_info(device, handle)?;
        let room = Self::room()?;
        let shared = SharedRoom::new(device).map_err(|error| error.of("a BO"))?;
        let handle = device.shared_handles().adopt(shared, handle, ownership).map_err(|error| error.of("a BO"))?;
        Self::shared(room, device, handle, info)
    }
}
