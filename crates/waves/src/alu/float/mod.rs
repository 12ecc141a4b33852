//! Operations on floats of 16, 32 and 64 bits.

mod class;
pub(super) mod division;
pub(super) mod double;
pub(crate) mod half;
pub(crate) mod single;
