//! Rules of waves that the shaders of `tests/shaders.rs` do not depend on.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{
    WaveSize,
    builder::{Builder, Condition, Vector},
};

use crate::machine::{places, run_partial, run_wave};

/// Returns the dwords that lanes leave at their places, from the values in a register that `record` returns.
fn stored(place: (GfxLevel, WaveSize), record: impl FnOnce(&mut Builder) -> Vector) -> Vec<u32> {
    let (level, wave) = place;
    let mut code = Builder::new(level, wave, 4);
    let (buffer, at) = (code.user(0, 4), code.vector(1));
    let value = record(&mut code);
    code.op(format_args!("v_lshlrev_b32 {at}, 2, {}", code.thread()));
    code.buffer_store(value, at, buffer);
    let program = code.finish().unwrap();
    let data = run_wave(level, &program, vec![0; wave.lanes() as usize * 4]);
    data.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

#[test]
fn vcc_is_zero_in_waves_of_32_lanes_if_its_low_half_is() {
    for place in places() {
        let found = stored(place, |code| {
            let value = code.vector(1);
            code.op(format_args!("v_mov_b32 {value}, 1"));
            code.op("s_mov_b32 vcc_lo, 0");
            code.op("s_mov_b32 vcc_hi, 1");
            let end = code.label();
            code.branch(Condition::Vcc(false), end);
            code.op(format_args!("v_mov_b32 {value}, 2"));
            code.place(end);
            value
        });
        let expected = if place.1 == WaveSize::Wave32 { 1 } else { 2 };
        assert!(found.iter().all(|value| *value == expected), "{place:?}: {found:?}");
    }
}

#[test]
fn each_thread_of_whole_and_partial_groups_runs_once() {
    for (level, wave) in places() {
        for (threads, partial) in [(40, 0), (40, 8), (40, 33), (100, 65), (64, 0)] {
            let mut code = Builder::new(level, wave, 4);
            let (buffer, at, value) = (code.user(0, 4), code.vector(1), code.vector(1));
            code.op(format_args!("v_mov_b32 {at}, {}", code.group()));
            code.op(format_args!("v_lshlrev_b32 {at}, 7, {at}"));
            code.add(at, code.thread(), at);
            code.op(format_args!("v_lshlrev_b32 {at}, 2, {at}"));
            code.op(format_args!("v_mov_b32 {value}, 1"));
            code.buffer_add(value, at, buffer);
            let program = code.finish().unwrap();
            let data = run_partial(level, &program, vec![0; 2 * 128 * 4], (threads, partial));
            let second = if partial == 0 { threads } else { partial };
            for (place, count) in (0_u32..).zip(data.as_chunks().0) {
                let (thread, size) = (place % 128, if place < 128 { threads } else { second });
                let expected = u32::from(thread < size);
                assert_eq!(u32::from_le_bytes(*count), expected, "{level} {wave:?}: {threads}, {partial}, {place}");
            }
        }
    }
}

#[test]
fn scalar_operations_write_scc_or_keep_it() {
    // The operation on {0} with SCC clear, and SCC after it. The names are those of GFX6 to GFX11.
    let cases = [
        ("s_add_u32 {0}, -1, 1", 1),
        ("s_add_u32 {0}, -2, 1", 0),
        ("s_sub_u32 {0}, 0, 1", 1),
        ("s_sub_u32 {0}, 1, 1", 0),
        ("s_add_i32 {0}, 0x7fffffff, 1", 1),
        ("s_add_i32 {0}, -1, 1", 0),
        ("s_sub_i32 {0}, 0x80000000, 1", 1),
        ("s_addc_u32 {0}, -1, 0", 0),
        ("s_subb_u32 {0}, 0, 1", 1),
        ("s_and_b32 {0}, 3, 2", 1),
        ("s_and_b32 {0}, 1, 2", 0),
        ("s_lshl_b32 {0}, 1, 32", 1),
        ("s_bfe_u32 {0}, -1, 0x10000", 1),
        ("s_bfe_i32 {0}, -2, 0x10000", 0),
        ("s_min_i32 {0}, -1, 1", 1),
        ("s_min_i32 {0}, 1, -1", 0),
        ("s_max_u32 {0}, -1, 1", 1),
        ("s_max_i32 {0}, -1, 1", 0),
        ("s_mul_i32 {0}, 3, 5", 0),
        ("s_brev_b32 {0}, 1", 0),
        ("s_bcnt1_i32_b32 {0}, 1", 1),
        ("s_cmp_lt_u32 1, -1", 1),
        ("s_cmp_lt_i32 1, -1", 0),
    ];
    for place in places().into_iter().filter(|(level, _)| *level < GfxLevel::Gfx12) {
        for (text, expected) in cases {
            let found = stored(place, |code| {
                let (scratch, scc, value) = (code.scalar(1), code.scalar(1), code.vector(1));
                code.op("s_cmp_lg_u32 0, 0");
                code.op(text.replace("{0}", &scratch.to_string()));
                code.op(format_args!("s_cselect_b32 {scc}, 1, 0"));
                code.op(format_args!("v_mov_b32 {value}, {scc}"));
                value
            });
            assert_eq!(found[0], expected, "{place:?}: {text}");
        }
    }
}
