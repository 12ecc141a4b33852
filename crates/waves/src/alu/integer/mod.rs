//! Operations on integers of 16, 32 and 64 bits, and dot products.

pub(super) mod dot;
pub(super) mod narrow;
pub(super) mod wide;
pub(super) mod word;
