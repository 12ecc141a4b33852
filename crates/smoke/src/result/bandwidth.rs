//! Bandwidths that a check has measured.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The direction of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From system memory to the GPU's own memory.
    Upload,
    /// From the GPU's own memory to system memory.
    Download,
    /// Within the GPU's own memory.
    Local,
}

impl Direction {
    /// All directions, in the order in which they are measured.
    pub const ALL: [Self; 3] = [Self::Upload, Self::Local, Self::Download];

    /// Returns the name of the direction in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Upload => "upload",
            Self::Download => "download",
            Self::Local => "local",
        }
    }
}

/// A measured bandwidth of one engine in one direction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bandwidth {
    /// The name of the ring, such as `sdma0`.
    pub engine: String,
    /// The direction of the copy.
    pub direction: Direction,
    /// The size of the copy in bytes.
    pub bytes: u64,
    /// The bandwidth of the fastest copy in bytes per second. The CPU measures the time from submission to completion.
    pub bytes_per_second: u64,
    /// The bandwidth in the report with which this run is compared, in bytes per second; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<u64>,
}

/// Bytes per second in the decimal unit that leaves the fewest digits. Prints as `12.4 GB/s`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate(pub(crate) u64);

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
        match units.into_iter().find(|(unit, _)| self.0 >= *unit) {
            // Hundredths, rounded down.
            Some((unit, name)) => {
                let hundredths = u128::from(self.0) * 100 / u128::from(unit);
                write!(f, "{}.{:02} {name}/s", hundredths / 100, hundredths % 100)
            }
            None => write!(f, "{} B/s", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_never_rounded_up() {
        let rates = [(0, "0 B/s"), (999, "999 B/s"), (1_999_999, "1.99 MB/s"), (15_750_000_000, "15.75 GB/s")];
        for (rate, text) in rates {
            assert_eq!(Rate(rate).to_string(), text);
        }
        assert_eq!(Rate(u64::MAX).to_string(), "18446744.07 TB/s");
    }
}
