//! Memory heaps and types.

use amdgpu_winsys::heaps::BudgetRule;
use ash::vk;

use super::fill_chain;
use crate::objects::Gpu;

/// Returns the heaps and types.
pub(crate) fn properties(gpu: &Gpu) -> vk::PhysicalDeviceMemoryProperties {
    let tables = gpu.memory.properties();
    let mut out = vk::PhysicalDeviceMemoryProperties::default();
    for (to, heap) in out.memory_heaps.iter_mut().zip(tables.heaps()) {
        *to = vk::MemoryHeap { size: heap.size, flags: vk::MemoryHeapFlags::from_raw(heap.flags.bits()) };
        out.memory_heap_count += 1;
    }
    for (to, kind) in out.memory_types.iter_mut().zip(tables.types()) {
        *to = vk::MemoryType {
            property_flags: vk::MemoryPropertyFlags::from_raw(kind.properties.bits()),
            heap_index: kind.heap,
        };
        out.memory_type_count += 1;
    }
    out
}

/// Fills in the heaps and types, and the budgets where they are asked for. Without an answer from the kernel they are the sizes.
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

/// Returns `true` if budgets are asked for.
fn chain_has_budget(out: &mut vk::PhysicalDeviceMemoryProperties2<'_>) -> bool {
    crate::border::chain::find_mut::<vk::PhysicalDeviceMemoryBudgetPropertiesEXT<'_>>(out).is_some()
}
