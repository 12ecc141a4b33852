//! Contents of registers and LDS before a wave writes them.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::WaveSize;

use crate::machine::{places, run_undefined};

/// Stores a register of the first lane behind the buffer's start, where `s[0:3]` is the buffer.
fn stored(level: GfxLevel, wave: WaveSize, lines: &[&str], seed: Option<u64>) -> u32 {
    let store = if level >= GfxLevel::Gfx11 { "buffer_store_b32" } else { "buffer_store_dword" };
    let offset = if level >= GfxLevel::Gfx12 { "null" } else { "0" };
    let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    lines.push(format!("{store} v9, off, s[0:3], {offset}"));
    let data = run_undefined((level, wave), &lines, seed);
    u32::from_le_bytes(data[..4].try_into().unwrap())
}

#[test]
fn registers_that_the_hardware_does_not_set_start_with_what_a_seed_says() {
    for (level, wave) in places() {
        for lines in [&["v_mov_b32 v9, v20"][..], &["v_mov_b32 v9, s40"]] {
            let [zero, one, again, other] =
                [None, Some(1), Some(1), Some(2)].map(|seed| stored(level, wave, lines, seed));
            assert_eq!((zero, one), (0, again), "{level} {lines:?}");
            assert!(one != 0 && one != other, "{level} {lines:?}: {one:#x} {other:#x}");
        }
    }
}

#[test]
fn what_the_hardware_sets_stays() {
    for (level, wave) in places() {
        // The buffer itself is in user registers. All lanes store to one place, and the last lane is the last to do it.
        for seed in [None, Some(1)] {
            assert_eq!(stored(level, wave, &["v_and_b32 v9, 0x3ff, v0"], seed), wave.lanes() - 1, "{level}");
        }
    }
}
