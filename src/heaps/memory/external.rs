//! Memory that leaves the process or comes from elsewhere: what Vulkan may report of it.

use amdgpu_hw::num;

use crate::{
    heaps::{Addressing, MemoryProperties, TypeMask},
    uapi::{GemCreateFlags, GemDomain},
    winsys::Bo,
};

bitflags::bitflags! {
    /// `VkExternalMemoryHandleTypeFlags`, as far as the library knows them.
    ///
    /// ```
    /// use amdgpu_winsys::heaps::{AllocateFlags, AllocateInfo, ExternalHandleTypes};
    ///
    /// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
    /// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
    /// let shared = AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(0, 4096) };
    /// let memory = manager.allocate(&shared)?;
    /// assert!(memory.exportable_as().contains(ExternalHandleTypes::DMA_BUF | ExternalHandleTypes::OPAQUE_FD));
    /// let dma_buf = memory.export(ExternalHandleTypes::DMA_BUF)?;
    /// assert!(manager.allocate(&AllocateInfo::new(0, 4096))?.exportable_as().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct ExternalHandleTypes: u32 {
        /// `OPAQUE_FD`: a descriptor that only Vulkan drivers of the same kind read. It is a dma-buf here.
        const OPAQUE_FD = 0x1;
        /// `DMA_BUF_EXT`.
        const DMA_BUF = 0x200;
        /// `HOST_ALLOCATION_EXT`: memory of the process.
        const HOST_ALLOCATION = 0x80;
        /// `HOST_MAPPED_FOREIGN_MEMORY_EXT`: the CPU's view of another device's memory. Not supported.
        const HOST_MAPPED_FOREIGN = 0x100;
    }

    /// `VkExternalMemoryFeatureFlags`.
    ///
    /// ```
    /// use amdgpu_winsys::heaps::{ExternalBufferProperties, ExternalFeatures, ExternalHandleTypes};
    ///
    /// let host = ExternalBufferProperties::of(ExternalHandleTypes::HOST_ALLOCATION);
    /// assert!(host.features.contains(ExternalFeatures::IMPORTABLE));
    /// assert!(!host.features.contains(ExternalFeatures::EXPORTABLE)); // the process has its memory already
    /// ```
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct ExternalFeatures: u32 {
        /// The resource needs memory of its own.
        const DEDICATED_ONLY = 0x1;
        /// Memory can be exported as this type.
        const EXPORTABLE = 0x2;
        /// Memory can be imported as this type.
        const IMPORTABLE = 0x4;
    }
}

/// The two kinds of descriptor, which are the same to the kernel.
const DESCRIPTORS: ExternalHandleTypes = ExternalHandleTypes::OPAQUE_FD.union(ExternalHandleTypes::DMA_BUF);

/// `VkExternalMemoryProperties` of a buffer.
///
/// ```
/// use amdgpu_winsys::heaps::{ExternalBufferProperties, ExternalFeatures, ExternalHandleTypes};
///
/// let dma_buf = ExternalBufferProperties::of(ExternalHandleTypes::DMA_BUF);
/// assert_eq!(dma_buf.features, ExternalFeatures::EXPORTABLE | ExternalFeatures::IMPORTABLE);
/// assert!(dma_buf.export_from_imported.contains(ExternalHandleTypes::DMA_BUF));
/// let foreign = ExternalBufferProperties::of(ExternalHandleTypes::HOST_MAPPED_FOREIGN);
/// assert_eq!(foreign, ExternalBufferProperties::default()); // not supported
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExternalBufferProperties {
    /// Supported operations.
    pub features: ExternalFeatures,
    /// Handle types that an import of this type can be exported as.
    pub export_from_imported: ExternalHandleTypes,
    /// Handle types that it can be combined with.
    pub compatible: ExternalHandleTypes,
}

impl ExternalBufferProperties {
    /// Returns the properties of a buffer and one handle type. All are empty for several, or for one that is not supported.
    ///
    /// Source: Mesa 25.0.7 `radv_formats.c`, `radv_GetPhysicalDeviceExternalBufferProperties`; twelve captured devices
    /// agree.
    pub fn of(handle_type: ExternalHandleTypes) -> Self {
        match handle_type {
            ExternalHandleTypes::OPAQUE_FD | ExternalHandleTypes::DMA_BUF => Self {
                features: ExternalFeatures::EXPORTABLE | ExternalFeatures::IMPORTABLE,
                export_from_imported: DESCRIPTORS,
                compatible: DESCRIPTORS,
            },
            ExternalHandleTypes::HOST_ALLOCATION => Self {
                features: ExternalFeatures::IMPORTABLE,
                export_from_imported: ExternalHandleTypes::empty(),
                compatible: ExternalHandleTypes::HOST_ALLOCATION,
            },
            _ => Self::default(),
        }
    }
}

/// A resource that asks whether it needs memory of its own (`VkMemoryDedicatedRequirements`).
///
/// ```
/// use amdgpu_winsys::heaps::{ExternalHandleTypes, Resource};
///
/// // The layout of a tiled image travels with its BO, so such an image needs a BO of its own.
/// assert!(Resource::TiledImage.requires_dedicated(ExternalHandleTypes::DMA_BUF));
/// assert!(!Resource::LinearImage.requires_dedicated(ExternalHandleTypes::DMA_BUF));
/// assert!(!Resource::TiledImage.requires_dedicated(ExternalHandleTypes::empty())); // it is not shared
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// A buffer.
    Buffer,
    /// An image of linear tiling, whose layout any importer can compute.
    LinearImage,
    /// An image of any other tiling.
    TiledImage,
}

impl Resource {
    /// Returns `true` if the resource requires, and so also prefers, a dedicated allocation when it may be shared as
    /// `shared`.
    ///
    /// A tiled image's layout travels in the words of its BO, of which there is one set. Buffers never need it.
    ///
    /// Source: Mesa 25.0.7 `radv_image.c`, `radv_GetImageMemoryRequirements2`, and `radv_buffer.c`.
    pub const fn requires_dedicated(self, shared: ExternalHandleTypes) -> bool {
        matches!(self, Self::TiledImage) && !shared.is_empty()
    }
}

impl MemoryProperties {
    /// Returns the types that memory with these domains and flags, as the kernel reports them, can be imported as.
    ///
    /// Domains count without GTT, which VRAM requests have too. Of the flags those count that survive in the kernel:
    /// NO_CPU_ACCESS and CPU_GTT_USWC; if no type has both the same, the second is ignored, then the first. Protected types
    /// are for encrypted memory only; RADV offers them for any.
    ///
    /// Source: Mesa 25.0.7 `radv_device.c`, `radv_compute_valid_memory_types`.
    pub fn types_of_memory(&self, domains: GemDomain, flags: GemCreateFlags) -> TypeMask {
        const PLACES: GemDomain = GemDomain::VRAM.union(GemDomain::GDS).union(GemDomain::OA);
        const HIDDEN: GemCreateFlags = GemCreateFlags::NO_CPU_ACCESS;
        const COMBINED: GemCreateFlags = GemCreateFlags::CPU_GTT_USWC;
        let attempt = |relevant: GemCreateFlags| -> TypeMask {
            let relevant = relevant | GemCreateFlags::ENCRYPTED;
            let fits = |index: &u32| {
                self.types().get(num::index(*index)).is_some_and(|ty| {
                    ty.domains & PLACES == domains & PLACES && ty.create_flags & relevant == flags & relevant
                })
            };
            (0..num::count(self.types().len())).filter(fits).collect()
        };
        [HIDDEN | COMBINED, HIDDEN, GemCreateFlags::empty()]
            .into_iter()
            .map(attempt)
            .find(|types| !types.is_empty())
            .unwrap_or(TypeMask::NONE)
    }

    /// Returns the types of `types_of_memory` that a dma-buf may be imported as: those with 32-bit addresses are left out, so
    /// that shared memory does not use those up.
    ///
    /// Source: Mesa 25.0.7 `radv_device.c`, `radv_GetMemoryFdPropertiesKHR`.
    pub fn dma_buf_types(&self, bo: &Bo) -> TypeMask {
        let wide =
            |index: &u32| self.types().get(num::index(*index)).is_some_and(|ty| ty.addressing == Addressing::Bits64);
        self.types_of_memory(bo.domains(), bo.flags()).iter().filter(wide).collect()
    }
}
