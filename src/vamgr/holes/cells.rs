//! Limits of the cells that an index can manage.

/// The end of the cells that an index can manage: the number of pages of a 64-bit address space.
pub const CELLS_END: u64 = 1 << 52;

/// The maximum number of cells in an index: the number of pages of a 48-bit address space.
pub const SPAN_MAX: u64 = 1 << 36;
