//! Native instructions for 64-bit operations, by generation and bank.
//!
//! Source: Mesa 25.0.7 `src/amd/compiler/aco_instruction_selection.cpp`, `visit_alu_instr`, according to the project's notes,
//! section 11.

use amdgpu_hw::GfxLevel;

use super::{Bank, Op};
use crate::WaveSize;

/// A native instruction.
///
/// Operands are roles: `d` is the result, `a` and `b` are the sources, `c` is a truth value, `t` and `u` are pairs for intermediate
/// results, and `m` is a lane mask. `0` or `1` after a role is its half. `B` is `b` in vector registers. `h`, `o`, `w` and `f` are
/// the half, offset, width and field of an extraction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Native {
    /// ACO's name; empty for a copy, which ACO does not count.
    pub(crate) name: &'static str,
    /// The operation to record.
    pub(crate) op: &'static str,
    /// The operands.
    pub(crate) operands: &'static str,
}

const fn n(name: &'static str, operands: &'static str) -> Native {
    Native { name, op: name, operands }
}

const fn as_op(name: &'static str, op: &'static str, operands: &'static str) -> Native {
    Native { name, op, operands }
}

type List = &'static [Native];

/// Returns the native instructions of an operation; `None` if it has none.
pub(crate) fn native(op: Op, level: GfxLevel, wave: WaveSize, bank: Bank) -> Option<List> {
    match bank {
        Bank::Vector => vector(op, level),
        Bank::Scalar => scalar(op, level, wave),
    }
}

fn vector(op: Op, level: GfxLevel) -> Option<List> {
    let (old, ten) = (level <= GfxLevel::Gfx7, level >= GfxLevel::Gfx10);
    Some(match op {
        Op::Iadd if ten => const { &[n("v_add_co_u32_e64", "d0 m a0 b0"), n("v_addc_co_u32", "d1 m a1 b1 m")] },
        Op::Iadd => const { &[n("v_add_co_u32", "d0 m a0 b0"), n("v_addc_co_u32", "d1 m a1 b1 m")] },
        Op::Isub if ten => const { &[n("v_sub_co_u32_e64", "d0 m a0 b0"), n("v_subb_co_u32", "d1 m a1 b1 m")] },
        Op::Isub => const { &[n("v_sub_co_u32", "d0 m a0 b0"), n("v_subb_co_u32", "d1 m a1 b1 m")] },
        Op::Isign => {
            const {
                &[
                    n("v_ashrrev_i32", "t0 31 a1"),
                    n("v_cmp_ge_i64", "m 0 a"),
                    n("v_cndmask_b32", "d0 1 t0 m"),
                    n("v_cndmask_b32", "d1 0 t0 m"),
                ]
            }
        }
        Op::Ieq => const { &[n("v_cmp_eq_i64", "d a b")] },
        Op::Ine => const { &[n("v_cmp_lg_i64", "d a b")] },
        Op::Ult => const { &[n("v_cmp_lt_u64", "d a b")] },
        Op::Ilt => const { &[n("v_cmp_lt_i64", "d a b")] },
        Op::Uge => const { &[n("v_cmp_ge_u64", "d a b")] },
        Op::Ige => const { &[n("v_cmp_ge_i64", "d a b")] },
        Op::Bcsel => const { &[n("v_cndmask_b32", "d0 b0 a0 c"), n("v_cndmask_b32", "d1 b1 a1 c")] },
        Op::Iand => const { &[n("v_and_b32", "d0 a0 b0"), n("v_and_b32", "d1 a1 b1")] },
        Op::Ior => const { &[n("v_or_b32", "d0 a0 b0"), n("v_or_b32", "d1 a1 b1")] },
        Op::Ixor => const { &[n("v_xor_b32", "d0 a0 b0"), n("v_xor_b32", "d1 a1 b1")] },
        Op::Inot => const { &[n("v_not_b32", "d0 a0"), n("v_not_b32", "d1 a1")] },
        Op::Ishl if old => const { &[n("v_lshl_b64", "d a b0")] },
        Op::Ishl => const { &[n("v_lshlrev_b64_e64", "d b0 a")] },
        Op::Ishr if old => const { &[n("v_ashr_i64", "d a b0")] },
        Op::Ishr => const { &[n("v_ashrrev_i64", "d b0 a")] },
        Op::Ushr if old => const { &[n("v_lshr_b64", "d a b0")] },
        Op::Ushr => const { &[n("v_lshrrev_b64", "d b0 a")] },
        Op::BitCount => const { &[n("v_bcnt_u32_b32", "t0 a0 0"), n("v_bcnt_u32_b32", "d a1 t0")] },
        Op::UfindMsb if ten => {
            const {
                &[
                    n("v_ffbh_u32", "t0 a0"),
                    n("v_or_b32", "t0 32 t0"),
                    n("v_ffbh_u32", "t1 a1"),
                    n("v_min_u32", "t0 t1 t0"),
                    n("v_sub_co_u32_e64", "t1 m 63 t0"),
                    n("v_cndmask_b32", "d t1 -1 m"),
                ]
            }
        }
        Op::UfindMsb => {
            const {
                &[
                    n("v_ffbh_u32", "t0 a0"),
                    n("v_or_b32", "t0 32 t0"),
                    n("v_ffbh_u32", "t1 a1"),
                    n("v_min_u32", "t0 t1 t0"),
                    n("v_sub_co_u32", "t1 m 63 t0"),
                    n("v_cndmask_b32", "d t1 -1 m"),
                ]
            }
        }
        Op::FindLsb => {
            const {
                &[
                    n("v_ffbl_b32", "t0 a0"),
                    n("v_ffbl_b32", "t1 a1"),
                    n("v_or_b32", "t1 32 t1"),
                    n("v_min_u32", "d t0 t1"),
                ]
            }
        }
        Op::ExtractU8(_) | Op::ExtractU16(_) => {
            const { &[as_op("p_extract", "v_bfe_u32", "d0 h o w"), as_op("", "v_mov_b32", "d1 0")] }
        }
        Op::ExtractI8(_) | Op::ExtractI16(_) => {
            const { &[as_op("p_extract", "v_bfe_i32", "d0 h o w"), n("v_ashrrev_i32", "d1 31 d0")] }
        }
        Op::UaddSat | Op::UsubSat => saturated(op, old, ten),
        _ => return None,
    })
}

/// From GFX8 on the high half is saturated by the instruction.
fn saturated(op: Op, old: bool, ten: bool) -> List {
    match (op == Op::UaddSat, old, ten) {
        (true, true, _) => {
            const {
                &[
                    n("v_add_co_u32", "d0 m a0 b0"),
                    n("v_addc_co_u32", "d1 m a1 b1 m"),
                    n("v_cndmask_b32", "d0 d0 -1 m"),
                    n("v_cndmask_b32", "d1 d1 -1 m"),
                ]
            }
        }
        (false, true, _) => {
            const {
                &[
                    n("v_sub_co_u32", "d0 m a0 b0"),
                    n("v_subb_co_u32", "d1 m a1 b1 m"),
                    n("v_cndmask_b32", "d0 d0 0 m"),
                    n("v_cndmask_b32", "d1 d1 0 m"),
                ]
            }
        }
        (true, false, true) => {
            const {
                &[
                    n("v_add_co_u32_e64", "d0 m a0 b0"),
                    n("v_addc_co_u32", "d1 m a1 b1 m clamp"),
                    n("v_cndmask_b32", "d0 d0 -1 m"),
                ]
            }
        }
        (false, false, true) => {
            const {
                &[
                    n("v_sub_co_u32_e64", "d0 m a0 b0"),
                    n("v_subb_co_u32", "d1 m a1 b1 m clamp"),
                    n("v_cndmask_b32", "d0 d0 0 m"),
                ]
            }
        }
        (true, false, false) => {
            const {
                &[
                    n("v_add_co_u32", "d0 m a0 b0"),
                    n("v_addc_co_u32", "d1 m a1 b1 m clamp"),
                    n("v_cndmask_b32", "d0 d0 -1 m"),
                ]
            }
        }
        (false, false, false) => {
            const {
                &[
                    n("v_sub_co_u32", "d0 m a0 b0"),
                    n("v_subb_co_u32", "d1 m a1 b1 m clamp"),
                    n("v_cndmask_b32", "d0 d0 0 m"),
                ]
            }
        }
    }
}

fn scalar(op: Op, level: GfxLevel, wave: WaveSize) -> Option<List> {
    let old = level <= GfxLevel::Gfx7;
    let narrow = wave == WaveSize::Wave32;
    Some(match op {
        Op::Iadd => const { &[n("s_add_u32", "d0 a0 b0"), n("s_addc_u32", "d1 a1 b1")] },
        Op::Isub => const { &[n("s_sub_u32", "d0 a0 b0"), n("s_subb_u32", "d1 a1 b1")] },
        Op::Isign if old => {
            const { &[n("s_ashr_i64", "t a 63"), n("s_or_b64", "u a 0"), n("s_or_b64", "d t src_scc")] }
        }
        Op::Isign => const { &[n("s_ashr_i64", "t a 63"), n("s_cmp_lg_u64", "a 0"), n("s_or_b64", "d t src_scc")] },
        Op::Ieq if old => const { &[n("v_cmp_eq_i64", "d a B")] },
        Op::Ieq if narrow => const { &[n("s_cmp_eq_u64", "a b"), n("s_cselect_b32", "d -1 0")] },
        Op::Ieq => const { &[n("s_cmp_eq_u64", "a b"), n("s_cselect_b64", "d -1 0")] },
        Op::Ine if old => const { &[n("v_cmp_lg_i64", "d a B")] },
        Op::Ine if narrow => const { &[n("s_cmp_lg_u64", "a b"), n("s_cselect_b32", "d -1 0")] },
        Op::Ine => const { &[n("s_cmp_lg_u64", "a b"), n("s_cselect_b64", "d -1 0")] },
        Op::Ult => const { &[n("v_cmp_lt_u64", "d a B")] },
        Op::Ilt => const { &[n("v_cmp_lt_i64", "d a B")] },
        Op::Uge => const { &[n("v_cmp_ge_u64", "d a B")] },
        Op::Ige => const { &[n("v_cmp_ge_i64", "d a B")] },
        Op::Bcsel if narrow => const { &[n("s_and_b32", "m c exec_lo"), n("s_cselect_b64", "d a b")] },
        Op::Bcsel => const { &[n("s_and_b64", "m c exec"), n("s_cselect_b64", "d a b")] },
        Op::Iand => const { &[n("s_and_b64", "d a b")] },
        Op::Ior => const { &[n("s_or_b64", "d a b")] },
        Op::Ixor => const { &[n("s_xor_b64", "d a b")] },
        Op::Inot => const { &[n("s_not_b64", "d a")] },
        Op::Ishl => const { &[n("s_lshl_b64", "d a b0")] },
        Op::Ishr => const { &[n("s_ashr_i64", "d a b0")] },
        Op::Ushr => const { &[n("s_lshr_b64", "d a b0")] },
        Op::BitCount => const { &[n("s_bcnt1_i32_b64", "d a")] },
        Op::UfindMsb => {
            const { &[n("s_flbit_i32_b64", "t0 a"), n("s_sub_u32", "t0 63 t0"), n("s_cselect_b32", "d -1 t0")] }
        }
        Op::FindLsb => const { &[n("s_ff1_i32_b64", "d a")] },
        Op::ExtractU8(_) | Op::ExtractU16(_) => const { &[n("s_bfe_u64", "d a f")] },
        Op::ExtractI8(_) | Op::ExtractI16(_) => const { &[n("s_bfe_i64", "d a f")] },
        Op::UaddSat => {
            const { &[n("s_add_u32", "t0 a0 b0"), n("s_addc_u32", "t1 a1 b1"), n("s_cselect_b64", "d -1 t")] }
        }
        Op::UsubSat => {
            const { &[n("s_sub_u32", "t0 a0 b0"), n("s_subb_u32", "t1 a1 b1"), n("s_cselect_b64", "d 0 t")] }
        }
        _ => return None,
    })
}
