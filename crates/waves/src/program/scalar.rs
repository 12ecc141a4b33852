//! Scalar instructions to steps.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Field, Format, Instruction, OperandKind};

use super::{
    shape::Shape,
    source::{Refusal, destination, source},
    step::{
        Action, Condition, HardwareRegister, Jump, RegisterAccess, ScalarAtomic, ScalarKind, ScalarLoad, ScalarMove,
        ScalarStep, Source,
    },
};
use crate::{
    alu::{kernel::Type, scalar},
    atomic::Atomic,
};

/// Names that have no effect on results: waits, hints and counters.
const NOTHING: [&str; 18] = [
    "s_nop",
    "s_sleep",
    "s_sleep_var",
    "s_setprio",
    "s_clause",
    "s_delay_alu",
    "s_inst_prefetch",
    "s_set_inst_prefetch_distance",
    "s_icache_inv",
    "s_ttracedata",
    "s_ttracedata_imm",
    "s_incperflevel",
    "s_decperflevel",
    "s_version",
    "s_wakeup",
    "s_singleuse_vdst",
    "s_setkill",
    "s_trap",
];

pub(super) fn action(shape: Shape, instruction: &Instruction) -> Result<Action, Refusal> {
    let name = instruction.name();
    if NOTHING.contains(&name) || name.starts_with("s_wait") {
        return Ok(Action::Nothing);
    }
    if let Some(action) = flow(shape, instruction)? {
        return Ok(action);
    }
    if let Some(action) = special(shape, instruction)? {
        return Ok(action);
    }
    if let Some((combine, writes_both)) = scalar::exec_operation(name) {
        let dwords = if name.ends_with("64") { 2 } else { 1 };
        return Ok(Action::SaveExec {
            combine,
            writes_both,
            source: scalar_source(instruction, Field::Ssrc0, dwords)?,
            destination: destination(shape.level, instruction.field(Field::Sdst))?,
            dwords,
        });
    }
    let function = scalar::operation(name).ok_or("the scalar operation is not known")?;
    plain(instruction, function)
}

fn kind(dwords: u8) -> Type {
    if dwords == 2 { Type::Unsigned64 } else { Type::Int32 }
}

/// Returns the type of the sources of an operation: that of its inline constants. On GFX11.5 and GFX12 those of operations on halves are
/// halves, and `-1.0` is 0xbc00.
fn source_kind(name: &str, dwords: u8) -> Type {
    let of_halves = name.ends_with("_f16") && !matches!(name, "s_cvt_f16_f32" | "s_cvt_pk_rtz_f16_f32");
    if of_halves || name == "s_cvt_f32_f16" { Type::F16 } else { kind(dwords) }
}

fn scalar_source(instruction: &Instruction, field: Field, dwords: u8) -> Result<Source, Refusal> {
    source(instruction, instruction.field(field), kind(dwords))
}

/// Returns a 16-bit immediate, sign-extended.
fn signed16(instruction: &Instruction) -> i64 {
    i64::from(instruction.field(Field::Simm16) as u16 as i16)
}

/// Decodes an operation that has a function.
fn plain(instruction: &Instruction, function: scalar::Scalar) -> Result<Action, Refusal> {
    let level = instruction.level();
    let name = instruction.name();
    let opcode = instruction.opcode();
    let nothing = (Source::Constant(0), 1);
    let (mut a, mut b, mut c) = (nothing, nothing, nothing);
    let mut written = None;
    let mut literal = None;
    for operand in opcode.operands {
        match operand.kind {
            OperandKind::Sdst => {
                written = Some((destination(level, instruction.field(Field::Sdst))?, operand.dwords));
                c = (source(instruction, instruction.field(Field::Sdst), kind(operand.dwords))?, operand.dwords);
            }
            OperandKind::Ssrc0 => {
                let kind = match operand.dwords {
                    2 if name.ends_with("_i64") => Type::Signed64,
                    dwords => source_kind(name, dwords),
                };
                a = (source(instruction, instruction.field(Field::Ssrc0), kind)?, operand.dwords);
            }
            OperandKind::Ssrc1 => {
                let kind = source_kind(name, operand.dwords);
                b = (source(instruction, instruction.field(Field::Ssrc1), kind)?, operand.dwords);
            }
            OperandKind::Literal => literal = instruction.literal(),
            _ => {}
        }
    }
    if instruction.format() == Format::Sopk {
        let signed = signed16(instruction);
        let zero_extends = name.starts_with("s_cmpk_") && name.ends_with("_u32");
        let immediate = if zero_extends { signed & 0xffff } else { signed };
        let immediate = (Source::Constant(u64::from(immediate as u32)), 1);
        (a, b) = if matches!(name, "s_movk_i32" | "s_cmovk_i32") { (immediate, nothing) } else { (c, immediate) };
        if name.starts_with("s_cmpk_") {
            written = None;
        }
    }
    if let Some(literal) = literal {
        let literal = (Source::Constant(literal.into()), 1);
        // s0 * K + s1, or s0 * s1 + K.
        if name.starts_with("s_fmamk") {
            (b, c) = (literal, b);
        } else {
            c = literal;
        }
    }
    Ok(Action::Scalar(Box::new(ScalarStep { function, a, b, c, destination: written })))
}

/// Decodes branches, ends and barriers.
fn flow(shape: Shape, instruction: &Instruction) -> Result<Option<Action>, Refusal> {
    let branch = |condition| Action::Branch(condition, 4 * signed16(instruction));
    Ok(Some(match instruction.name() {
        "s_endpgm" | "s_endpgm_saved" | "s_endpgm_ordered_ps_done" => Action::End,
        "s_code_end" => Action::Halt,
        "s_sethalt" if instruction.field(Field::Simm16) & 1 != 0 => Action::Halt,
        "s_sethalt" => Action::Nothing,
        "s_branch" => branch(Condition::Always),
        "s_cbranch_scc0" => branch(Condition::Scc(false)),
        "s_cbranch_scc1" => branch(Condition::Scc(true)),
        "s_cbranch_vccz" => branch(Condition::VccZero(true)),
        "s_cbranch_vccnz" => branch(Condition::VccZero(false)),
        "s_cbranch_execz" => branch(Condition::ExecZero(true)),
        "s_cbranch_execnz" => branch(Condition::ExecZero(false)),
        "s_cbranch_cdbgsys" | "s_cbranch_cdbguser" | "s_cbranch_cdbgsys_or_user" | "s_cbranch_cdbgsys_and_user" => {
            Action::Nothing
        }
        "s_barrier" => Action::Barrier,
        "s_barrier_signal" => Action::BarrierSignal,
        "s_barrier_wait" => Action::BarrierWait,
        "s_barrier_signal_isfirst"
        | "s_barrier_init"
        | "s_barrier_join"
        | "s_barrier_leave"
        | "s_wakeup_barrier"
        | "s_get_barrier_state" => return Err(Refusal::NotExecuted("named barriers are not executed")),
        "s_sendmsg" => match instruction.field(Field::Simm16) & 0xff {
            1 | 3 => Action::Nothing,
            // GS_ALLOC_REQ: a simulated group has room for all exports.
            9 if shape.is_graphics => Action::Nothing,
            _ => return Err(Refusal::NotExecuted("the message belongs to graphics shaders")),
        },
        "s_sendmsghalt" => Action::Halt,
        "s_sendmsg_rtn_b32" | "s_sendmsg_rtn_b64" => match instruction.field(Field::Ssrc0) {
            0x83 => Action::Time {
                destination: destination(instruction.level(), instruction.field(Field::Sdst))?,
                dwords: instruction.opcode().operands[0].dwords,
            },
            _ => return Err(Refusal::NotExecuted("the message has no answer")),
        },
        "s_rfe_b64" | "s_rfe_restore_b64" => {
            return Err(Refusal::NotExecuted("there is no trap handler to return from"));
        }
        "s_cbranch_g_fork" | "s_cbranch_i_fork" | "s_cbranch_join" => {
            return Err(Refusal::NotExecuted("forks are not executed"));
        }
        "s_subvector_loop_begin" | "s_subvector_loop_end" => {
            return Err(Refusal::NotExecuted("subvector loops are not executed"));
        }
        "s_setvskip" => return Err(Refusal::NotExecuted("skipping of vector instructions is not executed")),
        _ => return Ok(None),
    }))
}

/// Decodes jumps, hardware registers, mode changes and indexed moves.
fn special(shape: Shape, instruction: &Instruction) -> Result<Option<Action>, Refusal> {
    let sdst = || destination(shape.level, instruction.field(Field::Sdst));
    let target = || scalar_source(instruction, Field::Ssrc0, 2);
    let immediate = instruction.field(Field::Simm16);
    let register = |access| {
        Action::Register(HardwareRegister {
            id: (immediate & 63) as u8,
            offset: (immediate >> 6 & 31) as u8,
            bits: (immediate >> 11 & 31) as u8 + 1,
            access,
        })
    };
    let moved = |dwords, indexes_source, indexes_destination, split| -> Result<Action, Refusal> {
        Ok(Action::ScalarMove(ScalarMove {
            source: destination(shape.level, instruction.field(Field::Ssrc0))?,
            destination: sdst()?,
            dwords,
            indexes_source,
            indexes_destination,
            split,
        }))
    };
    Ok(Some(match instruction.name() {
        "s_getpc_b64" => Action::Jump(Jump::Get(sdst()?)),
        "s_setpc_b64" => Action::Jump(Jump::Set(target()?)),
        "s_swappc_b64" => Action::Jump(Jump::Swap(sdst()?, target()?)),
        "s_call_b64" => Action::Jump(Jump::Call(sdst()?, 4 * signed16(instruction))),
        "s_getreg_b32" => register(RegisterAccess::Read(sdst()?)),
        "s_setreg_b32" => {
            let number = instruction.field(Field::Sdst);
            register(RegisterAccess::Write(source(instruction, number, Type::Int32)?))
        }
        "s_setreg_imm32_b32" => {
            register(RegisterAccess::Write(Source::Constant(instruction.literal().unwrap_or(0).into())))
        }
        "s_round_mode" => Action::Mode(0x0f, immediate & 15),
        "s_denorm_mode" => Action::Mode(0xf0, (immediate & 15) << 4),
        "s_movrels_b32" => moved(1, true, false, false)?,
        "s_movrels_b64" => moved(2, true, false, false)?,
        "s_movreld_b32" => moved(1, false, true, false)?,
        "s_movreld_b64" => moved(2, false, true, false)?,
        "s_movrelsd_2_b32" => moved(1, true, true, true)?,
        "s_set_gpr_idx_on" => Action::IndexMode {
            source: Some(scalar_source(instruction, Field::Ssrc0, 1)?),
            mode: Some(instruction.field(Field::Ssrc1) & 15),
            on: Some(true),
        },
        "s_set_gpr_idx_off" => Action::IndexMode { source: None, mode: None, on: Some(false) },
        "s_set_gpr_idx_mode" => Action::IndexMode { source: None, mode: Some(immediate & 15), on: None },
        "s_set_gpr_idx_idx" => {
            Action::IndexMode { source: Some(scalar_source(instruction, Field::Ssrc0, 1)?), mode: None, on: None }
        }
        _ => return Ok(None),
    }))
}

/// Returns the low `bits` of `value`, sign-extended.
fn sign_extended(value: u32, bits: u32) -> i64 {
    i64::from((value << (32 - bits)).cast_signed() >> (32 - bits))
}

/// Decodes SMRD and SMEM.
pub(super) fn memory(instruction: &Instruction) -> Result<Action, Refusal> {
    let (level, name) = (instruction.level(), instruction.name());
    match name {
        "s_memtime" | "s_memrealtime" => {
            return Ok(Action::Time {
                destination: destination(level, instruction.field(Field::Sdata).max(instruction.field(Field::Sdst)))?,
                dwords: 2,
            });
        }
        "s_get_waveid_in_workgroup" => {
            return Ok(Action::WaveNumber(destination(level, instruction.field(Field::Sdata))?));
        }
        _ => {}
    }
    if ["s_dcache", "s_gl1", "s_prefetch", "s_buffer_prefetch", "s_atc"].iter().any(|prefix| name.starts_with(prefix)) {
        return Ok(Action::Nothing);
    }
    let (offset, register_offset) = offset(instruction)?;
    let rest = name.strip_prefix("s_").unwrap_or(name);
    let (rest, buffer) = rest.strip_prefix("buffer_").map_or((rest, false), |rest| (rest, true));
    let (rest, scratch) = rest.strip_prefix("scratch_").map_or((rest, false), |rest| (rest, true));
    let data = if instruction.has_field(Field::Sdata) { Field::Sdata } else { Field::Sdst };
    let mut place = ScalarLoad {
        data: destination(level, instruction.field(data))?,
        dwords: 1,
        base: (2 * instruction.field(Field::Sbase)) as u8,
        buffer,
        offset,
        register_offset,
        kind: ScalarKind::Load,
        scratch,
    };
    if let Some(rest) = rest.strip_prefix("atomic_") {
        let (atomic, bytes) = Atomic::parse(rest).ok_or("the scalar atomic operation is not known")?;
        let returns = instruction.field(Field::Glc) != 0;
        return Ok(Action::ScalarAtomic(Box::new(ScalarAtomic { place, atomic, bytes, returns })));
    }
    let (kind, rest) = match (rest.strip_prefix("load_"), rest.strip_prefix("store_")) {
        (Some(rest), _) => (ScalarKind::Load, rest),
        (_, Some(rest)) => (ScalarKind::Store, rest),
        _ => return Err(Refusal::NotExecuted("the scalar memory operation is not known")),
    };
    (place.kind, place.dwords) = match rest {
        "dword" | "b32" => (kind, 1),
        "dwordx2" | "b64" => (kind, 2),
        "b96" => (kind, 3),
        "dwordx4" | "b128" => (kind, 4),
        "dwordx8" | "b256" => (kind, 8),
        "dwordx16" | "b512" => (kind, 16),
        "u8" => (ScalarKind::Part(1, false), 1),
        "i8" => (ScalarKind::Part(1, true), 1),
        "u16" => (ScalarKind::Part(2, false), 1),
        "i16" => (ScalarKind::Part(2, true), 1),
        _ => return Err(Refusal::NotExecuted("the size of the scalar access is not known")),
    };
    if usize::from(place.base) + if buffer { 4 } else { 2 } > 128 {
        return Err(Refusal::Illegal("the scalar base does not exist"));
    }
    Ok(Action::ScalarLoad(place))
}

/// Returns the constant part of a scalar address in bytes, and the register that is added.
fn offset(instruction: &Instruction) -> Result<(i64, Option<Source>), Refusal> {
    let field = |field| instruction.field(field);
    let register = |number| source(instruction, number, Type::Int32).map(Some);
    match instruction.level() {
        GfxLevel::Gfx6 | GfxLevel::Gfx7 => match (field(Field::Imm), instruction.literal()) {
            (1, _) => Ok((4 * i64::from(field(Field::Offset)), None)),
            (_, Some(literal)) => Ok((4 * i64::from(literal), None)),
            _ => Ok((0, register(field(Field::Offset))?)),
        },
        GfxLevel::Gfx8 if field(Field::Imm) != 0 => Ok((i64::from(field(Field::Offset) & 0xf_ffff), None)),
        GfxLevel::Gfx8 => Ok((0, register(field(Field::Offset) & 0x7f)?)),
        GfxLevel::Gfx9 => {
            let second = if field(Field::SoffsetEn) != 0 { register(field(Field::Soffset))? } else { None };
            if field(Field::Imm) != 0 {
                return Ok((sign_extended(field(Field::Offset), 21), second));
            }
            Ok((0, if second.is_some() { second } else { register(field(Field::Offset) & 0x7f)? }))
        }
        GfxLevel::Gfx12 => Ok((sign_extended(field(Field::Ioffset), 24), register(field(Field::Soffset))?)),
        _ => Ok((sign_extended(field(Field::Offset), 21), register(field(Field::Soffset))?)),
    }
}
