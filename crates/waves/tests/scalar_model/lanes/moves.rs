//! Moves of single lanes, swaps, and moves between registers whose numbers are in M0.

use super::tests::Case;
use crate::machine::State;

/// Gives `s12` the value of the first lane that is on, or of lane 0.
pub(super) fn read_first(_: &Case, before: &State) -> State {
    let mut after = before.clone();
    let lane = (0..64).find(|lane| before.exec >> lane & 1 != 0).unwrap_or(0);
    after.scalars[4] = before.vectors[0][lane];
    after
}

/// Gives `s12` the value of the lane that `s8` names, on or off.
pub(super) fn read(case: &Case, before: &State) -> State {
    let mut after = before.clone();
    after.scalars[4] = before.vectors[0][before.scalars[0] as usize % case.lanes()];
    after
}

/// Gives one lane the value of `s10`, on or off.
pub(super) fn write(case: &Case, before: &State) -> State {
    let mut after = before.clone();
    after.vectors[6][before.scalars[0] as usize % case.lanes()] = before.scalars[2];
    after
}

/// Returns the state after two registers among `v2` to `v9` have swapped the lanes that are on.
fn swapped(case: &Case, before: &State, first: usize, second: usize) -> State {
    let mut after = before.clone();
    for lane in (0..case.lanes()).filter(|lane| before.exec >> lane & 1 != 0) {
        after.vectors[first][lane] = before.vectors[second][lane];
        after.vectors[second][lane] = before.vectors[first][lane];
    }
    after
}

pub(super) fn swap(case: &Case, before: &State) -> State {
    swapped(case, before, 6, 0)
}

/// Swaps registers from `v8` and `v2` on: M0 has the index of `v8` in bits 25:16 and that of `v2` in bits 9:0.
pub(super) fn swap_indexed(case: &Case, before: &State) -> State {
    swapped(case, before, 6 + (before.m0 >> 16) as usize % 1024, before.m0 as usize % 1024)
}

/// Moves between registers from `v2` and `v8` on: both indices are M0, or have ten bits each.
pub(super) fn move_indexed(case: &Case, before: &State) -> State {
    let (low, high) = (before.m0 as usize % 1024, (before.m0 >> 16) as usize % 1024);
    let (from, to) = match case.name {
        "v_movrels_b32" => (low, 0),
        "v_movreld_b32" => (0, low),
        "v_movrelsd_b32" => (low, low),
        _ => (low, high),
    };
    let mut after = before.clone();
    for lane in (0..case.lanes()).filter(|lane| before.exec >> lane & 1 != 0) {
        after.vectors[6 + to][lane] = before.vectors[from][lane];
    }
    after
}

/// Adds `v2` and `v4` to `v8` as bits of a mode raise the numbers of the first, second and written register by M0's low byte.
pub(super) fn index_mode(case: &Case, before: &State) -> State {
    let mode = case.flags as usize;
    let index = |bit: usize| if mode >> bit & 1 != 0 { before.scalars[0] as usize % 256 } else { 0 };
    let mut after = before.clone();
    // The index and the mode are in M0, too.
    after.m0 = before.m0 & !0xf0ff | before.scalars[0] & 0xff | (case.flags << 12);
    for lane in (0..case.lanes()).filter(|lane| before.exec >> lane & 1 != 0) {
        let (a, b) = (before.vectors[index(0)][lane], before.vectors[2 + index(1)][lane]);
        after.vectors[6 + index(3)][lane] = a ^ b;
    }
    after
}
