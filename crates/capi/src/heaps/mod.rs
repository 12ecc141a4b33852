//! The upper tier's memory: heaps, memory types and budgets as Vulkan has them, and allocations of them.

mod allocation;
mod manager;

pub use self::{allocation::*, manager::*};
