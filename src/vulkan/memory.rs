//! Conversions of heaps, memory types, budgets and requirements.

use super::vk;
use crate::heaps::{
    Budgets, HeapFlags, ImageRequirements, MemoryHeap, MemoryProperties, MemoryPropertyFlags, MemoryType,
};

impl From<HeapFlags> for vk::MemoryHeapFlags {
    fn from(flags: HeapFlags) -> Self {
        Self::from_raw(flags.bits())
    }
}

impl From<MemoryPropertyFlags> for vk::MemoryPropertyFlags {
    fn from(flags: MemoryPropertyFlags) -> Self {
        Self::from_raw(flags.bits())
    }
}

/// Keeps bits that no memory type has, so that no type is found for them.
impl From<vk::MemoryPropertyFlags> for MemoryPropertyFlags {
    fn from(flags: vk::MemoryPropertyFlags) -> Self {
        Self::from_bits_retain(flags.as_raw())
    }
}

impl From<&MemoryHeap> for vk::MemoryHeap {
    fn from(heap: &MemoryHeap) -> Self {
        Self { size: heap.size, flags: heap.flags.into() }
    }
}

impl From<&MemoryType> for vk::MemoryType {
    fn from(memory_type: &MemoryType) -> Self {
        Self { property_flags: memory_type.properties.into(), heap_index: memory_type.heap }
    }
}

impl From<&MemoryProperties> for vk::PhysicalDeviceMemoryProperties {
    fn from(properties: &MemoryProperties) -> Self {
        let mut all = Self::default();
        for (to, heap) in all.memory_heaps.iter_mut().zip(properties.heaps()) {
            *to = heap.into();
            all.memory_heap_count += 1;
        }
        for (to, memory_type) in all.memory_types.iter_mut().zip(properties.types()) {
            *to = memory_type.into();
            all.memory_type_count += 1;
        }
        all
    }
}

impl From<&Budgets> for vk::PhysicalDeviceMemoryBudgetPropertiesEXT<'_> {
    fn from(budgets: &Budgets) -> Self {
        let (heap_budget, heap_usage) = budgets.arrays();
        Self::default().heap_budget(heap_budget).heap_usage(heap_usage)
    }
}

impl From<&ImageRequirements> for vk::MemoryRequirements {
    fn from(needed: &ImageRequirements) -> Self {
        Self { size: needed.size, alignment: needed.alignment, memory_type_bits: needed.types.bits() }
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_sim::{SimKernel, profiles};

    use super::*;
    use crate::{
        heaps::{BudgetRule, MemoryManager, TableOptions, TypeMask},
        winsys::Device,
    };

    #[test]
    fn flags_have_the_same_names_both_ways() {
        type Ours = MemoryPropertyFlags;
        type Theirs = vk::MemoryPropertyFlags;
        for (ours, theirs) in [
            (Ours::DEVICE_LOCAL, Theirs::DEVICE_LOCAL),
            (Ours::HOST_VISIBLE, Theirs::HOST_VISIBLE),
            (Ours::HOST_COHERENT, Theirs::HOST_COHERENT),
            (Ours::HOST_CACHED, Theirs::HOST_CACHED),
            (Ours::LAZILY_ALLOCATED, Theirs::LAZILY_ALLOCATED),
            (Ours::PROTECTED, Theirs::PROTECTED),
            (Ours::DEVICE_COHERENT_AMD, Theirs::DEVICE_COHERENT_AMD),
            (Ours::DEVICE_UNCACHED_AMD, Theirs::DEVICE_UNCACHED_AMD),
        ] {
            assert!(Theirs::from(ours) == theirs && Ours::from(theirs) == ours, "{ours:?}");
        }
        assert!(vk::MemoryHeapFlags::from(HeapFlags::DEVICE_LOCAL) == vk::MemoryHeapFlags::DEVICE_LOCAL);
        assert_eq!(Ours::from(Theirs::RDMA_CAPABLE_NV).bits(), 0x100, "kept");
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn tables_and_budgets_of_every_captured_chip_are_vulkans() {
        for chip in profiles() {
            let device = Device::new(SimKernel::open(chip)).unwrap();
            let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
            let tables = manager.properties();
            let all = vk::PhysicalDeviceMemoryProperties::from(tables);
            let (heaps, types) = (all.memory_heaps_as_slice(), all.memory_types_as_slice());
            assert_eq!((heaps.len(), types.len()), (tables.heaps().len(), tables.types().len()));
            for (theirs, ours) in heaps.iter().zip(tables.heaps()) {
                assert_eq!((theirs.size, theirs.flags.as_raw()), (ours.size, ours.flags.bits()));
            }
            for (theirs, ours) in types.iter().zip(tables.types()) {
                assert_eq!((theirs.heap_index, theirs.property_flags.as_raw()), (ours.heap, ours.properties.bits()));
            }
            let budgets = manager.budgets(BudgetRule::default()).unwrap();
            let theirs = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::from(&budgets);
            for (index, ours) in budgets.heaps().iter().enumerate() {
                assert_eq!((theirs.heap_budget[index], theirs.heap_usage[index]), (ours.budget, ours.usage));
            }
            assert_eq!(theirs.heap_budget[heaps.len()..], vec![0; 16 - heaps.len()]);
        }
    }

    #[test]
    fn requirements_keep_their_sizes_apart() {
        let needed =
            ImageRequirements { size: 1 << 20, alignment: 4096, types: TypeMask::from_bits(5), may_compress: false };
        let theirs = vk::MemoryRequirements::from(&needed);
        assert_eq!((theirs.size, theirs.alignment, theirs.memory_type_bits), (1 << 20, 4096, 5));
    }
}
