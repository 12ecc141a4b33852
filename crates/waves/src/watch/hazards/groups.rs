//! Groups of operations that rules of hazards name.
//!
//! Operations are ordered by name, so those whose names begin alike are a range.

use amdgpu_isa::Op;

/// Returns `true` for comparisons that write EXEC.
pub(super) fn compares_to_exec(op: Op) -> bool {
    (Op::VCmpxClassF16..=Op::VCmpxUF64).contains(&op)
}

/// Returns `true` for permutations of lanes across rows.
pub(super) fn permutes_lanes(op: Op) -> bool {
    (Op::VPermlane16B32..=Op::VPermlanex16VarB32).contains(&op)
}

/// Returns `true` for branches on VCC being zero.
pub(super) const fn branches_on_vccz(op: Op) -> bool {
    matches!(op, Op::SCbranchVccz | Op::SCbranchVccnz)
}

/// Returns `true` for messages, also those that halt the wave or have an answer.
pub(super) fn sends_message(op: Op) -> bool {
    (Op::SSendmsg..=Op::SSendmsghalt).contains(&op)
}

/// Returns `true` for scalar moves from or to a register that M0 selects.
pub(super) fn moves_relative(op: Op) -> bool {
    (Op::SMovreldB32..=Op::SMovrelsd2B32).contains(&op)
}

/// Returns `true` for the operations of the transcendental unit: reciprocals, roots, logarithms, exponentials, sines.
pub(super) fn is_transcendental(op: Op) -> bool {
    [
        Op::VCosF16..=Op::VCosF32,
        Op::VExpF16..=Op::VExpLegacyF32,
        Op::VLogClampF32..=Op::VLogLegacyF32,
        Op::VRcpClampF32..=Op::VRcpLegacyF32,
        Op::VRsqClampF32..=Op::VRsqLegacyF32,
        Op::VSinF16..=Op::VSinF32,
        Op::VSqrtF16..=Op::VSqrtF64,
    ]
    .iter()
    .any(|range| range.contains(&op))
}

/// Returns `true` for vector operations that read a mask of lanes.
pub(super) const fn reads_mask(op: Op) -> bool {
    matches!(
        op,
        Op::VCndmaskB16
            | Op::VCndmaskB32
            | Op::VAddCoCiU32
            | Op::VSubCoCiU32
            | Op::VSubrevCoCiU32
            | Op::VDivFmasF32
            | Op::VDivFmasF64
    )
}

/// Returns `true` for FLAT, which may access LDS.
pub(super) fn is_generic(op: Op) -> bool {
    (Op::FlatAtomicAdd..=Op::FlatStoreShortD16Hi).contains(&op)
}

/// Returns `true` for products of 32 bits by 32 bits that are added to 64 bits.
pub(super) const fn multiplies_to_64_bits(op: Op) -> bool {
    matches!(op, Op::VMadU64U32 | Op::VMadI64I32 | Op::VMadCoU64U32 | Op::VMadCoI64I32)
}

/// Returns `true` for operations of formats with a scalar destination that have none, not even the null register.
pub(super) fn has_no_destination(op: Op) -> bool {
    [
        Op::SCmpkEqI32..=Op::SCmpkLtU32,
        Op::SRfeB64..=Op::SRfeRestoreB64,
        Op::SSetregB32..=Op::SSetregImm32B32,
        Op::SWaitcnt..=Op::SWaitcntVscnt,
    ]
    .iter()
    .any(|range| range.contains(&op))
        || matches!(op, Op::SVersion | Op::SSetpcB64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the operations whose names begin with one of these.
    fn named(starts: &[&str]) -> Vec<Op> {
        Op::ALL.iter().copied().filter(|op| starts.iter().any(|start| op.name().starts_with(start))).collect()
    }

    #[test]
    fn each_group_has_all_operations_with_its_names_and_no_other() {
        type Group<'g> = (fn(Op) -> bool, &'g [&'g str]);
        let groups: [Group<'_>; 10] = [
            (compares_to_exec, &["v_cmpx_"]),
            (permutes_lanes, &["v_permlane"]),
            (branches_on_vccz, &["s_cbranch_vcc"]),
            (sends_message, &["s_sendmsg"]),
            (moves_relative, &["s_movrel"]),
            (is_transcendental, &["v_rcp_", "v_rsq_", "v_sqrt_", "v_log_", "v_exp_", "v_sin_", "v_cos_"]),
            (reads_mask, &["v_cndmask_b", "v_add_co_ci_u32", "v_sub_co_ci_u32", "v_subrev_co_ci_u32", "v_div_fmas_"]),
            (is_generic, &["flat_"]),
            (multiplies_to_64_bits, &["v_mad_u64_u32", "v_mad_i64_i32", "v_mad_co_u64_u32", "v_mad_co_i64_i32"]),
            (has_no_destination, &["s_waitcnt", "s_setreg", "s_cmpk", "s_version", "s_setpc", "s_rfe"]),
        ];
        for (has, names) in groups {
            let found: Vec<Op> = Op::ALL.iter().copied().filter(|op| has(*op)).collect();
            assert_eq!(found, named(names), "{names:?}");
        }
    }
}
