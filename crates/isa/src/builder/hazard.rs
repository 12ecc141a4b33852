//! Hazards that hardware leaves to the program, avoided without looking at the exact case: a smoke test has time.
//!
//! Source: LLVM 19 `llvm/lib/Target/AMDGPU/GCNHazardRecognizer.cpp`, Mesa 25.0.7
//! `src/amd/compiler/aco_insert_NOPs.cpp`, for the names of hazards and their wait states.

use amdgpu_hw::GfxLevel;

use crate::{Format, Instruction, OperandKind, WaveSize};

/// What was recorded last, as far as hazards depend on it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hazards {
    /// `true` if memory was accessed since the last mitigation.
    memory: bool,
}

/// Instructions to put around another; empty for none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Around {
    pub(super) before: &'static str,
    pub(super) after: &'static str,
}

fn is_vector(format: Format) -> bool {
    matches!(format, Format::Vop1 | Format::Vop2 | Format::Vop3 | Format::Vop3p | Format::Vopc | Format::Vop3Sdst)
}

fn is_scalar(format: Format) -> bool {
    matches!(format, Format::Sop1 | Format::Sop2 | Format::Sopk)
}

/// Operations of the transcendental unit, whose results GFX11 hands on too early.
fn is_transcendental(name: &str) -> bool {
    ["v_rcp_", "v_rsq_", "v_sqrt_", "v_log_", "v_exp_", "v_sin_", "v_cos_"].iter().any(|start| name.starts_with(start))
}

impl Hazards {
    /// Returns what goes before and after an instruction.
    pub(super) fn around(&mut self, instruction: &Instruction) -> Around {
        let (level, format) = (instruction.level(), instruction.format());
        let opcode = instruction.opcode();
        let reads_scalar_result = instruction.name().starts_with("v_readfirstlane") || opcode.format == Format::Vopc;
        let writes_scalar = is_scalar(format)
            || reads_scalar_result
            || is_vector(format)
                && [OperandKind::Sdst, OperandKind::SdstVdst, OperandKind::Vcc].iter().any(|kind| opcode.has(*kind));
        let (vector, scalar) = (is_vector(format), is_scalar(format));
        if !vector && !scalar && format != Format::Sopp && format != Format::Sopc {
            self.memory = true;
            return Around::default();
        }
        let mut around = Around::default();
        match level {
            // A vector operation writes scalar registers, then memory, v_readlane or v_div_fmas reads them: 5 wait states.
            // A scalar load of GFX6 behind a scalar operation: 4. M0 before LDS: 1.
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 | GfxLevel::Gfx9 if writes_scalar => {
                around.after = if vector || level == GfxLevel::Gfx6 { "s_nop 4" } else { "s_nop 0" };
            }
            // VMEMtoScalarWrite, SMEMtoVectorWrite: memory still reads a scalar register that is written.
            GfxLevel::Gfx10 if writes_scalar && self.memory => {
                self.memory = false;
                around.before = "s_waitcnt_depctr 0xffe3";
                around.after = "s_nop 0";
            }
            // VALUTransUse.
            GfxLevel::Gfx11 if vector && is_transcendental(instruction.name()) => {
                around.after = "s_waitcnt_depctr 0xfff";
            }
            // VALUMaskWrite.
            GfxLevel::Gfx11 if scalar && instruction.wave() == WaveSize::Wave64 => {
                around.after = "s_waitcnt_depctr 0xfffe";
            }
            // Both together: the hazards of scalar registers that vector operations read.
            GfxLevel::Gfx12 if writes_scalar => around.after = "s_wait_alu 0",
            _ => {}
        }
        around
    }
}
