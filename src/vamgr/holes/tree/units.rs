//! Positions and lengths inside the tree, and their limits.

use amdgpu_hw::num::index;

/// A region is 2^30 cells.
pub(super) const REGION_BITS: u32 = 30;
/// The recorded length of a hole of this many cells or more; its region knows its end.
pub(super) const GIANT: i32 = i32::MAX;
/// Offers saturate here. A request for more looks for an offer of this size and then at the hole itself.
pub(super) const MAX_NEED: i32 = (1 << REGION_BITS) - 1;
/// The same in cells.
pub(super) const MAX_NEED_CELLS: u64 = (1 << REGION_BITS) - 1;
/// Alignment classes there can be: the powers of two up to a region.
pub(super) const CLASS_COUNT: u32 = REGION_BITS + 1;
/// The same as a length.
pub(super) const CLASSES: usize = index(CLASS_COUNT);

/// The position of a cell in its region.
#[inline]
pub(super) const fn local(cell: u64) -> i32 {
    length(cell & MAX_NEED_CELLS)
}

/// Returns a number of cells of which a region is known to hold more.
#[inline]
pub(super) const fn length(cells: u64) -> i32 {
    debug_assert!(cells <= MAX_NEED_CELLS + 1);
    // CAST: at most 2^30.
    cells as i32
}

/// Returns the number of a node, slot or level, of which [`Tree::reserve`](super::Tree::reserve) allows no more than 32 bits
/// count.
#[inline]
pub(super) const fn number(at: usize) -> u32 {
    debug_assert!(at <= index(u32::MAX));
    // CAST: the assertion.
    at as u32
}

/// A number of cells as leaves record it.
#[inline]
pub(super) fn recorded(cells: u64) -> i32 {
    i32::try_from(cells).unwrap_or(GIANT)
}
