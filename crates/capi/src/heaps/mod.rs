//! The memory of the upper tier: heaps, memory types, budgets and allocations as in Vulkan.

mod allocation;
mod manager;

pub use self::{allocation::*, manager::*};
