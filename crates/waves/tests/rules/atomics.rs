//! Atomic operations on LDS and memory.

use amdgpu_hw::GfxLevel;

use crate::machine::{buffer, places, results, results_of};

/// The smallest 32-bit denormal, and one that is twice as large.
const DENORMAL: u32 = 1;

#[test]
fn atomic_operations_on_lds_give_the_old_value_and_leave_the_new_one() {
    use GfxLevel::{Gfx6, Gfx8};
    // Names, operands and results; {0} is the ending of the returning form.
    let cases: [(GfxLevel, &str, u32, u32, u32); 14] = [
        (Gfx6, "ds_add_rtn_u32", 5, 7, 12),
        (Gfx6, "ds_sub_rtn_u32", 5, 7, u32::MAX - 1),
        (Gfx6, "ds_rsub_rtn_u32", 5, 7, 2),
        (Gfx6, "ds_inc_rtn_u32", 7, 7, 0),
        (Gfx6, "ds_inc_rtn_u32", 6, 7, 7),
        (Gfx6, "ds_dec_rtn_u32", 0, 7, 7),
        (Gfx6, "ds_dec_rtn_u32", 9, 7, 7),
        (Gfx6, "ds_dec_rtn_u32", 7, 7, 6),
        (Gfx6, "ds_min_rtn_i32", 1, u32::MAX, u32::MAX),
        (Gfx6, "ds_max_rtn_i32", 1, u32::MAX, 1),
        (Gfx6, "ds_min_rtn_u32", 1, u32::MAX, 1),
        (Gfx6, "ds_and_rtn_b32", 6, 3, 2),
        (Gfx8, "ds_add_rtn_f32", DENORMAL, DENORMAL, 0),
        (Gfx8, "ds_add_rtn_f32", 0x3f80_0000, 0x3f80_0000, 0x4000_0000),
    ];
    for place in places() {
        let (read, write) = lds_names(place.0);
        for (_, name, old, data, new) in cases.into_iter().filter(|(from, ..)| place.0 >= *from) {
            let code = format!(
                "s_mov_b32 m0, -1\ns_mov_b32 exec_lo, 1\ns_mov_b32 exec_hi, 0\nv_mov_b32_e32 v2, 16
                v_mov_b32_e32 v3, {old:#x}\nv_mov_b32_e32 v4, {data:#x}\n{write} v2, v3
                {name} v5, v2, v4\n{read} v6, v2"
            );
            let found = results_of(place, &code, &["v5", "v6"], &[], |dispatch| dispatch.resources[1] |= 1 << 15);
            assert_eq!(found, [old, new], "{place:?} {name}");
        }
    }
}

/// Returns the names of loads and stores of LDS.
fn lds_names(level: GfxLevel) -> (&'static str, &'static str) {
    if level >= GfxLevel::Gfx11 { ("ds_load_b32", "ds_store_b32") } else { ("ds_read_b32", "ds_write_b32") }
}

#[test]
fn lds_is_limited_by_m0_up_to_gfx8() {
    for place in places() {
        let (read, write) = lds_names(place.0);
        let code = format!(
            "v_mov_b32_e32 v2, 4\nv_mov_b32_e32 v3, 8\nv_mov_b32_e32 v4, 9\ns_mov_b32 m0, 8\n{write} v2, v4
            {write} v3, v4\n{read} v5, v2\n{read} v6, v3\ns_mov_b32 m0, -1\n{read} v7, v3"
        );
        let found = results_of(place, &code, &["v5", "v6", "v7"], &[], |dispatch| dispatch.resources[1] |= 1 << 15);
        let beyond = if place.0 <= GfxLevel::Gfx8 { 0 } else { 9 };
        assert_eq!(found, [9, beyond, beyond], "{place:?}");
    }
}

#[test]
fn the_comparison_of_a_buffer_operation_is_behind_the_new_value() {
    for place in places() {
        let (name, ending) = match place.0 {
            GfxLevel::Gfx12 => ("buffer_atomic_cmpswap_b32", "null offen th:TH_ATOMIC_RETURN"),
            level if level >= GfxLevel::Gfx11 => ("buffer_atomic_cmpswap_b32", "0 offen glc"),
            _ => ("buffer_atomic_cmpswap", "0 offen glc"),
        };
        let one_lane = "s_mov_b32 exec_lo, 1\ns_mov_b32 exec_hi, 0\nv_mov_b32_e32 v31, 0x100\n";
        let code = format!(
            "{one_lane}v_mov_b32_e32 v4, 9\nv_mov_b32_e32 v5, 5\nv_mov_b32_e32 v6, 1\nv_mov_b32_e32 v7, 7
            {name} v[4:5], v31, s[0:3], {ending}\n{}{name} v[6:7], v31, s[0:3], {ending}\n{}",
            buffer(place.0, "load", "v10", "v31", 0),
            buffer(place.0, "load", "v11", "v31", 0)
        );
        let mut data = vec![0; 65];
        data[64] = 5;
        // The second comparison fails.
        assert_eq!(results(place, &code, &["v4", "v10", "v6", "v11"], &data), [5, 9, 9, 9], "{place:?}");
    }
}

#[test]
fn appends_and_consumes_count_the_lanes_that_are_on() {
    for place in places() {
        let (read, write) = lds_names(place.0);
        let code = format!(
            "s_mov_b32 m0, -1\nv_mov_b32_e32 v2, 16\nv_mov_b32_e32 v3, 9\n{write} v2, v3\ns_mov_b32 exec_lo, 7
            s_mov_b32 exec_hi, 0\nds_append v4 offset:16\nds_consume v5 offset:16\nds_consume v6 offset:16\n{read} v7, v2"
        );
        let found =
            results_of(place, &code, &["v4", "v5", "v6", "v7"], &[], |dispatch| dispatch.resources[1] |= 1 << 15);
        assert_eq!(found, [9, 12, 9, 6], "{place:?}");
    }
}
