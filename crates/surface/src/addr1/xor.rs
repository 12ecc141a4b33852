//! The tile swizzle, which distributes surfaces over banks and pipes.
//!
//! Reference: addrlib's `EgBasedLib::HwlComputeBaseSwizzle`, `ComputeSliceTileSwizzle` and `HwlCombineBankPipeSwizzle`.

use super::mode::TileMode;
use super::table::TileInfo;

/// Returns the first bank of the surface with this index.
fn bank_of(banks: u32, index: u32) -> u32 {
    match banks {
        4 => index % 4,
        // Steps that separate consecutive surfaces.
        8 => index * 3 % 8,
        16 => index * 7 % 16,
        _ => 0,
    }
}

const fn rotation(pipes: u32) -> u32 {
    if pipes > 4 { pipes / 2 - 1 } else { 1 }
}

fn spreads(mode: TileMode) -> bool {
    mode.is_macro()
}

/// Returns the tile swizzle of the surface with this index: bits to OR into its address, in units of 256 bytes.
///
/// If `linear` is `true`, banks are used in order, without steps.
pub fn surface_swizzle(mode: TileMode, info: &TileInfo, index: u32, linear: bool) -> u32 {
    if !spreads(mode) || info.banks == 0 {
        return 0;
    }
    let pipes = info.pipes();
    let bank = if linear { index % info.banks } else { bank_of(info.banks, index % info.banks) };
    let pipe = if mode.rotates_pipes() { index % pipes } else { 0 };
    bank << pipes.ilog2() | pipe
}

/// Returns the tile swizzle of a slice. `base` is the tile swizzle of the surface.
pub fn slice_swizzle(mode: TileMode, info: &TileInfo, base: u32, slice: u32) -> u32 {
    if !spreads(mode) || info.banks == 0 {
        return 0;
    }
    let (pipes, banks) = (info.pipes(), info.banks);
    let tile_slice = slice / mode.thickness();
    let (pipe, bank) = (base & (pipes - 1), base >> pipes.ilog2() & (banks - 1));
    let (turn_pipe, turn_bank) = if mode.rotates_pipes() {
        let turn = rotation(pipes).wrapping_mul(tile_slice);
        (turn, turn / pipes)
    } else if matches!(mode, TileMode::PRT_THIN | TileMode::PRT_THICK) {
        (0, 0)
    } else {
        (0, (banks / 2 - 1).wrapping_mul(tile_slice))
    };
    let bank = bank.wrapping_add(turn_bank) & (banks - 1);
    let pipe = pipe.wrapping_add(turn_pipe) & (pipes - 1);
    bank << pipes.ilog2() | pipe
}
