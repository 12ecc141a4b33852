//! Parts of registers: signs of mixed operands, small loads and stores, components of 16 bits.

use std::fmt::Write as _;

use amdgpu_hw::GfxLevel;
use amdgpu_isa::WaveSize;
use amdgpu_surface::{Chip, ChipRegisters};
use amdgpu_waves::Outcome;

use crate::machine::{DATA, Where, execute, places, results, results_of};

/// Returns the places from a generation on.
fn since(from: GfxLevel) -> impl Iterator<Item = Where> {
    places().into_iter().filter(move |(level, _)| *level >= from)
}

#[test]
fn neg_lo_makes_the_bytes_of_a_dot_product_signed() {
    for place in since(GfxLevel::Gfx11) {
        let code = "v_mov_b32_e32 v2, 0xff\nv_mov_b32_e32 v3, 0xfe\nv_mov_b32_e32 v4, 1
            v_dot4_i32_iu8 v5, v2, v3, v4 neg_lo:[1,0,0]\nv_dot4_i32_iu8 v6, v2, v3, v4 neg_lo:[0,1,0]
            v_dot4_i32_iu8 v7, v2, v3, v4 neg_lo:[1,1,0]\nv_dot4_i32_iu8 v8, v2, v3, v4";
        let found = results(place, code, &["v5", "v6", "v7", "v8"], &[]);
        let expected = [1 - 0xfe, 1 - 2 * 0xff, 3, 1 + 0xff * 0xfe].map(i32::cast_unsigned);
        assert_eq!(found, expected, "{place:?}");
    }
}

#[test]
fn neg_hi_of_a_mixed_multiplication_removes_signs_before_neg_lo_changes_them() {
    for place in since(GfxLevel::Gfx9) {
        let name = if place.0 == GfxLevel::Gfx9 { "v_mad_mix_f32" } else { "v_fma_mix_f32" };
        let code = format!(
            "v_mov_b32_e32 v2, -2.0\nv_mov_b32_e32 v3, 4.0\nv_mov_b32_e32 v4, 1.0
            {name} v5, v2, v3, v4 neg_hi:[1,0,0]\n{name} v6, v2, v3, v4 neg_lo:[1,0,0] neg_hi:[1,0,0]
            {name} v7, v2, v3, v4 neg_lo:[1,0,0]"
        );
        let expected = [9.0_f32, -7.0, 9.0].map(f32::to_bits);
        assert_eq!(results(place, &code, &["v5", "v6", "v7"], &[]), expected, "{place:?}");
    }
}

#[test]
fn small_loads_extend_their_sign_or_keep_the_other_half() {
    for place in since(GfxLevel::Gfx9) {
        let names = if place.0 >= GfxLevel::Gfx11 {
            ["load_d16_b16", "load_d16_hi_b16", "load_i8", "load_u8", "store_d16_hi_b16"]
        } else {
            ["load_short_d16", "load_short_d16_hi", "load_sbyte", "load_ubyte", "store_short_d16_hi"]
        };
        let [low, high, signed, unsigned, store] = names;
        let code = format!(
            "v_mov_b32_e32 v2, {DATA:#x}\nv_mov_b32_e32 v3, 0\nv_mov_b32_e32 v4, 0x11112222\nv_mov_b32_e32 v5, v4
            global_{low} v4, v[2:3], off offset:64\nglobal_{high} v5, v[2:3], off offset:64
            global_{signed} v6, v[2:3], off offset:64\nglobal_{unsigned} v7, v[2:3], off offset:64
            v_mov_b32_e32 v8, 0x33334444\nglobal_{store} v[2:3], v8, off offset:68\nglobal_{unsigned} v9, v[2:3], off offset:68"
        );
        let mut data = vec![0; 18];
        data[16] = 0xabcd;
        let found = results(place, &code, &["v4", "v5", "v6", "v7", "v9"], &data);
        assert_eq!(found, [0x1111_abcd, 0xabcd_2222, 0xffff_ffcd, 0xcd, 0x33], "{place:?}");
    }
}

#[test]
fn op_sel_chooses_the_high_half_of_a_literal() {
    for place in since(GfxLevel::Gfx10) {
        // 2 * 1.0547 - 0.0550: one literal has both constants.
        let code =
            "v_mov_b32_e32 v2, 0x4000\nv_mov_b32_e32 v5, 0\nv_fma_f16 v5, v2, 0xab0a3c38, 0xab0a3c38 op_sel:[0,0,1,0]";
        let found = results(place, code, &["v5"], &[]);
        assert_eq!(found[0] & 0xffff, 0x401c, "{place:?}");
    }
}

#[test]
fn components_of_16_bits_share_registers_from_gfx9_on() {
    for level in [GfxLevel::Gfx8, GfxLevel::Gfx9] {
        // Two floats of 32 bits, in the order of the components.
        let word3 = 4 | 5 << 3 | 6 << 6 | 7 << 9 | 7 << 12 | 11 << 15;
        let code = format!(
            "s_mov_b32 s8, {:#x}\ns_mov_b32 s9, 0\ns_mov_b32 s10, 0x100\ns_mov_b32 s11, {word3:#x}\nv_mov_b32_e32 v4, 0
            v_mov_b32_e32 v6, 7\nbuffer_load_format_d16_xy v5, v4, s[8:11], 0 offen",
            DATA + 64
        );
        let mut data = vec![0; 18];
        (data[16], data[17]) = (1.0_f32.to_bits(), 2.0_f32.to_bits());
        let found = results((level, WaveSize::Wave64), &code, &["v5", "v6"], &data);
        let expected = if level == GfxLevel::Gfx8 { [0x3c00, 0x4000] } else { [0x4000_3c00, 7] };
        assert_eq!(found, expected, "{level}");
    }
}

#[test]
fn two_bits_of_a_signed_format_are_unsigned_up_to_gfx8_but_on_stoney() {
    // Polaris, Stoney and Raven, with alpha of -1 as SNORM, SSCALED and SINT.
    for (level, family, revision, is_unsigned) in
        [(GfxLevel::Gfx8, 0x82, 0x50, true), (GfxLevel::Gfx8, 0x87, 0x61, false), (GfxLevel::Gfx9, 0x8e, 1, false)]
    {
        let chip = Chip::new(&ChipRegisters::new(level, family, revision, 0)).unwrap();
        let one = |value: f32| value.to_bits();
        for (number, signed, unsigned) in [(1, one(-1.0), one(1.0)), (3, one(-1.0), one(3.0)), (5, u32::MAX, 3)] {
            let word3 = 4 | 5 << 3 | 6 << 6 | 7 << 9 | number << 12 | 9 << 15;
            let code = format!(
                "s_mov_b32 s8, {:#x}\ns_mov_b32 s9, 0\ns_mov_b32 s10, 0x100\ns_mov_b32 s11, {word3:#x}\nv_mov_b32_e32 v4, 0
                buffer_load_format_xyzw v[5:8], v4, s[8:11], 0 offen",
                DATA + 64
            );
            let mut data = vec![0; 18];
            data[16] = 3 << 30;
            let place = (level, WaveSize::Wave64);
            let found = results_of(place, &code, &["v8"], &data, |dispatch| dispatch.chip = Some(chip));
            assert_eq!(found, [if is_unsigned { unsigned } else { signed }], "{level} {family:#x} {number}");
        }
    }
}

#[test]
fn packed_components_of_an_image_need_half_of_the_registers() {
    for level in [GfxLevel::Gfx8, GfxLevel::Gfx9] {
        // From a descriptor of zeroes, which is no image, loads get 0. Of 32 registers, the last ones.
        let ends = |first: u32, count: u32| {
            let mut code = String::from("v_mov_b32_e32 v4, 0\nv_mov_b32_e32 v5, 0\n");
            for at in 8..16 {
                writeln!(code, "s_mov_b32 s{at}, 0").unwrap();
            }
            let last = first + count - 1;
            write!(code, "image_load v[{first}:{last}], v[4:5], s[8:15] dmask:0xf unorm d16").unwrap();
            let (outcome, _) = execute((level, WaveSize::Wave64), &code, &[], |_| {});
            matches!(outcome, Outcome::Done(_))
        };
        let count = if level == GfxLevel::Gfx8 { 4 } else { 2 };
        assert!(ends(32 - count, count), "{level}");
        assert!(!ends(33 - count, count), "{level}: one register more than there are");
    }
}
