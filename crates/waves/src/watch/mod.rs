//! Observation of waves: traces, stores to an address, counts of instructions and bytes, data races.

mod change;
mod counts;
mod event;
mod known;
pub(crate) mod observer;
mod race;
mod watcher;

pub use change::Change;
pub use counts::{InstructionClass, WatchCounts};
pub use event::{Event, Hit, MemoryKind, Race, RaceSide, TracedStep};
pub use watcher::{TracedWaves, Watch, WatchReport, run_watched};
