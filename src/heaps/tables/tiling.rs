//! The largest base alignment that any image of a chip needs, and therefore the alignment of every allocation.
//!
//! An application binds images to memory that it allocated earlier, so an allocation must satisfy the image with the strictest
//! alignment. This alignment follows from the generation and a few registers, without a full address library.

use crate::winsys::{GfxLevel, TilingRegisters};

/// The error that GB_TILE_MODE0 names a pipe configuration that no chip has.
///
/// ```
/// use amdgpu_winsys::{heaps::{UnknownPipeConfig, max_alignment}, winsys::{GfxLevel, TilingRegisters}};
///
/// let mut registers = TilingRegisters::default();
/// registers.tile_modes[0] = 31 << 6;
/// let error = max_alignment(GfxLevel::Gfx8, &registers);
/// assert_eq!(error, Err(UnknownPipeConfig { tile_mode: 31 << 6, config: 31 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("GB_TILE_MODE0 {tile_mode:#x} has the unknown pipe configuration {config}")]
pub struct UnknownPipeConfig {
    /// The value of the register.
    pub tile_mode: u32,
    /// The PIPE_CONFIG field of the register, bits 10..=6.
    pub config: u32,
}

const KIB_64: u64 = 64 << 10;
const KIB_256: u64 = 256 << 10;

/// Size in bytes of the largest micro tile: 8 x 8 elements of 16 bytes, with 8 samples or slices.
const LARGEST_TILE: u64 = 8 * 8 * 16 * 8;

/// Returns an alignment in bytes that is sufficient for every image of the chip: a power of two, at least 64 KiB.
///
/// * GFX6 to GFX8: the largest macro tile in the tile tables;
/// * GFX9 and GFX10: the 64 KiB swizzle block;
/// * GFX10.3: one 16 KiB slice per pipe, as the variable-size blocks are that large;
/// * GFX11 and later: the 256 KiB swizzle block.
///
/// If all registers are zero, the result is the smallest alignment of the generation.
///
/// # Errors
///
/// [`UnknownPipeConfig`] on GFX6 to GFX8 if the tile table has an unknown pipe configuration, which determines the number of
/// pipes.
///
/// Source: `HwlComputeMaxBaseAlignments` of each generation in Mesa `src/amd/addrlib/src/`; the alignments that RADV
/// 26.2.6 asks for on the recorded chips agree (`tests/heaps/golden.rs`).
pub fn max_alignment(level: GfxLevel, registers: &TilingRegisters) -> Result<u64, UnknownPipeConfig> {
    let needed = match level {
        GfxLevel::Gfx6 => pipes(registers)? * largest(&registers.tile_modes, |_, mode| macro_tile_gfx6(mode)),
        GfxLevel::Gfx7 | GfxLevel::Gfx8 => pipes(registers)? * largest(&registers.macro_tile_modes, macro_tile_gfx7),
        GfxLevel::Gfx9 | GfxLevel::Gfx10 => KIB_64,
        GfxLevel::Gfx10_3 => 1 << (field(registers.gb_addr_config, 0, 3) + 14),
        GfxLevel::Gfx11 | GfxLevel::Gfx11_5 | GfxLevel::Gfx12 => KIB_256,
    };
    Ok(needed.max(KIB_64))
}

fn largest(modes: &[u32], bytes: impl Fn(usize, u32) -> u64) -> u64 {
    modes.iter().enumerate().map(|(index, &mode)| bytes(index, mode)).max().unwrap_or(0)
}

/// Returns the `width` bits of `word` that start at bit `lowest`.
const fn field(word: u32, lowest: u32, width: u32) -> u64 {
    ((word >> lowest) & ((1 << width) - 1)) as u64
}

/// Returns the bytes per pipe of the macro tile that a GFX6 GB_TILE_MODE describes; 0 if its array mode has no macro tiles.
fn macro_tile_gfx6(mode: u32) -> u64 {
    const FIRST_MACRO_TILED: u64 = 4; // ARRAY_2D_TILED_THIN1
    const POWER_SAVE: u64 = 15;
    let array_mode = field(mode, 2, 4);
    if array_mode < FIRST_MACRO_TILED || array_mode == POWER_SAVE {
        return 0;
    }
    let tile = LARGEST_TILE.min(64 << field(mode, 11, 3));
    tile << (field(mode, 14, 2) + field(mode, 16, 2) + field(mode, 20, 2) + 1) // bank width, bank height, banks
}

/// Returns the bytes per pipe of the macro tile that GB_MACROTILE_MODE`index` describes. The entries come in rows of eight, one
/// entry for each tile size from 64 bytes up.
fn macro_tile_gfx7(index: usize, mode: u32) -> u64 {
    let tile = 64 << (index % 8);
    tile << (field(mode, 0, 2) + field(mode, 2, 2) + field(mode, 6, 2) + 1) // bank width, bank height, banks
}

/// Returns the number of pipes of GFX6 to GFX8.
fn pipes(registers: &TilingRegisters) -> Result<u64, UnknownPipeConfig> {
    let [tile_mode, ..] = registers.tile_modes;
    let unknown = UnknownPipeConfig { tile_mode, config: field(tile_mode, 6, 5) as u32 };
    registers.pipes(GfxLevel::Gfx8).map(u64::from).ok_or(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_registers_every_generation_has_its_smallest_alignment() {
        for level in GfxLevel::ALL {
            let wanted = if level >= GfxLevel::Gfx11 { KIB_256 } else { KIB_64 };
            assert_eq!(max_alignment(level, &TilingRegisters::default()), Ok(wanted), "{level}");
        }
    }

    #[test]
    fn gfx10_3_takes_16_kib_per_pipe() {
        for (log2_pipes, wanted) in [(0, KIB_64), (2, KIB_64), (3, 2 * KIB_64), (4, KIB_256), (7, 2 << 20)] {
            let registers = TilingRegisters { gb_addr_config: 0x440 | log2_pipes, ..Default::default() };
            assert_eq!(max_alignment(GfxLevel::Gfx10_3, &registers), Ok(wanted), "2^{log2_pipes} pipes");
        }
    }

    /// Every field has a value of its own, so that none can be taken for another.
    #[test]
    fn a_macro_tile_is_as_wide_and_high_as_its_banks() {
        let gfx6 = |array_mode: u32| array_mode << 2 | 4 << 11 | 1 << 14 | 2 << 16 | 3 << 20;
        for (array_mode, bytes) in [(1, 0), (2, 0), (3, 0), (4, 1024 << (1 + 2 + 4)), (13, 1024 << 7), (15, 0u64)] {
            assert_eq!(macro_tile_gfx6(gfx6(array_mode)), bytes, "array mode {array_mode}");
        }
        assert_eq!(macro_tile_gfx6(gfx6(4) | 7 << 11), 8192 << 7, "a tile has at most 8 KiB");
        assert_eq!(macro_tile_gfx7(9, 1 | 2 << 2 | 3 << 6), 128 << (1 + 2 + 4));
    }

    #[test]
    fn a_pipe_configuration_that_does_not_exist_is_named() {
        for config in [1, 2, 3, 15, 18, 31] {
            let mut registers = TilingRegisters::default();
            registers.tile_modes[0] = config << 6;
            let refused = Err(UnknownPipeConfig { tile_mode: config << 6, config });
            assert_eq!(max_alignment(GfxLevel::Gfx6, &registers), refused);
            assert_eq!(max_alignment(GfxLevel::Gfx8, &registers), refused);
            assert!(max_alignment(GfxLevel::Gfx9, &registers).is_ok(), "the table does not exist there");
        }
    }

    #[test]
    fn any_register_contents_give_a_power_of_two() {
        let mut registers = TilingRegisters { gb_addr_config: u32::MAX, ..Default::default() };
        registers.tile_modes = [!(0x1f << 6) & !(1 << 2) | 17 << 6; 32];
        registers.macro_tile_modes = [u32::MAX; 16];
        for level in GfxLevel::ALL {
            assert!(max_alignment(level, &registers).unwrap().is_power_of_two(), "{level}");
        }
        assert_eq!(max_alignment(GfxLevel::Gfx8, &registers), Ok(16 << (13 + 3 + 3 + 4)));
    }
}
