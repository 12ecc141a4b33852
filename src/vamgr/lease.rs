//! Leases of addresses.

use std::{fmt, sync::Arc};

use super::{GpuVa, VaRange, VaWindow, arena::Arena};

/// The exclusive ownership of a range of GPU addresses. A lease by itself binds nothing.
///
/// Dropping a lease frees its addresses, which cannot fail and allocates no memory. Bindings at the addresses must be removed
/// first. A lease needs neither a device nor the manager that created it.
///
/// # Invariants
///
/// `range` is not empty, starts and ends at multiples of the manager's granule, is inside the window, and is disjoint from all
/// other live leases of the window.
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
/// let lease = manager.allocate(VaRequest::new(5000))?;
/// let (start, len) = (lease.start(), lease.len());
/// assert_eq!((len, manager.leased_bytes()), (8192, 8192));
/// drop(lease); // the addresses are free again
/// assert_eq!((manager.leased_bytes(), manager.allocate(VaRequest::new(5000))?.start()), (0, start));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "dropping a lease gives its addresses back"]
pub struct VaLease {
    range: VaRange,
    home: Arc<Arena>,
}

impl VaLease {
    #[inline]
    pub(super) const fn new(home: Arc<Arena>, range: VaRange) -> Self {
        Self { range, home }
    }

    #[inline]
    pub(super) const fn home(&self) -> &Arc<Arena> {
        &self.home
    }

    /// Returns the leased range of addresses.
    pub const fn range(&self) -> VaRange {
        self.range
    }

    /// Returns the first address.
    #[inline]
    pub const fn start(&self) -> GpuVa {
        self.range.start()
    }

    /// Returns the length in bytes: the requested size, rounded up to the granule.
    #[expect(clippy::len_without_is_empty, reason = "a lease is never empty")]
    #[inline]
    pub const fn len(&self) -> u64 {
        self.range.len()
    }

    /// Returns the window that contains the addresses. With a fallback, it may differ from the requested one.
    pub fn window(&self) -> VaWindow {
        self.home.window()
    }
}

impl Drop for VaLease {
    #[inline]
    fn drop(&mut self) {
        self.home.give_back(self.range);
    }
}

impl fmt::Debug for VaLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VaLease({:?})", self.range)
    }
}
