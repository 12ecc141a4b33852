//! The four address windows, computed from the limits that the kernel reports.

use std::fmt;

use super::{GpuVa, Half, LimitsError, VaLimits};

const GIB_4: u64 = 1 << 32;
/// The end of the low half.
const LOW_END: u64 = 1 << 47;
/// The first address of the high half.
const HIGH_START: u64 = 0xffff_8000_0000_0000;
/// Size of the range that every VM keeps free at its bottom, so that accesses through null pointers fault:
/// `AMDGPU_VA_RESERVED_BOTTOM` in Linux 6.12, `amdgpu_vm.h`. Older kernels report 2 MiB as the first address.
const RESERVED_BOTTOM: u64 = 0x1_0000;
/// Size of a GPU page, the smallest alignment.
const GPU_PAGE: u64 = 4096;

/// A window of GPU addresses that leases are allocated from.
///
/// The division into windows follows libdrm 2.4.134, `amdgpu/amdgpu_vamgr.c`, `amdgpu_va_manager_init2`.
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
/// let shader = manager.allocate(VaRequest::new(4096).within(VaWindow::High32))?;
/// assert_eq!(shader.window(), VaWindow::High32);
/// let upper_half = u64::from(manager.windows().address32_hi());
/// assert_eq!(shader.start().as_u64() >> 32, upper_half); // a shader needs the lower 32 bits only
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VaWindow {
    /// The first 4 GiB of the low half, for 32-bit addresses.
    Low32,
    /// The rest of the low half.
    Low,
    /// The first 4 GiB of the high half, for shaders and descriptors. The upper 32 bits of its addresses are all the same
    /// ([`Windows::address32_hi`]), so a pointer needs only 32 bits.
    High32,
    /// The rest of the high half, for almost all allocations.
    High,
}

impl VaWindow {
    /// All windows in ascending order of addresses.
    pub const ALL: [Self; 4] = [Self::Low32, Self::Low, Self::High32, Self::High];

    /// Returns the 32-bit window of the same half.
    #[must_use]
    pub const fn in_32_bits(self) -> Self {
        match self {
            Self::Low32 | Self::Low => Self::Low32,
            Self::High32 | Self::High => Self::High32,
        }
    }

    /// Returns the corresponding window of the low half.
    #[must_use]
    pub const fn in_low_half(self) -> Self {
        match self {
            Self::Low32 | Self::High32 => Self::Low32,
            Self::Low | Self::High => Self::Low,
        }
    }

    /// Returns an index from 0 to 3, in ascending order of addresses.
    pub(super) const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for VaWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Low32 => "low 32-bit",
            Self::Low => "low",
            Self::High32 => "high 32-bit",
            Self::High => "high",
        })
    }
}

/// A range of GPU addresses `[start, start + len)` within one half of the address space.
///
/// ```
/// use amdgpu_va::{GpuVa, VaRange};
///
/// let start = GpuVa::new(0x10_0000)?;
/// let range = VaRange::new(start, 0x2000).ok_or("leaves the half")?;
/// assert!(range.contains(start) && !range.contains(GpuVa::new(range.end())?));
/// assert_eq!(VaRange::new(start, 1 << 47), None); // into the hole between the halves
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct VaRange {
    start: GpuVa,
    len: u64,
}

impl VaRange {
    /// Returns the range of `len` bytes at `start`; `None` if it extends beyond the half of the address space that contains
    /// `start`. Its last byte may be the last of the half.
    pub const fn new(start: GpuVa, len: u64) -> Option<Self> {
        match len.checked_sub(1) {
            Some(last) if start.checked_add(last).is_none() => None,
            _ => Some(Self { start, len }),
        }
    }

    /// Creates a range from a 48-bit start address, by extending bit 47. The caller ensures that it stays within its half.
    pub const fn of_48_bits(start: u64, len: u64) -> Self {
        Self { start: GpuVa::from_48_bits(start), len }
    }

    /// Returns the first address of the range.
    pub const fn start(self) -> GpuVa {
        self.start
    }

    /// Returns the end of the range, one past its last address. It is not a [`GpuVa`], because the end of the low half is not
    /// canonical. For a range that ends at 2^64 it is 0; no window does, because the kernel reserves the top of the address
    /// space.
    pub const fn end(self) -> u64 {
        self.start.as_u64().wrapping_add(self.len)
    }

    /// Returns the length in bytes.
    pub const fn len(self) -> u64 {
        self.len
    }

    /// Returns `true` if the range is empty.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Returns `true` if `va` is in the range.
    pub const fn contains(self, va: GpuVa) -> bool {
        va.as_u64().wrapping_sub(self.start.as_u64()) < self.len
    }

    /// Returns `true` if `other` is not empty and completely inside the range.
    pub const fn includes(self, other: Self) -> bool {
        let offset = other.start.as_u64().wrapping_sub(self.start.as_u64());
        other.len > 0 && offset < self.len && other.len <= self.len - offset
    }
}

impl fmt::Debug for VaRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}..{:#x}", self.start, self.end())
    }
}

/// The address windows of a device.
///
/// A device without a high half has two windows. Queries for a window of the high half then return the corresponding window of the
/// low half.
///
/// ```
/// use amdgpu_va::{VaWindow, Windows};
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
/// let windows = Windows::new(&limits)?;
/// let (narrow, wide) = (windows.range(VaWindow::High32), windows.range(VaWindow::High));
/// assert_eq!(narrow.end(), wide.start().as_u64()); // side by side
/// assert_eq!(windows.containing(narrow.start()), Some(VaWindow::High32));
/// assert_eq!(windows.address32_hi(), 0xffff_8000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    ranges: [VaRange; 4],
    has_high: bool,
    prt_control_bit: Option<u32>,
}

impl Windows {
    /// Computes the windows as libdrm does, except for three corrections:
    ///
    /// * if the low half has less than 4 GiB, [`VaWindow::Low`] is empty; libdrm extends it up to 4 GiB, where the GPU has no
    ///   page tables;
    /// * the lowest 64 KiB, which the kernel refuses to bind, are in no window, regardless of the limits;
    /// * a half that ends at a power of two is divided in the middle for sparse buffers; libdrm's arithmetic leaves none of it.
    ///   No kernel reports such a half, because the kernel's own areas are at the top.
    ///
    /// # Errors
    ///
    /// [`LimitsError`], with the values, if the limits contradict each other or the hardware.
    pub fn new(limits: &VaLimits) -> Result<Self, LimitsError> {
        let VaLimits { alignment, pte_fragment, .. } = *limits;
        if !alignment.is_power_of_two() || alignment < GPU_PAGE {
            return Err(LimitsError::Alignment { alignment });
        }
        if !pte_fragment.is_power_of_two() {
            return Err(LimitsError::Fragment { pte_fragment });
        }
        let low_offset = limits.low_offset.max(RESERVED_BOTTOM);
        check(Half::Low, low_offset, limits.low_max, alignment)?;
        let has_high = (limits.high_offset, limits.high_max) != (0, 0);
        if has_high {
            check(Half::High, limits.high_offset, limits.high_max, alignment)?;
        }
        let split = |offset, max| if limits.half_for_sparse { split_for_sparse(offset, max) } else { (max, None) };
        let (low_max, low_bit) = if has_high { (limits.low_max, None) } else { split(low_offset, limits.low_max) };
        let [low32, low] = divide(low_offset, low_max);
        let ([high32, high], bit) = if has_high {
            let (high_max, bit) = split(limits.high_offset, limits.high_max);
            (divide(limits.high_offset, high_max), bit)
        } else {
            ([low32, low], low_bit)
        };
        Ok(Self { ranges: [low32, low, high32, high], has_high, prt_control_bit: bit })
    }

    /// Returns the addresses of a window.
    pub const fn range(&self, window: VaWindow) -> VaRange {
        self.ranges[window.index()]
    }

    /// Returns `true` if the GPU has addresses in the high half, as on GFX9 and later.
    pub const fn has_high(&self) -> bool {
        self.has_high
    }

    /// Returns the window that serves requests for `window`: itself, or the corresponding one of the low half if there is no
    /// high half.
    #[must_use]
    pub const fn serving(&self, window: VaWindow) -> VaWindow {
        if self.has_high { window } else { window.in_low_half() }
    }

    /// Returns the window that contains `va`; `None` if no window does.
    pub fn containing(&self, va: GpuVa) -> Option<VaWindow> {
        VaWindow::ALL.into_iter().find(|&window| self.range(window).contains(va))
    }

    /// Returns the upper 32 bits of every address in the topmost 32-bit window, which shaders combine with a 32-bit pointer.
    ///
    /// Source: libdrm 2.4.134, `amdgpu/amdgpu_device.c`, `amdgpu_query_sw_info`, `amdgpu_sw_info_address32_hi`.
    pub const fn address32_hi(&self) -> u32 {
        (self.range(VaWindow::High32).end().wrapping_sub(1) >> 32) as u32
    }

    /// Returns the address bit that distinguishes the two views of a sparse buffer: the highest bit in which the addresses of
    /// the topmost half differ. The windows end below the addresses that have the bit set. Returns `None` if no space is
    /// reserved for sparse buffers.
    ///
    /// Source: libdrm 2.4.134, `amdgpu/amdgpu_vamgr.c`, `amdgpu_va_manager_init2`. Mesa 26.2.6 calls the bit
    /// `address_prt_wa_control_bit`.
    pub const fn prt_control_bit(&self) -> Option<u32> {
        self.prt_control_bit
    }
}

/// Checks that a half is not empty, is aligned, and is inside its part of the address space.
fn check(half: Half, offset: u64, max: u64, alignment: u64) -> Result<(), LimitsError> {
    let (first, last) = match half {
        Half::Low => (0, LOW_END - 1),
        Half::High => (HIGH_START, u64::MAX),
    };
    if offset >= max {
        return Err(LimitsError::Empty { half, offset, max });
    }
    if offset < first || max - 1 > last {
        return Err(LimitsError::Outside { half, offset, max, first, last });
    }
    if !offset.is_multiple_of(alignment) || !max.is_multiple_of(alignment) {
        return Err(LimitsError::Unaligned { half, offset, max, alignment });
    }
    Ok(())
}

/// Returns the addresses of a half up to the next multiple of 4 GiB, and the rest.
fn divide(offset: u64, max: u64) -> [VaRange; 2] {
    let middle = (offset & !(GIB_4 - 1)).saturating_add(GIB_4).clamp(offset, max.max(offset));
    // Both bounds passed `check`, and every address between two addresses of a half is in the half.
    let range = |start: u64, end: u64| VaRange {
        start: GpuVa::from_48_bits(if start < end { start } else { offset }),
        len: end.saturating_sub(start),
    };
    [range(offset, middle), range(middle, max)]
}

/// Returns the highest bit in which the addresses from `offset` to `max` differ (the control bit), and the end of the addresses
/// that stay below `max` when that bit is set.
fn split_for_sparse(offset: u64, max: u64) -> (u64, Option<u32>) {
    match (offset ^ (max - 1)).checked_ilog2() {
        Some(bit) => ((((max - 1) & !(1 << bit)) + 1).max(offset), Some(bit)),
        None => (max, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A GFX10 GPU on Linux 6.12.
    const LIMITS: VaLimits = VaLimits {
        low_offset: 0x1_0000,
        low_max: LOW_END,
        high_offset: HIGH_START,
        high_max: 0xffff_ffff_ffbf_0000,
        alignment: 4096,
        pte_fragment: 2 << 20,
        half_for_sparse: false,
    };

    /// Returns the start and end of every window.
    fn bounds(limits: &VaLimits) -> [(u64, u64); 4] {
        let windows = Windows::new(limits).unwrap();
        VaWindow::ALL.map(|window| windows.range(window)).map(|range| (range.start().as_u64(), range.end()))
    }

    #[test]
    fn a_low_half_below_4_gib_leaves_the_low_window_empty() {
        let limits = VaLimits { low_max: 1 << 30, ..LIMITS };
        let windows = Windows::new(&limits).unwrap();
        assert!(windows.range(VaWindow::Low).is_empty());
        assert_eq!(windows.range(VaWindow::Low32).end(), 1 << 30);
        let alone = VaLimits { high_offset: 0, high_max: 0, ..limits };
        assert!(Windows::new(&alone).unwrap().range(VaWindow::High).is_empty());
    }

    #[test]
    fn the_lowest_64_kib_are_in_no_window() {
        assert_eq!(bounds(&VaLimits { low_offset: 0, ..LIMITS })[0], (0x1_0000, GIB_4));
        assert_eq!(bounds(&VaLimits { low_offset: 0x20_0000, ..LIMITS })[0], (0x20_0000, GIB_4));
    }

    #[test]
    fn windows_are_disjoint_ascending_and_in_their_half() {
        for half_for_sparse in [false, true] {
            let bounds = bounds(&VaLimits { half_for_sparse, ..LIMITS });
            assert!(bounds.is_sorted_by(|a, b| a.1 <= b.0), "{bounds:x?}");
            assert!(bounds[1].1 <= LOW_END && bounds[2].0 == HIGH_START);
        }
    }

    #[test]
    fn the_half_for_sparse_buffers_has_the_control_bit_set_and_no_window_has() {
        for (offset, max) in
            [(0x1_0000, 1u64 << 36), (0x20_0000, (1 << 36) - 0x41_0000), (0x1_0000, (1 << 33) - 0x41_0000)]
        {
            let limits = VaLimits {
                low_offset: offset,
                low_max: max,
                high_offset: 0,
                high_max: 0,
                half_for_sparse: true,
                ..LIMITS
            };
            let windows = Windows::new(&limits).unwrap();
            let bit = 1 << windows.prt_control_bit().unwrap();
            for window in VaWindow::ALL {
                let range = windows.range(window);
                assert!(range.is_empty() || (range.end() - 1) & bit == 0, "{range:?} and {bit:#x}");
                assert!(range.is_empty() || (range.start().as_u64() | bit) < max);
            }
            let usable: u64 = [VaWindow::Low32, VaWindow::Low].map(|window| windows.range(window).len()).iter().sum();
            assert!(usable >= (max - offset) / 2 - (max - offset) / 1000, "{usable:#x} of {max:#x}");
        }
    }

    #[test]
    fn absurd_limits_are_refused_with_the_numbers() {
        use LimitsError::*;
        let (low, high) = (Half::Low, Half::High);
        let refused = |limits| Windows::new(&limits).unwrap_err();
        for alignment in [0, 1, 2048, 4097, 12288] {
            assert_eq!(refused(VaLimits { alignment, ..LIMITS }), Alignment { alignment });
        }
        assert_eq!(refused(VaLimits { pte_fragment: 0, ..LIMITS }), Fragment { pte_fragment: 0 });
        for max in [0, 0x1_0000] {
            assert_eq!(refused(VaLimits { low_max: max, ..LIMITS }), Empty { half: low, offset: 0x1_0000, max });
        }
        let max = LOW_END + 4096;
        let outside = Outside { half: low, offset: 0x1_0000, max, first: 0, last: LOW_END - 1 };
        assert_eq!(refused(VaLimits { low_max: max, ..LIMITS }), outside);
        let (offset, max) = (HIGH_START - 4096, LIMITS.high_max);
        let outside = Outside { half: high, offset, max, first: HIGH_START, last: u64::MAX };
        assert_eq!(refused(VaLimits { high_offset: offset, ..LIMITS }), outside);
        assert_eq!(
            refused(VaLimits { high_max: HIGH_START, ..LIMITS }),
            Empty { half: high, offset: HIGH_START, max: HIGH_START }
        );
        let max = (1 << 40) + 5;
        let unaligned = Unaligned { half: low, offset: 0x1_0000, max, alignment: 4096 };
        assert_eq!(refused(VaLimits { low_max: max, ..LIMITS }), unaligned);
        assert_eq!(unaligned.to_string(), "the low half 0x10000..0x10000000005 is not aligned to 0x1000");
    }

    #[test]
    fn a_range_never_leaves_its_half() {
        let top = GpuVa::new(LOW_END - 4096).unwrap();
        let range = VaRange::new(top, 4096).unwrap();
        assert_eq!((range.end(), VaRange::new(top, 4097)), (LOW_END, None));
        assert!(range.contains(top) && !range.contains(GpuVa::new(HIGH_START).unwrap()));
        assert!(range.includes(range) && !range.includes(VaRange::new(top, 0).unwrap()));
    }
}
