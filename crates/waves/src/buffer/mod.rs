//! Buffer resources: addresses, bounds and formats.

pub(crate) mod described;
pub(crate) mod descriptor;
pub(crate) mod format;
