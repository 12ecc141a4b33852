//! Layouts of images on GFX6 to GFX8. Source: `gfx6_compute_surface`, `gfx6_compute_level`.

mod metadata;
mod mode;
mod work;

use amdgpu_hw::GfxLevel;

use self::work::Work;
use super::config::{Dimension, MicroMode, SurfaceConfig, SurfaceUsage};
use super::layout::{Prt, SurfaceLayout};
use super::legacy::{Legacy, LegacyLevel, LegacyTiles, LevelMode};
use super::parts::{Levels, MAX_LEVELS, SurfaceError};
use super::reason::ModeReason;
use crate::addr1::meta::DccInfo;
use crate::addr1::{self, Level, Request, TileMode, TileType, Usage};
use crate::bits::{align, align64, log2};
use crate::chip::Chip;
use crate::error::{AddrError, Cause};

impl Work<'_> {
    fn level(&mut self, index: usize, stencil: bool) -> Result<Level, SurfaceError> {
        let config = self.config;
        let shift = index as u32;
        let minify = |n: u32| (n >> shift).max(1);
        let bc = config.block == (4, 4);
        let mut width = minify(config.width);
        let mut height = minify(config.height);
        if config.levels == 1 && self.request.mode == TileMode::LINEAR_ALIGNED && !bc && config.bytes.is_power_of_two()
        {
            width = width.next_multiple_of(256 / config.bytes);
        }
        if self.request.bits == 96 {
            width = align(width, 16);
        }
        let base = if stencil { self.legacy.stencil_levels[0].pitch } else { self.legacy.levels[0].pitch };
        let mut base_pitch = 0;
        if index > 0 {
            base_pitch = if bc { base * 4 } else { base };
            width = minify(base_pitch);
        } else if self.request.block_compressed {
            width = align(width, 4);
            height = align(height, 4);
        }
        self.request.width = width.div_ceil(self.unit[0]);
        self.request.height = height.div_ceil(self.unit[1]);
        self.request.base_pitch = base_pitch.div_ceil(self.unit[0]);
        self.request.level = shift;
        self.request.slices = match config.dimension {
            Dimension::D3 => minify(config.depth),
            Dimension::Cube => 6,
            _ => config.layers,
        };
        let level = addr1::level(self.chip, &self.request)?;
        if !stencil && index == self.kept.0 {
            self.kept.1 = Some(level);
        }
        let offset = align64(self.surface.bytes, u64::from(level.base_align));
        let place = LegacyLevel {
            offset,
            slice_bytes: level.slice_bytes,
            pitch: level.pitch,
            height: level.height,
            mode: match level.mode {
                mode if mode.is_linear() => LevelMode::Linear,
                TileMode::THIN_1D | TileMode::THICK_1D | TileMode::PRT_THIN => LevelMode::Tiled1d,
                _ => LevelMode::Tiled2d,
            },
            tile_index: level.tile_index,
        };
        if stencil {
            self.legacy.stencil_levels[index] = place;
        } else {
            self.legacy.levels[index] = place;
        }
        if config.usage.contains(SurfaceUsage::PRT) {
            if index == 0 {
                let tile = [level.pitch_align, level.height_align, level.depth_align];
                self.surface.prt = Some(Prt { tile, first_tail: 0, levels: Levels::default() });
            }
            if let Some(prt) = &mut self.surface.prt
                && level.pitch >= prt.tile[0]
                && level.height >= prt.tile[1]
            {
                prt.first_tail = shift + 1;
            }
        }
        self.surface.bytes = offset + level.bytes;
        if self.request.usage.contains(Usage::DCC) && (index == 0 || self.dcc.next_level) {
            self.level_dcc(index, &level);
        }
        if !stencil && index == 0 {
            self.htile(&level, place.mode);
        }
        Ok(level)
    }

    /// Sets the properties of the whole image from level 0 (`gfx6_surface_settings`).
    fn settings(&mut self, level: &Level) {
        let (chip, config) = (self.chip, self.config);
        self.surface.align_log2 = log2(level.base_align);
        let tile_index = self.legacy.levels[0].tile_index.max(0) as usize;
        let register = chip.info.tile_modes.get(tile_index).copied().unwrap_or(0);
        self.surface.micro_mode = if chip.level() == GfxLevel::Gfx6 {
            MicroMode::of(register & 3)
        } else {
            MicroMode::of(register >> 22 & 7)
        };
        let tiles = &mut self.legacy.tiles;
        tiles.pipe_config = level.info.pipe_config.saturating_sub(1);
        if level.mode.is_macro() {
            *tiles = LegacyTiles {
                bank_width: level.info.bank_width,
                bank_height: level.info.bank_height,
                aspect: level.info.aspect,
                tile_split: level.info.tile_split,
                banks: level.info.banks,
                pipe_config: tiles.pipe_config,
            };
            self.legacy.macro_index = (level.macro_index & 15) as u32;
        } else {
            self.legacy.macro_index = 0;
        }
        if (chip.level() >= GfxLevel::Gfx7 || config.levels == 1)
            && self.legacy.levels[0].mode == LevelMode::Tiled2d
            && !config.usage.intersects(SurfaceUsage::Z_OR_S | SurfaceUsage::SHAREABLE)
            && !config.is_display()
            && let Some(index) = config.surface_index
        {
            self.surface.takes_index = true;
            self.surface.tile_swizzle = addr1::surface_swizzle(level.mode, &level.info, index, false);
        }
    }
}

/// Returns the address computation of a level of colour or depth, with the level's offset in the buffer.
pub(super) fn addresser(
    chip: &Chip,
    config: &SurfaceConfig,
    surface: &SurfaceLayout,
    index: u32,
) -> Result<(addr1::Addresser, u64), AddrError> {
    let refused = AddrError::NotSupported(Cause::Usage);
    let (_, kept) = lay_out(chip, config, index as usize).map_err(|_| refused)?;
    let legacy = surface.legacy.as_ref().ok_or(refused)?;
    let (level, place) = (kept.ok_or(refused)?, legacy.levels.get(index as usize).ok_or(refused)?);
    let image = addr1::Image {
        samples: config.fragments(),
        ..addr1::Image::new(level.mode, level.tile_type, config.bytes * 8, 1, 1)
    };
    let pipes = level.info.pipes();
    let swizzle = if level.mode.is_macro() { surface.tile_swizzle } else { 0 };
    let (bank, pipe) = (swizzle >> pipes.ilog2(), swizzle & (pipes - 1));
    Ok((addr1::Addresser::new(chip, &image, &level, bank, pipe)?, place.offset))
}

/// Computes the layout of texels and metadata. Their offsets in the buffer are not yet set.
pub(super) fn compute(chip: &Chip, config: &SurfaceConfig) -> Result<SurfaceLayout, SurfaceError> {
    lay_out(chip, config, 0).map(|(surface, _)| surface)
}

/// Computes the layout of an image, and also returns addrlib's description of level `keep`.
fn lay_out(chip: &Chip, config: &SurfaceConfig, keep: usize) -> Result<(SurfaceLayout, Option<Level>), SurfaceError> {
    if config.levels as usize > MAX_LEVELS {
        return Err(SurfaceError::Config("this number of levels"));
    }
    let z_or_s = config.usage.intersects(SurfaceUsage::Z_OR_S);
    let tile_type = if config.usage.contains(SurfaceUsage::SCANOUT) {
        TileType::Display
    } else if z_or_s {
        TileType::Depth
    } else {
        TileType::NonDisplay
    };
    let has_format = config.block != (2, 1);
    let (mode, reason) = mode::tile_mode(chip, config);
    let mut request = Request {
        mode,
        tile_type,
        bits: config.bytes * 8,
        block_compressed: config.is_compressed(),
        packed: config.block == (4, 4),
        width: 1,
        height: 1,
        slices: 1,
        samples: config.fragments(),
        coverage: config.samples.max(1),
        level: 0,
        base_pitch: 0,
        usage: mode::usage(chip, config),
        given: None,
        given_index: None,
    };
    let mut legacy = Legacy::EMPTY;
    if let Some(tiles) = config.legacy {
        if !tiles.is_valid() {
            return Err(SurfaceError::Config("these parameters of macro tiles"));
        }
        legacy.tiles = tiles;
        if !z_or_s && request.mode.is_macro() && tiles.is_complete() {
            request.usage.remove(Usage::OPT_4_SPACE);
            request.given_index = Some(mode::imported_index(chip, config, tile_type == TileType::Display));
        }
    }
    let unit = if has_format { [config.block.0, config.block.1] } else { [1, 1] };
    let mut work = Work {
        chip,
        config,
        request,
        unit,
        surface: SurfaceLayout::empty(config),
        legacy,
        dcc: DccInfo::default(),
        kept: (keep, None),
    };
    work.surface.reasons.dcc = mode::dcc(chip, config);
    work.surface.reasons.mode = if work.request.given_index.is_some() { ModeReason::Imported } else { reason };
    let levels = config.levels as usize;
    let stencil = config.usage.contains(SurfaceUsage::SBUFFER);
    let only_stencil = stencil && !config.usage.contains(SurfaceUsage::ZBUFFER);
    let mut stencil_index = None;
    let mut last = None;
    if !only_stencil {
        for index in 0..levels {
            let level = work.level(index, false)?;
            last = Some(level);
            // This is taken from the last level, which may be thinner than the first. The driver counts all 3D tiles as thick.
            work.surface.thick = level.mode.thickness() > 1 || level.mode == TileMode::THIN_3D;
            if index > 0 {
                continue;
            }
            if let Some(why) = level.change {
                work.surface.reasons.mode = ModeReason::Changed { from: mode, why };
            }
            if !level.tc_compatible {
                work.request.usage.remove(Usage::TC_COMPATIBLE);
                work.surface.usage.remove(SurfaceUsage::TC_COMPATIBLE_HTILE);
            }
            if work.request.usage.contains(Usage::MATCH_STENCIL) {
                work.request.usage.remove(Usage::MATCH_STENCIL);
                work.request.given_index = Some(level.tile_index).filter(|&index| index != -1);
                stencil_index = Some(level.stencil_index).filter(|&index| index != -1);
            }
            work.settings(&level);
        }
    }
    if stencil {
        work.stencil(stencil_index, only_stencil)?;
    } else if let Some(level) = last {
        work.fmask(&level)?;
    }
    work.finish(only_stencil);
    Ok((work.surface, work.kept.1))
}

impl Work<'_> {
    fn stencil(&mut self, index: Option<i32>, only: bool) -> Result<(), SurfaceError> {
        self.request.given_index = index;
        self.request.bits = 8;
        self.request.block_compressed = false;
        self.request.packed = false;
        self.unit = [1, 1];
        self.request.usage.remove(Usage::DEPTH | Usage::TC_COMPATIBLE);
        self.request.usage |= Usage::STENCIL;
        for index in 0..self.config.levels as usize {
            let level = self.level(index, true)?;
            let pitch = self.legacy.stencil_levels[index].pitch;
            if only {
                self.legacy.levels[index].pitch = pitch;
            } else if pitch != self.legacy.levels[index].pitch {
                self.legacy.stencil_adjusted = true;
            }
            if index == 0 {
                if only {
                    self.settings(&level);
                }
                if level.mode.is_macro() {
                    self.legacy.stencil_tile_split = level.info.tile_split;
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, only_stencil: bool) {
        let config = self.config;
        let z_or_s = config.usage.intersects(SurfaceUsage::Z_OR_S);
        let bytes = self.surface.bytes;
        if let Some(meta) = &mut self.surface.meta
            && meta.bytes > 0
            && config.levels > 1
        {
            if z_or_s {
                // The texture units read DCC of all levels.
                let blocks = bytes / u64::from(config.bytes) / 64;
                meta.bytes = align64(blocks * 4, 1 << meta.align_log2);
            } else {
                meta.bytes = align64(bytes >> 8, 4 << meta.align_log2);
            }
        } else if z_or_s && self.surface.meta.is_none() {
            self.surface.usage.remove(SurfaceUsage::TC_COMPATIBLE_HTILE);
        }
        let first = if only_stencil { &self.legacy.stencil_levels[0] } else { &self.legacy.levels[0] };
        self.surface.linear = first.mode == LevelMode::Linear;
        self.surface.displayable =
            self.surface.linear || matches!(self.surface.micro_mode, MicroMode::Display | MicroMode::Render);
        self.cmask();
        self.surface.pitch = self.legacy.levels[0].pitch;
        self.surface.height = self.legacy.levels[0].height;
        self.surface.slice_bytes = self.legacy.levels[0].slice_bytes;
        self.surface.legacy = Some(self.legacy);
    }
}
