//! The VA manager: four windows, each an index of holes behind a lock of its own.

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
/// Cloning is cheap and gives another handle to the same addresses. Leases keep what they need of the manager alive,
/// so they may outlive it and everything else. Each window has a lock of its own, held for one walk down a tree.
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
    shared: Arc<Shared>,
}

struct Shared {
    windows: Windows,
    replay: Option<ReplayWindows>,
    granule: u64,
    pte_fragment: u64,
    /// By [`VaWindow::index`]. Without a high half the last two are empty and never asked.
    arenas: [Arc<Arena>; 4],
    lease_cache: LeaseCache,
}

impl VaManager {
    /// Creates a manager of all addresses that `limits` allow, none of them leased.
    ///
    /// # Errors
    ///
    /// [`LimitsError`] for limits that no kernel reports.
    pub fn new(limits: &VaLimits) -> Result<Self, LimitsError> {
        Self::build(limits, |_| None)
    }

    /// Creates a manager that keeps a part of each window for replayable leases: see [`ReplayWindows`].
    ///
    /// # Errors
    ///
    /// [`LimitsError`] for limits that no kernel reports.
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
        let shared =
            Shared { windows, replay, granule: alignment, pte_fragment, arenas, lease_cache: LeaseCache::default() };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Returns the parts of the windows that are kept for replayable leases, if any are.
    pub fn replay_windows(&self) -> Option<&ReplayWindows> {
        self.shared.replay.as_ref()
    }

    /// Returns the windows leases are taken from.
    pub fn windows(&self) -> &Windows {
        &self.shared.windows
    }

    /// Returns the granule, bytes: every lease's address and size are multiples of it.
    pub fn granule(&self) -> u64 {
        self.shared.granule
    }

    /// Returns `alignment`, raised to the page-table fragment for a `size` that fills one: the alignment of ordinary BOs.
    pub fn fragment_alignment(&self, size: u64, alignment: u64) -> u64 {
        request::fragment_alignment(size, alignment, self.shared.pte_fragment)
    }

    /// Returns the alignment of imported user memory: besides the fragment rule, and from GFX9 on, the highest power of two in
    /// the size, at most 1 GiB.
    pub fn user_memory_alignment(&self, size: u64, gart_page: u64, level: GfxLevel) -> u64 {
        request::user_memory_alignment(size, gart_page, self.shared.pte_fragment, level)
    }

    /// Leases addresses.
    ///
    /// The size is rounded up to the [granule](Self::granule), the alignment raised to the least common multiple with
    /// it; a power of two below the granule becomes the granule. The placement is first fit from below, first fit from
    /// above, or the given address, and the same for the same history: a later run that repeats the requests of an
    /// earlier one gets its addresses.
    ///
    /// O(log n) in the holes of the window, for alignments that are powers of two.
    ///
    /// # Errors
    ///
    /// * [`VaError::ZeroSize`], [`VaError::ZeroAlignment`], [`VaError::SizeOverflow`], [`VaError::AlignmentOverflow`]:
    ///   the request makes no sense.
    /// * [`VaError::Misaligned`], [`VaError::Wraps`], [`VaError::OutsideWindow`], [`VaError::Taken`]: the fixed address
    ///   is not available.
    /// * [`VaError::NoSpace`]: no hole fits.
    /// * [`VaError::HostMemory`].
    ///
    /// With [`Fallback::In32Bits`] the error is still that of the window asked first.
    #[inline]
    pub fn allocate(&self, request: VaRequest) -> Result<VaLease, VaError> {
        let checked = self.check(request)?;
        let window = self.shared.windows.serving(request.window);
        match request.fallback {
            Fallback::None => self.lease(window, &checked),
            Fallback::In32Bits => self.lease_or_fall_back(window, &checked),
        }
    }

    /// Leases addresses that were [given back](VaManager::free) lately, if some have the wanted size and alignment. They serve
    /// requests for the lowest free addresses of the usual window.
    #[inline]
    pub fn rested(&self, request: &VaRequest) -> Option<VaLease> {
        let window = self.shared.windows.serving(request.window);
        let is_usual = matches!(request.placement, Placement::Lowest) && window == self.usual_window();
        if !is_usual || !matches!(request.fallback, Fallback::None) {
            return None;
        }
        let granule = self.shared.granule;
        // The granule is a power of two. No lease is as long as a size that wraps, and none is empty.
        let size = request.size.wrapping_add(granule - 1) & !(granule - 1);
        self.shared.lease_cache.take(size, request.alignment)
    }

    /// Gives a lease back, for [`VaManager::rested`] to find.
    #[inline]
    pub fn free(&self, lease: VaLease) {
        let arena = self.arena(self.usual_window());
        if Arc::ptr_eq(arena, lease.home()) && arena.is_below_floor(lease.range()) {
            self.shared.lease_cache.put(lease);
        }
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

    /// Returns a window's current statistics. On a device without a high half, its windows are those of the low one.
    pub fn stats(&self, window: VaWindow) -> WindowStats {
        self.shared.lease_cache.drain();
        self.arena(self.shared.windows.serving(window)).stats()
    }

    /// Returns the sizes of a window's holes. O(n) in the holes, under the window's lock: for reports, not for every frame.
    pub fn hole_histogram(&self, window: VaWindow) -> HoleHistogram {
        self.shared.lease_cache.drain();
        self.arena(self.shared.windows.serving(window)).hole_histogram()
    }

    /// Returns the number of bytes leased in all windows together.
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
        // What the alignment lacks to be a multiple of the granule is factors of two.
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
