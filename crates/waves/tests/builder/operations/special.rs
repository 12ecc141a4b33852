//! Operations that neither shaders nor the model of one lane have.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{
    WaveSize,
    builder::{Builder, Vector},
};

use crate::machine::{DATA, places, run_wave};

/// Returns the dwords that lanes leave, from the register that `record` returns; the buffer is in `s[0:3]`.
fn stored((level, wave): (GfxLevel, WaveSize), record: impl FnOnce(&mut Builder) -> Vector) -> Vec<u32> {
    let mut code = Builder::new(level, wave, 4);
    let (buffer, at) = (code.user(0, 4), code.vector(1));
    code.reserve_lds(1024);
    let value = record(&mut code);
    code.op(format_args!("v_lshlrev_b32 {at}, 2, {}", code.thread()));
    code.buffer_store(value, at, buffer);
    let words = (0..256_u32).flat_map(|word| (1000 + word).to_le_bytes()).collect();
    let data = run_wave(level, &code.finish().unwrap(), words);
    data.as_chunks().0[..wave.lanes() as usize].iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

#[test]
fn lds_values_wrap_at_the_first_operand() {
    for place in places() {
        // GFX6 has no such operation, and neither has GFX12.
        if place.0 == GfxLevel::Gfx6 || place.0 >= GfxLevel::Gfx12 {
            continue;
        }
        let found = stored(place, |code| {
            let [at, value, limit, more] = std::array::from_fn(|_| code.vector(1));
            code.op(format_args!("v_lshlrev_b32 {at}, 2, {}", code.thread()));
            code.op(format_args!("ds_write_b32 {at}, {}", code.thread()));
            code.op(format_args!("v_mov_b32 {limit}, 10"));
            code.op(format_args!("v_mov_b32 {more}, 100"));
            code.op(format_args!("ds_wrap_rtn_b32 {value}, {at}, {limit}, {more}"));
            code.op(format_args!("ds_read_b32 {value}, {at}"));
            value
        });
        let expected: Vec<u32> = (0..place.1.lanes()).map(|old| if old >= 10 { old - 10 } else { old + 100 }).collect();
        assert_eq!(found, expected, "{place:?}");
    }
}

#[test]
fn lanes_of_addtid_operations_follow_each_other_in_memory() {
    for place in places().into_iter().filter(|(level, _)| *level >= GfxLevel::Gfx11) {
        let found = stored(place, |code| {
            let (value, base) = (code.vector(1), code.scalar(2));
            code.op(format_args!("s_mov_b32 {}, {DATA:#x}", base.at(0)));
            code.op(format_args!("s_mov_b32 {}, 0", base.at(1)));
            code.op(format_args!("global_load_addtid_b32 {value}, {base} offset:16"));
            code.wait_for_all();
            value
        });
        let expected: Vec<u32> = (0..place.1.lanes()).map(|lane| 1004 + lane).collect();
        assert_eq!(found, expected, "{place:?}");
    }
}

#[test]
fn a_wave_reads_its_number_in_its_group() {
    for wave in [WaveSize::Wave32, WaveSize::Wave64] {
        let found = stored((GfxLevel::Gfx10, wave), |code| {
            let (value, number) = (code.vector(1), code.scalar(1));
            code.op(format_args!("s_mov_b32 {number}, 7"));
            code.op(format_args!("s_get_waveid_in_workgroup {number}"));
            code.wait_for_all();
            code.op(format_args!("v_mov_b32 {value}, {number}"));
            value
        });
        assert!(found.iter().all(|number| *number == 0), "{wave:?}: {found:?}");
    }
}

#[test]
fn dot_products_of_halves_add_a_half_and_round_once() {
    for place in places().into_iter().filter(|(level, _)| *level >= GfxLevel::Gfx11) {
        let result = |operation: &str, factors: [u32; 2], sum: u32| {
            stored(place, |code| {
                let [a, b, c] = [factors[0], factors[1], sum].map(|word| {
                    let register = code.vector(1);
                    code.op(format_args!("v_mov_b32 {register}, {word:#x}"));
                    register
                });
                code.op(format_args!("{operation} {c}, {a}, {b}, {c}"));
                c
            })[0]
        };
        // 1.5 * 2 + 0.5 * 4 + 1 = 6, in the low half; the other is kept.
        assert_eq!(result("v_dot2_f16_f16", [0x3800_3e00, 0x4400_4000], 0xabcd_3c00), 0xabcd_4600, "{place:?}");
        assert_eq!(result("v_dot2_bf16_bf16", [0x3f00_3fc0, 0x4080_4000], 0xabcd_3f80), 0xabcd_40c0, "{place:?}");
    }
}
