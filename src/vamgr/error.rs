//! Errors of VA leases.

use super::{GpuVa, VaRange, VaWindow};

/// The reason why [`VaManager::allocate`](super::VaManager::allocate) gave no lease. Sizes and alignments are in bytes.
///
/// RADV makes `VK_ERROR_OUT_OF_DEVICE_MEMORY` of every refusal, and `VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS` of those
/// of a fixed address. [`VaError::is_out_of_space`] and [`VaError::is_about_the_address`] distinguish the two; the other
/// variants are mistakes of the caller, save [`VaError::HostMemory`] (`VK_ERROR_OUT_OF_HOST_MEMORY`).
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
    /// No bytes were asked for. (libdrm hands out a lease of nothing.)
    #[error("a lease of zero bytes was requested")]
    ZeroSize,
    /// Nothing is a multiple of zero.
    #[error("a lease aligned to zero bytes was requested")]
    ZeroAlignment,
    /// The size, rounded up to the granule, exceeds 64 bits.
    #[error("{size:#x} bytes cannot be rounded up to {granule:#x}")]
    SizeOverflow {
        /// The size asked for.
        size: u64,
        /// Granule to which every size is rounded up.
        granule: u64,
    },
    /// The least common multiple of alignment and granule exceeds 64 bits.
    #[error("alignment {alignment:#x} has no common multiple with {granule:#x} in 64 bits")]
    AlignmentOverflow {
        /// The alignment asked for.
        alignment: u64,
        /// Granule of which every address is a multiple.
        granule: u64,
    },
    /// The fixed address is not a multiple of the alignment.
    #[error("address {start} is not aligned to {alignment:#x}")]
    Misaligned {
        /// The address asked for.
        start: GpuVa,
        /// Required alignment.
        alignment: u64,
    },
    /// The fixed address plus the size wraps around, or runs into the hole between the halves.
    #[error("{size:#x} bytes from {start} leave their half of the address space")]
    Wraps {
        /// The address asked for.
        start: GpuVa,
        /// The size asked for, rounded up.
        size: u64,
    },
    /// The range at the fixed address is not all inside the window.
    #[error("{size:#x} bytes from {start} are not inside the {window} window {range:?}")]
    OutsideWindow {
        /// The address asked for.
        start: GpuVa,
        /// The size asked for, rounded up.
        size: u64,
        /// The window asked.
        window: VaWindow,
        /// Its addresses.
        range: VaRange,
    },
    /// Some of the range at the fixed address is leased.
    #[error("{size:#x} bytes from {start} overlap the leases in {taken:?}")]
    Taken {
        /// The address asked for.
        start: GpuVa,
        /// The size asked for, rounded up.
        size: u64,
        /// The lowest stretch without a free byte that meets the range. It may hold several leases.
        taken: VaRange,
    },
    /// No hole of the window has room.
    #[error(
        "no hole for {size:#x} bytes aligned to {alignment:#x} in the {window} window: \
         {free:#x} bytes are free, {largest:#x} in one piece"
    )]
    NoSpace {
        /// The size asked for, rounded up.
        size: u64,
        /// The alignment asked for, raised to the granule.
        alignment: u64,
        /// The window asked first.
        window: VaWindow,
        /// Free bytes in it.
        free: u64,
        /// Bytes of its largest hole. It may be large enough and lie badly.
        largest: u64,
    },
    /// The host has no memory to keep the books.
    #[error("out of host memory for {live} leases in the {window} window")]
    HostMemory {
        /// The window asked.
        window: VaWindow,
        /// Live leases in it.
        live: u64,
    },
}

impl VaError {
    /// Returns `true` if the window is full, or too fragmented: freeing something may help.
    pub const fn is_out_of_space(&self) -> bool {
        matches!(self, Self::NoSpace { .. })
    }

    /// Returns `true` if only the fixed address is unavailable; another one could be leased.
    pub const fn is_about_the_address(&self) -> bool {
        matches!(self, Self::Misaligned { .. } | Self::Wraps { .. } | Self::OutsideWindow { .. } | Self::Taken { .. })
    }

    /// Returns `true` if another window may do better.
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
