//! The format of the Vulkan Memory Allocator's statistics string.
//!
//! Every device memory is reported as a dedicated allocation, because the library does not know how its users divide it. Pieces
//! of a caller's sub-allocator would belong under `Blocks`, and only the caller knows them.
//!
//! Source: Vulkan Memory Allocator 3.3, `vmaBuildStatsString` (the keys), and `tools/GpuMemDumpVis/GpuMemDumpVis.py` (the keys
//! that it reads).

use amdgpu_hw::num;
use serde_json::{Map, Value, json};

use crate::{
    heaps::{Budgets, HeapBudget, MemoryProperties, MemoryType, budget::budget_monitor::Heaps},
    winsys::{BoEntry, VaMap},
};

/// Vulkan's `VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU` and `VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU`.
const DEVICE_TYPES: [u64; 2] = [1, 2];

/// Returns the keys of `VmaDetailedStatistics`. Every allocation counts as a block of its own without free space. The limits of
/// sizes are there if there is more than one.
fn statistics<'b>(bos: impl Iterator<Item = &'b BoEntry>) -> Value {
    let sizes: Vec<u64> = bos.map(|bo| bo.size).collect();
    let bytes = sizes.iter().fold(0, |all: u64, size| all.saturating_add(*size));
    let mut statistics = json!({
        "BlockCount": sizes.len(),
        "BlockBytes": bytes,
        "AllocationCount": sizes.len(),
        "AllocationBytes": bytes,
        "UnusedRangeCount": 0,
    });
    if sizes.len() > 1 {
        statistics["AllocationSizeMin"] = json!(sizes.iter().min());
        statistics["AllocationSizeMax"] = json!(sizes.iter().max());
    }
    statistics
}

/// Returns the text of [`MemoryManager::dump_vma_json`](crate::heaps::MemoryManager::dump_vma_json).
pub(super) fn json(heaps: Heaps<'_>, budgets: &Budgets, map: &VaMap) -> String {
    let mut bos = map.bos();
    bos.retain(|bo| bo.memory_type.is_some());
    let properties = heaps.properties;
    let infos = (0..).zip(budgets.heaps()).filter_map(|(index, figures)| heap(properties, index, figures, &bos));
    let pools = (0..).take(properties.types().len()).map(|index| (type_name(index), pool(index, &bos)));
    let dump = json!({
        "General": general(heaps),
        "Total": statistics(bos.iter()),
        "MemoryInfo": infos.collect::<Map<_, _>>(),
        "DefaultPools": pools.collect::<Map<_, _>>(),
        "CustomPools": {},
    });
    dump.to_string()
}

fn type_name(index: u32) -> String {
    format!("Type {index}")
}

fn general(heaps: Heaps<'_>) -> Value {
    let info = heaps.device.info();
    json!({
        "API": "Vulkan",
        "apiVersion": "1.4.0",
        "GPU": info.marketing_name,
        "deviceType": DEVICE_TYPES[usize::from(info.has_dedicated_vram)],
        // RADV's limits (Mesa 25.0.7 `radv_physical_device.c`, `radv_get_physical_device_properties`).
        "maxMemoryAllocationCount": u32::MAX,
        "bufferImageGranularity": 1,
        "nonCoherentAtomSize": 64,
        "memoryHeapCount": heaps.properties.heaps().len(),
        "memoryTypeCount": heaps.properties.types().len(),
    })
}

fn heap(properties: &MemoryProperties, index: u32, figures: &HeapBudget, bos: &[BoEntry]) -> Option<(String, Value)> {
    let heap = properties.heaps().get(num::index(index))?;
    let types = || (0..).zip(properties.types()).filter(|(_, ty)| ty.heap == index);
    let in_heap = |bo: &&BoEntry| types().any(|(ty, _)| bo.memory_type == Some(ty));
    let pools = types().map(|(index, ty)| (type_name(index), memory_type(index, ty, bos)));
    let info = json!({
        "Flags": heap.flags.iter_names().map(|(name, _)| name).collect::<Value>(),
        "Size": heap.size,
        "Budget": { "BudgetBytes": figures.budget, "UsageBytes": figures.usage },
        "Stats": statistics(bos.iter().filter(in_heap)),
        "MemoryPools": pools.collect::<Map<_, _>>(),
    });
    Some((format!("Heap {index}"), info))
}

fn memory_type(index: u32, ty: &MemoryType, bos: &[BoEntry]) -> Value {
    let of_type = |bo: &&BoEntry| bo.memory_type == Some(index);
    json!({
        "Flags": ty.properties.iter_names().map(|(name, _)| name).collect::<Value>(),
        "Stats": statistics(bos.iter().filter(of_type)),
    })
}

fn pool(index: u32, bos: &[BoEntry]) -> Value {
    let allocations = bos.iter().filter(|bo| bo.memory_type == Some(index)).map(|bo| {
        let mut allocation = json!({ "Type": "UNKNOWN", "Size": bo.size, "Usage": 0 });
        if let Some(name) = &bo.name {
            allocation["Name"] = json!(name);
        }
        allocation
    });
    json!({ "PreferredBlockSize": 0, "Blocks": {}, "DedicatedAllocations": allocations.collect::<Value>() })
}
