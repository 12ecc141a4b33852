//! The tables of heaps and memory types, and queries of them.

use amdgpu_hw::num;

use super::{fixed::FixedList, rules, split::Split};
use crate::{
    heaps::{
        Accounting, Addressing, HeapFlags, HeapKind, MAX_HEAPS, MAX_TYPES, MemoryFacts, MemoryHeap,
        MemoryPropertyFlags, MemoryType, TableOptions, TypeMask,
    },
    uapi::{GemCreateFlags, GemDomain},
};

/// The heaps and memory types of a device (`VkPhysicalDeviceMemoryProperties`).
///
/// It is built once per device and never changes. It makes no heap allocation and is smaller than 2 KiB.
///
/// ```
/// use amdgpu_winsys::heaps::{Addressing, MemoryProperties, MemoryPropertyFlags, TableOptions};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let facts = amdgpu_winsys::heaps::MemoryFacts::try_from(device.info())?;
/// let memory = MemoryProperties::new(&facts, &TableOptions::default());
/// let usable = memory.buffer_types(Addressing::Bits64, false);
/// let index = memory.find_type(usable, MemoryPropertyFlags::HOST_CACHED, MemoryPropertyFlags::empty());
/// let readback = &memory.types()[usize::try_from(index.ok_or("no such type")?)?];
/// assert!(readback.properties.contains(MemoryPropertyFlags::HOST_VISIBLE | MemoryPropertyFlags::HOST_COHERENT));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryProperties {
    facts: MemoryFacts,
    options: TableOptions,
    accounting: Accounting,
    heaps: FixedList<MemoryHeap, MAX_HEAPS>,
    types: FixedList<MemoryType, MAX_TYPES>,
}

impl MemoryProperties {
    /// Builds the tables of a device by the [rules](crate::heaps).
    pub fn new(facts: &MemoryFacts, options: &TableOptions) -> Self {
        let split = Split::new(facts, options);
        let mut heaps = FixedList::new(MemoryHeap { size: 0, flags: HeapFlags::empty(), kind: HeapKind::Gtt });
        for (kind, size) in split.heaps(options.profile.rules().visible_before_gtt) {
            let flags = if kind == HeapKind::Gtt { HeapFlags::empty() } else { HeapFlags::DEVICE_LOCAL };
            heaps.push(MemoryHeap { size, flags, kind });
        }
        let types = rules::types(facts, options, heaps.as_slice());
        Self { facts: *facts, options: *options, accounting: split.accounting, heaps, types }
    }

    /// Returns the heaps by index, at most three. Empty only if [`TableOptions::override_vram_mib`] removes the memory of a
    /// device without GTT.
    pub fn heaps(&self) -> &[MemoryHeap] {
        self.heaps.as_slice()
    }

    /// Returns the memory types, by index.
    pub fn types(&self) -> &[MemoryType] {
        self.types.as_slice()
    }

    /// Returns the facts that the tables were built from.
    pub const fn facts(&self) -> &MemoryFacts {
        &self.facts
    }

    /// Returns the options that the tables were built with.
    pub const fn options(&self) -> &TableOptions {
        &self.options
    }

    /// Returns the relation between heaps and physical memories, which determines the budgets.
    pub const fn accounting(&self) -> Accounting {
        self.accounting
    }

    /// Returns `true` if every allocation is followed by a read-only guard page, so that scalar loads past its end do not
    /// fault.
    ///
    /// Source: Mesa 26.2 `src/amd/vulkan/radv_buffer.c`, `radv_bo_create`.
    pub fn has_guard_pages(&self) -> bool {
        let overrun = self.facts.scalar_loads_overrun() && !self.options.no_smem_mitigation;
        overrun || self.facts.partial_scalar_loads_hang()
    }

    /// Returns the first heap of a kind; `None` if there is none.
    pub fn heap_of_kind(&self, kind: HeapKind) -> Option<&MemoryHeap> {
        self.heaps().iter().find(|heap| heap.kind == kind)
    }

    /// Returns the types whose addresses are in the 32-bit window.
    pub fn types_32bit(&self) -> TypeMask {
        self.types_where(|ty| ty.addressing == Addressing::Bits32)
    }

    /// Returns the protected types, whose memory is encrypted.
    pub fn types_protected(&self) -> TypeMask {
        self.types_where(MemoryType::is_protected)
    }

    /// Returns the types that a buffer may be bound to (`memoryTypeBits`).
    ///
    /// `addressing` is [`Addressing::Bits32`] for descriptor buffers and for the preprocess buffers of device-generated
    /// commands, because shaders get their addresses in one register. It is [`Addressing::Bits64`] for other buffers and for
    /// images. The set is empty if the [profile](crate::heaps::Profile) has no such types.
    ///
    /// A protected resource gets only protected types, and any other resource only unprotected ones, as Vulkan requires. RADV
    /// 26.2 also offers the protected types for other buffers.
    ///
    /// Source: Mesa 26.2 `src/amd/vulkan/radv_buffer.c`, `radv_get_buffer_memory_requirements`.
    pub fn buffer_types(&self, addressing: Addressing, protected: bool) -> TypeMask {
        self.types_where(|ty| ty.addressing == addressing && ty.is_protected() == protected)
    }

    /// Returns the types that can import host memory (`VK_EXT_external_memory_host`): at most one, the first cached GTT type.
    /// An APU with a unified heap has none.
    ///
    /// Source: Mesa `src/amd/vulkan/radv_device.c`, `radv_GetMemoryHostPointerPropertiesEXT`.
    pub fn host_pointer_types(&self) -> TypeMask {
        let importable =
            |ty: &MemoryType| ty.domains == GemDomain::GTT && !ty.create_flags.contains(GemCreateFlags::CPU_GTT_USWC);
        self.types_where(importable).iter().take(1).collect()
    }

    /// Returns the type in `allowed` that has all `required` properties and the most `preferred` ones; `None` if no type has
    /// the required ones. Among equal types it is the first, which is the fastest.
    ///
    /// Protected and device-coherent types are only returned if `required` or `preferred` contains those properties, because
    /// Vulkan forbids other uses of them.
    pub fn find_type(
        &self,
        allowed: TypeMask,
        required: MemoryPropertyFlags,
        preferred: MemoryPropertyFlags,
    ) -> Option<u32> {
        let asked = required | preferred;
        let coherent = MemoryPropertyFlags::DEVICE_COHERENT_AMD | MemoryPropertyFlags::DEVICE_UNCACHED_AMD;
        let mut unwanted = MemoryPropertyFlags::PROTECTED - asked;
        if !asked.intersects(coherent) {
            unwanted |= coherent;
        }
        let fits = |ty: &MemoryType| ty.properties.contains(required) && !ty.properties.intersects(unwanted);
        let missing = |index: u32| {
            let properties =
                self.types().get(num::index(index)).map_or(MemoryPropertyFlags::empty(), |ty| ty.properties);
            (preferred - properties).bits().count_ones()
        };
        // `min_by_key` returns the first of equal types.
        self.types_where(fits).intersection(allowed).iter().min_by_key(|&index| missing(index))
    }

    fn types_where(&self, wanted: impl Fn(&MemoryType) -> bool) -> TypeMask {
        (0..).zip(self.types()).filter(|(_, ty)| wanted(ty)).map(|(index, _)| index).collect()
    }
}
