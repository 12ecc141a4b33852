//! The start of waves, barriers, turns, and modes.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::WaveSize;
use amdgpu_waves::{Outcome, Reason};

use crate::machine::{Where, buffer, execute, places, results, results_of};

/// Returns the code that stores a register at the place of each thread.
fn store_by_thread(level: GfxLevel, register: &str) -> String {
    let store = buffer(level, "store", "v4", "v3", 0);
    format!("v_lshlrev_b32_e32 v3, 2, v0\nv_mov_b32_e32 v4, {register}\n{store}")
}

#[test]
fn the_size_of_the_group_has_waves_number_and_first_bit() {
    for place in places() {
        let (level, wave) = place;
        // The second of three waves, which the third does not fill.
        let lanes = wave.lanes();
        let (outcome, data) = execute(place, &store_by_thread(level, "s4"), &[], |dispatch| {
            dispatch.threads = [2 * lanes + 3, 1, 1];
            dispatch.resources[1] |= 1 << 10;
        });
        assert!(matches!(outcome, Outcome::Done(_)));
        for number in 0..3 {
            let newer = if level >= GfxLevel::Gfx10_3 { number << 20 } else { 0 };
            let expected = 3 | number << 6 | newer | u32::from(number == 0) << 31;
            assert_eq!(data[(number * lanes) as usize], expected, "{place:?} wave {number}");
        }
    }
}

#[test]
fn the_number_of_a_wave_is_in_ttmp8_on_gfx12() {
    for wave in [WaveSize::Wave32, WaveSize::Wave64] {
        let place = (GfxLevel::Gfx12, wave);
        let (_, data) = execute(place, &store_by_thread(place.0, "ttmp8"), &[], |dispatch| {
            dispatch.threads = [2 * wave.lanes(), 1, 1];
        });
        assert_eq!([data[0] >> 25, data[wave.lanes() as usize] >> 25], [0, 1], "{wave:?}");
    }
}

#[test]
fn work_group_ids_have_no_scalar_registers_on_gfx12() {
    for wave in [WaveSize::Wave32, WaveSize::Wave64] {
        // All IDs and TG_SIZE are enabled; the group has one wave, whose number is 0.
        let code = "s_and_b32 s8, s4, 63\ns_lshr_b32 s9, ttmp7, 16\ns_and_b32 s10, ttmp7, 0xffff";
        let found = results_of((GfxLevel::Gfx12, wave), code, &["s8", "ttmp9", "s10", "s9"], &[], |dispatch| {
            dispatch.resources[1] |= 15 << 7;
            dispatch.start = [3, 4, 5];
            dispatch.end = [4, 5, 6];
        });
        assert_eq!(found, [1, 3, 4, 5], "{wave:?}");
    }
}

/// Returns code that adds up the thread numbers of each wave, and then the waves' sums through LDS, as compilers do it: the sum of a
/// wave is stored at its number, which `number` leaves in `s20`; `s4` is TG_SIZE.
fn reduction((level, wave): Where, number: &str) -> String {
    let (load, store) =
        if level >= GfxLevel::Gfx11 { ("ds_load_b32", "ds_store_b32") } else { ("ds_read_b32", "ds_write_b32") };
    let add = if level >= GfxLevel::Gfx12 { "s_add_co_u32" } else { "s_add_u32" };
    let lanes = (0..wave.lanes()).map(|lane| format!("v_readlane_b32 s23, v0, {lane}\n{add} s21, s21, s23"));
    let lanes = lanes.collect::<Vec<_>>().join("\n");
    // The loop jumps back over nine dwords.
    format!(
        "s_mov_b32 m0, -1\ns_and_b32 s22, s4, 63\n{number}\ns_mov_b32 s21, 0\n{lanes}
        s_lshl_b32 s20, s20, 2\nv_mov_b32_e32 v4, s20\nv_mov_b32_e32 v5, s21\n{store} v4, v5\n{}
        s_mov_b32 s21, 0\ns_mov_b32 s20, 0
        v_lshlrev_b32_e64 v4, 2, s20\n{load} v6, v4\nv_readfirstlane_b32 s23, v6\n{add} s21, s21, s23
        {add} s20, s20, 1\ns_cmp_lt_u32 s20, s22\ns_cbranch_scc1 {}\n{}",
        barrier(level),
        0x1_0000 - 9,
        store_by_thread(level, "s21")
    )
}

#[test]
fn a_group_adds_up_its_waves_by_their_number_and_count() {
    for place in places() {
        let (level, wave) = place;
        let numbers: &[&str] = match level {
            GfxLevel::Gfx12 => &["s_bfe_u32 s20, ttmp8, 0x50019"],
            GfxLevel::Gfx10_3 | GfxLevel::Gfx11 | GfxLevel::Gfx11_5 => {
                &["s_bfe_u32 s20, s4, 0x50014", "s_bfe_u32 s20, s4, 0x60006"]
            }
            _ => &["s_bfe_u32 s20, s4, 0x60006"],
        };
        for number in numbers {
            for waves in [1, 2, 4] {
                let threads = waves * wave.lanes();
                let (outcome, data) = execute(place, &reduction(place, number), &[], |dispatch| {
                    dispatch.threads = [threads, 1, 1];
                    dispatch.resources[1] |= 1 << 10 | 1 << 15;
                });
                assert!(matches!(outcome, Outcome::Done(_)), "{place:?}: {outcome:?}");
                let sum = threads * (threads - 1) / 2;
                assert_eq!(data[..threads as usize], vec![sum; threads as usize], "{place:?} {number} {waves} waves");
            }
        }
    }
}

/// Returns the text of a barrier.
fn barrier(level: GfxLevel) -> &'static str {
    if level >= GfxLevel::Gfx12 { "s_barrier_signal -1\ns_barrier_wait 0xffff\n" } else { "s_barrier\n" }
}

/// Returns code that the first wave of a group jumps over, by a number of dwords: waves whose first thread is not 0 execute it.
fn unless_first(dwords: usize) -> String {
    format!("v_readfirstlane_b32 s20, v0\ns_cmp_eq_u32 s20, 0\ns_cbranch_scc1 {dwords}\n")
}

#[test]
fn a_wave_that_has_ended_does_not_hold_a_barrier() {
    for place in places() {
        let (level, wave) = place;
        // The first wave jumps over one dword to its end.
        let code = format!(
            "v_readfirstlane_b32 s20, v0\ns_cmp_lg_u32 s20, 0\ns_cbranch_scc1 1\ns_endpgm\n{}{}",
            barrier(level),
            store_by_thread(level, "7")
        );
        let (outcome, data) = execute(place, &code, &[], |dispatch| dispatch.threads = [2 * wave.lanes(), 1, 1]);
        assert!(matches!(outcome, Outcome::Done(_)), "{place:?}: {outcome:?}");
        assert_eq!([data[0], data[wave.lanes() as usize]], [0, 7], "{place:?}");
    }
}

#[test]
fn a_wave_that_waits_for_another_lets_it_go_on() {
    for place in places() {
        let (level, wave) = place;
        // The second wave stores a dword in LDS, for which the first one loads until it is there.
        let (read, write) =
            if level >= GfxLevel::Gfx11 { ("ds_load_b32", "ds_store_b32") } else { ("ds_read_b32", "ds_write_b32") };
        let code = format!(
            "s_mov_b32 m0, -1\nv_mov_b32_e32 v4, 16\nv_mov_b32_e32 v5, 9
            {}{write} v4, v5\ns_branch 5
            {read} v6, v4\nv_readfirstlane_b32 s21, v6\ns_cmp_eq_u32 s21, 0\ns_cbranch_scc1 65531\n{}",
            unless_first(3),
            store_by_thread(level, "v5")
        );
        let (outcome, data) = execute(place, &code, &[], |dispatch| {
            dispatch.threads = [2 * wave.lanes(), 1, 1];
            dispatch.resources[1] |= 1 << 15;
        });
        assert!(matches!(outcome, Outcome::Done(_)), "{place:?}: {outcome:?}");
        assert_eq!([data[0], data[wave.lanes() as usize]], [9, 9], "{place:?}");
    }
}

#[test]
fn halves_saturate_with_fp16_ovfl() {
    for place in places().into_iter().filter(|(level, _)| *level >= GfxLevel::Gfx9) {
        for (bit, expected) in [(0, 0x7c00), (1, 0x7bff)] {
            let code = "v_mov_b32_e32 v2, 0x49742400\nv_mov_b32_e32 v3, 0\nv_cvt_f16_f32_e32 v3, v2";
            let found = results_of(place, code, &["v3"], &[], |dispatch| dispatch.resources[0] |= bit << 26);
            assert_eq!(found, [expected], "{place:?}");
        }
    }
}

#[test]
fn fractions_are_less_than_one() {
    for place in places() {
        let code = "v_mov_b32_e32 v2, 0xaf000000\nv_fract_f32_e32 v3, v2";
        assert_eq!(results(place, code, &["v3"], &[]), [0x3f7f_ffff], "{place:?}");
    }
}

#[test]
fn vgprs_end_with_the_allocation() {
    let uses = |(level, wave): Where, register: u32| {
        let (outcome, _) = execute((level, wave), &format!("v_mov_b32_e32 v{register}, 0"), &[], |_| {});
        match outcome {
            Outcome::Done(_) => true,
            Outcome::Hang(hang) => {
                assert!(matches!(hang.reason, Reason::Register { .. }), "{:?}", hang.reason);
                false
            }
            other => panic!("{other:?}"),
        }
    };
    for place in places() {
        // RSRC1 says 7.
        let count = if place.1 == WaveSize::Wave32 { 64 } else { 32 };
        assert!(uses(place, count - 1) && !uses(place, count), "{place:?}");
    }
}

#[test]
fn both_operations_of_a_dual_instruction_round_as_mode_says() {
    for place in places().into_iter().filter(|place| place.0 >= GfxLevel::Gfx11 && place.1 == WaveSize::Wave32) {
        // 1 + 2^-30 and 1 + 2^-30 * 1, towards positive infinity.
        let code = "v_mov_b32_e32 v2, 0x30800000\nv_mov_b32_e32 v3, 1.0\nv_mov_b32_e32 v4, 1.0\ns_round_mode 0x1
            v_dual_fmac_f32 v4, v2, v3 :: v_dual_add_f32 v7, v3, v2";
        assert_eq!(results(place, code, &["v4", "v7"], &[]), [0x3f80_0001; 2], "{place:?}");
    }
}

#[test]
fn threads_of_waves_follow_each_other_in_x_then_y_then_z() {
    for place in places() {
        let (level, wave) = place;
        for (size, partial) in [([5, 3, 9], [0; 3]), ([5, 3, 9], [3, 2, 4]), ([7, 1, 20], [0; 3]), ([1, 50, 2], [0; 3])]
        {
            let whole = [0, 1, 2].map(|axis| if partial[axis] == 0 { size[axis] } else { partial[axis] });
            // Each thread stores the number of its lane, counted from 1, at its place in the grid.
            let split = if level >= GfxLevel::Gfx11 {
                "v_bfe_u32 v1, v0, 10, 10\nv_bfe_u32 v2, v0, 20, 10\nv_and_b32_e32 v0, 0x3ff, v0\n"
            } else {
                ""
            };
            let code = format!(
                "{split}v_mad_u32_u24 v3, v2, {}, v1\nv_mad_u32_u24 v3, v3, {}, v0\nv_lshlrev_b32_e32 v3, 2, v3
                v_mov_b32_e32 v4, 1\nv_mbcnt_lo_u32_b32 v4, -1, v4\nv_mbcnt_hi_u32_b32 v4, -1, v4\n{}",
                whole[1],
                whole[0],
                buffer(level, "store", "v4", "v3", 0)
            );
            let (outcome, data) = execute(place, &code, &[], |dispatch| {
                (dispatch.threads, dispatch.partial) = (size, partial);
                dispatch.resources[1] |= 2 << 11;
            });
            assert!(matches!(outcome, Outcome::Done(_)), "{place:?}: {outcome:?}");
            let threads = whole.iter().product::<u32>();
            let expected: Vec<u32> = (0..threads).map(|thread| thread % wave.lanes() + 1).collect();
            assert_eq!(data[..threads as usize], expected, "{place:?} {whole:?}");
            assert_eq!(data[threads as usize], 0, "{place:?} {whole:?}");
        }
    }
}

#[test]
fn a_wave_has_nothing_of_the_waves_that_ended_before_it_started() {
    /// More work-groups than run at once.
    const GROUPS: u32 = 50;
    for place in places() {
        let (level, wave) = place;
        let group = if level >= GfxLevel::Gfx12 { "ttmp9" } else { "s4" };
        let (load, store) =
            if level >= GfxLevel::Gfx11 { ("ds_load_b32", "ds_store_b32") } else { ("ds_read_b32", "ds_write_b32") };
        let masked = if wave == WaveSize::Wave64 { "s_mov_b64 exec, 1" } else { "s_mov_b32 exec_lo, 1" };
        // What it finds in registers of each kind and in LDS, and what it leaves there.
        let code = format!(
            "s_cselect_b32 s31, 1, 0\ns_or_b32 s31, s31, s30\ns_or_b32 s31, s31, vcc_lo\ns_or_b32 s31, s31, vcc_hi
            s_mov_b32 m0, -1\nv_mov_b32_e32 v7, 16\n{load} v5, v7\nv_or_b32_e32 v4, s31, v6\nv_or_b32_e32 v4, v4, v5
            v_lshlrev_b32_e64 v3, 2, {group}\n{}s_getreg_b32 s31, hwreg(HW_REG_MODE, 0, 8)\nv_mov_b32_e32 v4, s31\n{}
            v_mov_b32_e32 v6, 7\n{store} v7, v6\ns_mov_b32 s30, 7\ns_mov_b32 vcc_lo, 7\ns_mov_b32 vcc_hi, 7
            s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0x0f\n{masked}\ns_cmp_eq_u32 s30, 7\n",
            buffer(level, "store", "v4", "v3", 0),
            buffer(level, "store", "v4", "v3", 1024),
        );
        let (outcome, data) = execute(place, &code, &[], |dispatch| {
            dispatch.end = [GROUPS, 1, 1];
            dispatch.resources[1] |= 1 << 7 | 1 << 15;
        });
        assert!(matches!(outcome, Outcome::Done(_)), "{place:?}: {outcome:?}");
        assert_eq!(data[..GROUPS as usize], [0; GROUPS as usize], "{place:?}");
        assert_eq!(data[256..][..GROUPS as usize], [0xc0; GROUPS as usize], "{place:?}");
    }
}
