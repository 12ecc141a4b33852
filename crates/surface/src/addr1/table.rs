//! Decoding of the chip's tables of tile modes.

use amdgpu_hw::GfxLevel;

use super::mode::{TileMode, TileType};
use crate::chip::Chip;

/// The parameters of macro tiles: their distribution over pipes and banks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TileInfo {
    /// The number of memory banks.
    pub banks: u32,
    /// The bank width: the number of horizontally adjacent micro tiles in a bank.
    pub bank_width: u32,
    /// The bank height: the number of vertically adjacent micro tiles in a bank.
    pub bank_height: u32,
    /// The macro tile aspect: the factor by which a macro tile is wider than its default.
    pub aspect: u32,
    /// The tile split: the number of bytes after which the samples of a micro tile are split.
    pub tile_split: u32,
    /// The pipe configuration: the PIPE_CONFIG field of the register plus 1 (`AddrPipeCfg`); 0 if unknown.
    pub pipe_config: u32,
}

impl TileInfo {
    /// The parameters of linear images with an unaligned pitch.
    pub(crate) const GENERAL: Self =
        Self { banks: 2, bank_width: 1, bank_height: 1, aspect: 1, tile_split: 64, pipe_config: 1 };

    /// Returns the number of pipes of the pipe configuration.
    pub const fn pipes(&self) -> u32 {
        match self.pipe_config {
            5..=8 => 4,
            9..=15 => 8,
            17 | 18 => 16,
            _ => 2,
        }
    }
}

/// An entry of the table of tile modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileEntry {
    /// The tile mode of the entry.
    pub mode: TileMode,
    /// The order of elements in a micro tile.
    pub tile_type: TileType,
    /// The macro tile parameters. On GFX7-8 the banks come from the other table, and the split of a colour entry is its sample
    /// split.
    pub info: TileInfo,
}

pub(crate) const ENTRIES: i32 = 32;

/// The index that means no tile mode or macro tile mode.
pub(crate) const NO_INDEX: i32 = -1;
/// The tile index of linear images with an unaligned pitch.
pub(crate) const INDEX_LINEAR_GENERAL: i32 = -2;
/// The macro tile index of modes without macro tiles.
pub(crate) const NO_MACRO: i32 = -3;

const fn field(value: u32, low: u32, bits: u32) -> u32 {
    value >> low & ((1 << bits) - 1)
}

/// Decodes an entry; `None` if the index is out of range.
pub(crate) fn entry(chip: &Chip, index: i32) -> Option<TileEntry> {
    let value = *chip.info.tile_modes.get(usize::try_from(index).ok()?)?;
    let six = chip.level() == GfxLevel::Gfx6;
    let mode = TileMode::of_register(six, field(value, 2, 4));
    let pipe_config = field(value, 6, 5) + 1;
    let split = 64 << field(value, 11, 3);
    if six {
        let info = TileInfo {
            banks: 2 << field(value, 20, 2),
            bank_width: 1 << field(value, 14, 2),
            bank_height: 1 << field(value, 16, 2),
            aspect: 1 << field(value, 18, 2),
            tile_split: split,
            pipe_config,
        };
        return Some(TileEntry { mode, tile_type: TileType::new(field(value, 0, 2))?, info });
    }
    let tile_type = TileType::new(field(value, 22, 3))?;
    if !mode.is_macro() {
        return Some(TileEntry { mode, tile_type, info: TileInfo { pipe_config, ..TileInfo::GENERAL } });
    }
    let tile_split = if tile_type == TileType::Depth { split } else { 1 << field(value, 25, 2) };
    Some(TileEntry { mode, tile_type, info: TileInfo { tile_split, pipe_config, ..TileInfo::default() } })
}

/// Decodes an entry of the table of macro tile modes, which does not contain pipes and split.
pub(crate) fn macro_entry(chip: &Chip, index: i32) -> TileInfo {
    let value =
        usize::try_from(index).ok().and_then(|index| chip.info.macrotile_modes.get(index)).copied().unwrap_or(0);
    TileInfo {
        banks: 2 << field(value, 6, 2),
        bank_width: 1 << field(value, 0, 2),
        bank_height: 1 << field(value, 2, 2),
        aspect: 1 << field(value, 4, 2),
        tile_split: 0,
        pipe_config: 0,
    }
}

/// The macro tile mode for images with one element size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MacroMode {
    pub(crate) index: i32,
    pub(crate) info: TileInfo,
    pub(crate) mode: TileMode,
    pub(crate) tile_type: TileType,
}

/// Looks up banks and split for a tile index (GFX7-8).
pub(crate) fn macro_mode(
    chip: &Chip,
    index: i32,
    bits: u32,
    samples: u32,
    fmask: bool,
    prt: bool,
) -> Option<MacroMode> {
    let TileEntry { mode, tile_type, info } = entry(chip, index)?;
    if !mode.is_macro() {
        return Some(MacroMode { index: NO_MACRO, info, mode, tile_type });
    }
    let tile_bytes_1x = bits * 64 * mode.thickness() / 8;
    let split = if tile_type == TileType::Depth { info.tile_split } else { (info.tile_split * tile_bytes_1x).max(256) };
    let split_c = split.min(chip.config.row_bytes);
    let tile_bytes = split_c.min(if fmask { tile_bytes_1x } else { samples * tile_bytes_1x }).max(64);
    let macro_index = tile_bytes.ilog2() as i32 - 6 + if prt || mode.is_prt() { 8 } else { 0 };
    let info = TileInfo { tile_split: split_c, pipe_config: info.pipe_config, ..macro_entry(chip, macro_index) };
    Some(MacroMode { index: macro_index, info, mode, tile_type })
}

/// Returns the maximum number of pipes of the chip, from entry 0.
pub(crate) fn pipes(chip: &Chip) -> u32 {
    entry(chip, 0).map_or(2, |entry| entry.info.pipes())
}

/// Returns `true` if a thick image may have the order of a thin image (GFX7-8).
pub(crate) fn thick_may_be_non_display(chip: &Chip) -> bool {
    entry(chip, 18).is_some_and(|entry| entry.mode == TileMode::THICK_1D && entry.tile_type == TileType::NonDisplay)
}

/// Finds the tile index of the resulting tile mode, which may differ from the requested one.
pub(crate) fn find_index(chip: &Chip, info: &TileInfo, mode: TileMode, tile_type: TileType, current: i32) -> i32 {
    if mode == TileMode::LINEAR_GENERAL {
        return INDEX_LINEAR_GENERAL;
    }
    let six = chip.level() == GfxLevel::Gfx6;
    let same = |entry: &TileEntry| {
        if six { entry.info == *info } else { entry.info.pipe_config == info.pipe_config }
    };
    if let Some(entry) = entry(chip, current)
        && entry.mode == mode
        && (!mode.is_macro() || same(&entry))
    {
        return current;
    }
    let fits = |index: &i32| {
        entry(chip, *index).is_some_and(|entry| {
            if entry.mode != mode {
                return false;
            }
            if mode == TileMode::LINEAR_ALIGNED {
                return true;
            }
            if entry.tile_type != tile_type {
                return false;
            }
            if !mode.is_macro() {
                return true;
            }
            if six {
                return same(&entry);
            }
            let split = entry.info.tile_split.min(chip.config.row_bytes);
            same(&entry) && (tile_type != TileType::Depth || split == info.tile_split)
        })
    };
    (0..ENTRIES).find(fits).unwrap_or(NO_INDEX)
}

/// Returns the size of single-sampled tiles with a tile index, in elements.
pub(crate) fn tile_of(chip: &Chip, index: i32, bits: u32) -> [u32; 2] {
    let info = if chip.level() == GfxLevel::Gfx6 {
        entry(chip, index).filter(|entry| entry.mode.is_macro()).map(|entry| entry.info)
    } else {
        macro_mode(chip, index, bits, 1, false, false).filter(|found| found.mode.is_macro()).map(|found| found.info)
    };
    info.map_or([8, 8], |info| {
        [8 * info.bank_width * info.pipes() * info.aspect, 8 * info.bank_height * info.banks / info.aspect.max(1)]
    })
}

/// Returns the largest alignments of texels and of metadata.
pub(crate) fn max_alignments(chip: &Chip) -> (u32, u32) {
    let six = chip.level() == GfxLevel::Gfx6;
    let first = pipes(chip);
    let mut base = 0x1_0000;
    let mut most_pipes = 1;
    for index in 0..ENTRIES {
        let Some(entry) = entry(chip, index) else { continue };
        most_pipes = most_pipes.max(entry.info.pipes());
        if six && entry.mode.is_macro() && !entry.mode.is_prt() {
            let info = entry.info;
            // Tiles of 128-bit elements with eight samples or slices.
            let tile = info.tile_split.min(64 * 8 * 16);
            base = base.max(tile * first * info.banks * info.bank_width * info.bank_height);
        }
    }
    let mut most_banks = 1;
    if !six {
        for index in 0..16 {
            let info = macro_entry(chip, index);
            // The index gives the size of a tile in bytes.
            let tile = 64 << (index % 8);
            base = base.max(tile * first * info.banks * info.bank_width * info.bank_height);
            if chip.level() == GfxLevel::Gfx8 && entry(chip, index).is_some_and(|entry| entry.mode.is_macro()) {
                most_banks = most_banks.max(info.banks);
            }
        }
    }
    (base, 256 * most_pipes * most_banks)
}

/// Returns the index into the table of macro tile modes for colour or depth with this element size and number of samples (GFX7-8);
/// `None` if there is none.
pub fn macro_mode_index(chip: &Chip, tile_index: i32, bits: u32, samples: u32) -> Option<i32> {
    if chip.level() == GfxLevel::Gfx6 || !matches!(bits, 8..=128) || !matches!(samples, 1..=16) {
        return None;
    }
    macro_mode(chip, tile_index, bits, samples, false, false)
        .filter(|found| found.mode.is_macro())
        .map(|found| found.index)
}
