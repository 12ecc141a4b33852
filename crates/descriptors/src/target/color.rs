//! Colour targets and their register values.

use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_registers::fields::{
    cb_color0_attrib as attrib, cb_color0_attrib2 as attrib2, cb_color0_attrib3 as attrib3,
    cb_color0_cmask_slice as cmask_slice, cb_color0_fmask_slice as fmask_slice, cb_color0_info as info,
    cb_color0_pitch as pitch, cb_color0_slice as slice, cb_color0_view as view, cb_color0_view2 as view2,
    cb_mrt0_epitch as mrt,
};
use amdgpu_registers::{RegisterValue, constants as r};

use super::write::{Base, RegisterWrite, less_one, one};
use crate::error::{DescriptorError, Feature};
use crate::format::{Format, Swizzle};
use crate::view::{ImageMeta, address, log2_samples};

/// The tiling of a colour target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorTiling {
    /// The tiling of GFX6 to GFX8, given by tile modes.
    Legacy {
        /// The index into the table of tile modes.
        index: u32,
        /// The number of elements in a row of the level.
        blocks_x: u32,
        /// The number of rows of the level.
        blocks_y: u32,
        /// `true` if the level has macro tiles.
        macro_tiled: bool,
        /// The bank height (GFX6, without FMASK).
        bank_height: u32,
        /// The number of CMASK tiles of a slice, minus one (`slice_tile_max`).
        cmask_slice_tile_max: u32,
    },
    /// The tiling of GFX9 and later, given by swizzle modes.
    Modern {
        /// The swizzle mode of the image.
        mode: u32,
        /// The swizzle mode of FMASK (GFX9 to GFX10.3).
        fmask_mode: u32,
        /// The epitch of addrlib (GFX9).
        epitch: u32,
        /// The pitch in elements, if it differs from the hardware's default (GFX10.3 and later).
        pitch: Option<u32>,
        /// `true` if the metadata is aligned to pipes.
        pipe_aligned: bool,
        /// `true` if the metadata is aligned to render backends (GFX9).
        rb_aligned: bool,
    },
}

/// The FMASK of a colour target (GFX6 to GFX10.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColorFmask {
    /// The offset of FMASK in the buffer, in bytes.
    pub offset: u64,
    /// The tile swizzle, which spreads images over the memory channels, in units of 256 bytes.
    pub tile_swizzle: u32,
    /// The index into the table of tile modes (GFX6 to GFX8).
    pub index: u32,
    /// The number of elements in a row (GFX7 and GFX8).
    pub pitch: u32,
    /// The number of tiles of a slice, minus one (GFX6 to GFX8).
    pub slice_tile_max: u32,
    /// The bank height (GFX6).
    pub bank_height: u32,
}

/// The block sizes of DCC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColorDcc {
    /// `true` if blocks of 64 bytes are compressed independently (GFX10 and later).
    pub independent_64: bool,
    /// `true` if blocks of 128 bytes are compressed independently (GFX10 and later).
    pub independent_128: bool,
    /// The size of the largest compressed block: 0 to 2 for 64, 128 or 256 bytes (GFX10 and later).
    pub max_compressed: u32,
}

/// A level of an image that is bound as a colour target.
///
/// Source: Mesa 25.0.7 `src/amd/common/ac_descriptors.c`, `ac_init_cb_surface` and `ac_set_mutable_cb_surface_fields`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColorTarget {
    /// The format of the view.
    pub format: Format,
    /// The address of the buffer that contains the image.
    pub base: GpuVa,
    /// The offset of the plane in the buffer in bytes; up to GFX8 the offset of the level.
    pub offset: u64,
    /// The tile swizzle, which spreads images over the memory channels, in units of 256 bytes.
    pub tile_swizzle: u32,
    /// The width of level 0 in elements.
    pub width: u32,
    /// The height of level 0 in elements.
    pub height: u32,
    /// The type of the image: 0 for 1D, 1 for 2D, 2 for 3D (GFX9 and later).
    pub resource_type: u32,
    /// The first layer of the view.
    pub first_layer: u32,
    /// The last layer of the view.
    pub last_layer: u32,
    /// The last layer of the image, or the depth of a 3D image minus one (GFX9 and later).
    pub mip0_depth: u32,
    /// The number of samples; 1 without multisampling.
    pub samples: u32,
    /// The number of stored samples.
    pub storage_samples: u32,
    /// The mip level that is bound.
    pub level: u32,
    /// The number of levels of the image.
    pub num_levels: u32,
    /// The tiling of the image.
    pub tiling: ColorTiling,
    /// The DCC metadata, if DCC is enabled.
    pub dcc: Option<ImageMeta>,
    /// The block sizes of DCC.
    pub dcc_blocks: ColorDcc,
    /// `true` if the smallest compressed block is 32 bytes instead of 64: chips with dedicated memory, and gfx1151.
    pub dcc_block_32: bool,
    /// The FMASK of a multisampled image (GFX6 to GFX10.3).
    pub fmask: Option<ColorFmask>,
    /// The offset of CMASK in the buffer in bytes, if there is a CMASK (GFX6 to GFX10.3).
    pub cmask: Option<u64>,
    /// `true` if fast clears are enabled (GFX6 to GFX10.3).
    pub fast_clear: bool,
    /// `true` if the texture units read CMASK (GFX8 to GFX10.3).
    pub tc_compatible_cmask: bool,
}

/// The register values of a colour target; `None` for registers that the generation lacks or the target does not use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColorRegisters {
    /// CB_COLOR0_INFO.
    pub info: u32,
    /// CB_COLOR0_VIEW.
    pub view: u32,
    /// CB_COLOR0_VIEW2.
    pub view2: Option<u32>,
    /// CB_COLOR0_ATTRIB.
    pub attrib: u32,
    /// CB_COLOR0_ATTRIB2.
    pub attrib2: Option<u32>,
    /// CB_COLOR0_ATTRIB3.
    pub attrib3: Option<u32>,
    /// CB_COLOR0_BASE.
    pub base: Base,
    /// CB_COLOR0_DCC_CONTROL; on GFX11 and later CB_COLOR0_FDCC_CONTROL.
    pub dcc_control: Option<u32>,
    /// CB_COLOR0_DCC_BASE.
    pub dcc_base: Option<Base>,
    /// CB_COLOR0_CMASK.
    pub cmask: Option<Base>,
    /// CB_COLOR0_FMASK.
    pub fmask: Option<Base>,
    /// CB_COLOR0_PITCH.
    pub pitch: Option<u32>,
    /// CB_COLOR0_SLICE.
    pub slice: Option<u32>,
    /// CB_COLOR0_CMASK_SLICE.
    pub cmask_slice: Option<u32>,
    /// CB_COLOR0_FMASK_SLICE.
    pub fmask_slice: Option<u32>,
    /// CB_MRT0_EPITCH.
    pub mrt_epitch: Option<u32>,
}

impl ColorRegisters {
    /// Returns the register writes that bind colour target 0.
    pub fn writes(&self, level: GfxLevel) -> impl Iterator<Item = RegisterWrite> {
        let control = if level >= GfxLevel::Gfx11 { r::CB_COLOR0_FDCC_CONTROL } else { r::CB_COLOR0_DCC_CONTROL };
        let two = |low, high, base| Base::writes(base, low, high, level);
        let plain = [
            one(r::CB_COLOR0_INFO, Some(self.info)),
            one(r::CB_COLOR0_VIEW, Some(self.view)),
            one(r::CB_COLOR0_VIEW2, self.view2),
            one(r::CB_COLOR0_ATTRIB, Some(self.attrib)),
            one(r::CB_COLOR0_ATTRIB2, self.attrib2),
            one(r::CB_COLOR0_ATTRIB3, self.attrib3),
            one(control, self.dcc_control),
            one(r::CB_COLOR0_PITCH, self.pitch),
            one(r::CB_COLOR0_SLICE, self.slice),
            one(r::CB_COLOR0_CMASK_SLICE, self.cmask_slice),
            one(r::CB_COLOR0_FMASK_SLICE, self.fmask_slice),
            one(r::CB_MRT0_EPITCH, self.mrt_epitch),
        ];
        plain
            .into_iter()
            .chain(two(r::CB_COLOR0_BASE, r::CB_COLOR0_BASE_EXT, Some(self.base)))
            .chain(two(r::CB_COLOR0_DCC_BASE, r::CB_COLOR0_DCC_BASE_EXT, self.dcc_base))
            .chain(two(r::CB_COLOR0_CMASK, r::CB_COLOR0_CMASK_BASE_EXT, self.cmask))
            .chain(two(r::CB_COLOR0_FMASK, r::CB_COLOR0_FMASK_BASE_EXT, self.fmask))
            .flatten()
    }
}

/// `NUMBER_UNORM`, `NUMBER_SNORM`, `NUMBER_SRGB`: blending clamps colours.
const CLAMPED: [u32; 3] = [0, 1, 6];
/// `NUMBER_UINT` and `NUMBER_SINT`, which cannot be blended.
const INTEGERS: [u32; 2] = [4, 5];
/// `COLOR_8_24`, `COLOR_24_8`, `COLOR_X24_8_32_FLOAT`, which cannot be blended.
const WITH_STENCIL: [u32; 3] = [20, 21, 22];

impl ColorTarget {
    /// Computes the values of the registers.
    ///
    /// # Errors
    ///
    /// [`DescriptorError`] if the generation does not support the target, or a number does not fit its field.
    pub fn registers(&self, level: GfxLevel) -> Result<ColorRegisters, DescriptorError> {
        self.check(level)?;
        let mut out = ColorRegisters { info: self.info(level)?, ..ColorRegisters::default() };
        let mut slices = RegisterValue::new(level)
            .with(view::SLICE_START, self.first_layer)?
            .with(view::SLICE_MAX, self.last_layer)?;
        if (GfxLevel::Gfx9..GfxLevel::Gfx12).contains(&level) {
            slices = slices.with(view::MIP_LEVEL, self.level)?;
        }
        out.view = slices.raw();
        if level >= GfxLevel::Gfx12 {
            out.view2 = Some(RegisterValue::new(level).with(view2::MIP_LEVEL, self.level)?.raw());
        }
        out.dcc_control = self.dcc_control(level)?;
        self.attributes(level, &mut out)?;
        self.addresses(level, &mut out)?;
        Ok(out)
    }

    fn check(&self, level: GfxLevel) -> Result<(), DescriptorError> {
        let missing = |feature| Err(DescriptorError::NoFeature { feature, level });
        let is_legacy = matches!(self.tiling, ColorTiling::Legacy { .. });
        if is_legacy != (level <= GfxLevel::Gfx8) {
            return missing(Feature::Tiling);
        }
        if self.dcc.is_some() && level < GfxLevel::Gfx8 {
            return missing(Feature::Dcc);
        }
        if self.fmask.is_some() && level >= GfxLevel::Gfx11 {
            return missing(Feature::Fmask);
        }
        if (self.cmask.is_some() || self.fast_clear) && level >= GfxLevel::Gfx11 {
            return missing(Feature::Cmask);
        }
        let has_pitch = matches!(self.tiling, ColorTiling::Modern { pitch: Some(_), .. });
        if has_pitch && level < GfxLevel::Gfx10_3 {
            return missing(Feature::Pitch);
        }
        if self.level >= self.num_levels {
            let (first, last) = (self.level, self.level);
            return Err(DescriptorError::Span { what: "levels", first, last, count: self.num_levels });
        }
        if self.first_layer > self.last_layer {
            let (first, last) = (self.first_layer, self.last_layer);
            return Err(DescriptorError::Span { what: "layers", first, last, count: last });
        }
        Ok(())
    }

    fn info(&self, level: GfxLevel) -> Result<u32, DescriptorError> {
        let color = self.format.color(level)?;
        let bypass = INTEGERS.contains(&color.number) || WITH_STENCIL.contains(&color.format);
        let clamp = CLAMPED.contains(&color.number) && !bypass;
        let exact = CLAMPED.contains(&color.number) || [20, 21].contains(&color.format);
        let mut value = RegisterValue::new(level)
            .with(info::FORMAT, color.format)?
            .with(info::NUMBER_TYPE, color.number)?
            .with(info::COMP_SWAP, color.swap)?
            .with(info::BLEND_CLAMP, clamp.into())?
            .with(info::BLEND_BYPASS, bypass.into())?
            .with(info::SIMPLE_FLOAT, 1)?
            .with(info::ROUND_MODE, (!exact).into())?;
        if level < GfxLevel::Gfx11 {
            value = value
                .with(info::FAST_CLEAR, self.fast_clear.into())?
                .with(info::COMPRESSION, self.fmask.is_some().into())?;
            if level >= GfxLevel::Gfx8 {
                value = value
                    .with(info::DCC_ENABLE, self.dcc.is_some().into())?
                    .with(info::FMASK_COMPRESS_1FRAG_ONLY, self.tc_compatible_cmask.into())?;
            }
            if level == GfxLevel::Gfx8 && self.tc_compatible_cmask {
                // Makes CMASK readable by the texture units.
                value = value.with(info::CMASK_ADDR_TYPE, 2)?;
            }
        }
        Ok(value.raw())
    }

    fn attributes(&self, level: GfxLevel, out: &mut ColorRegisters) -> Result<(), DescriptorError> {
        let stored = log2_samples(self.storage_samples, self.storage_samples)?;
        let samples = log2_samples(self.samples, self.storage_samples)?;
        let opaque = self.format.swizzle().sources().last() == Some(&1) && self.format.swizzle() != Swizzle::ZERO;
        let mut value = RegisterValue::new(level).with(attrib::FORCE_DST_ALPHA_1, opaque.into())?;
        value = value.with(attrib::NUM_FRAGMENTS, stored)?;
        if level < GfxLevel::Gfx11 {
            value = value.with(attrib::NUM_SAMPLES, samples)?;
        }
        match self.tiling {
            ColorTiling::Legacy { index, blocks_x, blocks_y, bank_height, cmask_slice_tile_max, .. } => {
                let fmask = self.fmask;
                value = value
                    .with(attrib::TILE_MODE_INDEX, index)?
                    .with(attrib::FMASK_TILE_MODE_INDEX, fmask.map_or(index, |fmask| fmask.index))?;
                if level == GfxLevel::Gfx6 {
                    let height = fmask.map_or(bank_height, |fmask| fmask.bank_height);
                    value = value.with(attrib::FMASK_BANK_HEIGHT, height.checked_ilog2().unwrap_or(0))?;
                }
                let tiles = less_one(blocks_x / 8, "pitch in tiles")?;
                let mut row = RegisterValue::new(level).with(pitch::TILE_MAX, tiles)?;
                if level >= GfxLevel::Gfx7 {
                    let tiles = match fmask {
                        Some(fmask) => less_one(fmask.pitch / 8, "pitch of FMASK in tiles")?,
                        None => tiles,
                    };
                    row = row.with(pitch::FMASK_TILE_MAX, tiles)?;
                }
                let area = u64::from(blocks_x) * u64::from(blocks_y) / 64;
                let area = less_one(u32::try_from(area).unwrap_or(u32::MAX), "slice in tiles")?;
                let covered = fmask.map_or(area, |fmask| fmask.slice_tile_max);
                out.pitch = Some(row.raw());
                out.slice = Some(RegisterValue::new(level).with(slice::TILE_MAX, area)?.raw());
                out.fmask_slice = Some(RegisterValue::new(level).with(fmask_slice::TILE_MAX, covered)?.raw());
                let cmask = RegisterValue::new(level).with(cmask_slice::TILE_MAX, cmask_slice_tile_max)?;
                out.cmask_slice = Some(cmask.raw());
            }
            ColorTiling::Modern { mode, fmask_mode, epitch, pitch, pipe_aligned, rb_aligned } => {
                let width = less_one(pitch.unwrap_or(self.width), "width")?;
                let levels = less_one(self.num_levels, "number of levels")?;
                let mut size = RegisterValue::new(level)
                    .with(attrib2::MIP0_WIDTH, width)?
                    .with(attrib2::MIP0_HEIGHT, less_one(self.height, "height")?)?;
                if level < GfxLevel::Gfx12 {
                    size = size.with(attrib2::MAX_MIP, levels)?;
                }
                out.attrib2 = Some(size.raw());
                if level == GfxLevel::Gfx9 {
                    // Without DCC the metadata is CMASK and FMASK, which are always aligned.
                    let is_free = self.dcc.is_none();
                    value = value
                        .with(attrib::MIP0_DEPTH, self.mip0_depth)?
                        .with(attrib::COLOR_SW_MODE, mode)?
                        .with(attrib::FMASK_SW_MODE, fmask_mode)?
                        .with(attrib::RESOURCE_TYPE, self.resource_type)?
                        .with(attrib::RB_ALIGNED, (is_free || rb_aligned).into())?
                        .with(attrib::PIPE_ALIGNED, (is_free || pipe_aligned).into())?;
                    out.mrt_epitch = Some(RegisterValue::new(level).with(mrt::EPITCH, epitch)?.raw());
                } else {
                    let mut third = RegisterValue::new(level)
                        .with(attrib3::MIP0_DEPTH, self.mip0_depth)?
                        .with(attrib3::COLOR_SW_MODE, mode)?
                        .with(attrib3::RESOURCE_TYPE, self.resource_type)?;
                    if level < GfxLevel::Gfx11 {
                        third = third
                            .with(attrib3::FMASK_SW_MODE, fmask_mode)?
                            .with(attrib3::CMASK_PIPE_ALIGNED, 1)?
                            .with(attrib3::RESOURCE_LEVEL, 1)?;
                    }
                    third = if level >= GfxLevel::Gfx12 {
                        third.with(attrib3::MAX_MIP, levels)?
                    } else {
                        third.with(attrib3::DCC_PIPE_ALIGNED, pipe_aligned.into())?
                    };
                    out.attrib3 = Some(third.raw());
                }
            }
        }
        out.attrib = value.raw();
        Ok(())
    }

    fn addresses(&self, level: GfxLevel, out: &mut ColorRegisters) -> Result<(), DescriptorError> {
        let swizzled = !matches!(self.tiling, ColorTiling::Legacy { macro_tiled: false, .. });
        let swizzle = if swizzled { u64::from(self.tile_swizzle) } else { 0 };
        let base = address(self.base, self.offset)? >> 8 | swizzle;
        out.base = Base(base);
        if (GfxLevel::Gfx8..GfxLevel::Gfx12).contains(&level) {
            out.dcc_base = Some(Base(match self.dcc {
                Some(ImageMeta::Dcc { offset, level_offset, align_log2, .. }) => {
                    let level_offset = if level == GfxLevel::Gfx8 { level_offset } else { 0 };
                    let low = 1_u64.checked_shl(align_log2).map_or(u64::MAX, |align| align - 1) >> 8;
                    address(self.base, offset.saturating_add(level_offset))? >> 8 | u64::from(self.tile_swizzle) & low
                }
                Some(ImageMeta::Htile { .. }) => {
                    return Err(DescriptorError::NoFeature { feature: Feature::Htile, level });
                }
                None => 0,
            }));
        }
        if level < GfxLevel::Gfx11 {
            let fmask = match self.fmask {
                Some(fmask) => address(self.base, fmask.offset)? >> 8 | u64::from(fmask.tile_swizzle),
                None => base,
            };
            let cmask = match self.cmask {
                Some(offset) => {
                    // The texture units of GFX8 locate CMASK with FMASK's tile swizzle.
                    let shared = self.fmask.filter(|_| level == GfxLevel::Gfx8 && self.tc_compatible_cmask);
                    address(self.base, offset)? >> 8 | shared.map_or(0, |fmask| u64::from(fmask.tile_swizzle))
                }
                None => base,
            };
            out.fmask = Some(Base(fmask));
            out.cmask = Some(Base(cmask));
        }
        Ok(())
    }
}
