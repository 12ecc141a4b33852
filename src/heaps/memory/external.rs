//! Properties of external memory, which is exported or imported, as Vulkan reports them.

use amdgpu_hw::num;

use crate::{
    heaps::{Addressing, MemoryProperties, TypeMask},
    uapi::{GemCreateFlags, GemDomain},
    winsys::Bo,
};

bitflags::bitflags! {
    /// Handle types of external memory: the supported part of `VkExternalMemoryHandleTypeFlags`.
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
        /// `OPAQUE_FD`: a descriptor for Vulkan drivers of the same kind. Here it is a dma-buf.
        const OPAQUE_FD = 0x1;
        /// `DMA_BUF_EXT`: a dma-buf.
        const DMA_BUF = 0x200;
        /// `HOST_ALLOCATION_EXT`: memory that the process allocated.
        const HOST_ALLOCATION = 0x80;
        /// `HOST_MAPPED_FOREIGN_MEMORY_EXT`: a CPU mapping of another device's memory. Not supported.
        const HOST_MAPPED_FOREIGN = 0x100;
    }

    /// Operations that external memory of a handle type supports (`VkExternalMemoryFeatureFlags`).
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
        /// The resource needs a dedicated allocation.
        const DEDICATED_ONLY = 0x1;
        /// Memory can be exported as this type.
        const EXPORTABLE = 0x2;
        /// Memory can be imported as this type.
        const IMPORTABLE = 0x4;
    }
}

/// The two descriptor types, which are the same to the kernel.
const DESCRIPTORS: ExternalHandleTypes = ExternalHandleTypes::OPAQUE_FD.union(ExternalHandleTypes::DMA_BUF);

/// The external memory properties of a buffer (`VkExternalMemoryProperties`).
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
    /// The operations that memory of the handle type supports.
    pub features: ExternalFeatures,
    /// Handle types that an import of this type can be exported as.
    pub export_from_imported: ExternalHandleTypes,
    /// Handle types that can be combined with this type.
    pub compatible: ExternalHandleTypes,
}

impl ExternalBufferProperties {
    /// Returns the properties of a buffer for one handle type. They are empty if `handle_type` names several types or one that
    /// is not supported.
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

/// A kind of resource, for the query whether it needs a dedicated allocation (`VkMemoryDedicatedRequirements`).
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
    /// An image with linear tiling, whose layout any importer can compute.
    LinearImage,
    /// An image with a tiling other than linear.
    TiledImage,
}

impl Resource {
    /// Returns `true` if the resource requires, and therefore also prefers, a dedicated allocation when it may be shared as one
    /// of the types `shared`.
    ///
    /// The layout of a tiled image is stored in the metadata of its BO, and a BO has only one set of metadata. Buffers never
    /// require a dedicated allocation.
    ///
    /// Source: Mesa 25.0.7 `radv_image.c`, `radv_GetImageMemoryRequirements2`, and `radv_buffer.c`.
    pub const fn requires_dedicated(self, shared: ExternalHandleTypes) -> bool {
        matches!(self, Self::TiledImage) && !shared.is_empty()
    }
}

impl MemoryProperties {
    /// Returns the memory types that a BO can be imported as, given the domains and flags that the kernel reports for it.
    ///
    /// Domains are compared without GTT, because requests for VRAM have GTT too. Only two flags survive in the kernel and are
    /// compared: NO_CPU_ACCESS and CPU_GTT_USWC. If no type matches both, CPU_GTT_USWC is ignored, then NO_CPU_ACCESS as well.
    /// Protected types match encrypted memory only; RADV offers them for any memory.
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

    /// Returns the memory types that a dma-buf may be imported as: the [`types_of_memory`](Self::types_of_memory) of its BO
    /// without those with 32-bit addresses, which are scarce.
    ///
    /// Source: Mesa 25.0.7 `radv_device.c`, `radv_GetMemoryFdPropertiesKHR`.
    pub fn dma_buf_types(&self, bo: &Bo) -> TypeMask {
        let wide =
            |index: &u32| self.types().get(num::index(*index)).is_some_and(|ty| ty.addressing == Addressing::Bits64);
        self.types_of_memory(bo.domains(), bo.flags()).iter().filter(wide).collect()
    }
}
