//! The packets.

pub(crate) mod emit;
mod loads;
mod records;
pub(crate) mod spec;
mod takers;
mod typed;
mod variant;
