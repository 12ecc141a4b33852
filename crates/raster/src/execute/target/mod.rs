//! Targets: their addresses, formats and metadata.

pub(super) mod dcc;
pub(crate) mod format;
pub(super) mod htile;
pub(super) mod plane;
pub(super) mod targets;
pub(super) mod value;
