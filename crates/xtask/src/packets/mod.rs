//! The packets.

pub(crate) mod emit;
pub(crate) mod flags;
mod loads;
mod places;
mod records;
mod selectors;
pub(crate) mod spec;
mod takers;
mod typed;
mod variant;
