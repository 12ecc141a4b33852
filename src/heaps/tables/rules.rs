//! The rules for memory types: which types exist, their order, and the kernel requests of each.

use amdgpu_hw::num;

use super::fixed::FixedList;
use crate::{
    heaps::{
        Addressing, HeapKind, MAX_TYPES, MemoryFacts, MemoryHeap, MemoryPropertyFlags as Property, MemoryType,
        TableOptions,
    },
    uapi::{GemCreateFlags as Create, GemDomain, VaFlags},
};

/// The heap of a memory type. The type exists if the heap does.
#[derive(Clone, Copy)]
enum HeapSlot {
    /// Invisible VRAM, or visible VRAM if there is no invisible VRAM.
    Local,
    /// System memory.
    Gtt,
    /// Visible VRAM.
    Visible,
}

/// One line of the type table.
struct Rule {
    slot: HeapSlot,
    properties: Property,
    create: Create,
    /// `true` if a twin with 32-bit addresses follows.
    twin: bool,
}

const HOST: Property = Property::HOST_VISIBLE.union(Property::HOST_COHERENT);

/// The four types that every generation of the tables has, in Vulkan's order: of two types with equal properties, the faster
/// one comes first.
const BASE: [Rule; 4] = [
    // Only for the GPU.
    Rule { slot: HeapSlot::Local, properties: Property::DEVICE_LOCAL, create: Create::NO_CPU_ACCESS, twin: true },
    // Uploads: written once by the CPU, through write-combining buffers.
    Rule {
        slot: HeapSlot::Gtt,
        properties: HOST,
        create: Create::CPU_GTT_USWC.union(Create::CPU_ACCESS_REQUIRED),
        twin: false,
    },
    // Written by the CPU and read by the GPU at full speed, the purpose of resizable BAR.
    Rule {
        slot: HeapSlot::Visible,
        properties: HOST.union(Property::DEVICE_LOCAL),
        create: Create::CPU_ACCESS_REQUIRED,
        twin: true,
    },
    // Readback.
    Rule {
        slot: HeapSlot::Gtt,
        properties: HOST.union(Property::HOST_CACHED),
        create: Create::CPU_ACCESS_REQUIRED,
        twin: true,
    },
];

/// Encrypted memory.
const PROTECTED: [Rule; 3] = [
    Rule {
        slot: HeapSlot::Local,
        properties: Property::DEVICE_LOCAL.union(Property::PROTECTED),
        create: Create::ENCRYPTED.union(Create::NO_CPU_ACCESS),
        twin: true,
    },
    Rule {
        slot: HeapSlot::Visible,
        properties: Property::DEVICE_LOCAL.union(Property::PROTECTED),
        create: Create::ENCRYPTED,
        twin: true,
    },
    Rule { slot: HeapSlot::Gtt, properties: Property::PROTECTED, create: Create::ENCRYPTED, twin: true },
];

// Every rule with its twin, and an uncached copy of every base rule.
const _: () = assert!(2 * (BASE.len() + PROTECTED.len()) + BASE.len() <= MAX_TYPES);

/// The access rights of the GPU in every mapping of memory.
const ACCESS: VaFlags = VaFlags::READABLE.union(VaFlags::WRITEABLE).union(VaFlags::EXECUTABLE);

/// Returns the memory types in `heaps`, in order.
///
/// Source: Mesa 26.2 `src/amd/vulkan/radv_physical_device.c`, `radv_physical_device_init_mem_types`.
pub(super) fn types(
    facts: &MemoryFacts,
    options: &TableOptions,
    heaps: &[MemoryHeap],
) -> FixedList<MemoryType, MAX_TYPES> {
    let rules = options.profile.rules();
    let mut types = FixedList::new(MemoryType::FILLER);
    for rule in &BASE {
        rule.apply(heaps, rules.twins, &mut types);
    }
    if rules.protected && facts.has_tmz() && !options.no_tmz {
        for rule in &PROTECTED {
            rule.apply(heaps, rules.twins, &mut types);
        }
    }
    let ordered = !facts.has_unordered_uncached_l2() || options.unordered_device_coherent;
    if rules.uncached && facts.has_uncached_l2() && ordered {
        let cached = types;
        cached.as_slice().iter().filter_map(MemoryType::uncached_copy).for_each(|copy| types.push(copy));
    }
    types
}

impl Rule {
    fn apply(&self, heaps: &[MemoryHeap], twins: bool, types: &mut FixedList<MemoryType, MAX_TYPES>) {
        let Some(heap) = self.slot.heap(heaps) else { return };
        let wide = MemoryType {
            heap,
            properties: self.properties,
            domains: self.slot.domains(),
            create_flags: self.create,
            va_flags: ACCESS,
            addressing: Addressing::Bits64,
        };
        types.push(wide);
        if twins && self.twin {
            types.push(MemoryType { addressing: Addressing::Bits32, ..wide });
        }
    }
}

impl HeapSlot {
    fn heap(self, heaps: &[MemoryHeap]) -> Option<u32> {
        let index = |kind| heaps.iter().position(|heap| heap.kind == kind).map(num::count);
        match self {
            Self::Local => index(HeapKind::InvisibleVram).or_else(|| index(HeapKind::VisibleVram)),
            Self::Gtt => index(HeapKind::Gtt),
            Self::Visible => index(HeapKind::VisibleVram),
        }
    }

    /// Returns the domains of the BOs. VRAM types allow the kernel to spill to GTT. It still prefers VRAM, but moves less
    /// memory when VRAM is full. Source: Mesa `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_create`.
    const fn domains(self) -> GemDomain {
        match self {
            Self::Local | Self::Visible => GemDomain::VRAM.union(GemDomain::GTT),
            Self::Gtt => GemDomain::GTT,
        }
    }
}

impl MemoryType {
    /// Returns the copy of the type that bypasses the GPU's L2 cache, for types that are host-visible or only device-local.
    /// Returns `None` for twins and protected types.
    fn uncached_copy(&self) -> Option<Self> {
        let eligible = self.properties.intersects(HOST) || self.properties == Property::DEVICE_LOCAL;
        (eligible && self.addressing == Addressing::Bits64).then(|| Self {
            properties: self.properties | Property::DEVICE_COHERENT_AMD | Property::DEVICE_UNCACHED_AMD,
            va_flags: self.va_flags | VaFlags::MTYPE_UC,
            ..*self
        })
    }
}
