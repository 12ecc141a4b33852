//! Scalar registers, jumps, hardware registers and scalar memory.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{WaveSize, assemble};
use amdgpu_waves::{Outcome, Reason};

use crate::machine::{DATA, DWORDS, PROGRAM, Where, execute, places, results};

/// Returns the places of some generations.
fn between(from: GfxLevel, to: GfxLevel) -> impl Iterator<Item = Where> {
    places().into_iter().filter(move |(level, _)| (from..=to).contains(level))
}

#[test]
fn writes_to_the_null_register_are_lost() {
    for place in between(GfxLevel::Gfx10, GfxLevel::Gfx12) {
        let code = "s_mov_b32 m0, 7\ns_mov_b32 null, 5\ns_mov_b32 s20, m0\ns_mov_b32 s21, null";
        assert_eq!(results(place, code, &["s20", "s21"], &[]), [7, 0], "{place:?}");
    }
}

#[test]
fn conditions_are_scalar_sources() {
    let mut count = 0;
    for place in places() {
        let (level, wave) = place;
        if assemble(level, wave, "s_mov_b32 s20, src_vccz").is_err() {
            continue;
        }
        count += 1;
        let code = "s_mov_b32 vcc_lo, 0\ns_mov_b32 vcc_hi, 0\ns_cmp_eq_u32 0, 1
            s_mov_b32 s20, src_vccz\ns_mov_b32 s21, src_execz\ns_mov_b32 s22, src_scc
            s_mov_b32 exec_lo, 0\ns_mov_b32 exec_hi, 0\ns_mov_b32 vcc_lo, 2\ns_mov_b32 s23, src_vccz
            s_mov_b32 s24, src_execz\ns_cmp_eq_u32 0, 0\ns_mov_b32 s25, src_scc\ns_mov_b32 exec_lo, -1";
        let found = results(place, code, &["s20", "s21", "s22", "s23", "s24", "s25"], &[]);
        assert_eq!(found, [1, 0, 0, 0, 1, 1], "{place:?}");
    }
    assert!(count > 5, "{count}");
}

#[test]
fn the_program_counter_is_extended_by_its_sign_up_to_gfx11() {
    for place in places() {
        let found = results(place, "s_nop 0\ns_getpc_b64 s[20:21]", &["s20", "s21"], &[]);
        let high = (PROGRAM >> 32) as u32 | if place.0 < GfxLevel::Gfx12 { 0xffff_0000 } else { 0 };
        assert_eq!(found, [PROGRAM as u32 + 8, high], "{place:?}");
    }
}

#[test]
fn jumps_store_the_address_of_the_next_instruction() {
    for place in places() {
        // The target is three instructions behind the program counter that is read; one instruction is jumped over.
        let code = "s_mov_b32 s22, 0\ns_getpc_b64 s[8:9]\ns_add_u32 s8, s8, 12\ns_swappc_b64 s[8:9], s[8:9]
            s_mov_b32 s22, 1";
        let code = if place.0 >= GfxLevel::Gfx12 { code.replace("s_add_u32", "s_add_co_u32") } else { code.to_owned() };
        let found = results(place, &code, &["s8", "s22"], &[]);
        assert_eq!(found, [PROGRAM as u32 + 16, 0], "{place:?}");
        if place.0 >= GfxLevel::Gfx9 {
            let code = "s_mov_b32 s22, 0\ns_call_b64 s[8:9], 1\ns_mov_b32 s22, 1";
            assert_eq!(results(place, code, &["s8", "s22"], &[]), [PROGRAM as u32 + 8, 0], "{place:?}");
        }
    }
}

#[test]
fn s_code_end_hangs() {
    for place in between(GfxLevel::Gfx10, GfxLevel::Gfx12) {
        let (outcome, _) = execute(place, "s_code_end", &[], |_| {});
        let Outcome::Hang(hang) = outcome else { panic!("{place:?}: {outcome:?}") };
        assert_eq!(hang.reason, Reason::Halt, "{place:?}");
    }
}

#[test]
fn bits_of_the_mode_are_read_and_written() {
    for place in places() {
        let code = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 3), 0x1d
            s_getreg_b32 s20, hwreg(HW_REG_MODE, 4, 4)\ns_getreg_b32 s21, hwreg(HW_REG_MODE, 0, 8)
            s_mov_b32 s22, 0xfffffff6\ns_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s22
            s_getreg_b32 s23, hwreg(HW_REG_MODE, 0, 8)";
        assert_eq!(results(place, code, &["s20", "s21", "s23"], &[]), [0xd, 0xd0, 0xd6], "{place:?}");
    }
}

#[test]
fn rounding_and_denormals_have_instructions_from_gfx10_on() {
    for place in between(GfxLevel::Gfx10, GfxLevel::Gfx12) {
        let code = "s_round_mode 0x6\ns_denorm_mode 0x9\ns_getreg_b32 s20, hwreg(HW_REG_MODE, 0, 8)";
        assert_eq!(results(place, code, &["s20"], &[]), [0x96], "{place:?}");
    }
}

#[test]
fn the_scratch_address_is_a_hardware_register_from_gfx10_on() {
    for place in between(GfxLevel::Gfx10, GfxLevel::Gfx11_5) {
        let code = "s_mov_b32 s20, 0x12345678\ns_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s20
            s_mov_b32 s20, 0x21\ns_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s20
            s_getreg_b32 s21, hwreg(HW_REG_FLAT_SCR_LO)\ns_getreg_b32 s22, hwreg(HW_REG_FLAT_SCR_HI)";
        assert_eq!(results(place, code, &["s21", "s22"], &[]), [0x1234_5678, 0x21], "{place:?}");
    }
}

#[test]
fn times_rise() {
    for place in between(GfxLevel::Gfx6, GfxLevel::Gfx10_3) {
        let found = results(place, "s_memtime s[20:21]\ns_memtime s[22:23]", &["s20", "s22"], &[]);
        assert!(found[0] < found[1], "{place:?}: {found:?}");
    }
}

#[test]
fn the_cycles_of_a_wave_have_20_bits_from_gfx10_3_on_and_64_on_gfx12() {
    // A loop of more than 2^20 instructions.
    for place in between(GfxLevel::Gfx10_3, GfxLevel::Gfx12).filter(|(_, wave)| *wave == WaveSize::Wave64) {
        let sub = if place.0 >= GfxLevel::Gfx12 { "s_sub_co_u32" } else { "s_sub_u32" };
        let code = format!(
            "s_mov_b32 s20, 0x60000\n{sub} s20, s20, 1\ns_cmp_lg_u32 s20, 0\ns_cbranch_scc1 65533
            s_getreg_b32 s21, hwreg(29, 0, 32)\ns_getreg_b32 s22, hwreg(30, 0, 32)"
        );
        let found = results(place, &code, &["s21", "s22"], &[]);
        let cycles = 3 * 0x6_0000 + 2;
        assert_eq!(found, if place.0 == GfxLevel::Gfx12 { [cycles, 0] } else { [cycles & 0xf_ffff, 0] }, "{place:?}");
    }
}

#[test]
fn m0_indexes_scalar_moves() {
    for place in places() {
        let code = "s_mov_b32 s8, 30\ns_mov_b32 s9, 31\ns_mov_b32 s11, 0\ns_mov_b32 m0, 1\ns_movrels_b32 s20, s8
            s_movreld_b32 s10, s8";
        assert_eq!(results(place, code, &["s20", "s11"], &[]), [31, 30], "{place:?}");
    }
}

#[test]
fn inline_constants_of_scalar_operations_on_halves_are_halves() {
    for place in between(GfxLevel::Gfx11_5, GfxLevel::Gfx12) {
        // 16.0 as a half.
        let code = "s_mov_b32 s8, 0x4c00\ns_mul_f16 s20, -1.0, s8\ns_mul_f16 s21, s8, 0.5\ns_cvt_f32_f16 s22, -1.0
            s_cmp_gt_f16 s8, 4.0\ns_cselect_b32 s23, 1, 0\ns_cvt_f16_f32 s24, -1.0";
        let registers = ["s20", "s21", "s22", "s23", "s24"];
        assert_eq!(results(place, code, &registers, &[]), [0xcc00, 0x4800, 0xbf80_0000, 1, 0xbc00], "{place:?}");
    }
}

/// The dwords of the data: each has its index in it.
fn numbered() -> Vec<u32> {
    (0x1000..0x1000 + DWORDS as u32).collect()
}

/// The byte offset of the address that scalar loads count from.
const MIDDLE: u32 = 2048;

/// Returns the dword at a byte offset from the middle.
fn at(offset: i64) -> u32 {
    u32::try_from(0x1000 + (i64::from(MIDDLE) + offset) / 4).unwrap()
}

#[test]
fn offsets_of_scalar_loads_are_those_of_their_generation() {
    use GfxLevel::{Gfx6, Gfx7, Gfx8, Gfx9, Gfx10, Gfx11, Gfx11_5, Gfx12};
    // Offsets, with 64 in s12, and the bytes that they mean.
    let cases: [(GfxLevel, GfxLevel, &str, i64); 14] = [
        (Gfx6, Gfx7, "0x3", 12),
        (Gfx6, Gfx7, "s12", 64),
        (Gfx7, Gfx7, "0x101", 4 * 0x101),
        (Gfx8, Gfx8, "0x18", 24),
        (Gfx8, Gfx8, "s12", 64),
        (Gfx9, Gfx9, "-0x10", -16),
        (Gfx9, Gfx9, "s12", 64),
        (Gfx9, Gfx9, "s12 offset:0x8", 72),
        (Gfx10, Gfx11_5, "-0x20", -32),
        (Gfx10, Gfx11_5, "s12", 64),
        (Gfx10, Gfx11_5, "s12 offset:0x4", 68),
        (Gfx12, Gfx12, "-0x20", -32),
        (Gfx12, Gfx12, "s12 offset:0x4", 68),
        (Gfx9, Gfx12, "0x7", 4),
    ];
    for place in places() {
        for (_, _, offset, bytes) in cases.into_iter().filter(|(from, to, ..)| (*from..=*to).contains(&place.0)) {
            let size = if place.0 >= Gfx11 { "b32" } else { "dword" };
            let base = DATA + u64::from(MIDDLE);
            let code = format!(
                "s_mov_b32 s8, {base:#x}\ns_mov_b32 s9, 0\ns_mov_b32 s12, 64\ns_load_{size} s20, s[8:9], {offset}"
            );
            assert_eq!(results(place, &code, &["s20"], &numbered()), [at(bytes)], "{place:?} {offset}");
        }
    }
}

#[test]
fn the_offset_of_a_scalar_load_has_no_sign_on_gfx8() {
    let place = (GfxLevel::Gfx8, WaveSize::Wave64);
    let base = DATA + u64::from(MIDDLE) - 0xf_fff0;
    let code = format!("s_mov_b32 s8, {base:#x}\ns_mov_b32 s9, 0\ns_load_dword s20, s[8:9], 0xffff0");
    assert_eq!(results(place, &code, &["s20"], &numbered()), [at(0)]);
}

#[test]
fn each_dword_of_a_scalar_buffer_load_is_in_range_or_zero() {
    for place in places() {
        let (name, none) = match place.0 {
            GfxLevel::Gfx12 => ("s_buffer_load_b128", "0x0"),
            level if level >= GfxLevel::Gfx11 => ("s_buffer_load_b128", "0x0"),
            _ => ("s_buffer_load_dwordx4", "0x0"),
        };
        // Three dwords: as bytes, and as three records of a stride of 4.
        for (stride, records) in [(0_u32, 12), (4, 3)] {
            let code = format!(
                "s_mov_b32 s8, {DATA:#x}\ns_mov_b32 s9, {:#x}\ns_mov_b32 s10, {records}\ns_mov_b32 s11, s3
                {name} s[20:23], s[8:11], {none}",
                stride << 16
            );
            let found = results(place, &code, &["s20", "s21", "s22", "s23"], &numbered());
            assert_eq!(found, [0x1000, 0x1001, 0x1002, 0], "{place:?} stride {stride}");
        }
    }
}
