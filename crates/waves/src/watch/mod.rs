//! Observation of waves: traces, stores to an address, counts of instructions and bytes, data races, missing waits.

mod change;
pub(crate) mod checker;
mod counts;
mod event;
mod hazards;
mod known;
pub(crate) mod observer;
mod options;
mod race;
mod waits;
mod watcher;

pub use change::Change;
pub use checker::run_checked;
pub use counts::{InstructionClass, WatchCounts};
pub use event::{Event, Hit, MemoryKind, Race, RaceSide, TracedInstruction};
pub use hazards::{HazardRule, InstructionHazard};
pub use options::{TracedWaves, Watch, WatchReport};
pub use waits::{MissingWait, RegisterName, RequiredWait, WaitSide, WaitedFor};
pub use watcher::run_watched;
