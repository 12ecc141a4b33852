//! Scratch memory: the place of each wave and lane.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::WaveSize;
use amdgpu_waves::{Outcome, Reason};

use crate::machine::{DATA, buffer, execute, execute_on, places};

/// The bytes of a lane's scratch memory: those of a wave are a multiple of 1024.
const LANE_BYTES: u32 = 32;

/// Returns COMPUTE_TMPRING_SIZE for four waves.
fn ring(level: GfxLevel, lanes: u32) -> u32 {
    let unit = if level >= GfxLevel::Gfx11 { 256 } else { 1024 };
    4 | (LANE_BYTES * lanes / unit) << 12
}

#[test]
fn scratch_offsets_of_waves_follow_the_other_scalar_registers_up_to_gfx10_3() {
    for place in places().into_iter().filter(|(level, _)| *level < GfxLevel::Gfx11) {
        let (level, wave) = place;
        let lanes = wave.lanes();
        let store = buffer(level, "store", "v4", "v3", 0);
        // s4 has the group, s5 the offset.
        let code = format!("v_lshlrev_b32_e32 v3, 2, v0\nv_mov_b32_e32 v4, s5\n{store}");
        let (outcome, data) = execute(place, &code, &[], |dispatch| {
            dispatch.threads = [2 * lanes, 1, 1];
            dispatch.resources[1] |= 1 | 1 << 7;
            dispatch.scratch_ring = ring(level, lanes);
        });
        assert!(matches!(outcome, Outcome::Done(_)), "{place:?}: {outcome:?}");
        assert_eq!([data[0], data[lanes as usize]], [0, LANE_BYTES * lanes], "{place:?}");
    }
}

#[test]
fn scratch_memory_of_gfx11_is_that_of_the_wave_and_the_lane() {
    for place in places().into_iter().filter(|(level, _)| *level >= GfxLevel::Gfx11) {
        let (level, wave) = place;
        let lanes = wave.lanes();
        // Each thread stores its number at byte 8.
        let code = "v_mov_b32_e32 v2, 8\nscratch_store_b32 v2, v0, off";
        let (outcome, data) = execute(place, code, &[], |dispatch| {
            dispatch.threads = [2 * lanes, 1, 1];
            dispatch.resources[1] |= 1;
            dispatch.scratch_ring = ring(level, lanes);
            dispatch.scratch_base = DATA;
        });
        assert!(matches!(outcome, Outcome::Done(_)), "{place:?}: {outcome:?}");
        for thread in 1..2 * lanes {
            let (number, lane) = (thread / lanes, thread % lanes);
            let dword = number * LANE_BYTES * lanes / 4 + 2 * lanes + lane;
            assert_eq!(data[dword as usize], thread, "{place:?}");
        }
    }
}

#[test]
fn the_size_of_scratch_memory_has_three_more_bits_on_gfx12() {
    for wave in [WaveSize::Wave32, WaveSize::Wave64] {
        // Above what 15 bits hold; the place is that of the last dword of a lane.
        let units = 0x8001_u32;
        let last = units * 256 / wave.lanes() - 4;
        let code = format!("v_mov_b32_e32 v2, 0x{last:x}\nscratch_store_b32 v2, v0, off");
        let ends = |level| {
            let (outcome, _) = execute((level, wave), &code, &[], |dispatch| {
                dispatch.resources[1] |= 1;
                dispatch.scratch_ring = 1 | units << 12;
                // The last rows of the scratch memory lie in the data.
                dispatch.scratch_base = (DATA + 1024).wrapping_sub(u64::from(units) * 256);
            });
            matches!(outcome, Outcome::Done(_))
        };
        assert!(ends(GfxLevel::Gfx12) && !ends(GfxLevel::Gfx11), "{wave:?}");
    }
}

#[test]
fn each_shader_engine_has_as_many_scratch_slots_as_the_register_says_from_gfx11_on() {
    for place in places().into_iter().filter(|(level, _)| *level >= GfxLevel::Gfx11) {
        // Each lane of each work-group stores its number plus one.
        let code = "v_mov_b32_e32 v2, 0\nv_add_nc_u32_e32 v3, 1, v0\nscratch_store_b32 v2, v3, off";
        for (engines, slots) in [(1, &[0][..]), (2, &[0, 2]), (3, &[0, 2, 4])] {
            let (outcome, data) = execute_on(place, code, &[], engines, |dispatch| {
                dispatch.end = [3, 1, 1];
                dispatch.resources[1] |= 1;
                // Two slots of 256 bytes on each engine.
                dispatch.scratch_ring = 2 | 1 << 12;
                dispatch.scratch_base = DATA;
            });
            assert!(matches!(outcome, Outcome::Done(_)), "{place:?}: {outcome:?}");
            // A work-group that ends at once leaves its place, and the slot on its engine, to the next.
            let used: Vec<usize> = (0..8).filter(|slot| data[slot * 256 / 4] == 1).collect();
            assert_eq!(used, slots, "{place:?}: {engines} engines");
        }
    }
}

#[test]
fn accesses_beyond_the_scratch_memory_of_a_lane_hang() {
    for place in places().into_iter().filter(|(level, _)| *level >= GfxLevel::Gfx11) {
        let (level, wave) = place;
        for (offset, ends) in [(LANE_BYTES - 4, true), (LANE_BYTES, false)] {
            let code = format!("v_mov_b32_e32 v2, {offset}\nscratch_store_b32 v2, v0, off");
            let (outcome, _) = execute(place, &code, &[], |dispatch| {
                dispatch.resources[1] |= 1;
                dispatch.scratch_ring = ring(level, wave.lanes());
                dispatch.scratch_base = DATA;
            });
            match outcome {
                Outcome::Done(_) => assert!(ends, "{place:?} {offset}"),
                Outcome::Hang(hang) => {
                    assert!(!ends && matches!(hang.reason, Reason::Scratch { .. }), "{place:?} {:?}", hang.reason);
                }
                other => panic!("{place:?}: {other:?}"),
            }
        }
    }
}
