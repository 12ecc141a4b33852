//! Shaders that compute.

use amdgpu_isa::{
    builder::{Builder, Wide},
    int64::{Op, Options},
};

use super::bench::{Kernel, thread_offset};
use crate::{
    checks::check::Check,
    gpu::{pattern::pattern_dwords, ring::Ring, test_context::TestContext},
    level::Level,
    result::outcome::Outcome,
};

pub(crate) const CHECKS: &[Check] =
    &[Check::each_shader_ring("shader.wide", "sums, products, quotients and shifts of 64 bits are right", wide)
        .at(Level::Core)];

const GROUPS: u32 = 4;
const THREADS: u32 = 64;

/// Results of a lane, 8 bytes each.
const RESULTS: [Op; 4] = [Op::Iadd, Op::Imul, Op::Udiv, Op::Ushr];

fn wide(test: &TestContext<'_>, ring: Ring) -> Outcome {
    let mut data = pattern_dwords(0x53 ^ test.settings.seed, (GROUPS * THREADS * 4) as usize);
    let mut expected = Vec::new();
    for lane in data.as_chunks_mut::<4>().0 {
        // No divisor is zero.
        lane[2] |= 1;
        let [a, b] = [[lane[0], lane[1]], [lane[2], lane[3]]].map(|[low, high]| u64::from(high) << 32 | u64::from(low));
        for result in [a.wrapping_add(b), a.wrapping_mul(b), a / b, a >> (b & 63)] {
            let bytes = result.to_le_bytes();
            expected.extend(bytes.as_chunks::<4>().0.iter().map(|half| u32::from_le_bytes(*half)));
        }
    }
    let record = |code: &mut Builder| {
        let (id, at) = thread_offset(code, THREADS, 16);
        let (sources, result) = (code.vector(4), code.vector(2));
        code.buffer_load(sources, at, code.user(4, 4));
        let (a, b) = (Wide::Vector(sources.part(0, 2)), Wide::Vector(sources.part(2, 2)));
        code.op(format_args!("v_lshlrev_b32 {at}, 5, {id}"));
        for op in RESULTS {
            let second = if op == Op::Ushr { Wide::Vector(sources.at(2)) } else { b };
            code.int64(op, Options::RADV_25, Wide::Vector(result), &[a, second]);
            code.buffer_store(result, at, code.user(0, 4));
            code.add(at, 8, at);
        }
    };
    let kernel = Kernel {
        groups: GROUPS,
        threads: THREADS,
        input: &data,
        record: &record,
        expected: &expected,
        dwords_per_lane: 8,
        in_any_order: false,
        image: None,
    };
    kernel.run(test, ring)
}
