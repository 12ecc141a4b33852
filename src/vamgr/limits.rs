//! The limits of the address space that the kernel reports, and their errors.

use std::fmt;

use amdgpu_hw::GfxLevel;

/// The limits of the GPU's address space as the kernel's `drm_amdgpu_info_device` reports them, in bytes.
///
/// ```
/// use amdgpu_va::{VaLimits, VaManager, VaWindow};
///
/// // GFX8: no high half, and the low one ends at 2^40.
/// let manager = VaManager::new(&VaLimits {
///     low_offset: 0x20_0000,
///     low_max: 1 << 40,
///     high_offset: 0,
///     high_max: 0,
///     alignment: 4096,
///     pte_fragment: 2 << 20,
///     half_for_sparse: false,
/// })?;
/// assert!(!manager.windows().has_high());
/// assert_eq!(manager.windows().serving(VaWindow::High), VaWindow::Low);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VaLimits {
    /// The first usable address of the low half (`virtual_address_offset`).
    pub low_offset: u64,
    /// The end of the low half, exclusive (`virtual_address_max`).
    pub low_max: u64,
    /// The first address of the high half (`high_va_offset`); 0 on GFX6 to GFX8, which have no high half.
    pub high_offset: u64,
    /// The end of the high half, exclusive (`high_va_max`); 0 if there is no high half.
    pub high_max: u64,
    /// The alignment in bytes of the address and size of every binding (`virtual_address_alignment`): a power of two, at least
    /// 4096.
    pub alignment: u64,
    /// The size of a page-table fragment in bytes (`pte_fragment_size`). One TLB entry covers a binding of this size and alignment.
    /// A power of two.
    pub pte_fragment: u64,
    /// `true` if half of the topmost half is reserved for sparse buffers, see [`VaLimits::halves_for_sparse`].
    pub half_for_sparse: bool,
}

impl VaLimits {
    /// Returns `true` if a chip needs half of its address space for sparse buffers.
    ///
    /// On these chips a scalar load from an unbound page of a partially resident buffer does not return zeros as required. A
    /// sparse buffer therefore has two addresses that differ in one bit, the [control bit](super::Windows::prt_control_bit). At
    /// the address with the bit set, pages are partially resident. At the address with the bit clear, the unbound pages are
    /// bound to a buffer of zeros, and shaders clear the bit in the addresses of scalar loads. No other allocation may have the
    /// bit set.
    ///
    /// All generations except GFX9 need it. Source: RADV of Mesa 26.2.6 with libdrm 2.4.134, as captured for twelve devices.
    /// Older versions (Mesa 25.0, libdrm 2.4.124) do not reserve it, and a driver without sparse buffers need not do so either.
    pub const fn halves_for_sparse(level: GfxLevel) -> bool {
        !matches!(level, GfxLevel::Gfx9)
    }
}

/// The half of the address space that a [`LimitsError`] refers to.
///
/// ```
/// use amdgpu_va::{Half, LimitsError, VaLimits, VaManager};
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
/// let error = VaManager::new(&VaLimits { high_max: 0x1000, ..limits }).unwrap_err();
/// let LimitsError::Empty { half, .. } = error else { return Err(error.into()) };
/// assert_eq!(half, Half::High); // which of the two the numbers are about
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// The low half, from [`VaLimits::low_offset`] to [`VaLimits::low_max`].
    Low,
    /// The high half, from [`VaLimits::high_offset`] to [`VaLimits::high_max`].
    High,
}

impl fmt::Display for Half {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Low) { "low" } else { "high" })
    }
}

/// An error in the limits of the address space. No known kernel reports such limits.
///
/// ```
/// use amdgpu_va::{LimitsError, VaLimits, VaManager};
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
/// let refused = |limits| VaManager::new(&limits).unwrap_err();
/// let error = refused(VaLimits { alignment: 100, ..limits });
/// assert_eq!(error, LimitsError::Alignment { alignment: 100 });
/// let error = refused(VaLimits { pte_fragment: 3, ..limits });
/// assert_eq!(error, LimitsError::Fragment { pte_fragment: 3 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitsError {
    /// The alignment is not a power of two, or is less than a GPU page.
    #[error("address alignment {alignment:#x} is no power of two of 4096 or more")]
    Alignment {
        /// The value of [`VaLimits::alignment`].
        alignment: u64,
    },
    /// The fragment size is not a power of two.
    #[error("page-table fragment {pte_fragment:#x} is no power of two")]
    Fragment {
        /// The value of [`VaLimits::pte_fragment`].
        pte_fragment: u64,
    },
    /// A half has no addresses.
    #[error("the {half} half is empty or reversed: {offset:#x}..{max:#x}")]
    Empty {
        /// The half that is empty.
        half: Half,
        /// The first address of the half.
        offset: u64,
        /// The end of the half, exclusive.
        max: u64,
    },
    /// A half extends beyond its part of the address space, into the non-canonical addresses.
    #[error("the {half} half {offset:#x}..{max:#x} has addresses outside {first:#x}..={last:#x}")]
    Outside {
        /// The half with invalid bounds.
        half: Half,
        /// The reported first address of the half.
        offset: u64,
        /// The reported end of the half, exclusive.
        max: u64,
        /// The first canonical address of the half.
        first: u64,
        /// The last canonical address of the half.
        last: u64,
    },
    /// A bound of a half is not a multiple of the alignment.
    #[error("the {half} half {offset:#x}..{max:#x} is not aligned to {alignment:#x}")]
    Unaligned {
        /// The half with an unaligned bound.
        half: Half,
        /// The reported first address of the half.
        offset: u64,
        /// The reported end of the half, exclusive.
        max: u64,
        /// The value of [`VaLimits::alignment`].
        alignment: u64,
    },
}
