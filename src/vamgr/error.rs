//! Errors of the VA manager.

use super::{GpuVa, VaRange, VaWindow};

/// An error of [`VaManager::allocate`](super::VaManager::allocate). Sizes and alignments are in bytes.
///
/// RADV reports these errors as `VK_ERROR_OUT_OF_DEVICE_MEMORY`, or as `VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS` if a fixed
/// address was requested. [`VaError::is_out_of_space`] and [`VaError::is_about_the_address`] distinguish the two cases. The
/// other variants are errors of the caller, except [`VaError::HostMemory`] (`VK_ERROR_OUT_OF_HOST_MEMORY`).
///
/// Source: Mesa 25.0.7, `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_create`.
///
/// ```
/// use amdgpu_va::{VaError, VaRequest};
///
/// # let limits = amdgpu_va::VaLimits {
/// #     low_offset: 0x1_0000,
/// #     low_max: 0x8000_0000_0000,
/// #     high_offset: 0xffff_8000_0000_0000,
/// #     high_max: 0xffff_ffff_ffbf_0000,
/// #     alignment: 4096,
/// #     pte_fragment: 2 << 20,
/// #     half_for_sparse: false,
/// # };
/// # let manager = amdgpu_va::VaManager::new(&limits)?;
/// assert_eq!(manager.allocate(VaRequest::new(0)).unwrap_err(), VaError::ZeroSize);
/// let lease = manager.allocate(VaRequest::new(8192))?;
/// let error = manager.allocate(VaRequest::new(4096).at(lease.start())).unwrap_err();
/// assert_eq!(error, VaError::Taken { start: lease.start(), size: 4096, taken: lease.range() });
/// assert!(error.is_about_the_address() && !error.is_out_of_space()); // another address will do
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VaError {
    /// The size is zero. (libdrm returns an empty lease.)
    #[error("a lease of zero bytes was requested")]
    ZeroSize,
    /// The alignment is zero.
    #[error("a lease aligned to zero bytes was requested")]
    ZeroAlignment,
    /// The size, rounded up to the granule, exceeds 64 bits.
    #[error("{size:#x} bytes cannot be rounded up to {granule:#x}")]
    SizeOverflow {
        /// The requested size.
        size: u64,
        /// The granule, to which every size is rounded up.
        granule: u64,
    },
    /// The least common multiple of alignment and granule exceeds 64 bits.
    #[error("alignment {alignment:#x} has no common multiple with {granule:#x} in 64 bits")]
    AlignmentOverflow {
        /// The requested alignment.
        alignment: u64,
        /// The granule, of which every address is a multiple.
        granule: u64,
    },
    /// The fixed address is not a multiple of the alignment.
    #[error("address {start} is not aligned to {alignment:#x}")]
    Misaligned {
        /// The requested address.
        start: GpuVa,
        /// The required alignment.
        alignment: u64,
    },
    /// The range at the fixed address overflows, or extends into the gap between the halves.
    #[error("{size:#x} bytes from {start} leave their half of the address space")]
    Wraps {
        /// The requested address.
        start: GpuVa,
        /// The requested size, rounded up.
        size: u64,
    },
    /// The range at the fixed address is not completely inside the window.
    #[error("{size:#x} bytes from {start} are not inside the {window} window {range:?}")]
    OutsideWindow {
        /// The requested address.
        start: GpuVa,
        /// The requested size, rounded up.
        size: u64,
        /// The requested window.
        window: VaWindow,
        /// The addresses of the window.
        range: VaRange,
    },
    /// A part of the range at the fixed address is already leased.
    #[error("{size:#x} bytes from {start} overlap the leases in {taken:?}")]
    Taken {
        /// The requested address.
        start: GpuVa,
        /// The requested size, rounded up.
        size: u64,
        /// The lowest completely leased range that overlaps the requested one. It can consist of several leases.
        taken: VaRange,
    },
    /// No hole of the window fits.
    #[error(
        "no hole for {size:#x} bytes aligned to {alignment:#x} in the {window} window: \
         {free:#x} bytes are free, {largest:#x} in one piece"
    )]
    NoSpace {
        /// The requested size, rounded up.
        size: u64,
        /// The requested alignment, raised to a multiple of the granule.
        alignment: u64,
        /// The requested window.
        window: VaWindow,
        /// Total size of the holes of the window.
        free: u64,
        /// Size of the largest hole, which may be large enough but not aligned.
        largest: u64,
    },
    /// The host has no memory for the manager's data.
    #[error("out of host memory for {live} leases in the {window} window")]
    HostMemory {
        /// The requested window.
        window: VaWindow,
        /// Number of live leases in the window.
        live: u64,
    },
}

impl VaError {
    /// Returns `true` if the window is full or too fragmented, so that freeing leases may help.
    pub const fn is_out_of_space(&self) -> bool {
        matches!(self, Self::NoSpace { .. })
    }

    /// Returns `true` if only the fixed address is unavailable, so that another address may be available.
    pub const fn is_about_the_address(&self) -> bool {
        matches!(self, Self::Misaligned { .. } | Self::Wraps { .. } | Self::OutsideWindow { .. } | Self::Taken { .. })
    }

    /// Returns `true` if the request may succeed in another window.
    pub(super) const fn depends_on_window(&self) -> bool {
        matches!(self, Self::NoSpace { .. } | Self::Taken { .. } | Self::OutsideWindow { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_could_help() {
        let (start, size, window) = (GpuVa::NULL, 4096, VaWindow::Low);
        let range = VaRange::of_48_bits(0, 4096);
        let no_space = VaError::NoSpace { size, alignment: 1, window, free: 0, largest: 0 };
        for (error, space, address, other_window) in [
            (VaError::ZeroSize, false, false, false),
            (VaError::HostMemory { window, live: 1 }, false, false, false),
            (VaError::Misaligned { start, alignment: 8 }, false, true, false),
            (VaError::Wraps { start, size }, false, true, false),
            (VaError::Taken { start, size, taken: range }, false, true, true),
            (VaError::OutsideWindow { start, size, window, range }, false, true, true),
            (no_space, true, false, true),
        ] {
            let said = (error.is_out_of_space(), error.is_about_the_address(), error.depends_on_window());
            assert_eq!(said, (space, address, other_window), "{error}");
        }
    }
}
