//! Hazards of instructions: pairs of programs. A program that resolves a hazard is silent, and each of its mutations, which lacks
//! what resolves it or a wait state of it, is reported by its rule.

use amdgpu_hw::GfxLevel::{self, Gfx6, Gfx7, Gfx8, Gfx9, Gfx10, Gfx10_3, Gfx11, Gfx11_5, Gfx12};
use amdgpu_isa::WaveSize;

use crate::machine::{hazards, places};

/// A program of a rule: the generations, `true` for waves of 64 lanes alone, and the lines. A line with a star resolves the hazard.
type Pair = (&'static str, &'static [GfxLevel], bool, &'static [&'static str]);

const OLD: &[GfxLevel] = &[Gfx6, Gfx7, Gfx8, Gfx9];
const NEW: &[GfxLevel] = &[Gfx11, Gfx11_5];

const LOAD: &str = "buffer_load_dword v2, v1, s[0:3], 0 offen";

const PAIRS: &[Pair] = &[
    (
        "ValuSgprVmem",
        OLD,
        false,
        &["v_readfirstlane_b32 s8, v0", "*s_nop 4", "buffer_load_dword v2, v1, s[0:3], s8 offen"],
    ),
    ("ValuSgprVmem", OLD, false, &["v_readfirstlane_b32 s2, v0", "*s_nop 4", LOAD]),
    ("ValuSgprVmem", &[Gfx9], false, &["v_readfirstlane_b32 s0, v0", "*s_nop 4", "global_load_dword v2, v1, s[0:1]"]),
    ("ValuSgprLane", OLD, false, &["v_readfirstlane_b32 s8, v0", "*s_nop 3", "v_readlane_b32 s9, v1, s8"]),
    ("ValuSgprLane", OLD, false, &["v_readfirstlane_b32 s8, v0", "*s_nop 3", "v_writelane_b32 v2, s0, s8"]),
    ("ValuVccDivFmas", OLD, false, &["v_cmp_eq_u32 vcc, v0, v1", "*s_nop 3", "v_div_fmas_f32 v2, v0, v1, v3"]),
    ("ValuSgprSmrd", &[Gfx6], false, &["v_readfirstlane_b32 s8, v0", "*s_nop 3", "s_load_dword s9, s[0:1], s8"]),
    ("SaluDescriptorSmrd", &[Gfx6], false, &["s_mov_b32 s3, s3", "*s_nop 3", "s_buffer_load_dword s9, s[0:3], 0x0"]),
    ("SaluM0Message", OLD, false, &["s_mov_b32 m0, 0", "*s_nop 0", "s_sendmsg 1"]),
    ("SaluM0Movrel", &[Gfx9], false, &["s_mov_b32 m0, 0", "*s_nop 0", "s_movrels_b32 s20, s8"]),
    ("SaluM0Lds", &[Gfx9], false, &["s_mov_b32 m0, 0", "*s_nop 0", "ds_read_addtid_b32 v2"]),
    (
        "ValuVgprDpp",
        &[Gfx8, Gfx9],
        false,
        &["v_mov_b32 v3, v0", "*s_nop 1", "v_mov_b32_dpp v2, v3 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf"],
    ),
    (
        "ValuExecDpp",
        &[Gfx8, Gfx9],
        false,
        &[
            "v_cmpx_eq_u32 vcc, v0, v0",
            "*s_nop 4",
            "v_mov_b32_dpp v2, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
        ],
    ),
    (
        "SetregGetreg",
        OLD,
        false,
        &["s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s9", "*s_nop 1", "s_getreg_b32 s8, hwreg(HW_REG_MODE, 0, 4)"],
    ),
    (
        "SetregGetreg",
        &[Gfx8, Gfx9],
        false,
        &["s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s9", "*s_nop 1", "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s9"],
    ),
    (
        "StoreDataValu",
        &[Gfx7, Gfx8, Gfx9],
        false,
        &["buffer_store_dwordx4 v[4:7], v1, s[0:3], 0 offen", "*s_nop 0", "v_mov_b32 v5, 0"],
    ),
    ("ValuVccz", OLD, false, &["v_cmp_eq_u32 vcc, v0, v1", "*s_nop 4", "v_mov_b32 v2, src_vccz"]),
    (
        "SmemVccz",
        &[Gfx6, Gfx7],
        false,
        &["s_load_dword s8, s[0:1], 0x0", "s_waitcnt lgkmcnt(0)", "*s_mov_b64 vcc, vcc", "s_cbranch_vccz 0"],
    ),
    (
        "SmemVccz",
        &[Gfx6, Gfx7],
        false,
        &["s_load_dword s8, s[0:1], 0x0", "*s_waitcnt lgkmcnt(0)", "s_mov_b64 vcc, vcc", "s_cbranch_vccnz 0"],
    ),
    ("PartialVccz", OLD, false, &["s_mov_b32 vcc_lo, 0", "*s_mov_b64 vcc, vcc", "s_cbranch_vccz 0"]),
    (
        "SmemClause",
        &[Gfx8, Gfx9],
        false,
        &["s_store_dword s8, s[0:1], 0x0", "*s_nop 0", "s_load_dword s9, s[0:1], 0x4"],
    ),
    (
        "SmemClause",
        &[Gfx8, Gfx9],
        false,
        &["s_load_dword s9, s[0:1], 0x4", "*s_nop 0", "s_store_dword s8, s[0:1], 0x0"],
    ),
    ("VMEMtoScalarWriteHazard", &[Gfx10], false, &[LOAD, "*s_waitcnt_depctr 0xffe3", "s_mov_b32 s3, 0"]),
    ("VMEMtoScalarWriteHazard", &[Gfx10], false, &[LOAD, "*v_mov_b32 v3, v0", "s_mov_b32 s3, 0"]),
    ("VMEMtoScalarWriteHazard", &[Gfx10], false, &[LOAD, "*s_waitcnt vmcnt(0)", "s_load_dword s3, s[0:1], 0x0"]),
    (
        "VMEMtoScalarWriteHazard",
        &[Gfx10],
        false,
        &["buffer_store_dword v2, v1, s[0:3], 0 offen", "*s_waitcnt_vscnt null, 0x0", "s_mov_b32 s3, 0"],
    ),
    (
        "VMEMtoScalarWriteHazard",
        &[Gfx10],
        false,
        &["ds_read_b32 v2, v1", "*s_waitcnt lgkmcnt(0)", "s_mov_b32 exec_lo, -1"],
    ),
    (
        "SMEMtoVectorWriteHazard",
        &[Gfx10],
        false,
        &["s_load_dword s8, s[0:1], 0x0", "*s_mov_b32 null, 0", "v_readfirstlane_b32 s0, v0"],
    ),
    (
        "SMEMtoVectorWriteHazard",
        &[Gfx10],
        false,
        &["s_load_dword s8, s[0:1], 0x0", "*s_waitcnt lgkmcnt(0)", "v_readfirstlane_b32 s0, v0"],
    ),
    (
        "VcmpxExecWARHazard",
        &[Gfx10],
        false,
        &["s_mov_b32 s8, exec_lo", "*s_waitcnt_depctr 0xfffe", "v_cmpx_eq_u32 v0, v0"],
    ),
    (
        "VcmpxExecWARHazard",
        &[Gfx10],
        false,
        &["s_mov_b32 s8, exec_lo", "*v_readfirstlane_b32 s9, v0", "v_cmpx_eq_u32 v0, v0"],
    ),
    (
        "VcmpxPermlaneHazard",
        &[Gfx10],
        false,
        &["v_cmpx_eq_u32 v0, v0", "*v_mov_b32 v2, v0", "v_permlane16_b32 v1, v0, s0, s1"],
    ),
    (
        "LdsBranchVmemWARHazard",
        &[Gfx10],
        false,
        &[LOAD, "s_branch 0", "*s_waitcnt_vscnt null, 0x0", "ds_read_b32 v3, v1"],
    ),
    (
        "LdsBranchVmemWARHazard",
        &[Gfx10],
        false,
        &["ds_read_b32 v3, v1", "s_branch 0", "*s_waitcnt_vscnt null, 0x0", LOAD],
    ),
    ("VALUTransUseHazard", &[Gfx11], false, &["v_exp_f32 v2, v0", "*s_waitcnt_depctr 0xfff", "v_mov_b32 v3, v2"]),
    (
        "VALUPartialForwardingHazard",
        NEW,
        true,
        &[
            "v_mov_b32 v2, v0",
            "s_mov_b64 exec, exec",
            "v_mov_b32 v3, v0",
            "*s_waitcnt_depctr 0xfff",
            "v_add_f32 v4, v2, v3",
        ],
    ),
    (
        "VALUMaskWriteHazard",
        NEW,
        true,
        &[
            "v_cndmask_b32_e64 v2, v0, v1, s[8:9]",
            "s_mov_b64 s[8:9], 0",
            "*s_waitcnt_depctr 0xfffe",
            "s_mov_b64 s[10:11], s[8:9]",
        ],
    ),
    (
        "VALUMaskWriteHazard",
        NEW,
        true,
        &[
            "v_cndmask_b32_e64 v2, v0, v1, s[8:9]",
            "v_cmp_eq_u32_e64 s[8:9], v0, v1",
            "*s_waitcnt_depctr 0xf1ff",
            "v_cndmask_b32_e64 v3, v0, v1, s[8:9]",
        ],
    ),
    (
        "VcmpxPermlaneHazard",
        &[Gfx11, Gfx11_5, Gfx12],
        false,
        &["v_cmpx_eq_u32 v0, v0", "*v_nop", "v_permlane16_b32 v1, v0, s0, s1"],
    ),
    ("DeallocVgprs", NEW, false, &["*s_nop 0", "s_sendmsg 3"]),
    (
        "VALUReadSGPRHazard",
        &[Gfx12],
        false,
        &["v_mov_b32 v2, s8", "s_mov_b32 s8, 0", "*s_wait_alu 0xfffe", "s_mov_b32 s9, s8"],
    ),
    (
        "VALUReadSGPRHazard",
        &[Gfx12],
        false,
        &["v_mov_b32 v2, s8", "v_readfirstlane_b32 s8, v0", "*s_wait_alu 0xf1ff", "v_mov_b32 v3, s8"],
    ),
];

/// Returns a program in this generation's words. GFX11 names sizes of data instead of counting dwords.
fn of_level(level: GfxLevel, line: &str) -> String {
    if level < Gfx11 {
        return line.to_owned();
    }
    line.replace("load_dword", "load_b32")
}

/// Returns the mutations of a program, without stars: each lacks what resolves its hazard, or one wait state of it.
fn mutations(lines: &[&str]) -> Vec<Vec<String>> {
    let plain = |line: &str| line.trim_start_matches('*').to_owned();
    let at = lines.iter().position(|line| line.starts_with('*')).unwrap();
    let mut without: Vec<String> = lines.iter().map(|line| plain(line)).collect();
    let mut found = Vec::new();
    if let Some(states) = lines[at].strip_prefix("*s_nop ").and_then(|states| states.parse::<u32>().ok())
        && states > 0
    {
        let mut shorter = without.clone();
        shorter[at] = format!("s_nop {}", states - 1);
        found.push(shorter);
    }
    without.remove(at);
    found.push(without);
    found
}

#[test]
fn each_hazard_is_reported_where_nothing_resolves_it_and_nowhere_else() {
    let mut count = 0;
    for &(rule, levels, is_wide, lines) in PAIRS {
        for (level, wave) in places() {
            if is_wide && wave == WaveSize::Wave32 {
                continue;
            }
            if !levels.contains(&level) {
                continue;
            }
            let correct: Vec<String> = lines.iter().map(|line| of_level(level, line.trim_start_matches('*'))).collect();
            let found = hazards((level, wave), &correct);
            assert!(found.is_empty(), "{level} {wave:?} {rule} {lines:?}: {found:?}");
            for mutation in mutations(lines) {
                let mutation: Vec<String> = mutation.iter().map(|line| of_level(level, line)).collect();
                let found = hazards((level, wave), &mutation);
                let [hazard] = &found[..] else { panic!("{level} {wave:?} {rule} {mutation:?}: {found:?}") };
                assert_eq!(hazard.rule.name, rule, "{level} {mutation:?}");
                assert!(hazard.to_string().contains(hazard.rule.needed), "{hazard}");
                count += 1;
            }
        }
    }
    assert!(count > 100, "{count} mutations");
}

#[test]
fn gfx10_3_has_none_of_the_hazards_of_gfx10() {
    for &(rule, levels, _, lines) in PAIRS.iter().filter(|(_, levels, ..)| levels.contains(&Gfx10)) {
        for wave in [WaveSize::Wave32, WaveSize::Wave64] {
            for mutation in mutations(lines) {
                let found = hazards((Gfx10_3, wave), &mutation);
                assert!(found.is_empty(), "{rule} of {levels:?}: {found:?}");
            }
        }
    }
}

#[test]
fn what_another_unit_wrote_in_between_is_no_hazard_of_the_vector_unit() {
    for level in OLD {
        let lines = ["v_readfirstlane_b32 s8, v0", "s_mov_b32 s8, 0", "buffer_load_dword v2, v1, s[0:3], s8 offen"];
        let found = hazards((*level, WaveSize::Wave64), &lines.map(str::to_owned));
        assert!(found.is_empty(), "{level}: {found:?}");
    }
}

#[test]
fn a_transcendental_result_is_there_after_six_vector_or_two_transcendental_operations() {
    let run = |line: &str, count: usize| {
        let mut lines = vec!["v_exp_f32 v2, v0".to_owned()];
        lines.extend(std::iter::repeat_n(line.to_owned(), count));
        lines.push("v_mov_b32 v3, v2".to_owned());
        hazards((Gfx11, WaveSize::Wave32), &lines).len()
    };
    assert_eq!([5, 6].map(|count| run("v_mov_b32 v4, v0", count)), [1, 0]);
    assert_eq!([1, 2].map(|count| run("v_log_f32 v4, v0", count)), [1, 0]);
    // Memory waits for all vector operations.
    assert_eq!(run("ds_load_b32 v5, v0", 1), 0);
}

#[test]
fn instructions_that_fail_by_themselves_are_reported() {
    let wave = WaveSize::Wave32;
    for (level, rule, bad, good) in [
        (Gfx10, "Offset3fBug", "s_cbranch_scc1 63", "s_cbranch_scc1 62"),
        (Gfx10, "InstPrefetchBug", "s_inst_prefetch 3", "s_nop 0"),
        (Gfx10, "FlatOffsetBug", "flat_load_dword v1, v[2:3] offset:4", "flat_load_dword v1, v[2:3]"),
        (
            Gfx11,
            "VMAD64Overlap",
            "v_mad_u64_u32 v[2:3], null, v2, v3, v[4:5]",
            "v_mad_u64_u32 v[6:7], null, v2, v3, v[4:5]",
        ),
    ] {
        let run = |line: &str| hazards((level, wave), &["s_cmp_eq_u32 0, 1".to_owned(), line.to_owned()]);
        let found = run(bad);
        assert!(found.len() == 1 && found[0].rule.name == rule && found[0].earlier.is_none(), "{rule}: {found:?}");
        assert!(run(good).is_empty(), "{rule}: {:?}", run(good));
    }
}

#[test]
fn a_matrix_operation_waits_before_it_reads_the_result_of_the_one_before() {
    for level in NEW {
        let first = "v_wmma_f32_16x16x16_f16 v[8:15], v[16:23], v[24:31], v[8:15]".to_owned();
        let second = "v_wmma_f32_16x16x16_f16 v[32:39], v[8:15], v[24:31], v[32:39]".to_owned();
        let run = |lines: &[String]| hazards((*level, WaveSize::Wave32), lines);
        let found = run(&[first.clone(), second.clone()]);
        assert!(found.len() == 1 && found[0].rule.name == "WMMAHazard", "{level}: {found:?}");
        assert!(run(&[first.clone(), "v_nop".to_owned(), second]).is_empty());
        assert!(run(&[first.clone(), first]).is_empty(), "the accumulator may be the result");
    }
}
