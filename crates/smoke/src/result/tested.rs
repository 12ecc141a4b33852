//! Memory that a check tests.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::result::bandwidth::Rate;

/// The memory that a check tested, with the speed of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tested {
    /// The number of bytes that were tested with all patterns.
    pub bytes: u64,
    /// The number of free bytes of the GPU's own memory before the test.
    pub free: u64,
    /// The number of patterns that were written to each byte.
    pub patterns: u32,
    /// The write speed in bytes per second.
    pub written_per_second: u64,
    /// The read speed in bytes per second.
    pub read_per_second: u64,
}

impl Tested {
    /// Returns the tested share of the free memory in percent, rounded down.
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

/// The progress of a long check in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The number of bytes that have been processed.
    pub done: u64,
    /// The total number of bytes to process.
    pub total: u64,
}

impl Progress {
    /// Returns the completed share in percent, rounded down.
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
