//! Mitigations of hazards that the hardware does not handle.
//!
//! They are conservative: a class of instructions gets its mitigation even if the hazard does not occur, because programs of the
//! smoke test need not be fast.
//!
//! | generations | hazard | mitigation |
//! |---|---|---|
//! | GFX6 to GFX9 | a vector operation writes a scalar register that memory (5 wait states), `v_readlane` or `v_writelane` as a lane (4), `v_div_fmas` as VCC (4), or on GFX6 a scalar load (4) then reads | `s_nop 4` |
//! | GFX6 | a scalar operation writes a descriptor that `s_buffer_load` then reads (4) | `s_nop 4` |
//! | GFX7 to GFX9 | a scalar operation writes M0, which GDS, `s_sendmsg`, and on GFX9 `s_movrel`, interpolation and LDS with M0 then read (1) | `s_nop 0` |
//! | GFX10 | VMEMtoScalarWriteHazard: memory or LDS still reads a scalar register that a scalar operation writes | `s_waitcnt_depctr 0xffe3`, vm_vsrc |
//! | GFX10 | SMEMtoVectorWriteHazard: a scalar load still reads a scalar register that a vector operation writes | a scalar operation that is no SOPP, `s_mov_b32 null, 0` |
//! | GFX11 | VALUTransUseHazard: a result of the transcendental unit is read too early | `s_waitcnt_depctr 0xfff`, va_vdst |
//! | GFX11, GFX11.5; wave64 | VALUMaskWriteHazard: a lane mask of a vector operation is written and then read | `s_waitcnt_depctr`, sa_sdst after scalar, va_sdst and va_vcc after vector operations |
//! | GFX11, GFX11.5; wave64 | VALUPartialForwardingHazard: vector registers are written before and after a scalar operation writes EXEC, and then read together | `s_waitcnt_depctr`, va_vdst after scalar operations |
//! | GFX12 | VALUReadSGPRHazard: a scalar register that a vector operation read is written and then read | `s_wait_alu 0` |
//!
//! Fields of `s_waitcnt_depctr`, each a counter to wait for: sa_sdst bit 0, va_vcc bit 1, vm_vsrc bits 2 to 4, va_sdst bits 9 to
//! 11, va_vdst bits 12 to 15.
//!
//! Source: Mesa 25.0.7 `src/amd/compiler/aco_insert_NOPs.cpp`, `handle_instruction_gfx6`, `handle_instruction_gfx10` and
//! `handle_instruction_gfx11`, and `src/amd/compiler/README-ISA.md`, "Hardware Bugs"; LLVM 19
//! `llvm/lib/Target/AMDGPU/GCNHazardRecognizer.cpp`, `checkVMEMHazards`, `checkRWLaneHazards`, `checkDivFMasHazards`,
//! `checkSMRDHazards`, `checkReadM0Hazards`, `fixVMEMtoScalarWriteHazards`, `fixSMEMtoVectorWriteHazards`,
//! `fixVALUTransUseHazard`, `fixVALUMaskWriteHazard` and `fixVALUPartialForwardingHazard`.

use amdgpu_hw::GfxLevel;

use crate::{Format, Instruction, OperandKind, WaveSize};

/// The state on which hazards depend.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hazards {
    /// `true` if memory was accessed since the last mitigation.
    memory: bool,
}

/// Instructions to insert before and after another; empty for none.
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

/// Returns `true` if the operation runs on the transcendental unit.
fn is_transcendental(name: &str) -> bool {
    ["v_rcp_", "v_rsq_", "v_sqrt_", "v_log_", "v_exp_", "v_sin_", "v_cos_"].iter().any(|start| name.starts_with(start))
}

impl Hazards {
    /// Returns the mitigations before and after an instruction.
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
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 | GfxLevel::Gfx9 if writes_scalar => {
                around.after = if vector || level == GfxLevel::Gfx6 { "s_nop 4" } else { "s_nop 0" };
            }
            // A vector operation ends the first hazard and a scalar operation the second, so one mitigation suffices.
            GfxLevel::Gfx10 if writes_scalar && self.memory => {
                self.memory = false;
                around.before = if vector { "s_mov_b32 null, 0" } else { "s_waitcnt_depctr 0xffe3" };
            }
            GfxLevel::Gfx11 if vector && is_transcendental(instruction.name()) => {
                around.after = "s_waitcnt_depctr 0xfff";
            }
            GfxLevel::Gfx11 | GfxLevel::Gfx11_5 if scalar && instruction.wave() == WaveSize::Wave64 => {
                around.after = "s_waitcnt_depctr 0xffe";
            }
            GfxLevel::Gfx11 | GfxLevel::Gfx11_5 if writes_scalar && instruction.wave() == WaveSize::Wave64 => {
                around.after = "s_waitcnt_depctr 0xf1fd";
            }
            GfxLevel::Gfx12 if writes_scalar => around.after = "s_wait_alu 0",
            _ => {}
        }
        around
    }
}
