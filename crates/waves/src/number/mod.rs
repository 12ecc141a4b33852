//! Numbers as the vector units compute with them: rounding, half floats, integer helpers.

pub(crate) mod half;
pub(crate) mod integer;
pub(crate) mod mode;
pub(crate) mod round;
