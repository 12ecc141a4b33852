//! The memory requirements of RADV's images: texels, compression metadata and RADV's own words.
//!
//! Source: Mesa 25.0.7 `src/amd/vulkan/radv_image.c`, `radv_get_surface_flags` and `radv_image_create_layout`.

use amdgpu_hw::GfxLevel;
use amdgpu_surface::Chip;
use amdgpu_surface::modifier::Modifier;
use amdgpu_surface::surface::{Dimension, SurfaceConfig, SurfaceError, SurfaceLayout, SurfaceUsage};

use super::image::VulkanImage;

/// The properties of an image's memory that restrict its layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageMemory {
    /// `true` if other processes share the image (`VkExternalMemoryImageCreateInfo`).
    pub external: bool,
    /// `true` if the image is bound page by page (`VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT`).
    pub sparse: bool,
    /// The format modifier, if the layout is given by one (`VkImageDrmFormatModifierListCreateInfoEXT`).
    pub modifier: Option<Modifier>,
}

/// The `VkMemoryRequirements` of an image, with its layout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImageRequirements {
    /// The layout of the texels and metadata.
    pub layout: SurfaceLayout,
    /// The size in bytes, including RADV's words after the metadata.
    pub bytes: u64,
    /// The alignment in bytes.
    pub alignment: u64,
}

/// The size in bytes of the words that RADV stores for each level: a predicate or a clear value.
const WORDS: u64 = 8;
/// The size in bytes of the word that RADV stores for each level if the precision of depth can change (GFX8 and GFX9).
const PRECISION: u64 = 4;

impl VulkanImage {
    /// Returns the configuration from which the layout in this memory is computed. `surface_index` numbers the images whose tile
    /// swizzle spreads them over the memory channels.
    pub fn surface_in(&self, level: GfxLevel, memory: &ImageMemory, surface_index: Option<u32>) -> SurfaceConfig {
        let mut config = self.surface(level, surface_index);
        config.modifier = memory.modifier;
        if memory.modifier.is_some() {
            config.usage.set(SurfaceUsage::DISABLE_DCC, !self.dcc_fits(level));
        } else if memory.external {
            config.usage |= SurfaceUsage::DISABLE_DCC;
        }
        if memory.external {
            config.usage |= SurfaceUsage::SHAREABLE;
            if self.format.has_depth() {
                config.usage.remove(SurfaceUsage::TC_COMPATIBLE_HTILE);
                config.usage |= SurfaceUsage::NO_HTILE;
            }
        }
        if memory.sparse {
            config.usage |= SurfaceUsage::PRT | SurfaceUsage::UNCOMPRESSED;
        }
        config
    }

    /// Returns the memory requirements that RADV reports for the image.
    ///
    /// # Errors
    ///
    /// [`SurfaceError`] if the chip does not support the image.
    pub fn requirements(&self, chip: &Chip, memory: &ImageMemory) -> Result<ImageRequirements, SurfaceError> {
        let config = self.surface_in(chip.level(), memory, None);
        let layout = SurfaceLayout::new(chip, &config)?;
        let is_color = !self.format.is_depth_or_stencil();
        let stores = layout.supports_dcc_image_stores(chip);
        let has_meta = layout.meta.is_some_and(|meta| meta.offset != 0);
        let (mut bytes, mut align_log2) = (layout.total_bytes, layout.total_align_log2);
        let mut has_dcc = is_color && has_meta;
        let mut has_cmask = layout.cmask.is_some_and(|cmask| cmask.offset != 0);
        let has_fmask = layout.fmask.is_some_and(|fmask| fmask.offset != 0);
        if has_dcc && memory.modifier.is_none() && self.is_stored() && !stores {
            // The layout has DCC, but the driver does not use it.
            has_dcc = false;
            if !has_cmask && !has_fmask {
                (bytes, align_log2) = (layout.bytes, layout.align_log2);
            }
        }
        if let Some(cmask) = layout.cmask
            && cmask.bytes != 0
            && !has_cmask
            && config.bytes <= 8
            && self.levels == 1
            && self.extent[2] == 1
            && !has_dcc
            && self.may_clear_fast()
            && !memory.sparse
        {
            has_cmask = true;
            bytes = bytes.next_multiple_of(1 << cmask.align_log2.min(31)).saturating_add(cmask.bytes);
            align_log2 = align_log2.max(cmask.align_log2);
        }
        if memory.modifier.is_none() {
            let per_level = self.words(chip.level(), &layout, [has_dcc, has_cmask, is_color], stores);
            bytes = bytes.saturating_add(per_level * u64::from(self.levels));
        }
        let mut alignment = 1_u64 << align_log2.min(63);
        if memory.sparse {
            alignment = alignment.max(4096);
            bytes = bytes.next_multiple_of(alignment);
        }
        Ok(ImageRequirements { layout, bytes, alignment })
    }

    /// Returns the size in bytes of RADV's words for a level.
    fn words(
        &self,
        level: GfxLevel,
        layout: &SurfaceLayout,
        [has_dcc, has_cmask, is_color]: [bool; 3],
        stores: bool,
    ) -> u64 {
        let has_htile = !is_color && layout.meta.is_some_and(|meta| meta.bytes != 0);
        // The hardware clears these images to a colour that is encoded in DCC itself.
        let names_color = level >= GfxLevel::Gfx10
            && has_dcc
            && self.dimension != Dimension::D3
            && !(has_cmask && self.format.bytes() > 8)
            && (self.format.bytes() > 2 || level >= GfxLevel::Gfx10_3);
        let eliminates = has_cmask || has_dcc && !names_color;
        let precise = matches!(level, GfxLevel::Gfx8 | GfxLevel::Gfx9)
            && has_htile
            && layout.usage.contains(SurfaceUsage::TC_COMPATIBLE_HTILE);
        [(eliminates, WORDS), (has_dcc && !stores, WORDS), (eliminates || has_htile, WORDS), (precise, PRECISION)]
            .into_iter()
            .filter(|(has, _)| *has)
            .map(|(_, bytes)| bytes)
            .sum()
    }
}
