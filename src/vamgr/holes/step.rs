//! Multiples that a start must be of.

use std::num::NonZeroU64;

use super::CELLS_END;

/// Starts are multiples of this many cells, which need not be a power of two.
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
    /// At most [`CELLS_END`]: beyond it only cell 0 is a multiple, and it stays one.
    cells: u64,
    /// The exponent of the largest power of two that divides `cells`.
    shift: u32,
}

impl Step {
    /// Any start will do.
    pub const ONE: Self = Self { cells: 1, shift: 0 };

    /// Allows starts at multiples of `cells`.
    pub const fn new(cells: NonZeroU64) -> Self {
        let cells = if cells.get() < CELLS_END { cells.get() } else { CELLS_END };
        Self { cells, shift: cells.trailing_zeros() }
    }

    /// Returns `true` if `cell` is a multiple.
    pub const fn divides(self, cell: u64) -> bool {
        cell.is_multiple_of(self.cells)
    }

    /// The exponent of the largest power of two that divides the step.
    #[inline]
    pub(super) const fn shift(self) -> u32 {
        self.shift
    }

    #[inline]
    pub(super) const fn is_power_of_two(self) -> bool {
        self.cells == 1 << self.shift
    }

    /// The lowest multiple at `cell` or above. `cell` is at most [`CELLS_END`], so the sum cannot overflow.
    #[inline]
    pub(super) const fn up(self, cell: u64) -> u64 {
        if self.is_power_of_two() {
            return (cell + (self.cells - 1)) & !(self.cells - 1);
        }
        cell.div_ceil(self.cells) * self.cells
    }

    /// The highest multiple at `cell` or below.
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
