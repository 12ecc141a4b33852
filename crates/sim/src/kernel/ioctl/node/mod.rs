//! Requests about the device and its nodes.

pub(crate) mod core;
pub(crate) mod info;
pub(crate) mod leases;
pub(crate) mod primary;
pub(crate) mod registers;
