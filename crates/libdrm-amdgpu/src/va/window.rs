//! One window of addresses.

use std::num::NonZeroU64;

use amdgpu_winsys::{
    vamgr::{Holes, Step},
    winsys::Errno,
};
use parking_lot::{Mutex, MutexGuard};

use super::exact::{ExactHoles, Hole};

/// A window of addresses with its own lock.
pub(super) struct Window {
    /// The end of the window, exclusive.
    end: u64,
    /// The alignment of all addresses and sizes.
    granule: u32,
    space: Mutex<Space>,
}

struct Space {
    holes: Index,
    /// Number of ranges that are out.
    live: usize,
}

/// The holes of a window. Unusual requests change the index for good.
#[expect(clippy::large_enum_variant, reason = "a device has four, nearly always of the large kind")]
enum Index {
    /// In units of the granule, for usual requests.
    Cells(Holes),
    Exact(ExactHoles),
}

/// A request for addresses.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) size: u64,
    pub(super) alignment: u64,
    /// The address that it must be; 0 for any.
    pub(super) required: u64,
    pub(super) from_top: bool,
}

impl Window {
    /// Creates a window with all addresses free. The bounds are as little checked as libdrm's: a window that ends before it starts
    /// has the addresses up to the end of 64 bits and on from zero.
    pub(super) fn new(start: u64, end: u64, granule: u32) -> Self {
        let exact = || Index::Exact(ExactHoles(vec![Hole { offset: start, size: end.wrapping_sub(start) }]));
        let page = u64::from(granule);
        let is_regular = granule.is_power_of_two() && start < end && start.is_multiple_of(page);
        let cells = is_regular.then(|| Holes::new(start / page..end / page).ok()).flatten();
        let holes = cells.map_or_else(exact, Index::Cells);
        Self { end, granule, space: Mutex::new(Space { holes, live: 0 }) }
    }

    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Rounds a size up to the granule, as libdrm does: near the end of 64 bits it becomes 0.
    pub(super) fn rounded(&self, size: u64) -> u64 {
        let mask = u64::from(self.granule.wrapping_sub(1));
        size.wrapping_add(mask) & !mask
    }

    fn lock(&self) -> MutexGuard<'_, Space> {
        self.space.lock()
    }

    /// Takes addresses.
    ///
    /// # Errors
    ///
    /// EINVAL if the required address is not aligned; ENOMEM if there is no room.
    pub(super) fn take(&self, wanted: Wanted) -> Result<u64, Errno> {
        let granule = u64::from(self.granule);
        let (size, alignment) = (self.rounded(wanted.size), wanted.alignment.max(granule));
        // A manager without an alignment, and a request without one: a division by zero in libdrm.
        let alignment = NonZeroU64::new(alignment).ok_or(Errno::EINVAL)?;
        if !wanted.required.is_multiple_of(alignment.get()) {
            return Err(Errno::EINVAL);
        }
        let mut space = self.lock();
        let is_usual = size > 0 && granule > 0 && alignment.get().is_multiple_of(granule);
        if !is_usual {
            space.make_exact(granule, self.end);
        }
        let taken = match &mut space.holes {
            Index::Exact(holes) => holes.take(size, alignment.get(), wanted.required, wanted.from_top),
            Index::Cells(holes) => {
                let (cells, step) = (size / granule, Step::new(NonZeroU64::MIN.max(alignment)));
                let step = NonZeroU64::new(alignment.get() / granule).map_or(step, Step::new);
                let cell = match wanted.required / granule {
                    0 if wanted.from_top => holes.take_highest(cells, step),
                    0 => holes.take_lowest(cells, step),
                    cell => holes.take_at(cell, cells).map(|()| cell),
                };
                cell.ok().map(|cell| cell * granule)
            }
        };
        let start = taken.ok_or(Errno::ENOMEM)?;
        space.live += 1;
        Ok(start)
    }

    /// Gives addresses back. A run that is not taken changes nothing, as far as the index notices.
    pub(super) fn give(&self, start: u64, size: u64) {
        let mut space = self.lock();
        let granule = u64::from(self.granule);
        match &mut space.holes {
            Index::Exact(holes) => holes.give(start, size),
            Index::Cells(holes) => {
                // Only a caller that frees a range twice is told that its cells are free.
                let _ = holes.give(start / granule, size / granule);
            }
        }
        space.live = space.live.saturating_sub(1);
    }

    /// Returns the number of ranges that are out.
    pub(super) fn live(&self) -> usize {
        self.lock().live
    }
}

impl Space {
    /// Changes to the list with byte precision, in which the part of a page at the end of the window appears.
    #[cold]
    fn make_exact(&mut self, granule: u64, end: u64) {
        let Index::Cells(cells) = &self.holes else { return };
        let hole =
            |hole: amdgpu_winsys::vamgr::Hole| Hole { offset: hole.start * granule, size: hole.cells() * granule };
        let mut holes: Vec<_> = cells.iter().map(hole).collect();
        let last = cells.span().end * granule;
        if last < end {
            match holes.last_mut() {
                Some(hole) if hole.offset + hole.size == last => hole.size += end - last,
                _ => holes.push(Hole { offset: last, size: end - last }),
            }
        }
        holes.reverse();
        self.holes = Index::Exact(ExactHoles(holes));
    }
}
