//! Memory heaps and types.

use amdgpu_winsys::heaps::BudgetRule;
use ash::vk;

use super::fill_chain;
use crate::objects::Gpu;

/// Returns the heaps and types.
pub(crate) fn properties(gpu: &Gpu) -> vk::PhysicalDeviceMemoryProperties {
    gpu.memory.properties().into()
}

/// Fills in the heaps and types, and the budgets if the chain requests them. If the kernel does not answer, the budgets are the
/// heap sizes.
pub(crate) fn fill(gpu: &Gpu, out: &mut vk::PhysicalDeviceMemoryProperties2<'_>) {
    out.memory_properties = properties(gpu);
    let sizes = out.memory_properties.memory_heaps.map(|heap| heap.size);
    let arrays =
        || gpu.memory.cached_budgets(BudgetRule::default()).map_or((sizes, [0; 16]), |budgets| budgets.arrays());
    if chain_has_budget(out) {
        let (budget, usage) = arrays();
        fill_chain!(out; PhysicalDeviceMemoryBudgetPropertiesEXT { heap_budget: budget, heap_usage: usage });
    }
}

/// Returns `true` if the chain requests budgets.
fn chain_has_budget(out: &mut vk::PhysicalDeviceMemoryProperties2<'_>) -> bool {
    crate::border::chain::find_mut::<vk::PhysicalDeviceMemoryBudgetPropertiesEXT<'_>>(out).is_some()
}
