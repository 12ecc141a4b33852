//! Heap and memory-type tables, derived from a device's facts without I/O.

pub(super) mod facts;
pub(super) mod fixed;
mod memory_type;
mod memory_usage;
mod options;
mod rules;
mod split;
mod table;
mod tiling;
mod type_mask;
mod vk_flags;

pub use self::{
    facts::{FactsError, MemoryFacts, RawMemoryFacts},
    memory_type::{Addressing, MAX_HEAPS, MAX_TYPES, MemoryHeap, MemoryType},
    memory_usage::MemoryUsage,
    options::{Profile, TableOptions},
    split::{Accounting, HeapKind},
    table::MemoryProperties,
    tiling::{UnknownPipeConfig, max_alignment},
    type_mask::TypeMask,
    vk_flags::{HeapFlags, MemoryPropertyFlags},
};
