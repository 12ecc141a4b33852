//! The checks, one file for each area.

pub(crate) mod address;
pub(crate) mod check;
pub(crate) mod execute;
pub(crate) mod gang;
pub(crate) mod inventory;
pub(crate) mod leak;
pub(crate) mod march;
pub(crate) mod memory;
pub(crate) mod object;
pub(crate) mod order;
pub(crate) mod placement;
pub(crate) mod pressure;
pub(crate) mod process;
pub(crate) mod reset;
pub(crate) mod share;
pub(crate) mod sparse;
pub(crate) mod sync;
pub(crate) mod transfer;
pub(crate) mod userptr;
