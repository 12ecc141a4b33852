//! Colour and depth targets of Vulkan images.
//!
//! Source: Mesa 25.0.7 `src/amd/vulkan/radv_image_view.c` and `radv_device.c`, `radv_initialise_color_surface` and
//! `radv_initialise_ds_surface`.

use amdgpu_hw::GpuVa;
use amdgpu_surface::Chip;
use amdgpu_surface::surface::{Dimension, LevelMode, SurfaceLayout};

use super::image::VulkanImage;
use crate::target::{ColorDcc, ColorTarget, ColorTiling, DepthTarget, DepthTiling};

impl VulkanImage {
    /// Returns level 0 of the image at `base` as a colour target, with all its layers and without metadata: neither DCC, CMASK nor
    /// FMASK. `layout` must be a layout of this image on this chip.
    pub fn color_target(&self, chip: &Chip, layout: &SurfaceLayout, base: GpuVa) -> ColorTarget {
        let last_layer = self.last_layer();
        let (offset, tiling) = match &layout.legacy {
            Some(legacy) => {
                let level = legacy.levels[0];
                let tiling = ColorTiling::Legacy {
                    index: level.tile_index.cast_unsigned(),
                    blocks_x: level.pitch,
                    blocks_y: level.height,
                    macro_tiled: level.mode == LevelMode::Tiled2d,
                    bank_height: legacy.tiles.bank_height,
                    cmask_slice_tile_max: legacy.cmask_slice_tile_max,
                };
                (level.offset, tiling)
            }
            None => (0, Self::modern_color(layout)),
        };
        ColorTarget {
            format: self.format,
            base,
            offset,
            tile_swizzle: layout.tile_swizzle,
            width: self.extent[0],
            height: self.extent[1],
            resource_type: u32::from(layout.resource_type),
            first_layer: 0,
            last_layer,
            mip0_depth: last_layer,
            samples: self.samples,
            storage_samples: self.samples,
            level: 0,
            num_levels: self.levels,
            tiling,
            dcc: None,
            dcc_blocks: ColorDcc {
                independent_64: layout.dcc_settings.independent_64b,
                independent_128: layout.dcc_settings.independent_128b,
                max_compressed: layout.dcc_settings.max_block as u32,
            },
            dcc_block_32: chip.registers().has_dedicated_vram,
            fmask: None,
            cmask: None,
            fast_clear: false,
            tc_compatible_cmask: false,
        }
    }

    fn modern_color(layout: &SurfaceLayout) -> ColorTiling {
        ColorTiling::Modern {
            mode: layout.swizzle_mode.into(),
            fmask_mode: layout.fmask.map_or(0, |fmask| fmask.swizzle_mode.into()),
            epitch: layout.epitch,
            pitch: layout.custom_pitch.then_some(layout.pitch),
            pipe_aligned: layout.dcc.is_some_and(|dcc| dcc.pipe_aligned),
            rb_aligned: layout.dcc.is_some_and(|dcc| dcc.rb_aligned),
        }
    }

    /// Returns level 0 of the image at `base` as a target of depth and stencil, with all its layers and without metadata: neither
    /// HTILE, HiZ nor HiS. `layout` must be a layout of this image on this chip.
    pub fn depth_target(&self, chip: &Chip, layout: &SurfaceLayout, base: GpuVa) -> DepthTarget {
        let (offset, stencil_offset, tiling) = if let Some(legacy) = &layout.legacy {
            let (level, stencil) = (legacy.levels[0], legacy.stencil_levels[0]);
            let (index, stencil_index) = (level.tile_index.cast_unsigned(), stencil.tile_index.cast_unsigned());
            let registers = chip.registers();
            let mode = |index: u32| registers.tile_modes.get(index as usize).copied().unwrap_or(0);
            let tiling = DepthTiling::Legacy {
                blocks_x: level.pitch,
                blocks_y: level.height,
                index,
                stencil_index,
                tile_mode: mode(index),
                stencil_tile_mode: mode(stencil_index),
                macrotile_mode: registers.macrotile_modes.get(legacy.macro_index as usize).copied().unwrap_or(0),
            };
            (level.offset, stencil.offset, tiling)
        } else {
            let tiling = DepthTiling::Modern {
                mode: layout.swizzle_mode.into(),
                stencil_mode: layout.stencil.swizzle_mode.into(),
                epitch: layout.epitch,
                stencil_epitch: layout.stencil.epitch,
                hiz: None,
                his: None,
            };
            (0, layout.stencil.offset, tiling)
        };
        DepthTarget {
            format: self.format,
            base,
            offset,
            stencil_offset,
            width: self.extent[0],
            height: self.extent[1],
            level: 0,
            num_levels: self.levels,
            samples: self.samples,
            first_layer: 0,
            last_layer: self.last_layer(),
            z_read_only: false,
            stencil_read_only: false,
            zrange_precision: true,
            htile: None,
            no_d16_compression: false,
            two_planes_bug: false,
            tiling,
        }
    }

    /// Returns the number of the last layer, or of the last slice of a 3D image.
    const fn last_layer(&self) -> u32 {
        let count = if matches!(self.dimension, Dimension::D3) { self.extent[2] } else { self.layers };
        count.saturating_sub(1)
    }
}
