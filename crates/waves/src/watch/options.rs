//! The events to report of a watched dispatch, and its results.

use std::ops::Range;

use super::counts::WatchCounts;

/// The waves whose instructions are traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TracedWaves {
    /// Traces all waves.
    All,
    /// Traces a single wave.
    One {
        /// The work-group ID in x, y and z.
        group: [u32; 3],
        /// The index of the wave in the work-group.
        wave: u32,
    },
}

/// The events to report. The counts are always collected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// The waves whose instructions and register changes are reported.
    pub trace: Option<TracedWaves>,
    /// The addresses whose stores are reported.
    pub stores: Option<Range<u64>>,
    /// `true` to report races of accesses to LDS and memory.
    pub races: bool,
    /// `true` to report registers that are accessed while an outstanding operation writes or reads them.
    pub waits: bool,
    /// `true` to report pairs of instructions between which the hardware does not wait and code must.
    pub hazards: bool,
    /// The addresses of instructions without which waits and hazards are judged, as if the program did not have them: whether they
    /// are needed, or what the checks find of a mistake.
    pub without: Vec<u64>,
}

/// The results of watching a dispatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WatchReport {
    /// The counts of instructions, lanes and bytes.
    pub counts: WatchCounts,
    /// The number of pairs of instructions that race.
    pub races: u64,
    /// The number of pairs of instructions between which a wait is missing.
    pub waits: u64,
    /// The number of pairs of instructions with a hazard.
    pub hazards: u64,
    /// The number of accesses that were not checked for races, because more than a million dwords were in use.
    pub missed: u64,
}
