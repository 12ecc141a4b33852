//! The builder's operations on every generation, and the hazards that it mitigates.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{
    WaveSize,
    builder::{BuildError, Builder, Condition},
};

#[test]
fn image_operations_name_their_registers_on_every_generation() {
    for level in GfxLevel::ALL {
        let mut code = Builder::new(level, WaveSize::Wave64, 16);
        let (at, data) = (code.vector(2), code.vector(4));
        let (image, sampler) = (code.user(4, 8), code.user(12, 4));
        code.image_load(data, at, image);
        code.image_store(data, at, image);
        code.image_sample(data.part(0, 1), at, image, sampler);
        let text = code.finish().unwrap().text();
        let place = if level >= GfxLevel::Gfx12 { "[v1, v2]" } else { "v[1:2]" };
        for (operation, one_by_one) in [
            ("image_load v[3:6], PLACE, s[4:11] dmask:0xf", true),
            ("image_store v[3:6], PLACE, s[4:11] dmask:0xf", true),
            ("image_sample_lz v3, PLACE, s[4:11], s[12:15] dmask:0x1", false),
        ] {
            let line = text.lines().find(|line| line.contains(operation.split_once(' ').unwrap().0));
            let line = line.unwrap_or_else(|| panic!("{level}: {text}"));
            // Up to GFX9 the text of operations that take integers names the first register of the address alone.
            let named = line.contains(&operation.replace("PLACE", place))
                || level <= GfxLevel::Gfx9 && line.contains(&operation.replace("PLACE", "v1"));
            assert!(named, "{level}: {line}");
            assert_eq!(line.contains(" unorm"), one_by_one && level < GfxLevel::Gfx12, "{level}: {line}");
            assert_eq!(line.contains("dim:SQ_RSRC_IMG_2D"), level >= GfxLevel::Gfx10, "{level}: {line}");
        }
    }
}

/// Returns the operations of a program by name and operands, without offsets.
fn lines(level: GfxLevel, wave: WaveSize, record: impl FnOnce(&mut Builder)) -> Vec<String> {
    let mut code = Builder::new(level, wave, 4);
    record(&mut code);
    let text = code.finish().unwrap().text();
    text.lines().map(|line| line.trim().split_once("  ").map_or(line, |(_, operation)| operation).to_owned()).collect()
}

/// Returns the operations directly before and after the one that starts with `name`.
fn around<'l>(lines: &'l [String], name: &str) -> (&'l str, &'l str) {
    let at = lines.iter().rposition(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {lines:?}"));
    (lines[at - 1].as_str(), lines[at + 1].as_str())
}

#[test]
fn a_wave_of_gfx8_always_allocates_96_scalar_registers() {
    for scalars in [1, 40, 80] {
        let mut code = Builder::new(GfxLevel::Gfx8, WaveSize::Wave64, 4);
        for _ in 0..scalars {
            code.scalar(1);
        }
        let granules = code.finish().unwrap().resources()[0] >> 6 & 0xf;
        assert_eq!((granules + 1) * 8, 96, "{scalars}");
    }
    let mut code = Builder::new(GfxLevel::Gfx8, WaveSize::Wave64, 4);
    for _ in 0..85 {
        code.scalar(1);
    }
    assert_eq!(code.finish(), Err(BuildError::Scalars(1)), "six registers of the 96 are VCC and others");
}

#[test]
fn waves_of_32_lanes_on_gfx11_declare_16_scalar_registers() {
    for (level, wave, user) in [
        (GfxLevel::Gfx11, WaveSize::Wave32, 15),
        (GfxLevel::Gfx11, WaveSize::Wave64, 4),
        (GfxLevel::Gfx11_5, WaveSize::Wave32, 4),
        (GfxLevel::Gfx10_3, WaveSize::Wave32, 4),
    ] {
        let code = Builder::new(level, wave, 4);
        assert_eq!(code.group().first, user, "{level} {wave:?}");
        assert_eq!(code.finish().unwrap().resources()[1] >> 1 & 0x1f, u32::from(user), "{level} {wave:?}");
    }
}

#[test]
fn a_scalar_load_does_not_overwrite_registers_that_vector_memory_still_reads() {
    for level in [GfxLevel::Gfx10, GfxLevel::Gfx10_3] {
        let lines = lines(level, WaveSize::Wave64, |code| {
            code.op("buffer_load_dword v1, off, s[4:7], 0");
            code.op("s_load_dwordx4 s[4:7], s[0:1], 0x0");
        });
        let is_mitigated = around(&lines, "s_load").0.starts_with("s_waitcnt_depctr");
        assert_eq!(is_mitigated, level == GfxLevel::Gfx10, "{level} {lines:?}");
    }
}

#[test]
fn branches_on_vcc_write_it_again_where_the_flag_may_be_wrong() {
    for level in GfxLevel::ALL {
        let lines = lines(level, WaveSize::Wave64, |code| {
            let end = code.label();
            code.op("s_load_dword s4, s[0:1], 0x0");
            code.branch(Condition::Vcc(true), end);
            code.place(end);
        });
        let rewrites = lines.iter().any(|line| line == "s_mov_b64 vcc, vcc");
        assert_eq!(rewrites, level <= GfxLevel::Gfx9, "{level} {lines:?}");
    }
}

#[test]
fn dpp_comes_five_wait_states_after_other_operations() {
    for level in [GfxLevel::Gfx8, GfxLevel::Gfx9] {
        let lines = lines(level, WaveSize::Wave64, |code| {
            code.op("v_mov_b32 v1, v0");
            code.op("v_mov_b32_dpp v2, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf");
        });
        assert_eq!(around(&lines, "v_mov_b32_dpp").0, "s_nop 4", "{level} {lines:?}");
    }
}

#[test]
fn registers_of_the_hardware_are_set_two_wait_states_before_they_are_used() {
    for level in [GfxLevel::Gfx6, GfxLevel::Gfx7, GfxLevel::Gfx8, GfxLevel::Gfx9] {
        let lines = lines(level, WaveSize::Wave64, |code| {
            code.op("s_nop 0");
            code.op("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 3), 0x1");
        });
        assert!(["s_nop 1", "s_nop 0x1"].contains(&around(&lines, "s_setreg").1), "{level} {lines:?}");
    }
}

#[test]
fn exec_is_not_overwritten_by_a_comparison_while_it_is_read() {
    let lines = lines(GfxLevel::Gfx10, WaveSize::Wave64, |code| code.op("v_cmpx_eq_u32 v0, v0"));
    assert!(around(&lines, "v_cmpx").0.starts_with("s_waitcnt_depctr"), "{lines:?}");
}

#[test]
fn lanes_are_permuted_after_another_vector_operation() {
    for (level, before) in
        [(GfxLevel::Gfx10, "v_readfirstlane_b32"), (GfxLevel::Gfx11, "v_nop"), (GfxLevel::Gfx12, "v_nop")]
    {
        let lines = lines(level, WaveSize::Wave32, |code| code.op("v_permlane16_b32 v1, v0, s0, s1"));
        assert!(around(&lines, "v_permlane16").0.starts_with(before), "{level} {lines:?}");
    }
}

#[test]
fn what_a_generation_cannot_execute_is_refused() {
    let build = |level, operation: &str| {
        let mut code = Builder::new(level, WaveSize::Wave64, 4);
        code.op(operation);
        code.finish().map(|_| ())
    };
    let flat = "flat_load_dword v1, v[2:3] offset:4";
    assert!(matches!(build(GfxLevel::Gfx10, flat), Err(BuildError::Hazard(_))));
    assert!(matches!(build(GfxLevel::Gfx10, "s_inst_prefetch 0x3"), Err(BuildError::Hazard(_))));
    assert_eq!(build(GfxLevel::Gfx10_3, flat), Ok(()));
    assert_eq!(build(GfxLevel::Gfx10, "global_load_dword v1, v[2:3], off offset:4"), Ok(()));
    let multiply = |to| format!("v_mad_u64_u32 v[{to}:{}], null, v2, v3, v[4:5]", to + 1);
    assert_eq!(build(GfxLevel::Gfx11, &multiply(6)), Ok(()));
    for to in [1, 2, 3, 4, 5] {
        assert!(matches!(build(GfxLevel::Gfx11, &multiply(to)), Err(BuildError::Hazard(_))), "v{to}");
    }
    assert_eq!(build(GfxLevel::Gfx11_5, &multiply(2)), Ok(()));
}

#[test]
fn prefetches_of_the_last_instruction_end_within_the_padding() {
    for level in GfxLevel::ALL {
        let program = Builder::new(level, WaveSize::Wave64, 4).finish().unwrap();
        let code = program.text().lines().count();
        // Three lines of 128 bytes, in dwords; each line of the text is at least one dword.
        assert!(program.words().len() - code >= 3 * 128 / 4, "{level}");
    }
}
