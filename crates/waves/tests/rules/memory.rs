//! GLOBAL and FLAT: offsets, apertures. Buffers: descriptors.

use amdgpu_hw::GfxLevel;

use amdgpu_waves::{Access, Outcome, PageFault};

use crate::machine::{DATA, DWORDS, buffer, execute, places, results, results_of};

/// The dwords of the data: each has its index in it.
fn numbered() -> Vec<u32> {
    (0x1000..0x1000 + DWORDS as u32).collect()
}

#[test]
fn offsets_of_global_loads_have_a_sign() {
    for place in places().into_iter().filter(|(level, _)| *level >= GfxLevel::Gfx9) {
        let name = if place.0 >= GfxLevel::Gfx11 { "global_load_b32" } else { "global_load_dword" };
        let base = DATA + 2048;
        let code = format!(
            "v_mov_b32_e32 v2, {base:#x}\nv_mov_b32_e32 v3, 0\n{name} v4, v[2:3], off offset:-16
            {name} v5, v[2:3], off offset:16\ns_mov_b32 s8, {DATA:#x}\ns_mov_b32 s9, 0\nv_mov_b32_e32 v6, 0x800
            {name} v7, v6, s[8:9] offset:-4"
        );
        let found = results(place, &code, &["v4", "v5", "v7"], &numbered());
        assert_eq!(found, [0x1200 - 4, 0x1200 + 4, 0x1200 - 1], "{place:?}");
    }
}

#[test]
fn the_offset_of_flat_has_no_sign_on_gfx9_and_is_ignored_on_gfx10() {
    for place in places().into_iter().filter(|(level, _)| (GfxLevel::Gfx9..=GfxLevel::Gfx10).contains(level)) {
        // Bit 11 of the offset is no sign.
        let base = DATA + 0x800;
        let code = format!("v_mov_b32_e32 v2, {base:#x}\nv_mov_b32_e32 v3, 0\nflat_load_dword v4, v[2:3] offset:{}", {
            if place.0 == GfxLevel::Gfx9 { 0x804 } else { 0x404 }
        });
        let code =
            if place.0 == GfxLevel::Gfx9 { code.replace(&format!("{base:#x}"), &format!("{DATA:#x}")) } else { code };
        let expected = if place.0 == GfxLevel::Gfx9 { 0x1201 } else { 0x1200 };
        assert_eq!(results(place, &code, &["v4"], &numbered()), [expected], "{place:?}");
    }
}

#[test]
fn flat_reaches_lds_and_scratch_memory_through_their_apertures() {
    for place in places().into_iter().filter(|(level, _)| *level >= GfxLevel::Gfx9) {
        let (store, read) = if place.0 >= GfxLevel::Gfx11 {
            ("flat_store_b32", "ds_load_b32")
        } else {
            ("flat_store_dword", "ds_read_b32")
        };
        // FLAT_SCRATCH is a pair of scalar registers on GFX9, a hardware register on GFX10, and that of the dispatch later.
        let base = match place.0 {
            GfxLevel::Gfx9 => format!("s_mov_b32 flat_scratch_lo, {DATA:#x}\ns_mov_b32 flat_scratch_hi, 0"),
            GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => {
                format!("s_mov_b32 s24, {DATA:#x}\ns_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s24")
            }
            _ => String::new(),
        };
        // One lane stores 7 to LDS, and 8 to its scratch memory.
        let code = format!(
            "{base}\ns_mov_b32 exec_lo, 4\ns_mov_b32 exec_hi, 0\ns_mov_b64 s[20:21], src_shared_base
            s_mov_b64 s[22:23], src_private_base\nv_mov_b32_e32 v2, 16\nv_mov_b32_e32 v3, s21\nv_mov_b32_e32 v4, 7
            {store} v[2:3], v4\nv_mov_b32_e32 v3, s23\nv_mov_b32_e32 v4, 8\n{store} v[2:3], v4\n{read} v5, v2"
        );
        let lanes = place.1.lanes();
        let (outcome, data) = crate::machine::execute(
            place,
            &format!("{code}\nv_mov_b32_e32 v31, 0\n{}", crate::machine::buffer(place.0, "store", "v5", "v31", 0)),
            &[],
            |dispatch| {
                dispatch.resources[1] |= 1 << 15;
                dispatch.scratch_base = DATA;
                dispatch.scratch_ring = 1;
            },
        );
        assert!(matches!(outcome, amdgpu_waves::Outcome::Done(_)), "{place:?}: {outcome:?}");
        // Dword 4 of lane 2.
        assert_eq!([data[0], data[(4 * lanes + 2) as usize]], [7, 8], "{place:?}");
    }
}

#[test]
fn apertures_differ() {
    for place in places().into_iter().filter(|(level, _)| *level >= GfxLevel::Gfx9) {
        let code = "s_mov_b64 s[20:21], src_shared_base\ns_mov_b64 s[22:23], src_private_base";
        let found = results_of(place, code, &["s21", "s23"], &[], |_| {});
        assert_ne!(found[0], found[1], "{place:?}");
    }
}

#[test]
fn global_addresses_in_registers_have_64_bits() {
    for place in places().into_iter().filter(|(level, _)| *level >= GfxLevel::Gfx9) {
        let name = if place.0 >= GfxLevel::Gfx11 { "global_load_b32" } else { "global_load_dword" };
        let code = format!("v_mov_b32_e32 v2, {DATA:#x}\nv_mov_b32_e32 v3, 1\n{name} v4, v[2:3], off");
        let (outcome, _) = execute(place, &code, &[], |_| {});
        let expected = PageFault { va: 1 << 32 | DATA, access: Access::Load };
        assert!(matches!(outcome, Outcome::Fault { fault, .. } if fault == expected), "{place:?}: {outcome:?}");
    }
}

#[test]
fn the_fault_of_several_dwords_is_that_of_the_lowest_lane_that_has_one() {
    for place in places().into_iter().filter(|(level, _)| *level >= GfxLevel::Gfx9) {
        let size = if place.0 >= GfxLevel::Gfx11 { "b64" } else { "dwordx2" };
        // Lane 0 has its second dword behind the data, the others have none in it.
        let end = DATA + 4 * DWORDS as u64;
        let addresses = format!(
            "v_lshlrev_b32_e32 v2, 4, v0\nv_or_b32_e32 v2, 0x70000000, v2\nv_mov_b32_e32 v3, 0\ns_mov_b32 exec_lo, 1
            s_mov_b32 exec_hi, 0\nv_mov_b32_e32 v2, {:#x}\ns_mov_b32 exec_lo, -1\ns_mov_b32 exec_hi, -1",
            end - 4
        );
        for (access, code) in [
            (Access::Load, format!("global_load_{size} v[4:5], v[2:3], off")),
            (Access::Store, format!("global_store_{size} v[2:3], v[4:5], off")),
        ] {
            let (outcome, _) = execute(place, &format!("{addresses}\n{code}"), &[], |_| {});
            let expected = PageFault { va: end, access };
            assert!(matches!(outcome, Outcome::Fault { fault, .. } if fault == expected), "{place:?}: {outcome:?}");
        }
    }
}

#[test]
fn an_index_comes_before_an_offset() {
    for place in places() {
        let size = if place.0 >= GfxLevel::Gfx11 { "b32" } else { "dword" };
        let none = if place.0 >= GfxLevel::Gfx12 { "null" } else { "0" };
        let code = format!(
            "s_mov_b32 s8, {DATA:#x}\ns_mov_b32 s9, 0x100000\ns_mov_b32 s10, 0x100\ns_mov_b32 s11, s3
            v_mov_b32_e32 v4, 2\nv_mov_b32_e32 v5, 8\nbuffer_load_{size} v6, v[4:5], s[8:11], {none} idxen offen"
        );
        assert_eq!(results(place, &code, &["v6"], &numbered()), [0x1000 + (2 * 16 + 8) / 4], "{place:?}");
    }
}

#[test]
fn each_access_reads_the_descriptor_of_its_buffer_as_it_is_then() {
    for place in places() {
        // The base moves by 16 bytes, then the size becomes 0, and both come back for the stores of the results.
        let load = |to: &str| buffer(place.0, "load", to, "v3", 64);
        let code = format!(
            "v_mov_b32_e32 v3, 0\n{}s_bitset1_b32 s0, 4\n{}s_mov_b32 s20, s2\ns_mov_b32 s2, 0\n{}
            s_mov_b32 s2, s20\ns_bitset0_b32 s0, 4",
            load("v5"),
            load("v6"),
            load("v7")
        );
        assert_eq!(results(place, &code, &["v5", "v6", "v7"], &numbered()), [0x1010, 0x1014, 0], "{place:?}");
    }
}
