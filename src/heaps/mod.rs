//! Vulkan's view of GPU memory: heaps, memory types, budgets, and what an allocation asks of the kernel.

mod facts;
mod fixed;
mod options;
mod rules;
mod split;
mod table;
mod tiling;
mod type_mask;
mod vk_flags;

pub use self::{
    facts::{FactsError, MemoryFacts, RawMemoryFacts},
    options::{Profile, TableOptions},
    split::{Accounting, HeapKind},
    table::{Addressing, MAX_HEAPS, MAX_TYPES, MemoryHeap, MemoryProperties, MemoryType},
    tiling::{TilingRegisters, UnknownPipeConfig, max_alignment},
    type_mask::TypeMask,
    vk_flags::{HeapFlags, MemoryPropertyFlags},
};
