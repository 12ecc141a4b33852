//! The addresses of one window: an index of holes and its lock.

use std::num::NonZeroU64;

use parking_lot::Mutex;

use super::{
    GpuVa, HoleHistogram, Holes, Placement, Step, TakeError, VaError, VaRange, VaWindow, WindowStats, request::Checked,
};

/// The addresses of one window, shared by the manager and the leases of the window.
pub(super) struct Arena {
    window: VaWindow,
    range: VaRange,
    /// Base-2 logarithm of the granule. A cell is an address shifted right by it.
    shift: u32,
    /// The first cell that is reserved for replayable leases; `None` if all leases share the window.
    floor: Option<u64>,
    holes: Mutex<Holes>,
}

impl Arena {
    /// Creates the arena of a window. It has no addresses unless `own` is set, because another window then serves its requests.
    pub(super) fn new(window: VaWindow, range: VaRange, own: bool, granule: u64, floor: Option<GpuVa>) -> Self {
        let shift = granule.trailing_zeros();
        let start = range.start().as_u64() >> shift;
        let cells = if own { range.len() >> shift } else { 0 };
        // A window is inside a half of 2^47 bytes and a cell has at least 4096 bytes, so an index can span it.
        let holes = Holes::new(start..start + cells).unwrap_or_else(|bad| unreachable!("{window} window: {bad}"));
        let floor = floor.map(|floor| floor.as_u64() >> shift);
        Self { window, range, shift, floor, holes: Mutex::new(holes) }
    }

    /// Returns `true` if no address of the range is reserved for replayable leases.
    #[inline]
    pub(super) fn is_below_floor(&self, range: VaRange) -> bool {
        let last = (range.start().as_u64() + (range.len() - 1)) >> self.shift;
        self.floor.is_none_or(|floor| last < floor)
    }

    /// Takes the addresses for a request, until they are [given back](Self::give_back).
    #[inline]
    pub(super) fn take(&self, request: &Checked) -> Result<VaRange, VaError> {
        let len = request.size >> self.shift;
        let step = || Step::new(NonZeroU64::new(request.alignment.get() >> self.shift).unwrap_or(NonZeroU64::MIN));
        let mut holes = self.holes.lock();
        let taken = match request.placement {
            // If any fit is below the floor, the lowest one is; if any is above it, the highest one is.
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
                Ok(self.range_of(start, len))
            }
            Err(error) => Err(self.refusal(error, request, &holes)),
        }
    }

    /// Returns `cell` if it is on the correct side of the floor; otherwise frees its cells.
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

    /// Returns the addresses of cells of the window.
    fn range_of(&self, start: u64, len: u64) -> VaRange {
        // Cells of a window are addresses of its half, whose bits above 47 repeat bit 47.
        VaRange::of_48_bits(start << self.shift, len << self.shift)
    }

    pub(super) const fn window(&self) -> VaWindow {
        self.window
    }

    /// Frees the addresses of a lease. Allocates no memory, and cannot fail because a lease owns its addresses and frees them
    /// only once.
    #[inline]
    pub(super) fn give_back(&self, range: VaRange) {
        let given = self.holes.lock().give(range.start().as_u64() >> self.shift, range.len() >> self.shift);
        debug_assert_eq!(given, Ok(()), "{range:?} was leased from the {} window", self.window);
    }

    pub(super) fn hole_histogram(&self) -> HoleHistogram {
        self.holes.lock().iter().map(|hole| hole.cells() << self.shift).collect()
    }

    pub(super) fn stats(&self) -> WindowStats {
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
