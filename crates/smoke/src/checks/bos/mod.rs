//! Checks of memory and its addresses.

pub(crate) mod address;
pub(crate) mod memory;
pub(crate) mod object;
pub(crate) mod placement;
pub(crate) mod pressure;
pub(crate) mod share;
pub(crate) mod sparse;
pub(crate) mod userptr;
