//! GFX6 to GFX8. Source: `gfx6_compute_surface`, `gfx6_compute_level`, `ac_compute_cmask`.

use amdgpu_hw::GfxLevel;

use super::choose12::estimate_size;
use super::config::{Dimension, MicroMode, SurfaceConfig, SurfaceUsage, TilingMode};
use super::layout::{Cmask, Fmask, Metadata, Prt, SurfaceLayout};
use super::legacy::{Legacy, LegacyLevel, LegacyTiles, LevelMode};
use super::parts::{LevelPlace, Levels, MAX_LEVELS, SurfaceError};
use crate::addr1::meta::{self, DccInfo};
use crate::addr1::{self, Level, Request, TileMode, TileType, Usage};
use crate::bits::{align, align64, log2};
use crate::chip::{Chip, Family};

/// The most a tile mode may waste: its size over the tight one.
const WASTE: f64 = 3.0;

/// The modes of volumes with their tile indices, the thickest first.
const VOLUME: [(TileMode, i32); 8] = [
    (TileMode::XTHICK_3D, 26),
    (TileMode::XTHICK_2D, 25),
    (TileMode::THICK_3D, 21),
    (TileMode::THICK_2D, 20),
    (TileMode::THIN_3D, 15),
    (TileMode::THIN_2D, 14),
    (TileMode::THICK_1D, 19),
    (TileMode::THIN_1D, 13),
];
const VOLUME_6: [(TileMode, i32); 5] = [
    (TileMode::XTHICK_2D, 19),
    (TileMode::THICK_2D, 20),
    (TileMode::THIN_2D, 14),
    (TileMode::THICK_1D, 18),
    (TileMode::THIN_1D, 13),
];

fn volume_mode(chip: &Chip, config: &SurfaceConfig) -> TileMode {
    let unit = [config.block.0, config.block.1];
    let size = |block| {
        estimate_size(
            (config.depth, config.samples.max(1), config.levels, true),
            [config.width, config.height],
            unit,
            config.bytes,
            block,
        )
    };
    let tight = size([1, 1, 1]);
    let modes = if chip.level() == GfxLevel::Gfx6 { &VOLUME_6[..] } else { &VOLUME[..] };
    for &(mode, index) in modes {
        let [w, h] = addr1::tile_of(chip, index, config.bytes * 8);
        if size([w, h, mode.thickness()]) / tight <= WASTE {
            return mode;
        }
    }
    TileMode::THIN_1D
}

fn tile_mode(chip: &Chip, config: &SurfaceConfig) -> TileMode {
    let volume = config.dimension == Dimension::D3;
    let z_or_s = config.usage.intersects(SurfaceUsage::Z_OR_S);
    let prt = config.usage.contains(SurfaceUsage::PRT);
    let mode = match config.mode {
        _ if config.samples > 1 => TilingMode::Tiled2d,
        TilingMode::Linear if z_or_s => TilingMode::Tiled1d,
        mode => mode,
    };
    match mode {
        TilingMode::Linear => TileMode::LINEAR_ALIGNED,
        TilingMode::Tiled1d if prt => TileMode::PRT_THIN,
        TilingMode::Tiled1d if volume => TileMode::THICK_1D,
        TilingMode::Tiled1d => TileMode::THIN_1D,
        TilingMode::Tiled2d if prt && volume && config.bytes < 8 => TileMode::PRT_THICK_2D,
        TilingMode::Tiled2d if prt => TileMode::PRT_THIN_2D,
        TilingMode::Tiled2d if volume => volume_mode(chip, config),
        TilingMode::Tiled2d => TileMode::THIN_2D,
    }
}

/// The work on one image.
struct Work<'a> {
    chip: &'a Chip,
    config: &'a SurfaceConfig,
    request: Request,
    /// Size of an element in pixels, as the format tells; 4:2:2 pairs have no format here.
    unit: [u32; 2],
    surface: SurfaceLayout,
    legacy: Legacy,
    dcc: DccInfo,
}

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

    fn level_dcc(&mut self, index: usize, level: &Level) {
        let config = self.config;
        let before = index == 0 || self.dcc.aligned;
        let samples = config.fragments();
        let bits = config.bytes * 8;
        let Some(dcc) = meta::dcc(self.chip, level, level.bytes, bits, samples) else { return };
        self.dcc = dcc;
        let meta = self.surface.meta.get_or_insert(EMPTY);
        let offset = meta.bytes;
        meta.levels = index as u32 + 1;
        meta.bytes = offset + dcc.bytes;
        meta.align_log2 = meta.align_log2.max(log2(dcc.align));
        let clearable = dcc.aligned || (before && index as u32 == config.levels - 1);
        let clear = if clearable { dcc.clear_bytes } else { 0 };
        meta.slice_bytes = dcc.bytes / u64::from(config.layers);
        let mut slice_clear = clear;
        let mut contiguous = true;
        if config.layers > 1 {
            slice_clear = 0;
            if let Some(slice) = meta::dcc(self.chip, level, level.slice_bytes, bits, samples) {
                self.dcc = slice;
                slice_clear = if slice.aligned { slice.clear_bytes } else { 0 };
            }
            contiguous = meta.slice_bytes == slice_clear;
        }
        self.legacy.dcc_levels[index] = (LevelPlace { offset, pitch: clear as u32 }, slice_clear as u32);
        if !contiguous && config.usage.contains(SurfaceUsage::CONTIGUOUS_DCC_LAYERS) {
            meta.bytes = 0;
            meta.levels = 0;
            self.dcc.next_level = false;
        }
    }

    fn htile(&mut self, level: &Level, mode: LevelMode) {
        let usage = self.surface.usage;
        let has = mode == LevelMode::Tiled2d
            || (mode == LevelMode::Tiled1d && !usage.contains(SurfaceUsage::TC_COMPATIBLE_HTILE));
        if !self.request.usage.contains(Usage::DEPTH) || !has || usage.contains(SurfaceUsage::NO_HTILE) {
            return;
        }
        let htile = meta::htile(self.chip, level);
        self.surface.meta = Some(Metadata {
            bytes: htile.bytes,
            slice_bytes: htile.slice_bytes,
            align_log2: log2(htile.align),
            pitch: htile.pitch,
            levels: 1,
            ..EMPTY
        });
    }

    /// Properties of the whole image, from level 0 (`gfx6_surface_settings`).
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
            self.surface.tile_swizzle = addr1::surface_swizzle(level.mode, &level.info, index, false);
        }
    }

    fn fmask(&mut self, level: &Level) -> Result<(), SurfaceError> {
        let config = self.config;
        if config.samples < 2
            || config.usage.intersects(SurfaceUsage::Z_OR_S | SurfaceUsage::NO_FMASK)
            || !self.chip.info.has_graphics
        {
            return Ok(());
        }
        let fragments = config.fragments();
        let fmask = meta::fmask(
            self.chip,
            level,
            [level.pitch, config.height, self.request.slices],
            config.samples,
            fragments,
        )?;
        let tile_swizzle = match config.fmask_index {
            Some(index) if !config.usage.contains(SurfaceUsage::SHAREABLE) => {
                addr1::surface_swizzle(level.mode, &fmask.info, index + 1, false)
            }
            _ => 0,
        };
        self.surface.fmask = Some(Fmask {
            offset: 0,
            bytes: fmask.bytes,
            slice_bytes: fmask.slice_bytes,
            align_log2: log2(fmask.base_align),
            tile_swizzle,
            swizzle_mode: 0,
            epitch: 0,
        });
        self.legacy.fmask_slice_tile_max =
            (u64::from(fmask.pitch) * u64::from(fmask.height) / 64).saturating_sub(1) as u32;
        self.legacy.fmask_tile_index = fmask.tile_index;
        self.legacy.fmask_bank_height = fmask.info.bank_height;
        self.legacy.fmask_pitch = fmask.pitch;
        Ok(())
    }

    /// CMASK, by the driver's own rule (`ac_compute_cmask`).
    fn cmask(&mut self) {
        let config = self.config;
        if config.usage.intersects(SurfaceUsage::Z_OR_S)
            || self.surface.linear
            || (config.samples >= 2 && self.surface.fmask.is_none())
        {
            return;
        }
        let pipes = addr1::pipes(self.chip);
        let [w, h] = match pipes {
            2 => [32, 16],
            4 => [32, 32],
            8 => [64, 32],
            _ => [64, 64],
        };
        let base = pipes * 256;
        let level = &self.legacy.levels[0];
        let area = u64::from(align(level.pitch, w * 8)) * u64::from(align(level.height, h * 8));
        let slice = align64(area / 128, u64::from(base));
        self.legacy.cmask_slice_tile_max = (area / (128 * 128)).saturating_sub(1) as u32;
        self.surface.cmask = Some(Cmask {
            offset: 0,
            bytes: slice * u64::from(config.slices()),
            slice_bytes: slice,
            align_log2: log2(base.max(256)),
            pitch: 0,
            height: 0,
            level0: LevelPlace::default(),
            image: None,
        });
    }
}

const EMPTY: Metadata = Metadata {
    offset: 0,
    bytes: 0,
    slice_bytes: 0,
    align_log2: 0,
    pitch: 0,
    levels: 0,
    places: [LevelPlace { offset: 0, pitch: 0 }; MAX_LEVELS],
};

fn usage(chip: &Chip, config: &SurfaceConfig) -> Usage {
    let wants = config.usage;
    let z_or_s = wants.intersects(SurfaceUsage::Z_OR_S);
    let mut usage = Usage::empty();
    usage.set(Usage::COLOR, !z_or_s);
    usage.set(Usage::DEPTH, wants.contains(SurfaceUsage::ZBUFFER));
    usage.set(Usage::CUBE, config.dimension == Dimension::Cube);
    usage.set(Usage::DISPLAY, config.is_display());
    usage.set(Usage::POW2_PAD, config.levels > 1);
    usage.set(Usage::TC_COMPATIBLE, wants.contains(SurfaceUsage::TC_COMPATIBLE_HTILE));
    usage.set(Usage::PRT, wants.contains(SurfaceUsage::PRT));
    usage.set(
        Usage::OPT_4_SPACE,
        !wants.contains(SurfaceUsage::TC_COMPATIBLE_HTILE)
            && config.dimension != Dimension::D3
            && config.samples <= 1
            && !wants.contains(SurfaceUsage::FORCE_SWIZZLE_MODE),
    );
    let dcc = chip.level() >= GfxLevel::Gfx8
        && chip.info.has_graphics
        && !z_or_s
        && !wants.contains(SurfaceUsage::DISABLE_DCC)
        && config.block != (4, 4)
        && ((config.layers == 1 && config.depth == 1) || config.levels == 1);
    usage.set(Usage::DCC | Usage::DCC_PIPE_WORKAROUND, dcc);
    usage.set(
        Usage::NO_STENCIL,
        !wants.contains(SurfaceUsage::SBUFFER) || wants.contains(SurfaceUsage::NO_RENDER_TARGET),
    );
    usage.set(Usage::COMPRESSED_DEPTH, z_or_s);
    if usage.contains(Usage::DEPTH)
        && !usage.contains(Usage::NO_STENCIL)
        && (config.levels > 1 || chip.family == Family::Stoney)
    {
        usage |= Usage::MATCH_STENCIL;
        if config.levels > 1 && !wants.contains(SurfaceUsage::NO_STENCIL_ADJUST) {
            usage |= Usage::NO_STENCIL;
        }
    }
    usage
}

/// The tile index of an imported image, whose banks another process chose.
fn imported_index(chip: &Chip, config: &SurfaceConfig, display: bool) -> i32 {
    if chip.level() >= GfxLevel::Gfx7 {
        return if display { 10 } else { 14 };
    }
    match (display, config.bytes) {
        (true, 2) => 11,
        (true, _) => 12,
        (false, 1) => 14,
        (false, 2) => 15,
        (false, 4) => 16,
        (false, _) => 17,
    }
}

pub(super) fn compute(chip: &Chip, config: &SurfaceConfig) -> Result<SurfaceLayout, SurfaceError> {
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
    let mut request = Request {
        mode: tile_mode(chip, config),
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
        usage: usage(chip, config),
        given: None,
        given_index: None,
    };
    let mut legacy = Legacy::EMPTY;
    if let Some(tiles) = config.legacy {
        legacy.tiles = tiles;
        if !z_or_s && request.mode.is_macro() && tiles.is_complete() {
            request.usage.remove(Usage::OPT_4_SPACE);
            request.given_index = Some(imported_index(chip, config, tile_type == TileType::Display));
        }
    }
    let unit = if has_format { [config.block.0, config.block.1] } else { [1, 1] };
    let mut work =
        Work { chip, config, request, unit, surface: SurfaceLayout::empty(config), legacy, dcc: DccInfo::default() };
    let levels = config.levels as usize;
    let stencil = config.usage.contains(SurfaceUsage::SBUFFER);
    let only_stencil = stencil && !config.usage.contains(SurfaceUsage::ZBUFFER);
    let mut stencil_index = None;
    let mut last = None;
    if !only_stencil {
        for index in 0..levels {
            let level = work.level(index, false)?;
            last = Some(level);
            // The last level says so, which may be thinner than the first.
            // The driver counts 3D tiles as thick, even those that are thin.
            work.surface.thick = level.mode.thickness() > 1 || level.mode == TileMode::THIN_3D;
            if index > 0 {
                continue;
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
    Ok(work.surface)
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
                // The texture units read it for all levels.
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
