//! The VA manager: four windows, each an index of holes behind a lock of its own.

use std::{fmt, num::NonZeroU64, sync::Arc};

use parking_lot::Mutex;

use super::{
    Fallback, GpuVa, HoleHistogram, Holes, LimitsError, Placement, ReplayWindows, Step, TakeError, VaError, VaLease,
    VaLimits, VaRange, VaRequest, VaWindow, Windows, request, resting::Resting,
};
use amdgpu_hw::GfxLevel;

/// Hands out leases of GPU addresses.
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
    resting: Resting,
}

/// One window's addresses, shared by the manager and the leases of the window.
pub(super) struct Arena {
    window: VaWindow,
    range: VaRange,
    /// Exponent of the granule: an address is a cell shifted by it.
    shift: u32,
    /// Cells from here on are for replayable leases only; `None` if both kinds share the window.
    floor: Option<u64>,
    holes: Mutex<Holes>,
}

/// What a window is used for at the moment. Bytes where not said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowStats {
    /// How many leases there are.
    pub leases: u64,
    /// Bytes they hold.
    pub leased: u64,
    /// Bytes free.
    pub free: u64,
    /// How many holes the free bytes are in.
    pub holes: u64,
    /// The largest hole.
    pub largest_hole: u64,
    /// Host memory that the books take.
    pub host_memory: usize,
}

/// A request as the index takes it, all checked.
struct Checked {
    /// Bytes, a multiple of the granule.
    size: u64,
    /// Bytes, a multiple of the granule.
    alignment: NonZeroU64,
    placement: Placement,
}

impl VaManager {
    /// A manager of all addresses that `limits` allow, none of them leased.
    ///
    /// # Errors
    ///
    /// [`LimitsError`] for limits that no kernel reports.
    pub fn new(limits: &VaLimits) -> Result<Self, LimitsError> {
        Self::build(limits, |_| None)
    }

    /// As [`VaManager::new`], with a part of each window kept for replayable leases: see [`ReplayWindows`].
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
        let shared = Shared { windows, replay, granule: alignment, pte_fragment, arenas, resting: Resting::default() };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The parts of the windows that are kept for replayable leases, if any are.
    pub fn replay_windows(&self) -> Option<&ReplayWindows> {
        self.shared.replay.as_ref()
    }

    /// The windows leases are taken from.
    pub fn windows(&self) -> &Windows {
        &self.shared.windows
    }

    /// What every lease's address and size are multiples of.
    pub fn granule(&self) -> u64 {
        self.shared.granule
    }

    /// `alignment`, raised to the page-table fragment for a `size` that fills one: the alignment of ordinary BOs.
    pub fn fragment_alignment(&self, size: u64, alignment: u64) -> u64 {
        request::fragment_alignment(size, alignment, self.shared.pte_fragment)
    }

    /// The alignment of imported user memory: besides the fragment rule, and from GFX9 on, the highest power of two in
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
    ///   cannot be had.
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

    /// Addresses that were [given back](VaManager::give) lately, if some are as many and aligned as wanted. Whoever wants
    /// the lowest that are free in the usual window may as well have those.
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
        self.shared.resting.take(size, request.alignment)
    }

    /// Gives a lease back, for [`VaManager::rested`] to find.
    #[inline]
    pub fn give(&self, lease: VaLease) {
        let arena = self.arena(self.usual_window());
        if arena.made(&lease) && arena.is_below_floor(lease.range()) {
            self.shared.resting.put(lease);
        }
    }

    #[cfg(test)]
    pub(super) fn shared_resting(&self) -> &Resting {
        &self.shared.resting
    }

    /// Where almost everything lives.
    #[inline]
    fn usual_window(&self) -> VaWindow {
        self.shared.windows.serving(VaWindow::High)
    }

    #[inline]
    fn lease(&self, window: VaWindow, request: &Checked) -> Result<VaLease, VaError> {
        match self.arena(window).lease(request) {
            Err(_) if self.shared.resting.wake() => self.arena(window).lease(request),
            outcome => outcome,
        }
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

    /// What a window is used for at the moment. On a device without a high half, its windows are those of the low one.
    pub fn stats(&self, window: VaWindow) -> WindowStats {
        self.shared.resting.wake();
        self.arena(self.shared.windows.serving(window)).stats()
    }

    /// The sizes of a window's holes. O(n) in the holes, under the window's lock: for reports, not for every frame.
    pub fn hole_histogram(&self, window: VaWindow) -> HoleHistogram {
        self.shared.resting.wake();
        self.arena(self.shared.windows.serving(window)).hole_histogram()
    }

    /// Bytes leased in all windows together.
    pub fn leased_bytes(&self) -> u64 {
        self.shared.resting.wake();
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

impl Arena {
    /// The arena of a window; one without addresses unless they are the window's `own`.
    fn new(window: VaWindow, range: VaRange, own: bool, granule: u64, floor: Option<GpuVa>) -> Self {
        let shift = granule.trailing_zeros();
        let start = range.start().as_u64() >> shift;
        let cells = if own { range.len() >> shift } else { 0 };
        // A window is inside a half of 2^47 bytes and a cell is 4096 at least, so the index spans it.
        let holes = Holes::new(start..start + cells).unwrap_or_else(|bad| unreachable!("{window} window: {bad}"));
        let floor = floor.map(|floor| floor.as_u64() >> shift);
        Self { window, range, shift, floor, holes: Mutex::new(holes) }
    }

    /// Whether a lease is of this arena.
    #[inline]
    fn made(self: &Arc<Self>, lease: &VaLease) -> bool {
        Arc::ptr_eq(self, lease.home())
    }

    /// Whether none of the addresses is kept for replayable leases.
    #[inline]
    fn is_below_floor(&self, range: VaRange) -> bool {
        let last = (range.start().as_u64() + (range.len() - 1)) >> self.shift;
        self.floor.is_none_or(|floor| last < floor)
    }

    #[inline]
    fn lease(self: &Arc<Self>, request: &Checked) -> Result<VaLease, VaError> {
        let len = request.size >> self.shift;
        let step = || Step::new(NonZeroU64::new(request.alignment.get() >> self.shift).unwrap_or(NonZeroU64::MIN));
        let mut holes = self.holes.lock();
        let taken = match request.placement {
            // The lowest fit is the only one that can be below the floor, and the highest the only one above it.
            Placement::Lowest => holes
                .take_lowest(len, step())
                .and_then(|cell| self.keep(&mut holes, cell, len, |floor| cell + len <= floor)),
            Placement::Highest => {
                holes.take_highest(len, step()).and_then(|cell| self.keep(&mut holes, cell, len, |floor| cell >= floor))
            }
            Placement::At(start) => {
                let cell = start.as_u64() >> self.shift;
                holes.take_at(cell, len).map(|()| cell)
            }
        };
        match taken {
            Ok(start) => {
                drop(holes);
                Ok(VaLease::new(Arc::clone(self), self.range_of(start, len)))
            }
            Err(error) => Err(self.refusal(error, request, &holes)),
        }
    }

    /// `cell` if it is on the right side of the floor; otherwise its cells go back.
    #[inline]
    fn keep(&self, holes: &mut Holes, cell: u64, len: u64, is_right: impl Fn(u64) -> bool) -> Result<u64, TakeError> {
        if self.floor.is_none_or(is_right) {
            return Ok(cell);
        }
        let given = holes.give(cell, len);
        debug_assert_eq!(given, Ok(()), "these cells were taken just now");
        Err(TakeError::NoFit)
    }

    #[cold]
    fn refusal(&self, error: TakeError, request: &Checked, holes: &Holes) -> VaError {
        let (size, window) = (request.size, self.window);
        match (error, request.placement) {
            (TakeError::Taken { from, to }, Placement::At(start)) => {
                VaError::Taken { start, size, taken: self.range_of(from, to - from) }
            }
            (TakeError::Outside, Placement::At(start)) => {
                VaError::OutsideWindow { start, size, window, range: self.range }
            }
            (TakeError::Empty, _) => VaError::ZeroSize,
            (TakeError::HostMemory, _) => VaError::HostMemory { window, live: holes.live() },
            _ => VaError::NoSpace {
                size,
                alignment: request.alignment.get(),
                window,
                free: holes.free() << self.shift,
                largest: holes.largest() << self.shift,
            },
        }
    }

    /// The addresses of cells of the window.
    fn range_of(&self, start: u64, len: u64) -> VaRange {
        // Cells of a window are addresses of its half, whose bits above 47 repeat bit 47.
        VaRange::of_48_bits(start << self.shift, len << self.shift)
    }

    pub(super) const fn window(&self) -> VaWindow {
        self.window
    }

    /// Takes a lease's addresses back. Needs no memory, and cannot fail: a lease holds what it took, and only once.
    #[inline]
    pub(super) fn give_back(&self, range: VaRange) {
        let given = self.holes.lock().give(range.start().as_u64() >> self.shift, range.len() >> self.shift);
        debug_assert_eq!(given, Ok(()), "{range:?} was leased from the {} window", self.window);
    }

    fn hole_histogram(&self) -> HoleHistogram {
        self.holes.lock().iter().map(|hole| hole.cells() << self.shift).collect()
    }

    fn stats(&self) -> WindowStats {
        let holes = self.holes.lock();
        let span = holes.span();
        WindowStats {
            leases: holes.live(),
            leased: (span.end - span.start - holes.free()) << self.shift,
            free: holes.free() << self.shift,
            holes: holes.count(),
            largest_hole: holes.largest() << self.shift,
            host_memory: holes.host_bytes(),
        }
    }
}
