//! A free run of cells.

use super::Step;

/// A run of free cells `[start, end)`, which is never empty.
///
/// ```
/// use amdgpu_va::{Hole, Holes};
///
/// let mut holes = Holes::new(0..16)?;
/// holes.take_at(4, 8)?;
/// assert!(holes.iter().eq([Hole { start: 0, end: 4 }, Hole { start: 12, end: 16 }]));
/// assert_eq!(holes.iter().map(Hole::cells).sum::<u64>(), holes.free());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hole {
    /// The first free cell.
    pub start: u64,
    /// The end of the free cells, exclusive.
    pub end: u64,
}

impl Hole {
    /// Returns the number of free cells.
    pub const fn cells(self) -> u64 {
        self.end - self.start
    }

    /// Returns the lowest multiple of `step` that starts `len` free cells; `None` if there is none.
    pub(super) const fn lowest(self, len: u64, step: Step) -> Option<u64> {
        let from = step.up(self.start);
        if from < self.end && len <= self.end - from { Some(from) } else { None }
    }

    /// Returns the highest multiple of `step` that starts `len` free cells; `None` if there is none.
    pub(super) const fn highest(self, len: u64, step: Step) -> Option<u64> {
        if len > self.cells() {
            return None;
        }
        let from = step.down(self.end - len);
        if from >= self.start { Some(from) } else { None }
    }
}
