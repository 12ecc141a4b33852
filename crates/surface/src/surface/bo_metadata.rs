//! The tiling flags that the kernel stores with a BO (`AMDGPU_TILING_*`).
//!
//! Source: `amdgpu_drm.h`; `ac_surface_apply_bo_metadata`, `ac_surface_compute_bo_metadata`.

use amdgpu_hw::GfxLevel;

use super::config::{SurfaceConfig, SurfaceUsage, TilingMode};
use super::layout::SurfaceLayout;
use super::legacy::{LegacyTiles, LevelMode};
use super::parts::DccSettings;
use crate::bits::log2;
use crate::chip::Chip;
use crate::modifier::MaxBlock;
use thiserror::Error;

/// An invalid field in a BO's tiling flags: no driver of this chip writes such flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("tiling flags {flags:#x}: {field} is {value}")]
pub struct TilingFlagsError {
    /// The tiling flags of the BO.
    pub flags: u64,
    /// The name of the invalid field, as in `amdgpu_drm.h`.
    pub field: &'static str,
    /// The value of the field.
    pub value: u64,
}

const fn get(value: u64, low: u32, bits: u32) -> u64 {
    value >> low & ((1 << bits) - 1)
}

const SCANOUT: u32 = 63;

impl SurfaceConfig {
    /// Sets the layout that tiling flags describe. For an imported image the caller also sets [`SurfaceUsage::IMPORTED`].
    ///
    /// # Errors
    /// [`TilingFlagsError`] if a field has an undefined value.
    pub fn apply_tiling_flags(&mut self, chip: &Chip, flags: u64) -> Result<(), TilingFlagsError> {
        let refuse = |field, value| Err(TilingFlagsError { flags, field, value });
        let scanout = match chip.level() {
            GfxLevel::Gfx12 => {
                self.swizzle_mode = get(flags, 0, 3) as u8;
                let max_block = get(flags, 3, 2);
                let Some(max_block) = MaxBlock::new(max_block) else {
                    return refuse("GFX12_DCC_MAX_COMPRESSED_BLOCK", max_block);
                };
                self.dcc = DccSettings { max_block, ..DccSettings::default() };
                get(flags, SCANOUT, 1) == 1
            }
            level if level >= GfxLevel::Gfx9 => {
                self.swizzle_mode = get(flags, 0, 5) as u8;
                let max_block = get(flags, 45, 2);
                let Some(max_block) = MaxBlock::new(max_block) else {
                    return refuse("DCC_MAX_COMPRESSED_BLOCK_SIZE", max_block);
                };
                self.dcc = DccSettings {
                    independent_64b: get(flags, 43, 1) == 1,
                    independent_128b: get(flags, 44, 1) == 1,
                    max_block,
                };
                get(flags, SCANOUT, 1) == 1
            }
            _ => {
                self.legacy = Some(LegacyTiles {
                    bank_width: 1 << get(flags, 15, 2),
                    bank_height: 1 << get(flags, 17, 2),
                    aspect: 1 << get(flags, 19, 2),
                    tile_split: 64 << get(flags, 9, 3).min(6),
                    banks: 2 << get(flags, 21, 2),
                    pipe_config: get(flags, 4, 5) as u32,
                });
                self.mode = match get(flags, 0, 4) {
                    4 => TilingMode::Tiled2d,
                    2 => TilingMode::Tiled1d,
                    _ => TilingMode::Linear,
                };
                self.usage.set(SurfaceUsage::SCANOUT, get(flags, 12, 3) == 0);
                return Ok(());
            }
        };
        self.mode = if self.swizzle_mode == 0 { TilingMode::Linear } else { TilingMode::Tiled2d };
        self.usage.set(SurfaceUsage::SCANOUT, scanout);
        Ok(())
    }
}

impl SurfaceLayout {
    /// Returns the tiling flags of the image; `None` if the offset of its DCC does not fit, or if it has parameters of macro tiles that
    /// do not. On GFX12 they lack the fields that depend on the format, which `amdgpu-descriptors` has
    /// (`Format::compression_tiling`).
    pub fn tiling_flags(&self, chip: &Chip) -> Option<u64> {
        let scanout = u64::from(self.usage.contains(SurfaceUsage::SCANOUT)) << SCANOUT;
        match chip.level() {
            GfxLevel::Gfx12 => {
                Some(u64::from(self.swizzle_mode & 7) | (self.dcc_settings.max_block as u64) << 3 | scanout)
            }
            level if level >= GfxLevel::Gfx9 => {
                let offset = match (&self.display_dcc, &self.meta) {
                    (Some(display), Some(meta)) if meta.offset > 0 => display.offset,
                    (_, Some(meta)) => meta.offset,
                    _ => 0,
                } >> 8;
                (offset < 1 << 24).then_some(
                    u64::from(self.swizzle_mode & 31)
                        | offset << 5
                        | u64::from(self.display_pitch_max & 0x3fff) << 29
                        | u64::from(self.dcc_settings.independent_64b) << 43
                        | u64::from(self.dcc_settings.independent_128b) << 44
                        | (self.dcc_settings.max_block as u64) << 45
                        | scanout,
                )
            }
            _ => {
                let legacy = self.legacy.as_ref()?;
                let tiles = &legacy.tiles;
                if !tiles.is_valid() {
                    return None;
                }
                let array = match legacy.levels[0].mode {
                    LevelMode::Linear => 1,
                    LevelMode::Tiled1d => 2,
                    LevelMode::Tiled2d => 4,
                };
                let split = if tiles.tile_split == 0 { 0 } else { log2(tiles.tile_split) - 6 };
                let micro = u32::from(!self.usage.contains(SurfaceUsage::SCANOUT));
                let banks = log2(tiles.banks).wrapping_sub(1) & 3;
                Some(u64::from(
                    array
                        | (tiles.pipe_config & 31) << 4
                        | split << 9
                        | micro << 12
                        | log2(tiles.bank_width) << 15
                        | log2(tiles.bank_height) << 17
                        | log2(tiles.aspect) << 19
                        | banks << 21,
                ))
            }
        }
    }
}
