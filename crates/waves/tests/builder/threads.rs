//! Results are the same for any number of threads.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{
    WaveSize,
    builder::{Builder, Wide},
    int64::{Op, Options},
};

use crate::machine::{places, run_groups};

/// Groups of one wave each.
const GROUPS: u32 = 24;

/// A program that loops as often as its group's number says, so that groups end in another order than they start in.
fn program(level: GfxLevel, wave: WaveSize) -> amdgpu_isa::builder::Program {
    let mut code = Builder::new(level, wave, 4);
    let (buffer, at, left) = (code.user(0, 4), code.vector(1), code.vector(1));
    let (value, group, step) = (code.vector(2), code.scalar(1), code.vector(1));
    code.op(format_args!("s_mov_b32 {group}, {}", code.group()));
    code.op(format_args!("v_mov_b32 {at}, {group}"));
    let borrow = code.mask();
    code.op(format_args!("v_sub_co_u32 {left}, {borrow}, 30, {at}"));
    code.op(format_args!("v_lshlrev_b32 {at}, {}, {at}", wave.lanes().trailing_zeros()));
    code.add(at, code.thread(), at);
    code.op(format_args!("v_mov_b32 {}, {at}", value.at(0)));
    code.op(format_args!("v_mov_b32 {}, 7", value.at(1)));
    code.op(format_args!("v_lshlrev_b32 {at}, 3, {at}"));
    code.op(format_args!("v_mov_b32 {step}, -1"));
    let goes_on = code.mask();
    code.repeat(|code| {
        let source = Wide::Vector(value);
        code.int64(Op::Imul, Options::RADV_25, source, &[source, Wide::Constant(0x5851_f42d_4c95_7f2d)]);
        code.add(left, step, left);
        code.op(format_args!("v_cmp_lg_u32 {goes_on}, 0, {left}"));
        goes_on
    });
    code.buffer_store(value, at, buffer);
    code.finish().unwrap()
}

#[test]
fn any_number_of_threads_leaves_the_same_memory() {
    for (level, wave) in places() {
        let program = program(level, wave);
        let lanes = wave.lanes();
        let data = vec![0; (GROUPS * lanes * 8) as usize];
        let (counters, alone) = run_groups(level, &program, data.clone(), GROUPS, 1);
        for (id, result) in (0_u64..).zip(alone.as_chunks::<8>().0) {
            let times = 30 - id as u32 / lanes;
            let factor = 0x5851_f42d_4c95_7f2d_u64.wrapping_pow(times);
            assert_eq!(u64::from_le_bytes(*result), (7 << 32 | id).wrapping_mul(factor), "{level} {id}");
        }
        for threads in [2, 3, 8] {
            let found = run_groups(level, &program, data.clone(), GROUPS, threads);
            assert!(found == (counters, alone.clone()), "{level}: {threads} threads");
        }
    }
}
