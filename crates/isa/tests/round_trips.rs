//! Instructions whose fields are easily taken for one another: the text names each field, and assembles to the same dwords.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{WaveSize, assemble, decode};

fn is_text_of(level: GfxLevel, dwords: &[u32], text: &str) {
    assert_eq!(decode(level, WaveSize::Wave64, dwords).unwrap().to_string(), text);
    assert_eq!(assemble(level, WaveSize::Wave64, text).unwrap().dwords(), dwords, "{level}: {text}");
}

#[test]
fn a_carry_goes_to_a_register_of_its_own_beside_the_sum() {
    for level in [GfxLevel::Gfx6, GfxLevel::Gfx7] {
        is_text_of(level, &[0xd250_1405, 0x00c2_290a], "v_addc_u32_e64 v5, s[20:21], v10, v20, s[48:49]");
        is_text_of(level, &[0xd252_1405, 0x00c2_290a], "v_subb_u32_e64 v5, s[20:21], v10, v20, s[48:49]");
        is_text_of(level, &[0xd254_1405, 0x00c2_290a], "v_subbrev_u32_e64 v5, s[20:21], v10, v20, s[48:49]");
    }
}

#[test]
fn scratch_without_any_address_is_not_scratch_by_a_vector_address() {
    is_text_of(GfxLevel::Gfx10_3, &[0xdc20_4000, 0x007f_0000], "scratch_load_ubyte v0, off, off");
    is_text_of(GfxLevel::Gfx10_3, &[0xdc20_4000, 0x007d_0000], "scratch_load_ubyte v0, v0, off");
    is_text_of(GfxLevel::Gfx10_3, &[0xdc20_4000, 0x0004_0000], "scratch_load_ubyte v0, off, s4");
}

#[test]
fn a_literal_follows_a_source_of_sixteen_bits() {
    is_text_of(GfxLevel::Gfx11, &[0x7e02_38ff, 0xc800], "v_mov_b16_e32 v1.l, 0xc800");
    is_text_of(GfxLevel::Gfx12, &[0x7e02_38ff, 0xc800], "v_mov_b16_e32 v1.l, 0xc800");
    let whole = decode(GfxLevel::Gfx11, WaveSize::Wave32, &[0x7e02_38ff, 0xffff_c800]).unwrap();
    assert_eq!((whole.dwords().len(), whole.literal()), (2, Some(0xffff_c800)));
}

#[test]
fn an_export_names_its_target_its_sources_and_which_are_off() {
    is_text_of(GfxLevel::Gfx8, &[0xc400_180f, 0x0403_0201], "exp mrt0 v1, v2, v3, v4 done vm");
    is_text_of(GfxLevel::Gfx9, &[0xc400_08fa, 0xff00_0200], "exp pos3 off, v2, off, v255 done");
    is_text_of(GfxLevel::Gfx9, &[0xc400_148f, 0x0000_0301], "exp mrtz v1, v1, v3, v3 compr vm");
    is_text_of(GfxLevel::Gfx10, &[0xf800_0941, 0x0000_0001], "exp prim v1, off, off, off done");
    is_text_of(GfxLevel::Gfx10_3, &[0xf800_03ff, 0x0607_0809], "exp param31 v9, v8, v7, v6");
    is_text_of(GfxLevel::Gfx11, &[0xf800_216f, 0x0403_0201], "exp dual_src_blend1 v1, v2, v3, v4 row_en");
    is_text_of(GfxLevel::Gfx11, &[0xf800_0870, 0x0000_0000], "exp mrt7 off, off, off, off done");
    is_text_of(GfxLevel::Gfx12, &[0xf800_090f, 0x0403_0201], "export pos4 v1, v2, v3, v4 done");
}

#[test]
fn a_source_that_is_off_or_twice_in_a_compressed_export_is_one_register() {
    let wrong = assemble(GfxLevel::Gfx9, WaveSize::Wave64, "exp mrt0 v1, v2, v3, v3 compr");
    assert!(wrong.is_err(), "two registers for one source");
    assert!(assemble(GfxLevel::Gfx11, WaveSize::Wave64, "exp param0 v1, v2, v3, v4").is_err());
    assert!(assemble(GfxLevel::Gfx9, WaveSize::Wave64, "exp mrt0 v1, v2, v3").is_err());
}

#[test]
fn a_load_into_lds_has_no_data_register() {
    is_text_of(GfxLevel::Gfx9, &[0xe051_1010, 0x0901_0007], "buffer_load_dword v7, s[4:7], s9 offen offset:16 lds");
}

#[test]
fn offsets_of_buffers_are_signed_on_gfx12() {
    is_text_of(
        GfxLevel::Gfx12,
        &[0xc420_0009, 0x4b00_1001, 0xffff_f802],
        "tbuffer_load_format_x v1, v2, s[8:11], s9 format:[BUF_FMT_32_FLOAT] offen offset:-8",
    );
}

#[test]
fn a_temporal_hint_is_named_by_operation_and_scope() {
    is_text_of(
        GfxLevel::Gfx12,
        &[0xee05_007c, 0x003c_0001, 0x0000_0002],
        "global_load_b32 v1, v[2:3], off th:TH_LOAD_BYPASS scope:SCOPE_SYS",
    );
    is_text_of(
        GfxLevel::Gfx12,
        &[0xee05_007c, 0x0038_0001, 0x0000_0002],
        "global_load_b32 v1, v[2:3], off th:TH_LOAD_LU scope:SCOPE_DEV",
    );
    is_text_of(
        GfxLevel::Gfx12,
        &[0xee06_807c, 0x00b0_0000, 0x0000_0002],
        "global_store_b32 v[2:3], v1, off th:TH_STORE_RT_WB",
    );
    is_text_of(
        GfxLevel::Gfx12,
        &[0xee06_807c, 0x00bc_0000, 0x0000_0002],
        "global_store_b32 v[2:3], v1, off th:TH_STORE_BYPASS scope:SCOPE_SYS",
    );
    is_text_of(
        GfxLevel::Gfx12,
        &[0xee0d_407c, 0x00e8_0000, 0x0000_0002],
        "global_atomic_add_u32 v[2:3], v1, off th:TH_ATOMIC_CASCADE_NT scope:SCOPE_DEV",
    );
}

#[test]
fn operands_that_few_operations_have_are_kept() {
    is_text_of(
        GfxLevel::Gfx9,
        &[0x7c84_04f9, 0x0005_8801],
        "v_cmp_eq_f32_sdwa s[8:9], v1, v2 src0_sel:WORD_1 src1_sel:BYTE_0",
    );
    is_text_of(GfxLevel::Gfx10, &[0xf498_13c1, 0x5600_0000], "s_atc_probe 0x4f, s[2:3], s43");
    is_text_of(GfxLevel::Gfx9, &[0xd1f2_0001, 0x03c6_0702], "v_mad_i32_i16 v1, v2, v3, -0.5");
    is_text_of(GfxLevel::Gfx10_3, &[0x0402_04ff, 0x1234_5678], "v_dot2c_f32_f16 v1, 0x12345678, v2");
}

#[test]
fn messages_and_immediates_of_scalar_programs_are_named() {
    is_text_of(GfxLevel::Gfx9, &[0xbf90_0232], "s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT_CUT, 2)");
    is_text_of(GfxLevel::Gfx9, &[0xbf90_0003], "s_sendmsg sendmsg(MSG_GS_DONE, GS_OP_NOP)");
    is_text_of(GfxLevel::Gfx10, &[0xbf90_004f], "s_sendmsg sendmsg(MSG_SYSMSG, SYSMSG_OP_TTRACE_PC)");
    is_text_of(GfxLevel::Gfx8, &[0xbf90_0009], "s_sendmsg sendmsg(9, 0, 0)");
    is_text_of(GfxLevel::Gfx9, &[0xbf90_0009], "s_sendmsg sendmsg(MSG_GS_ALLOC_REQ)");
    is_text_of(GfxLevel::Gfx11, &[0xbfb6_0005], "s_sendmsg sendmsg(MSG_STALL_WAVE_GEN)");
    is_text_of(GfxLevel::Gfx12, &[0xbfb6_0005], "s_sendmsg sendmsg(5, 0, 0)");
    is_text_of(GfxLevel::Gfx12, &[0xbe85_4c83], "s_sendmsg_rtn_b32 s5, sendmsg(MSG_RTN_GET_REALTIME)");
    is_text_of(GfxLevel::Gfx9, &[0xbf90_8001], "s_sendmsg 32769");
    is_text_of(GfxLevel::Gfx9, &[0xbf80_0040], "s_nop 64");
    is_text_of(GfxLevel::Gfx9, &[0xbf80_0041], "s_nop 0x41");
    is_text_of(GfxLevel::Gfx9, &[0xbf82_0041], "s_branch 65");
}

#[test]
fn hardware_registers_have_the_names_that_llvm_gives_them() {
    // The numbers and names of each generation as LLVM 19 reads `s_getreg_b32 s1, hwreg(N)`.
    let common = [(1, "MODE"), (2, "STATUS"), (5, "GPR_ALLOC"), (6, "LDS_ALLOC"), (7, "IB_STS")];
    let snapshots = [
        (10, "PERF_SNAPSHOT_DATA"),
        (11, "PERF_SNAPSHOT_PC_LO"),
        (12, "PERF_SNAPSHOT_PC_HI"),
        (15, "PERF_SNAPSHOT_DATA1"),
        (16, "PERF_SNAPSHOT_DATA2"),
    ];
    let gfx11 = [
        (3, "TRAPSTS"),
        (15, "SH_MEM_BASES"),
        (18, "PERF_SNAPSHOT_PC_LO"),
        (19, "PERF_SNAPSHOT_PC_HI"),
        (20, "FLAT_SCR_LO"),
        (21, "FLAT_SCR_HI"),
        (23, "HW_ID1"),
        (24, "HW_ID2"),
        (27, "PERF_SNAPSHOT_DATA"),
        (29, "SHADER_CYCLES"),
    ];
    let gfx12 = [
        (4, "STATE_PRIV"),
        (17, "EXCP_FLAG_PRIV"),
        (18, "EXCP_FLAG_USER"),
        (19, "TRAP_CTRL"),
        (20, "SCRATCH_BASE_LO"),
        (21, "SCRATCH_BASE_HI"),
        (23, "HW_ID1"),
        (24, "HW_ID2"),
        (29, "SHADER_CYCLES_LO"),
        (30, "SHADER_CYCLES_HI"),
        (31, "DVGPR_ALLOC_LO"),
        (32, "DVGPR_ALLOC_HI"),
    ];
    let gfx12 = [&snapshots[..], &gfx12].concat();
    for (level, own) in [(GfxLevel::Gfx11, &gfx11[..]), (GfxLevel::Gfx11_5, &gfx11), (GfxLevel::Gfx12, &gfx12)] {
        for number in 0..64 {
            let known = common.iter().chain(own).find(|(known, _)| *known == number);
            let name = known.map_or_else(|| number.to_string(), |(_, name)| format!("HW_REG_{name}"));
            is_text_of(level, &[0xb881_f800 | number], &format!("s_getreg_b32 s1, hwreg({name})"));
        }
    }
}
