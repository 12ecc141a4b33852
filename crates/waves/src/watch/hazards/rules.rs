//! The rules of hazards, by generation.
//!
//! A wait state is an instruction of the wave: `s_nop k` is k + 1 of them, and every other instruction is one. `s_delay_alu`,
//! `s_clause` and the like resolve nothing else.
//!
//! Source: Mesa 25.0.7 `src/amd/compiler/aco_insert_NOPs.cpp`, whose function is with each table, and `README-ISA.md`; LLVM 19
//! `llvm/lib/Target/AMDGPU/GCNHazardRecognizer.cpp`. Where LLVM is stricter, Mesa is followed: its code runs on these chips.

use amdgpu_hw::GfxLevel::{self, Gfx6, Gfx7, Gfx8, Gfx9, Gfx10, Gfx11, Gfx11_5, Gfx12};

/// A rule about two instructions of a wave.
#[derive(Debug, PartialEq, Eq)]
pub struct HazardRule {
    /// The name of the rule.
    pub name: &'static str,
    /// The two instructions: the earlier one and the one that comes too early.
    pub what: &'static str,
    /// The remedy: instructions that resolve the hazard.
    pub needed: &'static str,
    /// The first and the last generation that has the hazard.
    pub levels: (GfxLevel, GfxLevel),
}

/// A rule about the number of wait states between two instructions.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) rule: HazardRule,
    /// The number of wait states that must lie between the two.
    pub(super) states: u32,
}

impl HazardRule {
    /// Returns `true` if the generation has the hazard.
    pub(super) fn is_on(&self, level: GfxLevel) -> bool {
        self.levels.0 <= level && level <= self.levels.1
    }
}

impl Waiting {
    const fn new(
        name: &'static str,
        what: &'static str,
        (states, needed): (u32, &'static str),
        levels: (GfxLevel, GfxLevel),
    ) -> Self {
        Self { rule: HazardRule { name, what, needed, levels }, states }
    }
}

const fn rule(
    name: &'static str,
    what: &'static str,
    needed: &'static str,
    levels: (GfxLevel, GfxLevel),
) -> HazardRule {
    HazardRule { name, what, needed, levels }
}

const N1: (u32, &str) = (1, "1 wait state");
const N2: (u32, &str) = (2, "2 wait states");
const N4: (u32, &str) = (4, "4 wait states");
const N5: (u32, &str) = (5, "5 wait states");

// GFX6 to GFX9: `handle_instruction_gfx6`.
pub(super) static SCALAR_TO_MEMORY: Waiting =
    Waiting::new("ValuSgprVmem", "memory reads a scalar register that a vector operation wrote", N5, (Gfx6, Gfx9));
pub(super) static SCALAR_TO_LANE: Waiting =
    Waiting::new("ValuSgprLane", "a lane is selected by what a vector operation wrote", N4, (Gfx6, Gfx9));
pub(super) static VCC_TO_FMAS: Waiting =
    Waiting::new("ValuVccDivFmas", "v_div_fmas reads VCC that a vector operation wrote", N4, (Gfx6, Gfx9));
pub(super) static SCALAR_TO_SMRD: Waiting =
    Waiting::new("ValuSgprSmrd", "a scalar load reads what a vector operation wrote", N4, (Gfx6, Gfx6));
pub(super) static DESCRIPTOR_TO_SMRD: Waiting = Waiting::new(
    "SaluDescriptorSmrd",
    "s_buffer_load reads a descriptor that a scalar operation wrote",
    N4,
    (Gfx6, Gfx6),
);
pub(super) static M0_TO_MESSAGE: Waiting =
    Waiting::new("SaluM0Message", "a message reads M0 that a scalar operation wrote", N1, (Gfx6, Gfx9));
pub(super) static M0_TO_MOVREL: Waiting =
    Waiting::new("SaluM0Movrel", "s_movrel reads M0 that a scalar operation wrote", N1, (Gfx9, Gfx9));
pub(super) static M0_TO_LDS: Waiting =
    Waiting::new("SaluM0Lds", "LDS reads M0 that a scalar operation wrote", N1, (Gfx9, Gfx9));
pub(super) static VECTOR_TO_DPP: Waiting =
    Waiting::new("ValuVgprDpp", "DPP reads a register that a vector operation wrote", N2, (Gfx8, Gfx9));
pub(super) static EXEC_TO_DPP: Waiting =
    Waiting::new("ValuExecDpp", "DPP follows a vector operation that wrote EXEC", N5, (Gfx8, Gfx9));
pub(super) static MODE_TO_MODE: Waiting =
    Waiting::new("SetregGetreg", "s_setreg wrote the register that is read or written", N2, (Gfx6, Gfx9));
pub(super) static SKIP_TO_VECTOR: Waiting =
    Waiting::new("SetregVskip", "a vector operation follows s_setreg of MODE.vskip", N2, (Gfx6, Gfx9));
pub(super) static STORE_TO_VECTOR: Waiting = Waiting::new(
    "StoreDataValu",
    "a vector operation overwrites the data of a store of over 64 bits",
    N1,
    (Gfx7, Gfx9),
);
pub(super) static FLAGS_TO_VECTOR: Waiting = Waiting::new(
    "ValuVccz",
    "VCCZ or EXECZ is read as data after a vector operation wrote VCC or EXEC",
    N5,
    (Gfx6, Gfx9),
);

pub(super) static INTERPOLATION_TO_LANE: Waiting =
    Waiting::new("VintrpReadlane", "a lane of an interpolated register is read, which may hang", N1, (Gfx6, Gfx6));
pub(super) static SMEM_CLAUSE: HazardRule = rule(
    "SmemClause",
    "scalar memory operations of which one stores follow each other, and may be executed in any order",
    "any other instruction in between",
    (Gfx8, Gfx9),
);

// LLVM, `SIInsertWaitcnts.cpp`: `hasReadVCCZBug` and `partialVCCWritesUpdateVCCZ`. Mesa has no such branches on GFX6 and GFX7:
// `aco_optimizer_postRA.cpp`, `try_apply_branch_vcc`.
pub(super) static SMEM_TO_VCCZ: HazardRule = rule(
    "SmemVccz",
    "a branch reads VCCZ, which a scalar load may have corrupted",
    "lgkmcnt(0) and then a write of VCC, as s_mov_b64 vcc, vcc",
    (Gfx6, Gfx7),
);
pub(super) static HALF_TO_VCCZ: HazardRule = rule(
    "PartialVccz",
    "a branch reads VCCZ, which a write of half of VCC does not update",
    "a write of all of VCC, as s_mov_b64 vcc, vcc",
    (Gfx6, Gfx9),
);

// `aco_insert_waitcnt.cpp`.
pub(in crate::watch) static MISSING_WAIT: HazardRule = rule(
    "MissingWait",
    "an instruction accesses a register before a load or store is done with it",
    "a wait for its counter, as s_waitcnt",
    (Gfx6, Gfx12),
);

// `aco_insert_waitcnt.cpp`, `perform_barrier`.
pub(super) static LDS_TO_BARRIER: HazardRule = rule(
    "BarrierWithoutWait",
    "a wave comes to a barrier before its store to LDS is over, which other waves may load behind it",
    "lgkmcnt(0), or dscnt(0) from GFX12 on",
    (Gfx6, Gfx12),
);

// `radv_cmd_buffer.c`, `radv_emit_compute_shader` and its callers.
pub(super) static UNSET_ARGUMENT: HazardRule = rule(
    "UnsetArgument",
    "an instruction reads an argument whose register the job has not set, so that it has the value of another job",
    "a write of that register in the same submission",
    (Gfx6, Gfx12),
);

// GFX10.1: `handle_instruction_gfx10`. GFX10.3 has no hazards.
pub(super) static VMEM_TO_SCALAR: HazardRule = rule(
    "VMEMtoScalarWriteHazard",
    "a scalar operation or load overwrites what memory or LDS reads",
    "a vector operation, a wait for its counter, or s_waitcnt_depctr vm_vsrc(0)",
    (Gfx10, Gfx10),
);
pub(super) static SMEM_TO_VECTOR: HazardRule = rule(
    "SMEMtoVectorWriteHazard",
    "a vector operation overwrites a scalar register that a scalar load reads",
    "a scalar operation with a result, or lgkmcnt(0)",
    (Gfx10, Gfx10),
);
pub(super) static VCMPX_EXEC: HazardRule = rule(
    "VcmpxExecWARHazard",
    "a vector operation overwrites EXEC that another operation reads",
    "a vector operation that writes a scalar register, or s_waitcnt_depctr sa_sdst(0)",
    (Gfx10, Gfx10),
);
pub(super) static VCMPX_PERMLANE_OLD: HazardRule = rule(
    "VcmpxPermlaneHazard",
    "v_permlane follows a comparison that wrote EXEC",
    "a vector operation other than v_nop",
    (Gfx10, Gfx10),
);
pub(super) static LDS_BRANCH_VMEM: HazardRule = rule(
    "LdsBranchVmemWARHazard",
    "memory and LDS with a branch in between",
    "s_waitcnt_vscnt null, 0",
    (Gfx10, Gfx10),
);
pub(super) static OFFSET_3F: HazardRule =
    rule("Offset3fBug", "a branch by 0x3f dwords", "an instruction in between", (Gfx10, Gfx10));
pub(super) static NSA_TO_VMEM: HazardRule = rule(
    "NSAToVMEMBug",
    "a buffer operation with this offset follows an image operation with scattered addresses",
    "any instruction",
    (Gfx10, Gfx10),
);
pub(super) static LANE_TO_NSA: HazardRule = rule(
    "waNsaCannotFollowWritelane",
    "an image operation with scattered addresses follows v_writelane",
    "any instruction",
    (Gfx10, Gfx10),
);
// `aco_form_hard_clauses.cpp`, `get_type`, and `aco_assembler.cpp`, `align_block`.
pub(super) static NSA_IN_CLAUSE: HazardRule = rule(
    "NSAClauseBug",
    "an image operation with scattered addresses is in a clause, which may hang",
    "no s_clause around it",
    (Gfx10, Gfx10),
);
pub(super) static INSTRUCTION_PREFETCH: HazardRule =
    rule("InstPrefetchBug", "s_inst_prefetch, which may hang", "no such instruction", (Gfx10, Gfx10));
pub(super) static FLAT_OFFSET: HazardRule =
    rule("FlatOffsetBug", "FLAT with an offset, which is not added", "an offset of 0", (Gfx10, Gfx10));

// GFX11, GFX11.5 and GFX12: `handle_instruction_gfx11`.
pub(super) static TRANS_USE: HazardRule = rule(
    "VALUTransUseHazard",
    "a vector operation reads the result of a transcendental one",
    "6 vector operations, 2 transcendental ones, or va_vdst(0)",
    (Gfx11, Gfx11),
);
pub(super) static PARTIAL_FORWARDING: HazardRule = rule(
    "VALUPartialForwardingHazard",
    "a vector operation reads a register that was written before EXEC was, and one that was written after",
    "s_waitcnt_depctr va_vdst(0)",
    (Gfx11, Gfx11_5),
);
pub(super) static MASK_WRITE: HazardRule = rule(
    "VALUMaskWriteHazard",
    "a lane mask of a vector operation was overwritten and is read",
    "s_waitcnt_depctr sa_sdst(0) after a scalar operation; va_sdst(0), or va_vcc(0) for VCC, after a vector operation",
    (Gfx11, Gfx11_5),
);
pub(super) static VCMPX_PERMLANE: HazardRule = rule(
    "VcmpxPermlaneHazard",
    "v_permlane follows a comparison that wrote EXEC",
    "a vector operation, as v_nop",
    (Gfx11, Gfx12),
);
pub(super) static MATRIX: HazardRule = rule(
    "WMMAHazard",
    "a matrix operation reads the result of the one before",
    "a vector operation, as v_nop",
    (Gfx11, Gfx12),
);
pub(super) static MAD64: HazardRule = rule(
    "VMAD64Overlap",
    "the result of v_mad_u64_u32 or v_mad_i64_i32 overlaps a source",
    "other registers",
    (Gfx11, Gfx11_5),
);
pub(super) static DEALLOC: HazardRule =
    rule("DeallocVgprs", "s_sendmsg releases the vector registers", "s_nop directly before", (Gfx11, Gfx11_5));
pub(super) static DIRECT_AFTER_VECTOR: HazardRule = rule(
    "LdsDirectVALUHazard",
    "a load of LDS overwrites a register that a vector operation uses",
    "a smaller wait_vdst, or s_waitcnt_depctr va_vdst(0)",
    (Gfx11, Gfx12),
);
pub(super) static DIRECT_AFTER_MEMORY: HazardRule = rule(
    "LdsDirectVMEMHazard",
    "a load of LDS overwrites a register that a memory operation uses",
    "a wait for its counter, a vector operation, or s_waitcnt_depctr vm_vsrc(0), which is wait_vm_vsrc:0 from GFX12 on",
    (Gfx11, Gfx12),
);
pub(super) static READ_SGPR: HazardRule = rule(
    "VALUReadSGPRHazard",
    "a scalar register that a vector operation has ever read was overwritten and is read",
    "s_wait_alu sa_sdst(0) after a scalar operation; va_sdst(0), or va_vcc(0) for VCC, after a vector operation",
    (Gfx12, Gfx12),
);

const _: () = assert!((Gfx7 as u8) < Gfx8 as u8);
