//! Shaders that move data: thread numbers, copies, fills, scratch memory.

use amdgpu_isa::builder::Builder;

use super::bench::{Kernel, thread_offset};
use crate::{
    checks::check::Check,
    gpu::{pattern::pattern_dwords, ring::Ring, test_context::TestContext},
    result::outcome::Outcome,
};

pub(crate) const CHECKS: &[Check] = &[
    Check::each_shader_ring("shader.ids", "every lane of every group runs once and knows its number", ids),
    Check::each_shader_ring("shader.copy", "shaders load and store four dwords a lane", copy),
    Check::each_shader_ring("shader.fill", "a shader fills its range and nothing else", fill),
    Check::each_shader_ring("shader.scratch", "each lane has scratch memory of its own", scratch),
];

const GROUPS: u32 = 9;
const THREADS: u32 = 64;
const COUNT: u32 = GROUPS * THREADS;

fn ids(test: &TestContext<'_>, ring: Ring) -> Outcome {
    let expected: Vec<u32> = (0..COUNT).collect();
    let record = |code: &mut Builder| {
        let (id, at) = thread_offset(code, THREADS, 4);
        code.buffer_store(id, at, code.user(0, 4));
    };
    let kernel = Kernel {
        groups: GROUPS,
        threads: THREADS,
        input: &[],
        record: &record,
        expected: &expected,
        dwords_per_lane: 1,
        in_any_order: false,
        image: None,
    };
    kernel.run(test, ring)
}

fn copy(test: &TestContext<'_>, ring: Ring) -> Outcome {
    let data = pattern_dwords(0x51 ^ test.settings.seed, COUNT as usize * 4);
    let record = |code: &mut Builder| {
        let (_, at) = thread_offset(code, THREADS, 16);
        let data = code.vector(4);
        code.buffer_load(data, at, code.user(4, 4));
        code.buffer_store(data, at, code.user(0, 4));
    };
    let kernel = Kernel {
        groups: GROUPS,
        threads: THREADS,
        input: &data,
        record: &record,
        expected: &data,
        dwords_per_lane: 4,
        in_any_order: false,
        image: None,
    };
    kernel.run(test, ring)
}

fn fill(test: &TestContext<'_>, ring: Ring) -> Outcome {
    const PATTERN: [u32; 4] = [0x1bad_b002, 0, 0xffff_ffff, 0x0dd5_ba11];
    let expected = PATTERN.repeat(COUNT as usize);
    let record = |code: &mut Builder| {
        let (_, at) = thread_offset(code, THREADS, 16);
        let data = code.vector(4);
        for (index, value) in (0..).zip(PATTERN) {
            code.op(format_args!("v_mov_b32 {}, {value:#x}", data.at(index)));
        }
        code.buffer_store(data, at, code.user(0, 4));
    };
    let kernel = Kernel {
        groups: GROUPS,
        threads: THREADS,
        input: &[],
        record: &record,
        expected: &expected,
        dwords_per_lane: 4,
        in_any_order: false,
        image: None,
    };
    kernel.run(test, ring)
}

/// Dwords of scratch memory that each lane uses.
const DEEP: u32 = 8;

fn scratch(test: &TestContext<'_>, ring: Ring) -> Outcome {
    // Every value of a lane is a multiple of its number plus one; what is stored last is loaded first.
    let expected: Vec<u32> =
        (0..COUNT).flat_map(|id| (0..DEEP).rev().map(move |place| (id + 1) * (place + 1))).collect();
    let record = |code: &mut Builder| {
        code.reserve_scratch(DEEP * 4);
        let (id, at) = thread_offset(code, THREADS, DEEP * 4);
        let (place, value, buffer) = (code.vector(1), code.vector(1), code.user(8, 4));
        code.add(id, 1, id);
        code.op(format_args!("v_mov_b32 {value}, 0"));
        for index in 0..DEEP {
            code.add(value, id, value);
            code.op(format_args!("v_mov_b32 {place}, {}", index * 4));
            code.scratch_store(value, place, buffer);
        }
        for index in (0..DEEP).rev() {
            code.op(format_args!("v_mov_b32 {place}, {}", index * 4));
            code.scratch_load(value, place, buffer);
            code.buffer_store(value, at, code.user(0, 4));
            code.add(at, 4, at);
        }
    };
    let kernel = Kernel {
        groups: GROUPS,
        threads: THREADS,
        input: &[],
        record: &record,
        expected: &expected,
        dwords_per_lane: DEEP,
        in_any_order: false,
        image: None,
    };
    kernel.run(test, ring)
}
