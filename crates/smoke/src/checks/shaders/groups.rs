//! Shaders whose lanes work together: LDS, barriers, atomics.

use amdgpu_isa::builder::Builder;

use super::bench::{Kernel, thread_offset};
use crate::{
    checks::check::Check,
    gpu::{pattern::pattern_dwords, ring::Ring, test_context::TestContext},
    result::outcome::Outcome,
};

pub(crate) const CHECKS: &[Check] = &[
    Check::each_shader_ring("shader.reduce", "a group of several waves adds up in LDS, with barriers", reduce),
    Check::each_shader_ring("shader.atomic", "no addition of any lane is lost, and each sees its own", atomic),
];

/// Threads of a group that adds up: several waves of either size.
const THREADS: u32 = 256;
const GROUPS: u32 = 8;

fn reduce(test: &TestContext<'_>, ring: Ring) -> Outcome {
    let data = pattern_dwords(0x52 ^ test.settings.seed, (GROUPS * THREADS) as usize);
    let sum = |group: &[u32]| group.iter().copied().fold(0, u32::wrapping_add);
    let expected: Vec<u32> = data.chunks(THREADS as usize).map(sum).collect();
    let record = |code: &mut Builder| {
        code.reserve_lds(THREADS * 4);
        let (_, at) = thread_offset(code, THREADS, 4);
        let (place, value, other, limit) = (code.vector(1), code.vector(1), code.vector(1), code.vector(1));
        let (thread, mask) = (code.thread(), code.mask());
        code.op(format_args!("v_lshlrev_b32 {place}, 2, {thread}"));
        code.buffer_load(value, at, code.user(4, 4));
        code.lds_store(value, place);
        code.barrier();
        let mut half = THREADS / 2;
        while half > 0 {
            code.op(format_args!("v_mov_b32 {limit}, {half}"));
            code.op(format_args!("v_cmp_lt_u32 {mask}, {thread}, {limit}"));
            code.masked(mask, |code| {
                let far = code.vector(1);
                code.op(format_args!("v_mov_b32 {far}, {}", half * 4));
                code.add(far, place, far);
                code.lds_load(other, far);
                code.lds_load(value, place);
                code.add(value, value, other);
                code.lds_store(value, place);
                code.free_vector(far);
            });
            code.barrier();
            half /= 2;
        }
        code.op(format_args!("v_cmp_eq_u32 {mask}, 0, {thread}"));
        code.masked(mask, |code| {
            code.lds_load(value, place);
            // The first thread's offset is that of the group's first dword of input.
            code.op(format_args!("v_lshrrev_b32 {at}, {}, {at}", THREADS.trailing_zeros()));
            code.buffer_store(value, at, code.user(0, 4));
        });
    };
    let kernel = Kernel {
        groups: GROUPS,
        threads: THREADS,
        input: &data,
        record: &record,
        expected: &expected,
        dwords_per_lane: 1,
        in_any_order: false,
        image: None,
    };
    kernel.run(test, ring)
}

fn atomic(test: &TestContext<'_>, ring: Ring) -> Outcome {
    const COUNT: u32 = GROUPS * 64;
    // The counter is input, so that output has nothing but what was there before each addition.
    let expected: Vec<u32> = (0..COUNT).collect();
    let record = |code: &mut Builder| {
        let (_, at) = thread_offset(code, 64, 4);
        let (value, counter) = (code.vector(1), code.vector(1));
        code.op(format_args!("v_mov_b32 {value}, 1"));
        code.op(format_args!("v_mov_b32 {counter}, 0"));
        code.buffer_add(value, counter, code.user(4, 4));
        code.buffer_store(value, at, code.user(0, 4));
    };
    let kernel = Kernel {
        groups: GROUPS,
        threads: 64,
        input: &[0],
        record: &record,
        expected: &expected,
        dwords_per_lane: 1,
        in_any_order: true,
        image: None,
    };
    kernel.run(test, ring)
}
