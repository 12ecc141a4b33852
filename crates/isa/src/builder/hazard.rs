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
//! | GFX6 to GFX9 | `s_setreg` writes a register that `s_getreg`, `s_setreg` or a vector operation then uses (2) | `s_nop 1` |
//! | GFX6 to GFX9 | a vector operation writes VCC or EXEC, and a vector operation reads VCCZ or EXECZ as data (5) | `s_nop 4` |
//! | GFX8, GFX9 | a vector operation writes a register (2) or EXEC (5) that a DPP operation then reads | `s_nop 4` |
//! | GFX10 | VMEMtoScalarWriteHazard: memory or LDS still reads a scalar register that a scalar operation or a scalar load writes | `s_waitcnt_depctr 0xffe3`, vm_vsrc |
//! | GFX10 | SMEMtoVectorWriteHazard: a scalar load still reads a scalar register that a vector operation writes | a scalar operation that is no SOPP, `s_mov_b32 null, 0` |
//! | GFX10 | VcmpxExecWARHazard: an operation that is no vector operation still reads EXEC when `v_cmpx` writes it | `s_waitcnt_depctr 0xfffe`, sa_sdst |
//! | GFX10 | VcmpxPermlaneHazard: `v_permlane` follows `v_cmpx` | a vector operation that is no `v_nop`, `v_readfirstlane_b32 null, v0` |
//! | GFX10 | NSAtoVMEMBug, and `v_writelane` before an image with scattered addresses | `s_nop 0` behind either |
//! | GFX11, GFX11.5, GFX12 | VcmpxPermlaneHazard, and WMMA after WMMA | `v_nop` |
//! | GFX11 | VALUTransUseHazard: a result of the transcendental unit is read too early | `s_waitcnt_depctr 0xfff`, va_vdst |
//! | GFX11, GFX11.5; wave64 | VALUMaskWriteHazard: a lane mask of a vector operation is written and then read | `s_waitcnt_depctr`, sa_sdst after scalar, va_sdst and va_vcc after vector operations |
//! | GFX11, GFX11.5; wave64 | VALUPartialForwardingHazard: vector registers are written before and after a scalar operation writes EXEC, and then read together | `s_waitcnt_depctr`, va_vdst after scalar operations |
//! | GFX12 | VALUReadSGPRHazard: a scalar register that a vector operation read is written and then read | `s_wait_alu 0` |
//!
//! Operations that fail on a generation whatever surrounds them are refused: on GFX10 `s_inst_prefetch`, and FLAT operations with an
//! offset; on GFX11 `v_mad_u64_u32` and `v_mad_i64_i32` whose result overlaps a source.
//!
//! Fields of `s_waitcnt_depctr`, each a counter to wait for: sa_sdst bit 0, va_vcc bit 1, vm_vsrc bits 2 to 4, va_sdst bits 9 to
//! 11, va_vdst bits 12 to 15.
//!
//! Source: Mesa 25.0.7 `src/amd/compiler/aco_insert_NOPs.cpp`, `handle_instruction_gfx6`, `handle_instruction_gfx10` and
//! `handle_instruction_gfx11`, and `src/amd/compiler/README-ISA.md`, "Hardware Bugs"; LLVM 19
//! `llvm/lib/Target/AMDGPU/GCNHazardRecognizer.cpp`, `checkVMEMHazards`, `checkRWLaneHazards`, `checkDivFMasHazards`,
//! `checkSMRDHazards`, `checkReadM0Hazards`, `fixVMEMtoScalarWriteHazards`, `fixSMEMtoVectorWriteHazards`,
//! `fixVALUTransUseHazard`, `fixVALUMaskWriteHazard`, `fixVALUPartialForwardingHazard`, `fixVcmpxExecWARHazard`,
//! `fixVcmpxPermlaneHazards`, `checkDPPHazards`, `checkSetRegHazards`, `checkNSAtoVMEMHazard` and `fixWMMAHazards`.

use amdgpu_hw::GfxLevel;

use crate::{Field, Format, Instruction, OperandKind, WaveSize};

/// The state on which hazards depend.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hazards {
    /// `true` if vector memory or LDS may still read scalar registers.
    vector_memory: bool,
    /// `true` if a scalar load may still read scalar registers.
    scalar_memory: bool,
}

/// Instructions to insert before and after another; empty for none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Around {
    pub(super) before: Vec<&'static str>,
    pub(super) after: Vec<&'static str>,
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

/// Returns `true` if a vector operation reads VCCZ or EXECZ as data.
fn reads_zero_flags(instruction: &Instruction) -> bool {
    const FLAGS: [u32; 2] = [251, 252];
    [Field::Src0, Field::Src1, Field::Src2].iter().any(|field| FLAGS.contains(&instruction.field(*field)))
}

/// Returns the reason why no surroundings make an operation work on its generation.
pub(super) fn refusal(instruction: &Instruction) -> Option<&'static str> {
    let name = instruction.name();
    match instruction.level() {
        GfxLevel::Gfx10 if name == "s_inst_prefetch" => Some("s_inst_prefetch may hang GFX10"),
        // GLOBAL and SCRATCH have the same format.
        GfxLevel::Gfx10 if name.starts_with("flat_") && instruction.field(Field::Offset) != 0 => {
            Some("GFX10 does not add the offset of a FLAT operation")
        }
        GfxLevel::Gfx11 if name.starts_with("v_mad_u64_u32") || name.starts_with("v_mad_i64_i32") => {
            let result = 256 + instruction.field(Field::Vdst);
            let sources = [(Field::Src0, 1), (Field::Src1, 1), (Field::Src2, 2)];
            let overlaps = sources.iter().any(|&(field, count)| {
                let first = instruction.field(field);
                first < result + 2 && result < first + count
            });
            overlaps.then_some("GFX11 overwrites a source of v_mad_u64_u32 before it is read")
        }
        _ => None,
    }
}

impl Hazards {
    /// Returns the mitigations before and after an instruction.
    pub(super) fn around(&mut self, instruction: &Instruction) -> Around {
        let (level, format) = (instruction.level(), instruction.format());
        let opcode = instruction.opcode();
        let name = instruction.name();
        let reads_scalar_result = name.starts_with("v_readfirstlane") || opcode.format == Format::Vopc;
        let writes_scalar = is_scalar(format)
            || reads_scalar_result
            || is_vector(format)
                && [OperandKind::Sdst, OperandKind::SdstVdst, OperandKind::Vcc].iter().any(|kind| opcode.has(*kind));
        let (vector, scalar) = (is_vector(format), is_scalar(format));
        let mut around = Around::default();
        if !vector && !scalar && format != Format::Sopp && format != Format::Sopc {
            self.around_memory(instruction, &mut around);
            return around;
        }
        let is_wave64 = instruction.wave() == WaveSize::Wave64;
        match level {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 | GfxLevel::Gfx9 => {
                let is_dpp = matches!(level, GfxLevel::Gfx8 | GfxLevel::Gfx9)
                    && instruction.extension().is_some_and(|extension| extension.format == Format::Dpp);
                if is_dpp || vector && reads_zero_flags(instruction) {
                    around.before.push("s_nop 4");
                }
                if name.starts_with("s_setreg") {
                    around.after.push("s_nop 1");
                } else if writes_scalar {
                    around.after.push(if vector || level == GfxLevel::Gfx6 { "s_nop 4" } else { "s_nop 0" });
                }
            }
            GfxLevel::Gfx10 => self.around_gfx10(name, (vector, scalar, writes_scalar), &mut around),
            GfxLevel::Gfx11 | GfxLevel::Gfx11_5 => {
                if level == GfxLevel::Gfx11 && vector && is_transcendental(name) {
                    around.after.push("s_waitcnt_depctr 0xfff");
                } else if scalar && is_wave64 {
                    around.after.push("s_waitcnt_depctr 0xffe");
                } else if writes_scalar && is_wave64 {
                    around.after.push("s_waitcnt_depctr 0xf1fd");
                }
            }
            GfxLevel::Gfx12 if writes_scalar => around.after.push("s_wait_alu 0"),
            GfxLevel::Gfx10_3 | GfxLevel::Gfx12 => {}
        }
        if level >= GfxLevel::Gfx11 {
            if name.starts_with("v_permlane") {
                around.before.push("v_nop");
            } else if name.starts_with("v_wmma") || name.starts_with("v_swmmac") {
                around.after.push("v_nop");
            }
        }
        around
    }

    /// Adds the mitigations of vector and scalar operations on GFX10.
    fn around_gfx10(&mut self, name: &str, (vector, scalar, writes_scalar): (bool, bool, bool), around: &mut Around) {
        if scalar && self.vector_memory {
            around.before.push("s_waitcnt_depctr 0xffe3");
        }
        if vector && writes_scalar && self.scalar_memory {
            around.before.push("s_mov_b32 null, 0");
        }
        if name.starts_with("v_cmpx") {
            around.before.push("s_waitcnt_depctr 0xfffe");
        }
        if name.starts_with("v_permlane") {
            around.before.push("v_readfirstlane_b32 null, v0");
        }
        if name.starts_with("v_writelane") {
            around.after.push("s_nop 0");
        }
        // Any vector operation ends the hazard of vector memory, and a scalar one that of scalar loads.
        if vector || scalar {
            self.vector_memory = false;
        }
        if scalar || writes_scalar {
            self.scalar_memory = false;
        }
    }

    /// Adds the mitigations of an operation on memory, LDS or an image.
    fn around_memory(&mut self, instruction: &Instruction, around: &mut Around) {
        if matches!(instruction.format(), Format::Smem | Format::Smrd) {
            if instruction.level() == GfxLevel::Gfx10 && self.vector_memory {
                around.before.push("s_waitcnt_depctr 0xffe3");
                self.vector_memory = false;
            }
            self.scalar_memory = true;
            return;
        }
        self.vector_memory = true;
        if instruction.level() == GfxLevel::Gfx10 && instruction.field(Field::Nsa) != 0 {
            around.after.push("s_nop 0");
        }
    }
}
