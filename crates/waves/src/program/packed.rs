//! Packed 16-bit operations, dot products and mixed multiplications (VOP3P), decoded.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Field, Instruction};

use super::{
    decoded_inst::{DecodedOp, Destination, Half, LaneKind, LaneOp, Mix, Modifiers, Packed, Source, Vector},
    lanes::Dpp,
    source::{Refusal, source},
};
use crate::alu::{
    kernel::{Form, Kernel, Type},
    kernels::kernel,
};

/// The fields of sources that have nine bits.
const SOURCES: [Field; 3] = [Field::Src0, Field::Src1, Field::Src2];

/// Returns the low eight bits of a field.
fn byte(instruction: &Instruction, field: Field) -> u8 {
    instruction.field(field) as u8
}

/// Returns the bits that say which sources have their upper half as the second one.
fn second_halves(instruction: &Instruction) -> u8 {
    byte(instruction, Field::OpSelHi) | byte(instruction, Field::OpSelHi2) << 2
}

/// Returns a source; the first one may have its lanes selected.
fn read(instruction: &Instruction, dpp: Option<Dpp>, index: usize, kind: Type) -> Result<Source, Refusal> {
    if index == 0 && dpp.is_some() {
        return Ok(Source::Vgpr(instruction.extension_field(Field::Src0) as u16));
    }
    source(instruction, instruction.field(SOURCES[index]), kind)
}

/// Returns the sources of an operation, each by `read`.
fn sources(instruction: &Instruction, read: impl Fn(usize) -> Result<Source, Refusal>) -> Result<[Source; 3], Refusal> {
    let count = instruction.opcode().operands.len() - 1;
    let mut sources = [Source::Constant(0); 3];
    for (index, slot) in sources.iter_mut().enumerate().take(count) {
        *slot = read(index)?;
    }
    Ok(sources)
}

/// Decodes mixed multiplications.
pub(super) fn mix(instruction: &Instruction, fused: bool, half: Option<Half>) -> Result<DecodedOp, Refusal> {
    let dpp = selection(instruction, true)?;
    let high = second_halves(instruction);
    let operand = |index: usize| {
        let kind = if high >> index & 1 != 0 { Type::F16 } else { Type::F32 };
        // A literal keeps its 32 bits: the half is chosen from it.
        let number = instruction.field(SOURCES[index]);
        read(instruction, dpp, index, if number == 255 { Type::F32 } else { kind })
    };
    Ok(DecodedOp::Mix(Box::new(Mix {
        fused,
        half,
        sources: [operand(0)?, operand(1)?, operand(2)?],
        destination: instruction.field(Field::Vdst) as u16,
        halves: high,
        highs: byte(instruction, Field::OpSel),
        negates: byte(instruction, Field::NegLo),
        absolutes: byte(instruction, Field::NegHi),
        clamp: instruction.field(Field::Clamp) != 0,
        dpp,
    })))
}

/// Decodes dot products of integers whose signs are modifiers.
pub(super) fn mixed_signs(instruction: &Instruction, bits: u8) -> Result<DecodedOp, Refusal> {
    let dpp = selection(instruction, false)?;
    let clamp = u8::from(instruction.field(Field::Clamp) != 0);
    Ok(DecodedOp::Lane(Box::new(LaneOp {
        kind: LaneKind::Dot { bits, highs: [byte(instruction, Field::OpSel), second_halves(instruction)] },
        sources: sources(instruction, |index| read(instruction, dpp, index, Type::Int32))?,
        destination: instruction.field(Field::Vdst) as u16,
        flags: byte(instruction, Field::NegLo) | clamp << 7,
        dpp: None,
    })))
}

/// Decodes dot products, whose kernel takes whole words.
pub(super) fn product(instruction: &Instruction) -> Result<DecodedOp, Refusal> {
    let op = instruction.op();
    let clamp = instruction.field(Field::Clamp) != 0;
    let saturating = if clamp { kernel(op, Form::Clamped) } else { None };
    let operation = saturating.or_else(|| kernel(op, Form::Plain));
    let operation = operation.ok_or("packed operations of this kind are not executed")?;
    let is_float = operation.result == Type::F32;
    let dpp = selection(instruction, is_float)?;
    let destination = instruction.field(Field::Vdst) as u16;
    let sources = sources(instruction, |index| {
        read(instruction, dpp, index, operation.sources.get(index).copied().unwrap_or(Type::Int32))
    })?;
    // ACO makes constants of 16 bits by op_sel of the first two sources; that of the sum is ignored.
    let highs = [byte(instruction, Field::OpSel), second_halves(instruction)];
    let negates = [byte(instruction, Field::NegLo), byte(instruction, Field::NegHi)];
    if highs.map(|mask| mask & 3) != [0, 3] || is_float && negates != [0; 2] {
        let negates = if is_float { negates } else { [0; 2] };
        return Ok(DecodedOp::Dot(Box::new(Packed { operation, sources, destination, highs, negates, clamp, dpp })));
    }
    Ok(DecodedOp::Vector(Box::new(Vector {
        operation,
        directed: None,
        sources,
        destination: Destination::Vgpr(destination),
        carry: None,
        modifiers: Modifiers { clamp, dpp, ..Modifiers::NONE },
        plain: dpp.is_none(),
        direct: None,
        rescales: false,
    })))
}

/// Decodes two 16-bit operations.
pub(super) fn pair(instruction: &Instruction) -> Result<DecodedOp, Refusal> {
    let op = instruction.op();
    selection(instruction, false)?;
    let clamp = instruction.field(Field::Clamp) != 0;
    let saturating = if clamp { kernel(op, Form::Clamped) } else { None };
    let operation = saturating.or_else(|| kernel(op, Form::Plain));
    let operation = operation.ok_or("the packed operation is not executed")?;
    if !matches!(operation.kernel, Kernel::Narrow(_)) {
        return Err(Refusal::NotExecuted("the packed operation is not executed"));
    }
    let sources = sources(instruction, |index| {
        let number = instruction.field(SOURCES[index]);
        // Literals and integers have 32 bits, of which a half is chosen; floats are in the low half alone.
        source(instruction, number, if (240..=248).contains(&number) { Type::F16 } else { Type::Int32 })
    })?;
    Ok(DecodedOp::Packed(Box::new(Packed {
        operation,
        sources,
        destination: instruction.field(Field::Vdst) as u16,
        highs: [byte(instruction, Field::OpSel), second_halves(instruction)],
        negates: [byte(instruction, Field::NegLo), byte(instruction, Field::NegHi)],
        clamp,
        dpp: None,
    })))
}

/// Decodes `v_pk_fmac_f16`, the short form of `v_pk_fma_f16`, which adds to its destination and chooses no halves.
///
/// A float constant is the low half alone up to GFX10.3, and both halves from GFX11 on; a literal has 32 bits (LLVM's
/// `getPKFMACF16InlineEncoding`).
pub(super) fn sum(instruction: &Instruction) -> Result<DecodedOp, Refusal> {
    let level = instruction.level();
    let dpp = match instruction.extension() {
        Some(extension) if level >= GfxLevel::Gfx11 => {
            Some(Dpp::new(extension, instruction).ok_or(Refusal::Illegal("the DPP control does not exist"))?)
        }
        Some(_) => return Err(Refusal::Illegal("packed operations have no DPP and no SDWA")),
        None => None,
    };
    let operation = kernel(instruction.op(), Form::Plain).ok_or("the packed operation is not executed")?;
    let number = instruction.field(Field::Src0);
    let is_float = (240..=248).contains(&number);
    let factor = if dpp.is_some() {
        Source::Vgpr(instruction.extension_field(Field::Src0) as u16)
    } else {
        match source(instruction, number, if is_float { Type::F16 } else { Type::Int32 })? {
            Source::Constant(half) if is_float && level >= GfxLevel::Gfx11 => Source::Constant(half | half << 16),
            other => other,
        }
    };
    let destination = instruction.field(Field::Vdst) as u16;
    let sources = [factor, Source::Vgpr(instruction.field(Field::Vsrc1) as u16), Source::Vgpr(destination)];
    let (highs, negates) = ([0, 7], [0; 2]);
    Ok(DecodedOp::Packed(Box::new(Packed { operation, sources, destination, highs, negates, clamp: false, dpp })))
}

/// Returns the selection of lanes, which mixed multiplications and dot products of floats may have.
///
/// Source: AMD's guide to the RDNA3 instruction set, "Data Parallel Processing"; LLVM's encoder.
fn selection(instruction: &Instruction, may_select: bool) -> Result<Option<Dpp>, Refusal> {
    let Some(extension) = instruction.extension() else { return Ok(None) };
    if !may_select {
        return Err(Refusal::Illegal("packed operations have no DPP"));
    }
    Dpp::new(extension, instruction).map(Some).ok_or(Refusal::Illegal("the DPP control does not exist"))
}
