//! Ranges of cells that an index can hold.

/// One past the highest cell an index can hold: the pages of a 64-bit address space.
pub const CELLS_END: u64 = 1 << 52;

/// The most cells an index can span: the pages of a 48-bit address space.
pub const SPAN_MAX: u64 = 1 << 36;
