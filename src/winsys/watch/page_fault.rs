//! The page fault that the kernel remembers.

use crate::vamgr::GpuVa;

/// The last page fault of a file's address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFault {
    /// The faulting page, in canonical form.
    pub page: GpuVa,
    /// The raw fault status register.
    pub status: u32,
    /// The hub that faulted: type in bits 7..0 (0 graphics, 1 and 2 multimedia), index in bits 15..8.
    pub hub: u32,
}
