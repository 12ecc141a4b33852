//! Memory that a check tests.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::result::bandwidth::Rate;

/// Memory that a check has tested, and the speeds at which it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tested {
    /// Bytes that held every pattern.
    pub bytes: u64,
    /// Bytes of the GPU's own memory that were free before.
    pub free: u64,
    /// Patterns that each byte held.
    pub patterns: u32,
    /// Bytes written per second.
    pub written_per_second: u64,
    /// Bytes read back per second.
    pub read_per_second: u64,
}

impl Tested {
    /// Returns the tested share of the free memory, percent, rounded down.
    pub fn percent(&self) -> u64 {
        u64::try_from(u128::from(self.bytes) * 100 / u128::from(self.free.max(1))).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for Tested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (written, read) = (Rate(self.written_per_second), Rate(self.read_per_second));
        let (bytes, free, percent) = (self.bytes >> 20, self.free >> 20, self.percent());
        write!(f, "{bytes} of {free} MiB free ({percent} %), {} patterns, ", self.patterns)?;
        write!(f, "written at {written}, read at {read}")
    }
}

/// Bytes that a long check has gone through, of those it will.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Bytes that are done.
    pub done: u64,
    /// Bytes in all.
    pub total: u64,
}

impl Progress {
    /// Returns the part that is done, percent, rounded down.
    pub fn percent(self) -> u64 {
        u64::try_from(u128::from(self.done) * 100 / u128::from(self.total.max(1))).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_rounded_down_and_never_divides_by_zero() {
        let tested =
            |bytes, free| Tested { bytes, free, patterns: 2, written_per_second: 2_000_000_000, read_per_second: 0 };
        assert_eq!(tested(899, 1000).percent(), 89);
        assert_eq!(tested(0, 0).percent(), 0);
        assert_eq!(
            tested(9 << 20, 10 << 20).to_string(),
            "9 of 10 MiB free (90 %), 2 patterns, written at 2.00 GB/s, read at 0 B/s"
        );
    }
}
