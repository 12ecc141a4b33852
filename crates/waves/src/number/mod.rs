//! Numbers of the vector units: rounding, half-precision floats, integer functions.

pub(crate) mod half;
pub(crate) mod integer;
pub(crate) mod mode;
pub(crate) mod round;
