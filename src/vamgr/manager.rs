//! The VA manager, with four windows that have an index of holes and a lock each.

use std::{fmt, num::NonZeroU64, sync::Arc};

use super::{
    Fallback, HoleHistogram, LimitsError, Placement, ReplayWindows, VaError, VaLease, VaLimits, VaRange, VaRequest,
    VaWindow, WindowStats, Windows,
    arena::Arena,
    lease_cache::LeaseCache,
    request::{self, Checked},
};
use amdgpu_hw::GfxLevel;

/// A manager that leases GPU addresses.
///
/// Cloning is cheap and returns another handle to the same manager. Leases keep the required parts of the manager alive, so they
/// may outlive it. Each window has its own lock, which is held only briefly: while one search tree is descended once.
///
/// ```
/// use amdgpu_va::{VaLimits, VaManager, VaRequest};
///
/// let manager = VaManager::new(&VaLimits {
///     low_offset: 0x1_0000,
///     low_max: 0x8000_0000_0000,
///     high_offset: 0xffff_8000_0000_0000,
///     high_max: 0xffff_ffff_ffbf_0000,
///     alignment: 4096,
///     pte_fragment: 2 << 20,
///     half_for_sparse: false,
/// })?;
/// let lease = manager.allocate(VaRequest::new(5000).aligned(64 << 10))?;
/// assert_eq!(lease.start().as_u64(), 0xffff_8001_0000_0000);
/// assert_eq!(lease.len(), 8192);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct VaManager {
    shared: Arc<ManagerInner>,
}

struct ManagerInner {
    windows: Windows,
    replay: Option<ReplayWindows>,
    granule: u64,
    pte_fragment: u64,
    /// The arenas by [`VaWindow::index`]. Without a high half the last two are empty and unused.
    arenas: [Arc<Arena>; 4],
    lease_cache: LeaseCache,
}

impl VaManager {
    /// Creates a manager for all addresses within `limits`. All of them are free.
    ///
    /// # Errors
    ///
    /// [`LimitsError`] if the limits are invalid. No known kernel reports such limits.
    pub fn new(limits: &VaLimits) -> Result<Self, LimitsError> {
        Self::build(limits, |_| None)
    }

    /// Creates a manager that reserves a part of each window for address leases that can be replayed, see [`ReplayWindows`].
    ///
    /// # Errors
    ///
    /// [`LimitsError`] if the limits are invalid. No known kernel reports such limits.
    pub fn with_replay_windows(limits: &VaLimits) -> Result<Self, LimitsError> {
        Self::build(limits, |windows| Some(ReplayWindows::new(windows, limits.alignment)))
    }

    fn build(limits: &VaLimits, keep: impl Fn(&Windows) -> Option<ReplayWindows>) -> Result<Self, LimitsError> {
        let windows = Windows::new(limits)?;
        let replay = keep(&windows);
        let arenas = VaWindow::ALL.map(|window| {
            let own = windows.serving(window) == window;
            let floor = replay.map(|replay| replay.range(window).start());
            Arc::new(Arena::new(window, windows.range(window), own, limits.alignment, floor))
        });
        let VaLimits { alignment, pte_fragment, .. } = *limits;
        let shared = ManagerInner {
            windows,
            replay,
            granule: alignment,
            pte_fragment,
            arenas,
            lease_cache: LeaseCache::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Returns the parts of the windows that are reserved for replayable leases; `None` if there are none.
    pub fn replay_windows(&self) -> Option<&ReplayWindows> {
        self.shared.replay.as_ref()
    }

    /// Returns the windows that addresses are leased from.
    pub fn windows(&self) -> &Windows {
        &self.shared.windows
    }

    /// Returns the granule in bytes. The address and size of every lease are multiples of it.
    pub fn granule(&self) -> u64 {
        self.shared.granule
    }

    /// Returns the alignment in bytes for an ordinary BO of `size` bytes: `alignment`, but at least the page-table fragment if
    /// the BO is as large as one.
    pub fn fragment_alignment(&self, size: u64, alignment: u64) -> u64 {
        request::fragment_alignment(size, alignment, self.shared.pte_fragment)
    }

    /// Returns the alignment in bytes for imported user memory: at least the GART page, and the page-table fragment if the size
    /// reaches it. On GFX9 and later it is also at least the highest power of two in the size, up to 1 GiB.
    pub fn user_memory_alignment(&self, size: u64, gart_page: u64, level: GfxLevel) -> u64 {
        request::user_memory_alignment(size, gart_page, self.shared.pte_fragment, level)
    }

    /// Leases a range of addresses.
    ///
    /// The size is rounded up to the [granule](Self::granule), and the alignment is raised to the least common multiple with
    /// it, so a power of two below the granule becomes the granule. The placement is first fit from below, first fit from
    /// above, or the given address. It depends only on earlier requests: a run that repeats the requests of an earlier one gets
    /// the same addresses.
    ///
    /// Takes O(log n) in the number of holes of the window if the alignment is a power of two.
    ///
    /// # Errors
    ///
    /// * [`VaError::ZeroSize`], [`VaError::ZeroAlignment`], [`VaError::SizeOverflow`] or [`VaError::AlignmentOverflow`] if the
    ///   request is invalid.
    /// * [`VaError::Misaligned`], [`VaError::Wraps`], [`VaError::OutsideWindow`] or [`VaError::Taken`] if the fixed address is
    ///   not available.
    /// * [`VaError::NoSpace`] if no hole fits.
    /// * [`VaError::HostMemory`] if the host has no memory for the manager's data.
    ///
    /// With [`Fallback::In32Bits`], the error is still that of the requested window.
    #[inline]
    pub fn allocate(&self, request: VaRequest) -> Result<VaLease, VaError> {
        let checked = self.check(request)?;
        let window = self.shared.windows.serving(request.window);
        match request.fallback {
            Fallback::None => self.lease(window, &checked),
            Fallback::In32Bits => self.lease_or_fall_back(window, &checked),
        }
    }

    /// Leases addresses that were [freed](VaManager::free) recently, if some have the requested size and alignment; otherwise
    /// returns `None`. Applies only to requests for the lowest free addresses of the usual window, without fallback.
    #[inline]
    pub fn cached(&self, request: &VaRequest) -> Option<VaLease> {
        self.cached_size(request).and_then(|size| self.shared.lease_cache.take(size, request.alignment))
    }

    /// Returns the length of a lease for the request if such leases are cached.
    #[inline]
    fn cached_size(&self, request: &VaRequest) -> Option<u64> {
        let window = self.shared.windows.serving(request.window);
        let is_usual = matches!(request.placement, Placement::Lowest) && window == self.usual_window();
        if !is_usual || !matches!(request.fallback, Fallback::None) {
            return None;
        }
        let granule = self.shared.granule;
        // The granule is a power of two. No lease is as long as a size that overflows, and no lease is empty.
        Some(request.size.wrapping_add(granule - 1) & !(granule - 1))
    }

    /// Frees a lease. If it is from the usual window, [`VaManager::cached`] can reuse its addresses.
    #[inline]
    pub fn free(&self, lease: VaLease) {
        if self.caches(&lease) {
            self.shared.lease_cache.put(lease);
        }
    }

    /// Returns `true` if the addresses are from the usual window.
    #[inline]
    fn caches(&self, lease: &VaLease) -> bool {
        let arena = self.arena(self.usual_window());
        Arc::ptr_eq(arena, lease.home()) && arena.is_below_floor(lease.range())
    }

    #[cfg(test)]
    pub(super) fn shared_lease_cache(&self) -> &LeaseCache {
        &self.shared.lease_cache
    }

    /// Returns the window of almost all leases.
    #[inline]
    fn usual_window(&self) -> VaWindow {
        self.shared.windows.serving(VaWindow::High)
    }

    #[inline]
    fn lease(&self, window: VaWindow, request: &Checked) -> Result<VaLease, VaError> {
        let arena = self.arena(window);
        let range = match arena.take(request) {
            Err(_) if self.shared.lease_cache.drain() => arena.take(request),
            outcome => outcome,
        };
        range.map(|range| VaLease::new(Arc::clone(arena), range))
    }

    fn lease_or_fall_back(&self, window: VaWindow, request: &Checked) -> Result<VaLease, VaError> {
        let (outcome, fallback) = (self.lease(window, request), window.in_32_bits());
        match outcome {
            Err(first) if first.depends_on_window() && fallback != window => {
                self.lease(fallback, request).map_err(|_| first)
            }
            outcome => outcome,
        }
    }

    /// Returns the current statistics of a window. If the device has no high half, its windows have the statistics of the low
    /// ones.
    pub fn stats(&self, window: VaWindow) -> WindowStats {
        self.shared.lease_cache.drain();
        self.arena(self.shared.windows.serving(window)).stats()
    }

    /// Returns the sizes of a window's holes. Takes O(n) in the number of holes, under the window's lock, so it is meant for
    /// reports and not for every frame.
    pub fn hole_histogram(&self, window: VaWindow) -> HoleHistogram {
        self.shared.lease_cache.drain();
        self.arena(self.shared.windows.serving(window)).hole_histogram()
    }

    /// Returns the total number of leased bytes in all windows.
    pub fn leased_bytes(&self) -> u64 {
        self.shared.lease_cache.drain();
        self.shared.arenas.iter().map(|arena| arena.stats().leased).sum()
    }

    fn arena(&self, window: VaWindow) -> &Arc<Arena> {
        &self.shared.arenas[window.index()]
    }

    #[inline]
    fn check(&self, request: VaRequest) -> Result<Checked, VaError> {
        let VaRequest { size, alignment, placement, .. } = request;
        let granule = self.shared.granule;
        if size == 0 {
            return Err(VaError::ZeroSize);
        }
        // The granule is a power of two.
        let Some(raised) = size.checked_add(granule - 1) else {
            return Err(VaError::SizeOverflow { size, granule });
        };
        let size = raised & !(granule - 1);
        let requested = NonZeroU64::new(alignment).ok_or(VaError::ZeroAlignment)?;
        // An alignment that is not a multiple of the granule lacks factors of two only.
        let missing = granule.trailing_zeros().saturating_sub(requested.trailing_zeros());
        let alignment = 1u64.checked_shl(missing).and_then(|factor| requested.checked_mul(NonZeroU64::new(factor)?));
        let alignment = alignment.ok_or(VaError::AlignmentOverflow { alignment: requested.get(), granule })?;
        if let Placement::At(start) = placement {
            if !start.is_aligned(alignment.get()) {
                return Err(VaError::Misaligned { start, alignment: alignment.get() });
            }
            if VaRange::new(start, size).is_none() {
                return Err(VaError::Wraps { start, size });
            }
        }
        Ok(Checked { size, alignment, placement })
    }
}

impl fmt::Debug for VaManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VaManager").field("windows", &self.shared.windows).finish_non_exhaustive()
    }
}
