//! Vulkan images and image views.
//!
//! Source: Mesa 25.0.7 `src/amd/vulkan/radv_image.c` and `radv_image_view.c`.

use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_surface::Chip;
use amdgpu_surface::surface::{
    Dimension, LevelMode, SurfaceConfig, SurfaceError, SurfaceLayout, SurfaceUsage, TilingMode,
};

use crate::descriptor::ImageDescriptor;
use crate::error::DescriptorError;
use crate::format::{Format, Swizzle};
use crate::view::{ImageKind, ImageMeta, ImagePlace, ImageView, Tiling};

/// `VK_IMAGE_USAGE_*`.
mod usage {
    pub(super) const TRANSFER_SRC: u32 = 1;
    pub(super) const SAMPLED: u32 = 4;
    pub(super) const STORAGE: u32 = 8;
    pub(super) const COLOR_ATTACHMENT: u32 = 0x10;
    pub(super) const DEPTH_STENCIL_ATTACHMENT: u32 = 0x20;
    pub(super) const INPUT_ATTACHMENT: u32 = 0x80;
}

/// The part of `VkImageCreateInfo` that determines the layout of an image that is not shared with other processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VulkanImage {
    /// The format of the image (`format`).
    pub format: Format,
    /// The dimension of the image (`imageType`).
    pub dimension: Dimension,
    /// Width, height and depth of level 0 in texels (`extent`).
    pub extent: [u32; 3],
    /// The number of array layers (`arrayLayers`).
    pub layers: u32,
    /// The number of mip levels (`mipLevels`).
    pub levels: u32,
    /// The number of samples (`samples`).
    pub samples: u32,
    /// `true` if the image is linear (`VK_IMAGE_TILING_LINEAR`).
    pub linear: bool,
    /// The bits of `usage` (`VkImageUsageFlags`).
    pub usage: u32,
}

/// The aspect of a format that a view shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aspect {
    /// The colour aspect.
    #[default]
    Color,
    /// The depth aspect.
    Depth,
    /// The stencil aspect.
    Stencil,
}

/// The type of an image view (`VkImageViewType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewType {
    /// A 1D view or an array of 1D views.
    D1,
    /// A 2D view or an array of 2D views.
    D2,
    /// A 3D view.
    D3,
    /// A cube view or an array of cube views.
    Cube,
}

/// The part of `VkImageViewCreateInfo` that determines a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VulkanView {
    /// The type of the view (`viewType`).
    pub view: ViewType,
    /// The aspect that the view shows (`aspectMask`).
    pub aspect: Aspect,
    /// The first mip level of the view (`baseMipLevel`).
    pub base_level: u32,
    /// The number of mip levels of the view (`levelCount`).
    pub level_count: u32,
    /// The first array layer of the view (`baseArrayLayer`).
    pub base_layer: u32,
    /// The number of array layers of the view (`layerCount`).
    pub layer_count: u32,
    /// The component mapping (`components`). [`Swizzle::IDENTITY`] maps each component to itself.
    pub swizzle: Swizzle,
    /// `true` if the view is for stores, `false` if it is for sampling.
    pub storage: bool,
}

impl VulkanImage {
    fn has(&self, bits: u32) -> bool {
        self.usage & bits != 0
    }

    fn pixels(&self) -> u64 {
        u64::from(self.extent[0]) * u64::from(self.extent[1])
    }

    fn tiling(&self, level: GfxLevel) -> TilingMode {
        let plain = !self.format.is_compressed() && !self.format.is_depth_or_stencil();
        let thin = self.dimension == Dimension::D1 || self.extent[0] > 8 && self.extent[1] <= 2;
        if self.linear || self.samples <= 1 && plain && level <= GfxLevel::Gfx8 && thin {
            TilingMode::Linear
        } else {
            TilingMode::Tiled2d
        }
    }

    /// Returns `true` if shaders store to the image.
    pub(super) const fn is_stored(&self) -> bool {
        self.usage & usage::STORAGE != 0
    }

    /// Returns `true` if shaders can do atomic operations on the image's format without enabling a feature. Floating-point formats
    /// need one.
    fn has_atomics(&self) -> bool {
        const ATOMIC: [Format; 4] = [Format::R32_UINT, Format::R32_SINT, Format::R64_UINT, Format::R64_SINT];
        ATOMIC.contains(&self.format)
    }

    /// Returns `true` if the driver may clear the image through its metadata. Small single-sampled images are not worth a fast
    /// clear.
    pub(super) fn may_clear_fast(&self) -> bool {
        self.has(usage::COLOR_ATTACHMENT) && (self.samples > 1 || self.pixels() > 512 * 512)
    }

    /// Returns `true` if DCC is possible for the image, even if it would not be profitable.
    pub(super) fn dcc_fits(&self, level: GfxLevel) -> bool {
        // Atomic operations would decompress the image again and again.
        let stores = self.is_stored() && (level < GfxLevel::Gfx10 || self.has_atomics());
        let (layered, mipmapped) = (self.layers > 1, self.levels > 1);
        let older = level < GfxLevel::Gfx10 && self.samples > 1;
        let gfx9 = level == GfxLevel::Gfx9 && (layered || mipmapped);
        level >= GfxLevel::Gfx8
            && !self.linear
            && !(stores || older || gfx9 || layered && mipmapped)
            && self.format.block() == (1, 1)
    }

    fn may_have_dcc(&self, level: GfxLevel) -> bool {
        self.may_clear_fast() && self.dcc_fits(level)
    }

    fn may_have_htile(&self, level: GfxLevel) -> bool {
        let mips = self.levels == 1 || self.layers == 1 && level >= GfxLevel::Gfx10;
        let stencil_mips = level == GfxLevel::Gfx10 && self.format == Format::D32_SFLOAT_S8_UINT && self.levels > 1;
        mips && !stencil_mips && self.pixels() >= 64 && !self.is_stored()
    }

    /// Returns `true` if the texture units can read the image's HTILE (`radv_use_tc_compat_htile_for_image`).
    fn may_read_htile(&self, level: GfxLevel) -> bool {
        let read = self.has(usage::SAMPLED | usage::INPUT_ATTACHMENT | usage::TRANSFER_SRC);
        let (format, samples) = (self.format, self.samples);
        let fits = match level {
            GfxLevel::Gfx8 => {
                self.layers == 1
                    && format != Format::D16_UNORM_S8_UINT
                    && (samples == 1 || format != Format::D32_SFLOAT_S8_UINT)
            }
            GfxLevel::Gfx9 => samples != 4 || format != Format::D16_UNORM,
            level => level > GfxLevel::Gfx9,
        };
        read && fits && !self.is_stored() && !self.linear
    }

    /// Returns the configuration from which the layout is computed. `surface_index` numbers the images whose tile swizzle spreads
    /// them over the memory channels; RADV counts render targets.
    pub fn surface(&self, level: GfxLevel, surface_index: Option<u32>) -> SurfaceConfig {
        let [width, height, depth] = self.extent;
        let format = self.format;
        let aspect = if format.has_depth() { self.aspect_format(Aspect::Depth) } else { format };
        let mut flags = SurfaceUsage::CONTIGUOUS_DCC_LAYERS;
        if format.has_depth() {
            flags |= SurfaceUsage::ZBUFFER;
            if format.has_stencil() && level <= GfxLevel::Gfx8 {
                flags |= SurfaceUsage::NO_STENCIL_ADJUST;
                flags.set(SurfaceUsage::NO_RENDER_TARGET, !self.has(usage::DEPTH_STENCIL_ATTACHMENT));
            }
            if !self.may_have_htile(level) || flags.contains(SurfaceUsage::NO_RENDER_TARGET) {
                flags |= SurfaceUsage::NO_HTILE;
            } else if self.may_read_htile(level) {
                flags |= SurfaceUsage::TC_COMPATIBLE_HTILE;
            }
        }
        if format.has_stencil() {
            flags |= SurfaceUsage::SBUFFER;
        }
        let big_blocks = self.dimension == Dimension::D3 && format.is_compressed() && format.bytes() == 16;
        if level >= GfxLevel::Gfx9 && big_blocks {
            flags |= SurfaceUsage::NO_RENDER_TARGET;
        }
        flags.set(SurfaceUsage::DISABLE_DCC, !self.may_have_dcc(level));
        // GFX9 interleaves the FMASK of layers, which the driver does not support.
        let interleaved = level == GfxLevel::Gfx9 && self.layers > 1;
        flags.set(SurfaceUsage::NO_FMASK, self.samples <= 1 || !self.has(usage::COLOR_ATTACHMENT) || interleaved);
        flags.set(SurfaceUsage::NO_TEXTURE, !self.has(usage::SAMPLED | usage::STORAGE));
        SurfaceConfig {
            depth,
            layers: self.layers,
            levels: self.levels,
            samples: self.samples,
            storage_samples: self.samples,
            block: format.block(),
            dimension: self.dimension,
            mode: self.tiling(level),
            usage: flags,
            surface_index,
            ..SurfaceConfig::new(width, height, aspect.bytes())
        }
    }

    /// Computes the layout of the image on a chip, with the configuration of [`surface`](Self::surface).
    ///
    /// # Errors
    ///
    /// [`SurfaceError`] if the chip does not support the image.
    pub fn layout(&self, chip: &Chip, surface_index: Option<u32>) -> Result<SurfaceLayout, SurfaceError> {
        SurfaceLayout::new(chip, &self.surface(chip.level(), surface_index))
    }

    fn aspect_format(&self, aspect: Aspect) -> Format {
        match (aspect, self.format) {
            (Aspect::Stencil, _) => Format::S8_UINT,
            (Aspect::Depth, Format::D32_SFLOAT_S8_UINT) => Format::D32_SFLOAT,
            (Aspect::Depth, Format::D16_UNORM_S8_UINT) => Format::D16_UNORM,
            (_, format) => format,
        }
    }

    fn kind(&self, level: GfxLevel, view: &VulkanView) -> ImageKind {
        let layered = self.layers > 1;
        match (view.view, self.dimension) {
            (ViewType::Cube, _) if !view.storage => ImageKind::Cube,
            (ViewType::D3, _) => ImageKind::D3,
            _ if self.samples > 1 && layered => ImageKind::D2MsaaArray,
            _ if self.samples > 1 => ImageKind::D2Msaa,
            // GFX9 stores 1D images as 2D images.
            (_, Dimension::D1) if level != GfxLevel::Gfx9 => {
                if layered {
                    ImageKind::D1Array
                } else {
                    ImageKind::D1
                }
            }
            _ if layered => ImageKind::D2Array,
            _ => ImageKind::D2,
        }
    }

    /// Returns the hardware view that RADV uses for an image at `base`. `layout` must be a layout of this image on this chip.
    pub fn view(&self, chip: &Chip, layout: &SurfaceLayout, base: GpuVa, view: &VulkanView) -> ImageView {
        let level = chip.level();
        let format = self.aspect_format(view.aspect);
        let kind = self.kind(level, view);
        let is_stencil = view.aspect == Aspect::Stencil;
        let splits = view.aspect == Aspect::Depth && self.format.has_stencil();
        // Up to GFX8, some views start at their first level instead of level 0.
        let rebased = level <= GfxLevel::Gfx8 && (view.storage || self.format.is_compressed() || splits);
        let first = if rebased { view.base_level } else { 0 };
        let minify = |size: u32| (size.checked_shr(first).unwrap_or(0)).max(1);
        let [width, height, depth] = self.extent.map(minify);
        let last = view.base_level.saturating_add(view.level_count.max(1) - 1);
        let last_layer = view.base_layer.saturating_add(view.layer_count.max(1) - 1);
        let own = if self.format.is_depth_or_stencil() { Swizzle::DEPTH } else { self.format.swizzle() };
        ImageView {
            kind,
            format,
            swizzle: if self.format.has_halves() { Swizzle::HALVES } else { view.swizzle.over(own) },
            width,
            height,
            depth: match kind {
                ImageKind::D3 => depth,
                ImageKind::Cube if level <= GfxLevel::Gfx8 => (self.layers / 6).max(1),
                _ => self.layers,
            },
            first_layer: view.base_layer,
            last_layer,
            num_levels: self.levels,
            first_level: view.base_level - first,
            last_level: last - first,
            samples: self.samples,
            storage_samples: self.samples,
            min_lod: 0.0,
            slice_view: false,
            widened_depth: false,
            aniso_single_level: true,
            no_edge_clamp: false,
            write_compress: false,
            stencil_beside: is_stencil.then_some(self.format).filter(|_| layout.meta.is_some()),
            place: self.place(chip, layout, base, view, first),
        }
    }

    fn place(&self, chip: &Chip, layout: &SurfaceLayout, base: GpuVa, view: &VulkanView, first: u32) -> ImagePlace {
        let is_stencil = view.aspect == Aspect::Stencil;
        let mode = u32::from(if is_stencil { layout.stencil.swizzle_mode } else { layout.swizzle_mode });
        let (tiling, offset) = if let Some(legacy) = &layout.legacy {
            let levels = if is_stencil { &legacy.stencil_levels } else { &legacy.levels };
            let found = levels.get(first as usize).copied().unwrap_or_default();
            let tiling = Tiling::Legacy {
                index: found.tile_index.cast_unsigned(),
                pitch: found.pitch.saturating_mul(self.format.block().0),
                macro_tiled: found.mode == LevelMode::Tiled2d,
            };
            (tiling, found.offset)
        } else {
            let offset = if is_stencil { layout.stencil.offset } else { 0 };
            let epitch = if is_stencil { layout.stencil.epitch } else { layout.epitch };
            let pitch = layout.custom_pitch.then_some(layout.pitch);
            let is_gfx9 = chip.level() == GfxLevel::Gfx9;
            (if is_gfx9 { Tiling::Gfx9 { mode, epitch } } else { Tiling::Modern { mode, pitch } }, offset)
        };
        ImagePlace {
            base,
            offset,
            tile_swizzle: layout.tile_swizzle,
            tiling,
            meta: self.meta(chip, layout, view),
            max_compressed_block: layout.dcc_settings.max_block as u32,
        }
    }

    fn meta(&self, chip: &Chip, layout: &SurfaceLayout, view: &VulkanView) -> Option<ImageMeta> {
        let meta = layout.meta.filter(|meta| meta.offset != 0)?;
        if self.format.is_depth_or_stencil() {
            let readable = layout.usage.contains(SurfaceUsage::TC_COMPATIBLE_HTILE) && !view.storage;
            return readable.then_some(ImageMeta::Htile { offset: meta.offset, iterate_256: self.samples > 1 });
        }
        let level_offset = layout
            .legacy
            .map_or(0, |legacy| legacy.dcc_levels.get(view.base_level as usize).map_or(0, |(place, _)| place.offset));
        let in_levels = view.base_level < meta.levels.max(u32::from(layout.legacy.is_some()));
        (in_levels && !view.storage).then_some(ImageMeta::Dcc {
            offset: meta.offset,
            level_offset,
            align_log2: meta.align_log2,
            pipe_aligned: layout.dcc.is_some_and(|dcc| dcc.pipe_aligned),
            rb_aligned: layout.dcc.is_some_and(|dcc| dcc.rb_aligned),
            alpha_is_on_msb: self.format.alpha_is_on_msb_of(chip),
        })
    }

    /// Builds the descriptor of a view of the image at `base`. `layout` must be a layout of this image on this chip.
    ///
    /// # Errors
    ///
    /// [`DescriptorError`] if the generation does not support the view, or a number does not fit its field.
    pub fn descriptor(
        &self,
        chip: &Chip,
        layout: &SurfaceLayout,
        base: GpuVa,
        view: &VulkanView,
    ) -> Result<ImageDescriptor, DescriptorError> {
        if view.level_count == 0 || view.base_level.saturating_add(view.level_count) > self.levels {
            let last = view.base_level.saturating_add(view.level_count.max(1) - 1);
            return Err(DescriptorError::Span { what: "levels", first: view.base_level, last, count: self.levels });
        }
        self.view(chip, layout, base, view).descriptor(chip.level())
    }
}
