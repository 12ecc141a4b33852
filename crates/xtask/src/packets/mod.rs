//! The packets.

pub(crate) mod emit;
mod records;
pub(crate) mod spec;
mod typed;
