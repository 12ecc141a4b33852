//! Loads to LDS, up to GFX10.3 by a bit and on GFX11 by name.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{WaveSize, builder::Builder};
use amdgpu_waves::Reason;

use crate::machine::{places, refusal, run_wave};

/// Returns 64 dwords of LDS from byte 256 on after a load to LDS by the lanes of `exec`.
fn loaded((level, wave): (GfxLevel, WaveSize), size: &str, exec: u32) -> Vec<u32> {
    let mut code = Builder::new(level, wave, 4);
    code.reserve_lds(1024);
    let (buffer, at, value) = (code.user(0, 4), code.vector(1), code.vector(1));
    code.op(format_args!("v_lshlrev_b32 {at}, 2, {}", code.thread()));
    code.op(format_args!("v_mov_b32 {value}, 0x77777777"));
    code.op(format_args!("ds_write_b32 {at}, {value} offset:256"));
    code.op(format_args!("v_mul_u32_u24 {at}, 12, {}", code.thread()));
    // M0 and the offset of the instruction are added for LDS, the offset for memory too.
    code.op("s_mov_b32 m0, 0xabcd00f0");
    code.op(format_args!("s_mov_b32 exec_lo, {exec:#x}"));
    let load = if level >= GfxLevel::Gfx11 {
        let size = match size {
            "dword" => "b32",
            "sbyte" => "i8",
            _ => "u16",
        };
        format!("buffer_load_lds_{size} {at}, {buffer}, 0 offen offset:16")
    } else {
        format!("buffer_load_{size} {at}, {buffer}, 0 offen offset:16 lds")
    };
    code.op(load);
    code.wait_for_all();
    code.op("s_mov_b32 exec_lo, -1");
    code.op("s_mov_b32 m0, -1");
    code.op(format_args!("v_lshlrev_b32 {at}, 2, {}", code.thread()));
    code.op(format_args!("ds_read_b32 {value}, {at} offset:256"));
    code.buffer_store(value, at, buffer);
    let data = (0..1024_u32).flat_map(|index| (0x80 + index as u16 * 3).to_le_bytes()).collect();
    let memory = run_wave(level, &code.finish().unwrap(), data);
    memory.as_chunks().0[..wave.lanes() as usize].iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

#[test]
fn loads_to_lds_put_a_dword_of_each_active_lane_behind_m0_and_the_offset() {
    let half = |byte: u32| u32::from(0x80 + (byte / 2) as u16 * 3);
    for place in places().into_iter().filter(|(level, _)| *level < GfxLevel::Gfx12) {
        for exec in [u32::MAX, 0xf0f0_a5a5] {
            for size in ["dword", "ushort", "sbyte"] {
                for (lane, found) in loaded(place, size, exec).into_iter().enumerate() {
                    let byte = 12 * lane as u32 + 16;
                    let expected = match size {
                        "dword" => half(byte) | half(byte + 2) << 16,
                        "ushort" => half(byte),
                        _ => i32::from(half(byte) as i8).cast_unsigned(),
                    };
                    let is_on = lane >= 32 || exec >> lane & 1 != 0;
                    let expected = if is_on { expected } else { 0x7777_7777 };
                    assert_eq!(found, expected, "{place:?} {size} {exec:#x}: lane {lane}");
                }
            }
        }
    }
}

#[test]
fn loads_to_lds_of_more_than_a_dword_are_illegal() {
    // buffer_load_dwordx2 off, s[8:11], 0 lds.
    let words = [0xe055_0000, 0x8002_0000];
    let refused = refusal((GfxLevel::Gfx9, WaveSize::Wave64), &words);
    assert!(matches!(refused, Some(Reason::IllegalForm { .. })), "{refused:?}");
}
