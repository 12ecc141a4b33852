//! Depth targets and their register values.

use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_registers::fields::{
    db_depth_info as depth_info, db_depth_size as size, db_depth_size_xy as size_xy, db_depth_slice as slice,
    db_depth_view as view, db_depth_view1 as view1, db_htile_surface as htile_surface, db_stencil_info as stencil,
    db_stencil_info2 as stencil2, db_z_info as z, db_z_info2 as z2, gb_macrotile_mode0 as macro_mode,
    gb_tile_mode0 as tile_mode, pa_sc_his_info as his_info, pa_sc_his_size_xy as his_size, pa_sc_hiz_info as hiz_info,
    pa_sc_hiz_size_xy as hiz_size,
};
use amdgpu_registers::{RegisterValue, constants as r};

use super::depth_tiling::DepthTiling;
use super::write::{Base, RegisterWrite, less_one, one};
use crate::error::{DescriptorError, Feature};
use crate::format::Format;
use crate::view::{address, log2_samples};

/// The HTILE of a depth target (GFX6 to GFX11.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about HTILE")]
pub struct DepthHtile {
    /// The offset of HTILE in the buffer, in bytes.
    pub offset: u64,
    /// `true` if clears to any value are allowed.
    pub allow_expclear: bool,
    /// `true` if HTILE has no information about stencil.
    pub stencil_disabled: bool,
    /// `true` if the texture units read HTILE (GFX8 and later).
    pub tc_compatible: bool,
    /// `true` if HTILE contains shading rates (GFX10.3).
    pub vrs: bool,
}

/// A level of an image that is bound as a depth target.
///
/// Source: Mesa 25.0.7 `src/amd/common/ac_descriptors.c`, `ac_init_ds_surface` and `ac_set_mutable_ds_surface_fields`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a target")]
pub struct DepthTarget {
    /// The format of the view.
    pub format: Format,
    /// The address of the buffer that contains the image.
    pub base: GpuVa,
    /// The offset of depth in the buffer in bytes; up to GFX8 the offset of the level.
    pub offset: u64,
    /// The offset of stencil in the buffer in bytes; up to GFX8 the offset of the level.
    pub stencil_offset: u64,
    /// The width of level 0 in pixels.
    pub width: u32,
    /// The height of level 0 in pixels.
    pub height: u32,
    /// The mip level that is bound.
    pub level: u32,
    /// The number of levels of the image.
    pub num_levels: u32,
    /// The number of samples; 1 without multisampling.
    pub samples: u32,
    /// The first layer of the view.
    pub first_layer: u32,
    /// The last layer of the view.
    pub last_layer: u32,
    /// `true` if depth is not written.
    pub z_read_only: bool,
    /// `true` if stencil is not written.
    pub stencil_read_only: bool,
    /// `true` if HTILE's depth range is encoded with the precision for depth clears to 1 (GFX6 to GFX11.5).
    pub zrange_precision: bool,
    /// The HTILE of the image, if it is enabled.
    pub htile: Option<DepthHtile>,
    /// `true` if 16-bit depth is not compressed (GFX6 to GFX8).
    pub no_d16_compression: bool,
    /// `true` if the chip has the two-plane bug of `ITERATE_256` (some chips of GFX10).
    pub two_planes_bug: bool,
    /// The tiling of the image.
    pub tiling: DepthTiling,
}

/// The register values of a depth target; `None` for registers that the generation lacks or the target does not use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DepthRegisters {
    /// DB_Z_INFO.
    pub z_info: u32,
    /// DB_STENCIL_INFO.
    pub stencil_info: u32,
    /// DB_DEPTH_VIEW.
    pub depth_view: u32,
    /// DB_DEPTH_VIEW1.
    pub depth_view1: Option<u32>,
    /// DB_DEPTH_SIZE; on GFX10 and later DB_DEPTH_SIZE_XY.
    pub depth_size: u32,
    /// DB_Z_READ_BASE and DB_Z_WRITE_BASE.
    pub depth_base: Base,
    /// DB_STENCIL_READ_BASE and DB_STENCIL_WRITE_BASE.
    pub stencil_base: Base,
    /// DB_HTILE_DATA_BASE.
    pub htile_data_base: Option<Base>,
    /// DB_HTILE_SURFACE.
    pub htile_surface: Option<u32>,
    /// DB_DEPTH_INFO.
    pub depth_info: Option<u32>,
    /// DB_DEPTH_SLICE.
    pub depth_slice: Option<u32>,
    /// DB_Z_INFO2.
    pub z_info2: Option<u32>,
    /// DB_STENCIL_INFO2.
    pub stencil_info2: Option<u32>,
    /// PA_SC_HIZ_INFO.
    pub hiz_info: Option<u32>,
    /// PA_SC_HIZ_SIZE_XY.
    pub hiz_size: Option<u32>,
    /// PA_SC_HIZ_BASE.
    pub hiz_base: Option<Base>,
    /// PA_SC_HIS_INFO.
    pub his_info: Option<u32>,
    /// PA_SC_HIS_SIZE_XY.
    pub his_size: Option<u32>,
    /// PA_SC_HIS_BASE.
    pub his_base: Option<Base>,
}

impl DepthRegisters {
    /// Returns the register writes that bind the target.
    pub fn writes(&self, level: GfxLevel) -> impl Iterator<Item = RegisterWrite> {
        let size = if level >= GfxLevel::Gfx10 { r::DB_DEPTH_SIZE_XY } else { r::DB_DEPTH_SIZE };
        let two = |low, high, base| Base::writes(base, low, high, level);
        let (depth, stencil) = (Some(self.depth_base), Some(self.stencil_base));
        let plain = [
            one(r::DB_Z_INFO, Some(self.z_info)),
            one(r::DB_STENCIL_INFO, Some(self.stencil_info)),
            one(r::DB_DEPTH_VIEW, Some(self.depth_view)),
            one(r::DB_DEPTH_VIEW1, self.depth_view1),
            one(size, Some(self.depth_size)),
            one(r::DB_HTILE_SURFACE, self.htile_surface),
            one(r::DB_DEPTH_INFO, self.depth_info),
            one(r::DB_DEPTH_SLICE, self.depth_slice),
            one(r::DB_Z_INFO2, self.z_info2),
            one(r::DB_STENCIL_INFO2, self.stencil_info2),
            one(r::PA_SC_HIZ_INFO, self.hiz_info),
            one(r::PA_SC_HIZ_SIZE_XY, self.hiz_size),
            one(r::PA_SC_HIS_INFO, self.his_info),
            one(r::PA_SC_HIS_SIZE_XY, self.his_size),
        ];
        plain
            .into_iter()
            .chain(two(r::DB_Z_READ_BASE, r::DB_Z_READ_BASE_HI, depth))
            .chain(two(r::DB_Z_WRITE_BASE, r::DB_Z_WRITE_BASE_HI, depth))
            .chain(two(r::DB_STENCIL_READ_BASE, r::DB_STENCIL_READ_BASE_HI, stencil))
            .chain(two(r::DB_STENCIL_WRITE_BASE, r::DB_STENCIL_WRITE_BASE_HI, stencil))
            .chain(two(r::DB_HTILE_DATA_BASE, r::DB_HTILE_DATA_BASE_HI, self.htile_data_base))
            .chain(two(r::PA_SC_HIZ_BASE, r::PA_SC_HIZ_BASE_EXT, self.hiz_base))
            .chain(two(r::PA_SC_HIS_BASE, r::PA_SC_HIS_BASE_EXT, self.his_base))
            .flatten()
    }
}

impl DepthTarget {
    /// Computes the values of the registers.
    ///
    /// # Errors
    ///
    /// [`DescriptorError`] if the generation does not support the target, or a number does not fit its field.
    pub fn registers(&self, level: GfxLevel) -> Result<DepthRegisters, DescriptorError> {
        self.check(level)?;
        let mut out = DepthRegisters { depth_view: self.view(level)?, ..DepthRegisters::default() };
        self.infos(level, &mut out)?;
        out.depth_base = Base(address(self.base, self.offset)? >> 8);
        out.stencil_base = Base(address(self.base, self.stencil_offset)? >> 8);
        if level < GfxLevel::Gfx12 {
            out.htile_data_base = Some(Base(match self.htile {
                Some(htile) => address(self.base, htile.offset)? >> 8,
                None => 0,
            }));
            out.htile_surface = Some(self.htile_surface(level)?);
        }
        Ok(out)
    }

    fn check(&self, level: GfxLevel) -> Result<(), DescriptorError> {
        let missing = |feature| Err(DescriptorError::NoFeature { feature, level });
        let is_legacy = matches!(self.tiling, DepthTiling::Legacy { .. });
        if is_legacy != (level <= GfxLevel::Gfx8) {
            return missing(Feature::Tiling);
        }
        if self.htile.is_some() && level >= GfxLevel::Gfx12 {
            return missing(Feature::Htile);
        }
        let tc_compatible = self.htile.is_some_and(|htile| htile.tc_compatible);
        if tc_compatible && level < GfxLevel::Gfx8 {
            return missing(Feature::Htile);
        }
        if let DepthTiling::Modern { hiz, his, .. } = self.tiling
            && (hiz.is_some() || his.is_some())
            && level < GfxLevel::Gfx12
        {
            return missing(Feature::HizHis);
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

    fn view(&self, level: GfxLevel) -> Result<u32, DescriptorError> {
        let (first, last) = (self.first_layer, self.last_layer);
        let value = RegisterValue::new(level);
        if level >= GfxLevel::Gfx12 {
            return Ok(value.with(view::SLICE_START, first)?.with(view::SLICE_MAX, last)?.raw());
        }
        let mut value = value
            .with(view::Z_READ_ONLY, self.z_read_only.into())?
            .with(view::STENCIL_READ_ONLY, self.stencil_read_only.into())?;
        if level >= GfxLevel::Gfx9 {
            value = value.with(view::MIPID, self.level)?;
        }
        if level < GfxLevel::Gfx10 {
            return Ok(value.with(view::SLICE_START, first)?.with(view::SLICE_MAX, last)?.raw());
        }
        let (low, high) = (0x7ff, 11);
        Ok(value
            .with(view::SLICE_START, first & low)?
            .with(view::SLICE_START_HI, first >> high)?
            .with(view::SLICE_MAX, last & low)?
            .with(view::SLICE_MAX_HI, last >> high)?
            .raw())
    }

    /// Returns one more than the number of planes that a tile may have before it is decompressed; 0 if the texture units do not
    /// read HTILE.
    fn planes(&self, level: GfxLevel) -> u32 {
        let Some(htile) = self.htile.filter(|htile| htile.tc_compatible) else { return 0 };
        let is_d16 = self.format == Format::D16_UNORM;
        if level <= GfxLevel::Gfx8 {
            return match self.samples {
                _ if is_d16 && self.no_d16_compression => 1,
                0 | 1 => 5,
                2 | 4 => 3,
                _ => 2,
            };
        }
        if self.two_planes_bug && !htile.stencil_disabled && self.samples == 4 {
            return 2;
        }
        if is_d16 && self.samples > 1 { 3 } else { 5 }
    }

    fn htile_surface(&self, level: GfxLevel) -> Result<u32, DescriptorError> {
        let Some(htile) = self.htile else { return Ok(0) };
        let mut value = RegisterValue::new(level).with(htile_surface::FULL_CACHE, 1)?;
        if level == GfxLevel::Gfx8 {
            value = value.with(htile_surface::TC_COMPATIBLE, htile.tc_compatible.into())?;
        }
        if level >= GfxLevel::Gfx9 {
            value = value.with(htile_surface::PIPE_ALIGNED, 1)?;
        }
        if level == GfxLevel::Gfx9 {
            value = value.with(htile_surface::RB_ALIGNED, 1)?;
        }
        if level == GfxLevel::Gfx10_3 && htile.vrs {
            // Four bits of shading rate.
            value = value.with(htile_surface::VRS_HTILE_ENCODING, 2)?;
        }
        Ok(value.raw())
    }

    fn infos(&self, level: GfxLevel, out: &mut DepthRegisters) -> Result<(), DescriptorError> {
        let samples = log2_samples(self.samples, self.samples)?;
        let mut depth =
            RegisterValue::new(level).with(z::FORMAT, self.format.depth(level)?)?.with(z::NUM_SAMPLES, samples)?;
        let mut stencil = RegisterValue::new(level).with(stencil::FORMAT, self.format.has_stencil().into())?;
        if level < GfxLevel::Gfx12 {
            depth = depth.with(z::ZRANGE_PRECISION, self.zrange_precision.into())?;
        }
        if let Some(htile) = self.htile {
            depth = depth.with(z::TILE_SURFACE_ENABLE, 1)?.with(z::ALLOW_EXPCLEAR, htile.allow_expclear.into())?;
            if level >= GfxLevel::Gfx8 {
                depth = depth.with(z::DECOMPRESS_ON_N_ZPLANES, self.planes(level))?;
            }
            let in_htile = level <= GfxLevel::Gfx8 || !htile.stencil_disabled;
            let expclear = htile.allow_expclear && self.samples <= 1 && self.format.has_stencil() && in_htile;
            stencil = stencil
                .with(stencil::ALLOW_EXPCLEAR, expclear.into())?
                .with(stencil::TILE_STENCIL_DISABLE, htile.stencil_disabled.into())?;
        }
        match self.tiling {
            DepthTiling::Legacy { blocks_x, blocks_y, index, stencil_index, .. } => {
                if level == GfxLevel::Gfx6 {
                    // The field has only the low bits of the index: depth modes are the first eight of the table.
                    depth = depth.with(z::TILE_MODE_INDEX, index & 7)?;
                    stencil = stencil.with(stencil::TILE_MODE_INDEX, stencil_index & 7)?;
                }
                let tiles = less_one(blocks_x / 8, "pitch in tiles")?;
                let rows = less_one(blocks_y / 8, "height in tiles")?;
                let area = u64::from(blocks_x) * u64::from(blocks_y) / 64;
                let area = less_one(u32::try_from(area).unwrap_or(u32::MAX), "slice in tiles")?;
                let extent =
                    RegisterValue::new(level).with(size::PITCH_TILE_MAX, tiles)?.with(size::HEIGHT_TILE_MAX, rows)?;
                out.depth_size = extent.raw();
                out.depth_slice = Some(RegisterValue::new(level).with(slice::SLICE_TILE_MAX, area)?.raw());
                out.depth_info = Some(self.legacy(level, &mut depth, &mut stencil)?);
            }
            DepthTiling::Modern { mode, stencil_mode, epitch, stencil_epitch, hiz, his } => {
                depth =
                    depth.with(z::SW_MODE, mode)?.with(z::MAXMIP, less_one(self.num_levels, "number of levels")?)?;
                stencil = stencil.with(stencil::SW_MODE, stencil_mode)?;
                let (width, height) = (less_one(self.width, "width")?, less_one(self.height, "height")?);
                let value = RegisterValue::new(level);
                out.depth_size = if level == GfxLevel::Gfx9 {
                    RegisterValue::new(level).with(size::X_MAX, width)?.with(size::Y_MAX, height)?.raw()
                } else {
                    value.with(size_xy::X_MAX, width)?.with(size_xy::Y_MAX, height)?.raw()
                };
                if level == GfxLevel::Gfx9 {
                    out.z_info2 = Some(RegisterValue::new(level).with(z2::EPITCH, epitch)?.raw());
                    out.stencil_info2 = Some(RegisterValue::new(level).with(stencil2::EPITCH, stencil_epitch)?.raw());
                }
                let tc_compatible = self.htile.is_some_and(|htile| htile.tc_compatible);
                if tc_compatible {
                    let has_stencil = self.htile.is_some_and(|htile| !htile.stencil_disabled);
                    let in_htile = level == GfxLevel::Gfx9 || has_stencil;
                    depth = depth.with(z::ITERATE_FLUSH, 1)?;
                    stencil = stencil.with(stencil::ITERATE_FLUSH, in_htile.into())?;
                }
                let gfx11 = matches!(level, GfxLevel::Gfx11 | GfxLevel::Gfx11_5);
                let gfx10 = matches!(level, GfxLevel::Gfx10 | GfxLevel::Gfx10_3);
                if gfx11 || gfx10 && tc_compatible && self.samples > 1 {
                    depth = depth.with(z::ITERATE_256, 1)?;
                    stencil = stencil.with(stencil::ITERATE_256, 1)?;
                }
                if level >= GfxLevel::Gfx12 {
                    stencil = stencil.with(stencil::TILE_STENCIL_DISABLE, 1)?;
                    let mip = RegisterValue::new(level)
                        .with(view1::Z_READ_ONLY, self.z_read_only.into())?
                        .with(view1::STENCIL_READ_ONLY, self.stencil_read_only.into())?
                        .with(view1::MIPID, self.level)?;
                    out.depth_view1 = Some(mip.raw());
                    self.hiz_his(level, hiz, his, out)?;
                }
            }
        }
        out.z_info = depth.raw();
        out.stencil_info = stencil.raw();
        Ok(())
    }

    /// Adds the tiling parameters of GFX6 to GFX8, and returns DB_DEPTH_INFO.
    fn legacy(
        &self,
        level: GfxLevel,
        depth: &mut RegisterValue<z::DbZInfo>,
        stencil: &mut RegisterValue<stencil::DbStencilInfo>,
    ) -> Result<u32, DescriptorError> {
        let DepthTiling::Legacy { tile_mode: mode, stencil_tile_mode, macrotile_mode, .. } = self.tiling else {
            return Err(DescriptorError::NoFeature { feature: Feature::Tiling, level });
        };
        let tc_compatible = self.htile.is_some_and(|htile| htile.tc_compatible);
        let mut value = RegisterValue::new(level);
        value = value.with(depth_info::ADDR5_SWIZZLE_MASK, (!tc_compatible).into())?;
        if level >= GfxLevel::Gfx7 {
            let mode = RegisterValue::<tile_mode::GbTileMode0>::from_raw(mode, level);
            let own = RegisterValue::<tile_mode::GbTileMode0>::from_raw(stencil_tile_mode, level);
            let banks = RegisterValue::<macro_mode::GbMacrotileMode0>::from_raw(macrotile_mode, level);
            value = value
                .with(depth_info::ARRAY_MODE, mode.get(tile_mode::ARRAY_MODE)?)?
                .with(depth_info::PIPE_CONFIG, mode.get(tile_mode::PIPE_CONFIG)?)?
                .with(depth_info::BANK_WIDTH, banks.get(macro_mode::BANK_WIDTH)?)?
                .with(depth_info::BANK_HEIGHT, banks.get(macro_mode::BANK_HEIGHT)?)?
                .with(depth_info::MACRO_TILE_ASPECT, banks.get(macro_mode::MACRO_TILE_ASPECT)?)?
                .with(depth_info::NUM_BANKS, banks.get(macro_mode::NUM_BANKS)?)?;
            *depth = depth.with(z::TILE_SPLIT, mode.get(tile_mode::TILE_SPLIT)?)?;
            *stencil = stencil.with(stencil::TILE_SPLIT, own.get(tile_mode::TILE_SPLIT)?)?;
        }
        Ok(value.raw())
    }

    fn hiz_his(
        &self,
        level: GfxLevel,
        hiz: Option<super::depth_tiling::HizHis>,
        his: Option<super::depth_tiling::HizHis>,
        out: &mut DepthRegisters,
    ) -> Result<(), DescriptorError> {
        (out.hiz_info, out.hiz_size, out.hiz_base) = (Some(0), Some(0), Some(Base(0)));
        (out.his_info, out.his_size, out.his_base) = (Some(0), Some(0), Some(Base(0)));
        if let Some(hiz) = hiz {
            let info =
                RegisterValue::new(level).with(hiz_info::SURFACE_ENABLE, 1)?.with(hiz_info::SW_MODE, hiz.mode)?;
            let size = RegisterValue::new(level)
                .with(hiz_size::X_MAX, less_one(hiz.width, "width of HiZ")?)?
                .with(hiz_size::Y_MAX, less_one(hiz.height, "height of HiZ")?)?;
            (out.hiz_info, out.hiz_size) = (Some(info.raw()), Some(size.raw()));
            out.hiz_base = Some(Base(address(self.base, hiz.offset)? >> 8));
        }
        if let Some(his) = his {
            let info =
                RegisterValue::new(level).with(his_info::SURFACE_ENABLE, 1)?.with(his_info::SW_MODE, his.mode)?;
            let size = RegisterValue::new(level)
                .with(his_size::X_MAX, less_one(his.width, "width of HiS")?)?
                .with(his_size::Y_MAX, less_one(his.height, "height of HiS")?)?;
            (out.his_info, out.his_size) = (Some(info.raw()), Some(size.raw()));
            out.his_base = Some(Base(address(self.base, his.offset)? >> 8));
        }
        Ok(())
    }
}
