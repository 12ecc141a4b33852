//! Numbers of the vector units: rounding, half-precision and 8-bit floats, integer functions.

pub(crate) mod half;
pub(crate) mod integer;
pub(crate) mod mode;
pub(crate) mod round;
pub(crate) mod small;
