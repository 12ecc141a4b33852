//! The registers.

pub(crate) mod emit;
pub(crate) mod spec;
