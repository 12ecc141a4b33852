//! The format of the Vulkan Memory Allocator's statistics string.
//!
//! Every device memory is reported as a dedicated allocation, because the library does not know how its users divide it. Pieces
//! of a caller's sub-allocator would belong under `Blocks`, and only the caller knows them.
//!
//! Source: Vulkan Memory Allocator 3.3, `vmaBuildStatsString` (the keys and their order), and
//! `tools/GpuMemDumpVis/GpuMemDumpVis.py` (the keys that it reads).

use amdgpu_hw::num::{self, wide};

use super::json::{Json, names};
use crate::{
    heaps::{Budgets, HeapBudget, MemoryProperties, MemoryType, budget::budget_monitor::Heaps},
    winsys::{BoEntry, VaMap},
};

/// Vulkan's `VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU` and `VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU`.
const DEVICE_TYPES: [u64; 2] = [1, 2];

/// The statistics of `VmaDetailedStatistics`. Every allocation counts as a block of its own without free space.
#[derive(Clone, Copy, Debug, Default)]
struct Statistics {
    count: u64,
    bytes: u64,
    smallest: u64,
    largest: u64,
}

impl Statistics {
    fn of<'b>(bos: impl Iterator<Item = &'b BoEntry>) -> Self {
        let none = Self { smallest: u64::MAX, ..Self::default() };
        bos.fold(none, |all, bo| Self {
            count: all.count + 1,
            bytes: all.bytes.saturating_add(bo.size),
            smallest: all.smallest.min(bo.size),
            largest: all.largest.max(bo.size),
        })
    }

    fn write(&self, json: &mut Json) {
        json.object(|json| {
            json.count("BlockCount", self.count);
            json.count("BlockBytes", self.bytes);
            json.count("AllocationCount", self.count);
            json.count("AllocationBytes", self.bytes);
            json.count("UnusedRangeCount", 0);
            if self.count > 1 {
                json.count("AllocationSizeMin", self.smallest);
                json.count("AllocationSizeMax", self.largest);
            }
        });
    }
}

/// Returns the text of [`MemoryManager::dump_vma_json`](crate::heaps::MemoryManager::dump_vma_json).
pub(in crate::heaps) fn json(heaps: Heaps<'_>, budgets: &Budgets, map: &VaMap) -> String {
    let mut bos = map.bos();
    bos.retain(|bo| bo.memory_type.is_some());
    let mut json = Json::default();
    json.object(|json| {
        general(heaps, json.key("General"));
        Statistics::of(bos.iter()).write(json.key("Total"));
        json.key("MemoryInfo").object(|json| {
            for (heap, figures) in (0..).zip(budgets.heaps()) {
                heap_of(heaps.properties, json, heap, figures, &bos);
            }
        });
        json.key("DefaultPools").object(|json| {
            for index in (0..).take(heaps.properties.types().len()) {
                pool(json, index, &bos);
            }
        });
        json.key("CustomPools").object(|_| {});
    });
    json.finish()
}

fn general(heaps: Heaps<'_>, json: &mut Json) {
    let info = heaps.device.info();
    json.object(|json| {
        json.key("API").string("Vulkan");
        json.key("apiVersion").string("1.4.0");
        json.key("GPU").string(&info.marketing_name);
        json.count("deviceType", DEVICE_TYPES[usize::from(info.has_dedicated_vram)]);
        // RADV's limits (Mesa 25.0.7 `radv_physical_device.c`, `radv_get_physical_device_properties`).
        json.count("maxMemoryAllocationCount", u32::MAX.into());
        json.count("bufferImageGranularity", 1);
        json.count("nonCoherentAtomSize", 64);
        json.count("memoryHeapCount", wide(heaps.properties.heaps().len()));
        json.count("memoryTypeCount", wide(heaps.properties.types().len()));
    });
}

fn heap_of(properties: &MemoryProperties, json: &mut Json, index: u32, figures: &HeapBudget, bos: &[BoEntry]) {
    let Some(heap) = properties.heaps().get(num::index(index)) else { return };
    let types = || (0..).zip(properties.types()).filter(|(_, ty)| ty.heap == index);
    let in_heap = |bo: &&BoEntry| types().any(|(ty, _)| bo.memory_type == Some(ty));
    json.key(format_args!("Heap {index}")).object(|json| {
        names(json.key("Flags"), heap.flags.iter_names().map(|(name, _)| name));
        json.count("Size", heap.size);
        json.key("Budget").object(|json| {
            json.count("BudgetBytes", figures.budget);
            json.count("UsageBytes", figures.usage);
        });
        Statistics::of(bos.iter().filter(in_heap)).write(json.key("Stats"));
        json.key("MemoryPools").object(|json| types().for_each(|(index, ty)| memory_type(json, index, ty, bos)));
    });
}

fn memory_type(json: &mut Json, index: u32, ty: &MemoryType, bos: &[BoEntry]) {
    json.key(format_args!("Type {index}")).object(|json| {
        names(json.key("Flags"), ty.properties.iter_names().map(|(name, _)| name));
        let of_type = |bo: &&BoEntry| bo.memory_type == Some(index);
        Statistics::of(bos.iter().filter(of_type)).write(json.key("Stats"));
    });
}

fn pool(json: &mut Json, index: u32, bos: &[BoEntry]) {
    json.key(format_args!("Type {index}")).object(|json| {
        json.count("PreferredBlockSize", 0);
        json.key("Blocks").object(|_| {});
        json.key("DedicatedAllocations").array(|json| {
            for bo in bos.iter().filter(|bo| bo.memory_type == Some(index)) {
                json.object(|json| {
                    json.key("Type").string("UNKNOWN");
                    json.count("Size", bo.size);
                    json.count("Usage", 0);
                    if let Some(name) = &bo.name {
                        json.key("Name").string(name);
                    }
                });
            }
        });
    });
}
