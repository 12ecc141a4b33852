//! Operations that give each lane a value of another.

use amdgpu_hw::GfxLevel;

use super::tests::Case;
use crate::machine::State;

/// The destination's register, `v8`, among those of the state.
const TO: usize = 6;

/// Returns a state whose lanes that are on hold what a function gives for them; lanes for which it gives nothing stay.
fn each(case: &Case, before: &State, value: impl Fn(usize) -> Option<u32>) -> State {
    let mut after = before.clone();
    for lane in (0..case.lanes()).filter(|lane| before.exec >> lane & 1 != 0) {
        if let Some(value) = value(lane) {
            after.vectors[TO][lane] = value;
        }
    }
    after
}

/// Counts the bits of `v2` that belong to lower lanes, and adds `v4`.
pub(super) fn count_below(case: &Case, before: &State) -> State {
    let first = if case.name.contains("_hi_") { 32 } else { 0 };
    each(case, before, |lane| {
        let bits = (0..32).filter(|bit| first + bit < lane && before.vectors[0][lane] >> bit & 1 != 0).count();
        Some((bits as u32).wrapping_add(before.vectors[2][lane]))
    })
}

/// Permutes within rows of 16, or between neighbouring rows: four bits for each lane are in `s8` and `s10`, or in each lane of `v4`.
pub(super) fn permute_rows(case: &Case, before: &State) -> State {
    let is_variable = case.name.contains("_var_");
    let crosses = case.name.contains("permlanex");
    each(case, before, |lane| {
        let column = match (is_variable, lane % 16) {
            (true, _) => before.vectors[2][lane] % 16,
            (false, low @ 0..8) => before.scalars[0] >> (4 * low) & 15,
            (false, high) => before.scalars[2] >> (4 * (high - 8)) & 15,
        };
        let row = if crosses { lane / 16 ^ 1 } else { lane / 16 };
        let from = 16 * row + column as usize;
        let is_on = case.flags & 1 != 0 || before.exec >> from & 1 != 0;
        match (is_on, case.flags & 2 != 0) {
            (true, _) => Some(before.vectors[0][from]),
            (false, true) => Some(0),
            (false, false) => None,
        }
    })
}

/// Swaps the halves of a wave, whether lanes are on or not; in waves of 32 lanes it does nothing (RDNA3 ISA guide,
/// `V_PERMLANE64_B32`).
pub(super) fn swap_halves(case: &Case, before: &State) -> State {
    each(case, before, |lane| (case.lanes() == 64).then(|| before.vectors[0][(lane + 32) % 64]))
}

/// Reads the lane that a pattern names: four lanes of two bits each, or masks of and, or, xor. Rotations are those of GFX8 and newer,
/// as ACO uses them (Mesa 25.0.7, `emit_rotate_by_constant`).
pub(super) fn swizzle(case: &Case, before: &State) -> State {
    let pattern = case.offset as usize;
    let masks = [pattern % 32, pattern / 32 % 32, pattern / 1024 % 32];
    each(case, before, |lane| {
        let half = lane / 32 * 32;
        let from = if pattern < 0x8000 {
            half + (((lane % 32) & masks[0] | masks[1]) ^ masks[2])
        } else if case.level >= GfxLevel::Gfx9 && pattern >= 0xe000 {
            half + transformed(lane % 32, masks[0])
        } else if case.level >= GfxLevel::Gfx8 && pattern >= 0xc000 {
            let up = pattern & 0x400 == 0;
            let moved = if up { lane % 32 + masks[1] } else { lane % 32 + 32 - masks[1] } % 32;
            half + ((lane % 32) & masks[0] | moved & !masks[0])
        } else {
            lane / 4 * 4 + (pattern >> (2 * (lane % 4))) % 4
        };
        Some(if before.exec >> from & 1 != 0 { before.vectors[0][from] } else { 0 })
    })
}

/// Returns a lane with its five bits reversed, of which those of a mask stay.
fn transformed(lane: usize, mask: usize) -> usize {
    let reversed: usize = (0..5).map(|bit| (lane >> bit & 1) << (4 - bit)).sum();
    if mask == 31 { lane } else { reversed & !mask | lane & mask }
}

/// Returns the lane that an address in bytes names for a lane: GFX10 and GFX11 stay in each half.
fn addressed(case: &Case, lane: usize, address: u32) -> usize {
    let number = address.wrapping_add(case.offset) as usize / 4;
    let is_split = case.level >= GfxLevel::Gfx10 && case.level < GfxLevel::Gfx12;
    if is_split { lane / 32 * 32 + number % 32 } else { number % case.lanes() }
}

/// Reads `v4` of the lane that `v2` names.
pub(super) fn pull(case: &Case, before: &State) -> State {
    each(case, before, |lane| {
        let from = addressed(case, lane, before.vectors[0][lane]);
        Some(if before.exec >> from & 1 != 0 { before.vectors[2][from] } else { 0 })
    })
}

/// Gives `v4` to the lane that `v2` names; the last lane of several wins, and lanes that get nothing have 0.
pub(super) fn push(case: &Case, before: &State) -> State {
    let mut pushed = [0; 64];
    for lane in (0..case.lanes()).filter(|lane| before.exec >> lane & 1 != 0) {
        pushed[addressed(case, lane, before.vectors[0][lane])] = before.vectors[2][lane];
    }
    each(case, before, |lane| Some(pushed[lane]))
}
