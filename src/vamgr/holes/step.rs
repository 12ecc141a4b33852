//! Alignment of the start of a run.

use std::num::NonZeroU64;

use super::CELLS_END;

/// The alignment of the start of a run in cells, which need not be a power of two.
///
/// ```
/// use std::num::NonZeroU64;
/// use amdgpu_va::{Holes, Step};
///
/// let six = Step::new(NonZeroU64::new(6).ok_or("zero")?); // no power of two
/// let mut holes = Holes::new(4..32)?;
/// let start = holes.take_lowest(2, six)?;
/// assert!(start == 6 && six.divides(start) && !six.divides(7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// At most [`CELLS_END`]; above it the only multiple is cell 0, as for [`CELLS_END`].
    cells: u64,
    /// Base-2 logarithm of the largest power of two that divides `cells`.
    shift: u32,
}

impl Step {
    /// Every start is allowed.
    pub const ONE: Self = Self { cells: 1, shift: 0 };

    /// Creates a step that allows starts at multiples of `cells`.
    pub const fn new(cells: NonZeroU64) -> Self {
        let cells = if cells.get() < CELLS_END { cells.get() } else { CELLS_END };
        Self { cells, shift: cells.trailing_zeros() }
    }

    /// Returns `true` if `cell` is a multiple of the step.
    pub const fn divides(self, cell: u64) -> bool {
        cell.is_multiple_of(self.cells)
    }

    /// Returns the base-2 logarithm of the largest power of two that divides the step.
    #[inline]
    pub(super) const fn shift(self) -> u32 {
        self.shift
    }

    #[inline]
    pub(super) const fn is_power_of_two(self) -> bool {
        self.cells == 1 << self.shift
    }

    /// Returns the lowest multiple that is at least `cell`. `cell` is at most [`CELLS_END`], so the sum cannot overflow.
    #[inline]
    pub(super) const fn up(self, cell: u64) -> u64 {
        if self.is_power_of_two() {
            return (cell + (self.cells - 1)) & !(self.cells - 1);
        }
        cell.div_ceil(self.cells) * self.cells
    }

    /// Returns the highest multiple that is at most `cell`.
    #[inline]
    pub(super) const fn down(self, cell: u64) -> u64 {
        if self.is_power_of_two() {
            return cell & !(self.cells - 1);
        }
        cell - cell % self.cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_and_down_are_the_nearest_multiples() {
        for cells in 1..20 {
            let step = Step::new(NonZeroU64::new(cells).unwrap());
            for cell in 0..100 {
                let (up, down) = (step.up(cell), step.down(cell));
                assert!(step.divides(up) && step.divides(down));
                assert!(down <= cell && cell <= up && up - down <= cells, "{cells} around {cell}");
                assert_eq!(step.divides(cell), up == cell && down == cell);
            }
        }
    }

    #[test]
    fn a_step_beyond_all_cells_leaves_only_cell_zero() {
        let step = Step::new(NonZeroU64::MAX);
        assert!(step.divides(0) && step.up(1) >= CELLS_END && step.down(CELLS_END - 1) == 0);
    }
}
