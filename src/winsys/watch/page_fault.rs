//! The last VM fault that the kernel recorded.

use crate::vamgr::GpuVa;

/// The last VM fault of a file's address space, as [`Device::page_fault`](crate::winsys::Device::page_fault) returns it.
///
/// ```
/// use amdgpu_winsys::{vamgr::GpuVa, winsys::{FaultAccess, FaultStatus, GfxLevel, PageFault}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// assert_eq!(device.page_fault()?, None); // no fault so far
/// let fault = PageFault { page: GpuVa::new(0x1000_0000)?, status: 1 << 18, hub: 0 };
/// let status = FaultStatus::new(fault.status, GfxLevel::Gfx10_3);
/// assert_eq!((status.access, fault.page.as_u64()), (FaultAccess::Write, 0x1000_0000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFault {
    /// The faulting page, in canonical form.
    pub page: GpuVa,
    /// The raw fault status register.
    pub status: u32,
    /// The hub that reported the fault: type in bits 7..0 (0 graphics, 1 and 2 multimedia), index in bits 15..8.
    pub hub: u32,
}
