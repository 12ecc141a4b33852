//! Absurd resources: descriptors, LDS, scratch memory and the registers of a dispatch.

use amdgpu_hw::GfxLevel;
use amdgpu_waves::{Dispatch, Outcome, Reason};
use proptest::prelude::*;

use crate::space::{PROGRAM, RESULT, dispatch, execute, words};

/// Generations whose descriptors differ, and the assembler's names of what accesses them.
const LEVELS: [GfxLevel; 4] = [GfxLevel::Gfx9, GfxLevel::Gfx10_3, GfxLevel::Gfx11, GfxLevel::Gfx12];

/// Returns accesses through the descriptor in `s[4:11]`, whose addresses are numbers of threads and the contents of `s12`.
fn accesses(level: GfxLevel) -> Vec<String> {
    let none = if level >= GfxLevel::Gfx12 { "null" } else { "0" };
    let (dword, four, atomic) =
        if level >= GfxLevel::Gfx11 { ("b32", "b128", "add_u32") } else { ("dword", "dwordx4", "add") };
    let mut lines = Vec::new();
    for address in ["offen", "idxen", "offen offset:4095"] {
        lines.push(format!("buffer_load_{dword} v4, v0, s[4:7], {none} {address}"));
        lines.push(format!("buffer_load_{four} v[4:7], v0, s[4:7], s12 {address}"));
        lines.push(format!("buffer_store_{four} v[4:7], v0, s[4:7], {none} {address}"));
        lines.push(format!("buffer_atomic_{atomic} v4, v0, s[4:7], s12 {address}"));
    }
    lines.push(format!("s_buffer_load_{dword} s16, s[4:7], s12"));
    lines
}

/// Returns accesses to an image, whose coordinates are numbers of threads, by a sampler in `s[12:15]`.
fn image_accesses(level: GfxLevel) -> Vec<&'static str> {
    match level {
        GfxLevel::Gfx9 => vec![
            "image_load v[4:7], v[0:1], s[4:11] dmask:0xf unorm",
            "image_store v[4:7], v[0:1], s[4:11] dmask:0xf unorm",
            "image_sample v[4:7], v[0:1], s[4:11], s[12:15] dmask:0xf",
        ],
        GfxLevel::Gfx12 => vec![
            "image_load v[4:7], [v0, v1], s[4:11] dmask:0xf dim:SQ_RSRC_IMG_2D",
            "image_sample v[4:7], [v0, v1], s[4:11], s[12:15] dmask:0xf dim:SQ_RSRC_IMG_2D",
        ],
        _ => vec![
            "image_load v[4:7], v[0:1], s[4:11] dmask:0xf dim:SQ_RSRC_IMG_2D unorm",
            "image_store v[4:7], v[0:1], s[4:11] dmask:0xf dim:SQ_RSRC_IMG_2D unorm",
            "image_sample v[4:7], v[0:1], s[4:11], s[12:15] dmask:0xf dim:SQ_RSRC_IMG_2D",
        ],
    }
}

fn end(level: GfxLevel) -> &'static str {
    if level >= GfxLevel::Gfx11 { "s_nop 0\ns_endpgm" } else { "s_waitcnt vmcnt(0)\ns_endpgm" }
}

/// Executes an access through a descriptor: it has an answer, which is the same in every way of execution.
fn access(level: GfxLevel, line: &str, descriptor: [u32; 8]) {
    let mut dispatch = dispatch(level);
    dispatch.user_data[4..12].copy_from_slice(&descriptor);
    // Half of the samplers and offsets are those of the descriptor.
    dispatch.user_data[12] = descriptor[7];
    let program = words(level, &format!("v_mov_b32_e32 v1, v0\n{line}\n{}", end(level)));
    // The descriptor may lead into the program itself, which then hangs.
    let _ = execute(&dispatch, &program);
}

/// Returns dwords of which some are absurd, and some almost lead to memory.
fn dword() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        Just(0),
        Just(u32::MAX),
        Just(0x8000_0000),
        Just(PROGRAM as u32),
        Just(RESULT as u32),
        Just((RESULT >> 8) as u32),
        (0..32_u32).prop_map(|bit| 1 << bit),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn accesses_through_any_descriptor_have_an_answer(descriptor in prop::array::uniform8(dword())) {
        for level in LEVELS {
            for line in accesses(level) {
                access(level, &line, descriptor);
            }
            for line in image_accesses(level) {
                access(level, line, descriptor);
            }
        }
    }

    #[test]
    fn any_registers_of_a_dispatch_have_an_answer(
        registers in prop::array::uniform8(dword()),
        threads in prop::array::uniform3(prop_oneof![0..3_u32, dword()]),
    ) {
        for level in LEVELS {
            let [first, second, third, ring, base, start, end, partial] = registers;
            let dispatch = Dispatch {
                resources: [first, second, third],
                threads,
                partial: [partial, 0, partial],
                start: [start, 0, 0],
                end: [end, 2, 1],
                scratch_ring: ring,
                scratch_base: u64::from(base) << 16,
                ..dispatch(level)
            };
            let limits = amdgpu_waves::Limits { instructions: 100, window: 2, ..Default::default() };
            let program = words(level, "v_mov_b32_e32 v0, 0\ns_endpgm");
            let _ = amdgpu_waves::run(&dispatch, &crate::space::Space::new(&program), limits);
        }
    }
}

#[test]
fn lds_beyond_the_allocation_reads_zero_and_keeps_nothing() {
    for level in [GfxLevel::Gfx9, GfxLevel::Gfx10_3] {
        for at in ["512", "0xfffffffc", "0x7ffffffc", "0x10000"] {
            let text = format!(
                "s_mov_b32 m0, -1\ns_mov_b64 exec, 1\nv_mov_b32_e32 v2, {at}\nv_mov_b32_e32 v4, 9\nv_mov_b32_e32 v6, 9
                ds_write_b32 v2, v4\nds_add_u32 v2, v4\nds_write_b128 v2, v[4:7]\nds_read_b32 v6, v2\nds_read_b128 v[8:11], v2
                s_waitcnt lgkmcnt(0)\nv_add_u32_e32 v6, v6, v8\nv_mov_b32_e32 v2, s2\nv_mov_b32_e32 v3, s3
                global_store_dword v[2:3], v6, off\ns_endpgm"
            );
            let text = if level >= GfxLevel::Gfx10 { text.replace("v_add_u32_e32", "v_add_nc_u32_e32") } else { text };
            let (outcome, space) = execute(&dispatch(level), &words(level, &text));
            assert!(matches!(outcome, Outcome::Done(_)), "{level} {at}: {outcome:?}");
            assert_eq!(space.dword(RESULT), 0, "{level} {at}");
        }
    }
}

#[test]
fn scratch_memory_that_a_dispatch_does_not_have_hangs_or_faults() {
    let level = GfxLevel::Gfx11;
    let load = |offset: i32| words(level, &format!("scratch_load_b32 v4, off, off offset:{offset}\ns_endpgm"));
    // The lane's part ends before the offset.
    for (ring, offset) in [(1 | 1 << 12, 4092), (1 | 1 << 12, -4096), (0xfff | 63 << 12, -4)] {
        let dispatch = Dispatch { scratch_ring: ring, scratch_base: RESULT, ..dispatch(level) };
        let (outcome, _) = execute(&dispatch, &load(offset));
        let Outcome::Hang(hang) = outcome else { panic!("{ring:#x} {offset}: {outcome:?}") };
        assert!(matches!(hang.reason, Reason::Scratch { .. }), "{ring:#x} {offset}: {hang}");
    }
    // Nothing was set up.
    let (outcome, _) = execute(&dispatch(level), &load(0));
    assert!(matches!(outcome, Outcome::Fault { .. }), "{outcome:?}");
}
