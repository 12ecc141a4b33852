//! Requests to the VA manager.

use std::num::NonZeroU64;

use super::{GpuVa, VaWindow};
use amdgpu_hw::GfxLevel;

/// The placement of a lease in its window.
///
/// ```
/// use amdgpu_va::VaRequest;
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
/// let lowest = manager.allocate(VaRequest::new(4096))?; // Placement::Lowest
/// let highest = manager.allocate(VaRequest::new(4096).highest())?; // Placement::Highest
/// assert!(lowest.start() < highest.start());
/// let captured = highest.start();
/// drop(highest);
/// assert_eq!(manager.allocate(VaRequest::new(4096).at(captured))?.start(), captured); // Placement::At
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// At the lowest address that fits, for ordinary leases.
    Lowest,
    /// At the highest address that fits, for leases whose address will be requested again in a later run
    /// (`VkBufferDeviceAddressCreateInfo` with capture and replay), because ordinary leases are unlikely to be there. A manager
    /// with [`ReplayWindows`](super::ReplayWindows) never places ordinary leases there.
    Highest,
    /// At this address, or not at all.
    At(GpuVa),
}

/// The action to take if the requested window has no room.
///
/// ```
/// use amdgpu_va::{VaRequest, VaWindow};
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
/// let everything = manager.stats(VaWindow::High).largest_hole;
/// let _everything = manager.allocate(VaRequest::new(everything))?;
/// let request = VaRequest::new(4096);
/// assert!(manager.allocate(request).is_err()); // Fallback::None
/// let lease = manager.allocate(request.or_in_32_bits())?; // Fallback::In32Bits
/// assert_eq!(lease.window(), VaWindow::High32);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// Returns an error if the requested window has no room.
    None,
    /// Tries the 32-bit window of the same half, as libdrm always does. That window is optional here because it has only 4 GiB,
    /// for allocations that require 32-bit addresses.
    In32Bits,
}

/// A request to lease a range of GPU addresses. All sizes are in bytes.
///
/// ```
/// use amdgpu_va::{VaRequest, VaWindow};
///
/// let shader_code = VaRequest::new(64 << 10).aligned(256).within(VaWindow::High32);
/// let replayable = VaRequest::new(1 << 20).aligned(2 << 20).highest();
/// # let _ = (shader_code, replayable);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a request does nothing until it is allocated"]
pub struct VaRequest {
    pub(super) size: u64,
    pub(super) alignment: u64,
    pub(super) window: VaWindow,
    pub(super) placement: Placement,
    pub(super) fallback: Fallback,
}

impl VaRequest {
    /// Creates a request for `size` bytes at the lowest free address of the high window, without fallback. RADV places
    /// everything in this window if it can.
    pub const fn new(size: u64) -> Self {
        let (placement, fallback) = (Placement::Lowest, Fallback::None);
        Self { size, alignment: 1, window: VaWindow::High, placement, fallback }
    }

    /// Returns the request with a start that is a multiple of `alignment`, which need not be a power of two. The manager raises
    /// it to the least common multiple with its granule.
    pub const fn aligned(self, alignment: u64) -> Self {
        Self { alignment, ..self }
    }

    /// Returns the request for a lease in `window`. On a device without a high half, the window of the low half is used
    /// instead.
    pub const fn within(self, window: VaWindow) -> Self {
        Self { window, ..self }
    }

    /// Returns the request with [`Placement::Highest`].
    pub const fn highest(self) -> Self {
        Self { placement: Placement::Highest, ..self }
    }

    /// Returns the request with [`Placement::At`] the address `start`.
    pub const fn at(self, start: GpuVa) -> Self {
        Self { placement: Placement::At(start), ..self }
    }

    /// Returns `true` if the request is for a fixed address.
    pub const fn is_fixed(&self) -> bool {
        matches!(self.placement, Placement::At(_))
    }

    /// Returns the request with [`Fallback::In32Bits`].
    pub const fn or_in_32_bits(self) -> Self {
        Self { fallback: Fallback::In32Bits, ..self }
    }
}

/// A validated request for an index of holes.
pub(super) struct Checked {
    /// Size in bytes, a multiple of the granule.
    pub(super) size: u64,
    /// Alignment in bytes, a multiple of the granule.
    pub(super) alignment: NonZeroU64,
    pub(super) placement: Placement,
}

/// Returns `alignment`, raised to the fragment if `size` is at least a fragment. The page-table entries can then be marked as a
/// fragment, which one TLB entry covers.
///
/// Source: Mesa 25.0.7, `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_create`.
pub(super) const fn fragment_alignment(size: u64, alignment: u64, pte_fragment: u64) -> u64 {
    if size >= pte_fragment && alignment < pte_fragment { pte_fragment } else { alignment }
}

/// Base-2 logarithm of the largest alignment that follows from the size alone: 1 GiB.
const LARGEST_MAGNITUDE: u32 = 30;

/// Returns the alignment of user memory: at least the GART page, the fragment by the fragment rule, and on GFX9 and later the
/// highest power of two in the size, because larger fragments are useful there.
///
/// The alignment wastes addresses, in RADV as many as the import has: 5 GiB are aligned to 4 GiB. Here it is limited to 1 GiB,
/// which an entry of the page directory above the fragment covers.
///
/// Source: Mesa 25.0.7, `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_bo.c`, `radv_amdgpu_get_optimal_va_alignment`.
pub(super) fn user_memory_alignment(size: u64, gart_page: u64, pte_fragment: u64, level: GfxLevel) -> u64 {
    let alignment = fragment_alignment(size, gart_page, pte_fragment);
    let magnitude = match size.checked_ilog2() {
        Some(bit) if level >= GfxLevel::Gfx9 => 1 << (if bit < LARGEST_MAGNITUDE { bit } else { LARGEST_MAGNITUDE }),
        _ => 1,
    };
    if magnitude > alignment { magnitude } else { alignment }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;

    #[test]
    fn only_what_fills_a_fragment_is_aligned_to_it() {
        for (size, alignment, want) in
            [(2 * MIB - 1, 256 * KIB, 256 * KIB), (2 * MIB, 256 * KIB, 2 * MIB), (GIB, 4 * MIB, 4 * MIB), (0, 1, 1)]
        {
            assert_eq!(fragment_alignment(size, alignment, 2 * MIB), want, "{size:#x} at {alignment:#x}");
        }
    }

    /// RADV's rule (W-45) wastes as many addresses as the import has, and leaves a hole of that size before it.
    #[test]
    fn user_memory_is_aligned_to_its_magnitude_from_gfx9_on_up_to_1_gib() {
        for (level, size, want) in [
            (GfxLevel::Gfx8, 64 * KIB, 4 * KIB),
            (GfxLevel::Gfx8, 3 * MIB, 2 * MIB),
            (GfxLevel::Gfx9, 64 * KIB, 64 * KIB),
            (GfxLevel::Gfx10_3, 3 * MIB, 2 * MIB),
            (GfxLevel::Gfx12, 3 * GIB / 2, GIB),
            (GfxLevel::Gfx12, 5 * GIB, GIB),
            (GfxLevel::Gfx12, 1, 4 * KIB),
            (GfxLevel::Gfx12, 0, 4 * KIB),
        ] {
            assert_eq!(user_memory_alignment(size, 4 * KIB, 2 * MIB, level), want, "{level}: {size:#x}");
        }
    }
}
