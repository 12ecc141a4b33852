//! Positions and lengths in the tree, and their limits.

use amdgpu_hw::num::index;

/// Base-2 logarithm of the number of cells in a region.
pub(super) const REGION_BITS: u32 = 30;
/// The recorded length of a hole with this many cells or more. The region records the end of such a hole.
pub(super) const GIANT: i32 = i32::MAX;
/// The limit at which offers saturate. A larger request searches for an offer of this size, and then examines the hole itself.
pub(super) const MAX_NEED: i32 = (1 << REGION_BITS) - 1;
/// The same limit in cells.
pub(super) const MAX_NEED_CELLS: u64 = (1 << REGION_BITS) - 1;
/// Maximum number of alignment classes: the powers of two up to a region.
pub(super) const CLASS_COUNT: u32 = REGION_BITS + 1;
/// The same number as a length.
pub(super) const CLASSES: usize = index(CLASS_COUNT);

/// Returns the position of a cell in its region.
#[inline]
pub(super) const fn local(cell: u64) -> i32 {
    length(cell & MAX_NEED_CELLS)
}

/// Returns a number of cells, at most those of a region, as a length.
#[inline]
pub(super) const fn length(cells: u64) -> i32 {
    debug_assert!(cells <= MAX_NEED_CELLS + 1);
    // CAST: at most 2^30.
    cells as i32
}

/// Returns the number of a node, slot or level. [`Tree::reserve`](super::Tree::reserve) ensures that such numbers fit 32 bits.
#[inline]
pub(super) const fn number(at: usize) -> u32 {
    debug_assert!(at <= index(u32::MAX));
    // CAST: the assertion.
    at as u32
}

/// Returns a number of cells as leaves record it.
#[inline]
pub(super) fn recorded(cells: u64) -> i32 {
    i32::try_from(cells).unwrap_or(GIANT)
}
