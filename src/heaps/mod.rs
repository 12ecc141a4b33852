//! Vulkan's view of GPU memory: heaps, memory types, budgets, and what an allocation asks of the kernel.

mod facts;
mod tiling;

pub use self::{
    facts::{FactsError, MemoryFacts, RawMemoryFacts},
    tiling::{TilingRegisters, UnknownPipeConfig, max_alignment},
};
