//! Vulkan's view of GPU memory: heaps, memory types, budgets, and what an allocation asks of the kernel.

mod budget;
mod facts;
mod fixed;
mod ledger;
mod options;
mod rules;
mod split;
mod table;
mod tiling;
mod type_mask;
mod vk_flags;

pub use self::{
    budget::{BudgetRule, Budgets, HeapBudget, SystemUsage},
    facts::{FactsError, MemoryFacts, RawMemoryFacts},
    ledger::{Account, Charge, Ledger, OwnUsage},
    options::{Profile, TableOptions},
    split::{Accounting, HeapKind},
    table::{Addressing, MAX_HEAPS, MAX_TYPES, MemoryHeap, MemoryProperties, MemoryType},
    tiling::{TilingRegisters, UnknownPipeConfig, max_alignment},
    type_mask::TypeMask,
    vk_flags::{HeapFlags, MemoryPropertyFlags},
};
