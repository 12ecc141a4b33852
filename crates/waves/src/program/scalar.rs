//! Scalar instructions, decoded.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Field, Format, Instruction, Op, OperandKind};

use super::{
    decoded_inst::{
        DecodedOp, HardwareRegister, IndexMode, Jump, RegisterAccess, SaveExec, ScalarAtomic, ScalarKind, ScalarLoad,
        ScalarMove, ScalarOp, Source,
    },
    operations::{Base, Flow, Special},
    source::{Refusal, destination, source},
    wave_config::WaveConfig,
};
use crate::{
    alu::{
        kernel::Type,
        scalar::{Combine, Operation},
    },
    atomic::Atomic,
};

/// Decodes operations that combine EXEC with a source and keep the old one.
pub(super) fn save_exec(
    config: WaveConfig,
    instruction: &Instruction,
    combine: Combine,
    writes_both: bool,
) -> Result<DecodedOp, Refusal> {
    let dwords = instruction.opcode().operands[0].dwords;
    Ok(DecodedOp::SaveExec(Box::new(SaveExec {
        combine,
        writes_both,
        source: scalar_source(instruction, Field::Ssrc0, dwords)?,
        destination: destination(config.level, instruction.field(Field::Sdst))?,
        dwords,
    })))
}

fn kind(dwords: u8) -> Type {
    if dwords == 2 { Type::Unsigned64 } else { Type::Int32 }
}

/// Returns the type of a source of so many dwords: that of its inline constants. On GFX11.5 and GFX12 those of operations on halves are
/// halves, and `-1.0` is 0xbc00.
fn source_kind(constants: Option<Type>, dwords: u8) -> Type {
    constants.filter(|kind| kind.dwords() == dwords).unwrap_or_else(|| kind(dwords))
}

fn scalar_source(instruction: &Instruction, field: Field, dwords: u8) -> Result<Source, Refusal> {
    source(instruction, instruction.field(field), kind(dwords))
}

/// Returns a 16-bit immediate, sign-extended.
fn signed16(instruction: &Instruction) -> i64 {
    i64::from(instruction.field(Field::Simm16) as u16 as i16)
}

/// Decodes an operation that has a function.
pub(super) fn plain(instruction: &Instruction, operation: Operation) -> Result<DecodedOp, Refusal> {
    let Operation { function, constants } = operation;
    let (level, op) = (instruction.level(), instruction.op());
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
                let kind = source_kind(constants, operand.dwords);
                a = (source(instruction, instruction.field(Field::Ssrc0), kind)?, operand.dwords);
            }
            OperandKind::Ssrc1 => {
                let kind = source_kind(constants, operand.dwords);
                b = (source(instruction, instruction.field(Field::Ssrc1), kind)?, operand.dwords);
            }
            OperandKind::Literal => literal = instruction.literal(),
            _ => {}
        }
    }
    if instruction.format() == Format::Sopk {
        let signed = signed16(instruction);
        let immediate = |value: i64| (Source::Constant(u64::from(value as u32)), 1);
        (a, b) = match op {
            Op::SMovkI32 | Op::SCmovkI32 => (immediate(signed), nothing),
            Op::SCmpkEqU32 | Op::SCmpkGeU32 | Op::SCmpkGtU32 | Op::SCmpkLeU32 | Op::SCmpkLgU32 | Op::SCmpkLtU32 => {
                (c, immediate(signed & 0xffff))
            }
            _ => (c, immediate(signed)),
        };
        // Comparisons name their source where others name the destination.
        if matches!(
            op,
            Op::SCmpkEqI32
                | Op::SCmpkEqU32
                | Op::SCmpkGeI32
                | Op::SCmpkGeU32
                | Op::SCmpkGtI32
                | Op::SCmpkGtU32
                | Op::SCmpkLeI32
                | Op::SCmpkLeU32
                | Op::SCmpkLgI32
                | Op::SCmpkLgU32
                | Op::SCmpkLtI32
                | Op::SCmpkLtU32
        ) {
            written = None;
        }
    }
    if let Some(literal) = literal {
        let literal = (Source::Constant(literal.into()), 1);
        // s0 * K + s1, or s0 * s1 + K.
        if op == Op::SFmamkF32 {
            (b, c) = (literal, b);
        } else {
            c = literal;
        }
    }
    Ok(DecodedOp::Scalar(Box::new(ScalarOp { function, a, b, c, destination: written })))
}

/// Decodes branches, ends and barriers.
pub(super) fn flow(config: WaveConfig, instruction: &Instruction, flow: Flow) -> Result<DecodedOp, Refusal> {
    Ok(match flow {
        Flow::End => DecodedOp::End,
        Flow::SetHalt if instruction.field(Field::Simm16) & 1 == 0 => DecodedOp::Nothing,
        Flow::Halt | Flow::SetHalt => DecodedOp::Halt,
        Flow::Branch(condition) => DecodedOp::Branch(condition, 4 * signed16(instruction)),
        Flow::Barrier => DecodedOp::Barrier,
        Flow::BarrierSignal => DecodedOp::BarrierSignal,
        Flow::BarrierWait => DecodedOp::BarrierWait,
        Flow::Message => match instruction.field(Field::Simm16) & 0xff {
            1 | 3 => DecodedOp::Nothing,
            // GS_ALLOC_REQ: a simulated group has room for all exports.
            9 if config.is_graphics => DecodedOp::Nothing,
            _ => return Err(Refusal::NotExecuted("the message belongs to graphics shaders")),
        },
        Flow::Question => match instruction.field(Field::Ssrc0) {
            0x83 => DecodedOp::Time {
                destination: destination(instruction.level(), instruction.field(Field::Sdst))?,
                dwords: instruction.opcode().operands[0].dwords,
            },
            _ => return Err(Refusal::NotExecuted("the message has no answer")),
        },
    })
}

/// Decodes jumps, hardware registers, mode changes, indexed moves and counters.
pub(super) fn special(config: WaveConfig, instruction: &Instruction, special: Special) -> Result<DecodedOp, Refusal> {
    let sdst = || destination(config.level, instruction.field(Field::Sdst));
    let target = || scalar_source(instruction, Field::Ssrc0, 2);
    let immediate = instruction.field(Field::Simm16);
    let register = |access| {
        DecodedOp::Register(Box::new(HardwareRegister {
            id: (immediate & 63) as u8,
            offset: (immediate >> 6 & 31) as u8,
            bits: (immediate >> 11 & 31) as u8 + 1,
            access,
        }))
    };
    let jump = |jump| DecodedOp::Jump(Box::new(jump));
    let index = |source, mode, on| DecodedOp::IndexMode(Box::new(IndexMode { source, mode, on }));
    Ok(match special {
        Special::GetPc => jump(Jump::Get(sdst()?)),
        Special::SetPc => jump(Jump::Set(target()?)),
        Special::SwapPc => jump(Jump::Swap(sdst()?, target()?)),
        Special::Call => jump(Jump::Call(sdst()?, 4 * signed16(instruction))),
        Special::ReadRegister => register(RegisterAccess::Read(sdst()?)),
        Special::WriteRegister => {
            let number = instruction.field(Field::Sdst);
            register(RegisterAccess::Write(source(instruction, number, Type::Int32)?))
        }
        Special::WriteRegisterLiteral => {
            register(RegisterAccess::Write(Source::Constant(instruction.literal().unwrap_or(0).into())))
        }
        Special::RoundMode => DecodedOp::Mode(0x0f, immediate & 15),
        Special::DenormMode => DecodedOp::Mode(0xf0, (immediate & 15) << 4),
        Special::Move { indexes_source, indexes_destination, split } => DecodedOp::ScalarMove(ScalarMove {
            source: destination(config.level, instruction.field(Field::Ssrc0))?,
            destination: sdst()?,
            dwords: instruction.opcode().operands[0].dwords,
            indexes_source,
            indexes_destination,
            split,
        }),
        Special::IndexOn => index(
            Some(scalar_source(instruction, Field::Ssrc0, 1)?),
            Some(instruction.field(Field::Ssrc1) & 15),
            Some(true),
        ),
        Special::IndexOff => index(None, None, Some(false)),
        Special::IndexMode => index(None, Some(immediate & 15), None),
        Special::Index => index(Some(scalar_source(instruction, Field::Ssrc0, 1)?), None, None),
        Special::Time => {
            let number = instruction.field(Field::Sdata).max(instruction.field(Field::Sdst));
            DecodedOp::Time { destination: destination(config.level, number)?, dwords: 2 }
        }
        Special::WaveNumber => DecodedOp::WaveNumber(destination(config.level, instruction.field(Field::Sdata))?),
    })
}

/// Returns the low `bits` of `value`, sign-extended.
fn sign_extended(value: u32, bits: u32) -> i64 {
    i64::from((value << (32 - bits)).cast_signed() >> (32 - bits))
}

/// Decodes loads and stores of SMRD and SMEM, and the place of atomic operations.
pub(super) fn memory(
    instruction: &Instruction,
    base: Base,
    kind: ScalarKind,
    dwords: u8,
) -> Result<ScalarLoad, Refusal> {
    let (offset, register_offset) = offset(instruction)?;
    let data = if instruction.has_field(Field::Sdata) { Field::Sdata } else { Field::Sdst };
    let place = ScalarLoad {
        data: destination(instruction.level(), instruction.field(data))?,
        dwords,
        base: (2 * instruction.field(Field::Sbase)) as u8,
        buffer: base == Base::Buffer,
        offset,
        register_offset,
        kind,
        scratch: base == Base::Scratch,
    };
    if usize::from(place.base) + if place.buffer { 4 } else { 2 } > 128 {
        return Err(Refusal::Illegal("the scalar base does not exist"));
    }
    Ok(place)
}

/// Decodes atomic operations of SMEM.
pub(super) fn atomic(instruction: &Instruction, base: Base, atomic: Atomic, bytes: u8) -> Result<DecodedOp, Refusal> {
    let place = memory(instruction, base, ScalarKind::Load, 1)?;
    let returns = instruction.field(Field::Glc) != 0;
    Ok(DecodedOp::ScalarAtomic(Box::new(ScalarAtomic { place, atomic, bytes, returns })))
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
