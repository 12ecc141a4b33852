//! The checks, one file for each area.

pub(crate) mod address;
pub(crate) mod execute;
pub(crate) mod inventory;
pub(crate) mod leak;
pub(crate) mod memory;
pub(crate) mod object;
pub(crate) mod order;
pub(crate) mod share;
pub(crate) mod sync;
pub(crate) mod userptr;
