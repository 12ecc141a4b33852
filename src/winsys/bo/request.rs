//! Requests of GEM_CREATE.

use crate::uapi::{GemCreateFlags, GemDomain};

/// The first alignment that the kernel misinterprets, because it stores alignments in a signed 32-bit integer.
pub(super) const ALIGNMENT_LIMIT: u64 = 1 << 31;

/// The arguments of GEM_CREATE.
///
/// ```
/// use amdgpu_winsys::{uapi::{GemCreateFlags, GemDomain}, winsys::{Bo, BoRequest}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let request = BoRequest { size: 5000, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::empty() };
/// request.check(device.info())?; // breaks no rule, but the kernel may have no room
/// assert_eq!(Bo::create(&device, request)?.size(), 8192);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoRequest {
    /// Size in bytes, at least 1; the kernel rounds it up to a page.
    pub size: u64,
    /// Physical alignment in bytes: 0, or a power of two below 2 GiB.
    pub alignment: u64,
    /// Domains in which the kernel may place the BO.
    pub domains: GemDomain,
    /// Flags for the creation of the BO.
    pub flags: GemCreateFlags,
}
