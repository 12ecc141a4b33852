//! Positions and lengths inside the tree, and their limits.

/// A region is 2^30 cells.
pub(super) const REGION_BITS: u32 = 30;
/// The recorded length of a hole of this many cells or more; its region knows its end.
pub(super) const GIANT: i32 = i32::MAX;
/// Offers saturate here. A request for more looks for an offer of this size and then at the hole itself.
pub(super) const MAX_NEED: i32 = (1 << REGION_BITS) - 1;
/// Alignment classes there can be: the powers of two up to a region.
pub(super) const CLASSES: usize = REGION_BITS as usize + 1;

/// The position of a cell in its region.
#[inline]
pub(super) const fn local(cell: u64) -> i32 {
    (cell & MAX_NEED as u64) as i32
}

/// A number of cells as leaves record it.
#[inline]
pub(super) fn recorded(cells: u64) -> i32 {
    i32::try_from(cells).unwrap_or(GIANT)
}
