//! Units of sizes, in bytes.

pub(super) const KIB: u64 = 1024;
pub(super) const MIB: u64 = 1024 * KIB;
