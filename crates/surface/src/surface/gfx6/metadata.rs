//! DCC, HTILE, FMASK and CMASK. Source: `gfx6_compute_level`, `ac_compute_cmask`.

use super::work::Work;
use crate::addr1::meta;
use crate::addr1::{self, Level, Usage};
use crate::bits::{align, align64, log2};
use crate::surface::config::SurfaceUsage;
use crate::surface::layout::{Cmask, Fmask, Metadata};
use crate::surface::legacy::LevelMode;
use crate::surface::parts::{LevelPlace, MAX_LEVELS, SurfaceError};
use crate::surface::reason::{Absence, Presence};

const EMPTY: Metadata = Metadata {
    offset: 0,
    bytes: 0,
    slice_bytes: 0,
    align_log2: 0,
    pitch: 0,
    levels: 0,
    places: [LevelPlace { offset: 0, pitch: 0 }; MAX_LEVELS],
};

impl Work<'_> {
    pub(super) fn level_dcc(&mut self, index: usize, level: &Level) {
        let config = self.config;
        let before = index == 0 || self.dcc.aligned;
        let samples = config.fragments();
        let bits = config.bytes * 8;
        let Some(dcc) = meta::dcc(self.chip, level, level.bytes, bits, samples) else {
            if index == 0 {
                self.surface.reasons.dcc = Presence::Absent(Absence::NoLayout);
            }
            return;
        };
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
            self.surface.reasons.dcc = Presence::Absent(Absence::LayersNotContiguous);
            self.dcc.next_level = false;
        }
    }

    pub(super) fn htile(&mut self, level: &Level, mode: LevelMode) {
        let usage = self.surface.usage;
        let has = mode == LevelMode::Tiled2d
            || (mode == LevelMode::Tiled1d && !usage.contains(SurfaceUsage::TC_COMPATIBLE_HTILE));
        if !self.request.usage.contains(Usage::DEPTH) {
            return;
        }
        let absence = if has {
            usage.contains(SurfaceUsage::NO_HTILE).then_some(Absence::NotWanted)
        } else {
            Some(Absence::Mode)
        };
        self.surface.reasons.htile = Presence::unless(absence);
        if absence.is_some() {
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

    pub(super) fn fmask(&mut self, level: &Level) -> Result<(), SurfaceError> {
        let config = self.config;
        if config.has(SurfaceUsage::Z_OR_S) {
            return Ok(());
        }
        let absence = if config.samples < 2 {
            Some(Absence::OneSample)
        } else if config.has(SurfaceUsage::NO_FMASK) {
            Some(Absence::NotWanted)
        } else {
            (!self.chip.info.has_graphics).then_some(Absence::NoGraphics)
        };
        self.surface.reasons.fmask = Presence::unless(absence);
        if absence.is_some() {
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
                // The driver counts images in 32 bits, and the counter starts again at 0.
                addr1::surface_swizzle(level.mode, &fmask.info, index.wrapping_add(1), false)
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

    /// Computes the layout of CMASK by the driver's rule, without addrlib (`ac_compute_cmask`).
    pub(super) fn cmask(&mut self) {
        let config = self.config;
        if config.has(SurfaceUsage::Z_OR_S) {
            return;
        }
        let absence = if self.surface.linear {
            Some(Absence::Mode)
        } else {
            (config.samples >= 2 && self.surface.fmask.is_none()).then_some(Absence::NoFmask)
        };
        self.surface.reasons.cmask = Presence::unless(absence);
        if absence.is_some() {
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
