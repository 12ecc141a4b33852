//! Memory dedicated to an image: its requirements, and the metadata of its BO.

use amdgpu_descriptors::{
    ImageDescriptor,
    umd::{UmdError, UmdMetadata},
};
use amdgpu_surface::{Chip, surface::SurfaceLayout};

use super::request::{AllocateFlags, AllocateInfo};
use crate::{
    heaps::{Addressing, MemoryProperties, TypeMask},
    winsys::BoMetadata,
};

/// The memory requirements of an image (`VkMemoryRequirements`).
///
/// ```
/// use amdgpu_surface::surface::{SurfaceConfig, SurfaceLayout};
/// use amdgpu_winsys::heaps::*;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = MemoryManager::new(&device, &TableOptions::default())?;
/// let layout = SurfaceLayout::new(&device.info().surface_chip()?, &SurfaceConfig::new(64, 64, 4))?;
/// let needed = manager.properties().image_requirements(&layout, false);
/// assert!(needed.size >= 64 * 64 * 4 && needed.alignment.is_power_of_two());
/// assert!(!needed.may_compress); // only GFX12 compresses in pages
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageRequirements {
    /// Bytes of texels and image metadata. A driver that keeps data of its own for an image places it after them.
    pub size: u64,
    /// Alignment of the image in memory, in bytes.
    pub alignment: u64,
    /// The memory types that the image can use.
    pub types: TypeMask,
    /// `true` if the texture units may compress the image within its pages (GFX12), see [`AllocateFlags::ALLOW_DCC`].
    pub may_compress: bool,
}

impl MemoryProperties {
    /// Returns the memory requirements of an image with this layout.
    ///
    /// ```
    /// use amdgpu_sim::{SimKernel, profile};
    /// use amdgpu_surface::surface::{SurfaceConfig, SurfaceLayout};
    /// use amdgpu_winsys::{heaps::*, winsys::Device};
    ///
    /// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    /// let manager = MemoryManager::new(&device, &TableOptions::default())?;
    /// let tables = manager.properties();
    ///
    /// let chip = device.info().surface_chip()?;
    /// let layout = SurfaceLayout::new(&chip, &SurfaceConfig::new(1920, 1080, 4))?;
    /// let needed = tables.image_requirements(&layout, false);
    /// let local = MemoryPropertyFlags::DEVICE_LOCAL;
    /// let memory_type = tables.find_type(needed.types, local, MemoryPropertyFlags::empty()).ok_or("no such type")?;
    /// let memory = manager.allocate(&needed.allocate_info(memory_type, AllocateFlags::EXPORTABLE))?;
    /// assert!(memory.size() >= needed.size && memory.address().is_aligned(needed.alignment));
    ///
    /// // For importers: the tiling word, and with a descriptor of the image also the words of other drivers.
    /// let words = image_metadata(&chip, &layout, None)?;
    /// let shared = memory.export_image(ExternalHandleTypes::DMA_BUF, &words)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_image.c`, `radv_GetImageMemoryRequirements2` and `radv_image_create_layout`.
    pub fn image_requirements(&self, layout: &SurfaceLayout, protected: bool) -> ImageRequirements {
        ImageRequirements {
            size: layout.total_bytes,
            alignment: 1 << layout.total_align_log2.min(63),
            types: self.buffer_types(Addressing::Bits64, protected),
            may_compress: layout.enable_dcc,
        }
    }
}

impl ImageRequirements {
    /// Returns the request for memory of this image alone. Every allocation has the largest alignment that any image of the
    /// chip needs ([`MemoryFacts::max_alignment`](crate::heaps::MemoryFacts::max_alignment)).
    #[must_use]
    pub const fn allocate_info(&self, memory_type: u32, flags: AllocateFlags) -> AllocateInfo {
        AllocateInfo { flags, ..AllocateInfo::new(memory_type, self.size) }
    }
}

/// An error of [`image_metadata`].
///
/// ```
/// use amdgpu_winsys::heaps::ImageMetadataError;
///
/// let error = ImageMetadataError::DccOffset { bytes: 6 << 30 };
/// assert!(error.to_string().contains("6442450944 bytes"), "{error}");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageMetadataError {
    /// DCC begins more than 4 GiB into the image, an offset that the tiling word cannot hold.
    #[error("an image of {bytes} bytes, whose DCC lies beyond what the tiling word can say")]
    DccOffset {
        /// Size of the image with its metadata, in bytes.
        bytes: u64,
    },
    /// The metadata for other drivers cannot be encoded.
    #[error(transparent)]
    Words(#[from] UmdError),
}

/// The properties of an image that its exporter passes to other drivers.
///
/// ```
/// use amdgpu_surface::surface::{SurfaceConfig, SurfaceLayout};
/// use amdgpu_winsys::heaps::*;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = MemoryManager::new(&device, &TableOptions::default())?;
/// let chip = device.info().surface_chip()?;
/// let layout = SurfaceLayout::new(&chip, &SurfaceConfig::new(64, 64, 4))?;
/// let device = device.info().device_id as u16;
/// let shared = SharedImage { device, descriptor: Default::default(), levels: 1 };
/// // Without it only the tiling word travels.
/// assert!(image_metadata(&chip, &layout, None)?.data.is_empty());
/// assert!(!image_metadata(&chip, &layout, Some(&shared))?.data.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedImage {
    /// The exporter's PCI device ID, [`GpuInfo::device_id`](crate::winsys::GpuInfo::device_id).
    pub device: u16,
    /// The descriptor of the whole image; its address is ignored.
    pub descriptor: ImageDescriptor,
    /// Number of mip levels.
    pub levels: u32,
}

/// Returns the metadata for the BO of an image: the tiling word and, if `shared` is given, the words that RADV and radeonsi
/// read. On GFX12 the caller adds the fields of the tiling word that depend on the format,
/// [`Format::compression_tiling`](amdgpu_descriptors::format::Format::compression_tiling).
///
/// # Errors
///
/// [`ImageMetadataError::DccOffset`] if the tiling word cannot hold the offset of DCC; [`ImageMetadataError::Words`] if
/// `shared` cannot be encoded, such as for too many mip levels.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_image.c`, `radv_init_metadata`; `src/amd/common/ac_surface.c`,
/// `ac_surface_compute_bo_metadata` and `ac_surface_compute_umd_metadata`.
pub fn image_metadata(
    chip: &Chip,
    layout: &SurfaceLayout,
    shared: Option<&SharedImage>,
) -> Result<BoMetadata, ImageMetadataError> {
    let tiling = layout.tiling_flags(chip);
    let tiling = tiling.ok_or(ImageMetadataError::DccOffset { bytes: layout.total_bytes })?;
    let Some(&SharedImage { device, descriptor, levels }) = shared else {
        return Ok(BoMetadata { tiling, ..BoMetadata::default() });
    };
    let mut offsets = [0; amdgpu_surface::addr1::MAX_LEVELS];
    if let Some(legacy) = &layout.legacy {
        offsets.iter_mut().zip(&legacy.levels).for_each(|(offset, level)| *offset = level.offset);
    }
    let offsets = offsets.get(..levels as usize).ok_or(UmdError::TooManyLevels(levels))?;
    let meta_offset = layout.meta.map_or(0, |meta| meta.offset);
    let words = UmdMetadata::new(chip.level(), device, descriptor, meta_offset, offsets)?.encode(chip.level())?;
    let data = words.as_slice().iter().flat_map(|word| word.to_le_bytes()).collect();
    Ok(BoMetadata { tiling, data, ..BoMetadata::default() })
}
