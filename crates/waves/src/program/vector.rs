//! Vector instructions, decoded.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Extension, Field, Format, Instruction, Op, OperandKind};

use super::{
    decoded_inst::{
        DecodedOp, Destination, Direct, Function, Half, LaneKind, LaneOp, Modifiers, Operand, Source, Vector,
    },
    lanes::{Dpp, Part, Sdwa, Unused},
    operations::Written,
    source::{Refusal, VCC, destination, literal, source},
    wave_config::WaveConfig,
};
use crate::alu::{
    kernel::{Form, Kernel, Operation, Type},
    kernels::kernel,
};

/// Decodes operations that have a kernel, and a result that is written there.
///
/// The parts are compiled into one function: operands and modifiers that functions return are copied several times, in pieces of other
/// sizes than they were written in, which costs more than to find them.
pub(super) fn op(config: WaveConfig, instruction: &Instruction, written: Written) -> Result<DecodedOp, Refusal> {
    // One dword has no field for a modifier; half of the code of shaders is such instructions.
    let is_short =
        instruction.extension().is_none() && matches!(instruction.format(), Format::Vop1 | Format::Vop2 | Format::Vopc);
    let clamps = !is_short && (instruction.field(Field::Clamp) != 0 || instruction.extension_field(Field::Clamp) != 0);
    let (operation, directed) = operation(instruction, clamps)?;
    let has_halves = operation.traits.has_halves;
    let sources = sources(instruction, operation)?;
    let modifiers = if is_short && !has_halves && small_parts(instruction).is_none() {
        Modifiers::NONE
    } else {
        modifiers(instruction, operation, clamps)?
    };
    let is_signed = modifiers.negates | modifiers.absolutes != 0;
    let plain = !is_signed && !has_halves && modifiers.dpp.is_none() && modifiers.sdwa.is_none();
    let (mut destination, carry) = destinations(config, instruction, operation, written)?;
    if let Destination::Vgpr(register) = &mut destination
        && has_halves
        && operation.result.is_16_bits()
        && names_halves(instruction)
    {
        *register &= 127;
    }
    let rescales = matches!(instruction.op(), Op::VDivFmasF32 | Op::VDivFmasF64);
    let direct = if rescales { None } else { Direct::new((operation, directed), sources, destination, &modifiers) };
    Ok(DecodedOp::Vector(Box::new(Vector {
        operation,
        directed,
        sources,
        destination,
        carry,
        modifiers,
        plain,
        direct,
        rescales,
    })))
}

impl Direct {
    /// Returns the operation; `None` if more is done than its kernel does.
    #[inline(always)]
    pub(crate) fn new(
        (operation, directed): (&'static Operation, Option<&'static Operation>),
        sources: [Source; 3],
        destination: Destination,
        modifiers: &Modifiers,
    ) -> Option<Self> {
        let kernel = match operation.kernel {
            Kernel::Narrow(function) => Function::Plain(function),
            Kernel::NarrowCarry(function) => Function::Carry(function),
            Kernel::Wide(_) | Kernel::WideCarry(_) => return None,
        };
        let is_selected = modifiers.dpp.is_some() || modifiers.sdwa.is_some();
        let is_modified = modifiers.clamp || modifiers.scale != 0;
        if is_selected || is_modified || operation.traits.has_halves || matches!(destination, Destination::Scalar(_)) {
            return None;
        }
        let is_signed = modifiers.negates | modifiers.absolutes != 0;
        let operand = |index: usize| match operation.sources.get(index) {
            Some(kind) if is_signed => Operand::new(sources[index], *kind, change(*kind, modifiers, index)),
            Some(kind) => Operand::new(sources[index], *kind, UNCHANGED),
            None => UNUSED,
        };
        Some(Self {
            kernel,
            flushing: operation.flushing,
            clean: operation.clean,
            is_rounded: directed.is_some(),
            operands: [operand(0), operand(1), operand(2)],
            floats: operation.traits.floats,
            gives_float: operation.result == Type::F32,
        })
    }
}

/// The operand that stands for one that the operation lacks: a register that every wave has.
const UNUSED: Operand = Operand::Vgpr(0);

/// The bits that are kept of an operand without modifiers, and those that are then changed.
const UNCHANGED: (u32, u32) = (u32::MAX, 0);

/// Returns the bits of an operand that its modifiers keep, and those that they then change.
fn change(kind: Type, modifiers: &Modifiers, index: usize) -> (u32, u32) {
    let sign = kind.sign_bit().map_or(0, |bit| 1_u32 << bit);
    let bit = |mask: u8| if mask >> index & 1 != 0 { sign } else { 0 };
    (!bit(modifiers.absolutes), bit(modifiers.negates))
}

impl Operand {
    #[inline(always)]
    fn new(source: Source, kind: Type, changes: (u32, u32)) -> Self {
        match source {
            // A vector register has a bit in each lane.
            Source::Vgpr(register) if kind == Type::Mask => Self::Vgpr(register),
            _ if kind == Type::Mask => Self::Mask(source),
            Source::Vgpr(register) if changes == UNCHANGED => Self::Vgpr(register),
            Source::Vgpr(register) => Self::Changed(register, changes),
            Source::Constant(value) => Self::Constant(value as u32 & changes.0 ^ changes.1),
            Source::Scalar(slot) => Self::Scalar(slot, changes),
            other => Self::Other(other, changes),
        }
    }
}

/// Returns the operation and its form for rounding other than to nearest.
#[inline(always)]
fn operation(
    instruction: &Instruction,
    clamps: bool,
) -> Result<(&'static Operation, Option<&'static Operation>), Refusal> {
    let op = instruction.op();
    let unknown = "the vector operation is not executed";
    if writes_carries(instruction) && kernel(op, Form::Carrying).is_some() {
        let form = if clamps { Form::CarryingClamped } else { Form::Carrying };
        return Ok((kernel(op, form).ok_or(unknown)?, None));
    }
    let operation = kernel(op, Form::Plain).ok_or(unknown)?;
    let is_integer = matches!(operation.result, Type::Int16 | Type::Int32);
    let saturating = if clamps && is_integer { kernel(op, Form::Clamped) } else { None };
    Ok((saturating.unwrap_or(operation), kernel(op, Form::Directed)))
}

/// Returns `true` if the instruction also writes a lane mask.
fn writes_carries(instruction: &Instruction) -> bool {
    let second = instruction.opcode().operands.get(1).map(|operand| operand.kind);
    matches!(second, Some(OperandKind::Vcc | OperandKind::Sdst | OperandKind::SdstVdst))
}

/// Returns the sources in the order of the operation.
#[inline(always)]
fn sources(instruction: &Instruction, operation: &Operation) -> Result<[Source; 3], Refusal> {
    let mut sources = [Source::Constant(0); 3];
    let mut count = 0;
    let mut started = false;
    for operand in instruction.opcode().operands {
        let kind = operation.sources.get(count).copied().unwrap_or(Type::Int32);
        started |= matches!(operand.kind, OperandKind::Src0 | OperandKind::Src016);
        if !started {
            continue;
        }
        let read = match operand.kind {
            OperandKind::Src0 | OperandKind::Src016 => first(instruction, kind)?,
            OperandKind::Vsrc1 => second(instruction, kind)?,
            OperandKind::Src1 => source(instruction, instruction.field(Field::Src1), kind)?,
            OperandKind::Src2 | OperandKind::MaskSrc2 => mask_or(instruction, Field::Src2, kind)?,
            OperandKind::Literal => Source::Constant(literal(instruction.literal().unwrap_or(0), kind)),
            OperandKind::Vcc => Source::Scalar(VCC),
            _ => return Err(Refusal::NotExecuted("the operand is not known")),
        };
        if count < 3 {
            sources[count] = high_literal(instruction, operand.kind, count, kind).unwrap_or(read);
        }
        count += 1;
    }
    // Accumulating forms read their destination as the last source.
    if count < operation.sources.len() && count < 3 {
        let kind = operation.sources[count];
        sources[count] = half_register(instruction, kind, Source::Vgpr(instruction.field(Field::Vdst) as u16));
        count += 1;
    }
    if count < operation.sources.len() {
        return Err(Refusal::NotExecuted("the instruction has fewer operands than its operation"));
    }
    Ok(sources)
}

/// Returns the high half of the literal, if op_sel chooses it for a source of 16 bits: so one literal has two constants, as ACO makes them.
#[inline(always)]
fn high_literal(instruction: &Instruction, operand: OperandKind, index: usize, kind: Type) -> Option<Source> {
    let field = match operand {
        OperandKind::Src0 | OperandKind::Src016 => Field::Src0,
        OperandKind::Src1 => Field::Src1,
        OperandKind::Src2 => Field::Src2,
        _ => return None,
    };
    let is_chosen = kind.is_16_bits()
        && instruction.field(Field::OpSel) >> index & 1 != 0
        && instruction.field(field) == 255
        && instruction.extension().is_none();
    instruction.literal().filter(|_| is_chosen).map(|literal| Source::Constant(u64::from(literal >> 16)))
}

#[inline(always)]
fn mask_or(instruction: &Instruction, field: Field, kind: Type) -> Result<Source, Refusal> {
    let kind = if kind == Type::Mask { Type::Unsigned64 } else { kind };
    source(instruction, instruction.field(field), kind)
}

/// Returns the first source, which an extra dword may hold.
#[inline(always)]
fn first(instruction: &Instruction, kind: Type) -> Result<Source, Refusal> {
    match instruction.extension() {
        Some(Extension { format: Format::Sdwa | Format::Sdwab, .. }) => {
            let number = instruction.extension_field(Field::Src0);
            let scalar = instruction.extension_field(Field::S0) != 0;
            source(instruction, if scalar { number } else { 256 + number }, kind)
        }
        Some(_) => Ok(half_register(instruction, kind, Source::Vgpr(instruction.extension_field(Field::Src0) as u16))),
        None => {
            let read = source(instruction, instruction.field(Field::Src0), kind)?;
            Ok(half_register(instruction, kind, read))
        }
    }
}

/// Returns the second source of a short form.
#[inline(always)]
fn second(instruction: &Instruction, kind: Type) -> Result<Source, Refusal> {
    let number = instruction.field(Field::Vsrc1);
    if instruction.extension_field(Field::S1) != 0 {
        return source(instruction, number, kind);
    }
    Ok(half_register(instruction, kind, Source::Vgpr(number as u16)))
}

/// Returns `true` if 16-bit operands of this instruction name halves of the first 128 registers.
fn names_halves(instruction: &Instruction) -> bool {
    instruction.level() >= GfxLevel::Gfx11 && matches!(instruction.format(), Format::Vop1 | Format::Vop2 | Format::Vopc)
}

/// Returns the register without the bit that chooses its upper half.
fn half_register(instruction: &Instruction, kind: Type, read: Source) -> Source {
    match read {
        Source::Vgpr(register) if kind.is_16_bits() && names_halves(instruction) => Source::Vgpr(register & 127),
        other => other,
    }
}

/// Returns the destination and the mask that carries go to.
#[inline(always)]
fn destinations(
    config: WaveConfig,
    instruction: &Instruction,
    operation: &Operation,
    written: Written,
) -> Result<(Destination, Option<u8>), Refusal> {
    let level = config.level;
    let vgpr = instruction.field(Field::Vdst) as u16;
    if operation.result == Type::Mask {
        let exec = written == Written::Exec;
        let slot = match instruction.extension() {
            _ if exec && level >= GfxLevel::Gfx10 => None,
            Some(Extension { format: Format::Sdwab, .. }) if instruction.extension_field(Field::Sd) != 0 => {
                Some(destination(level, instruction.extension_field(Field::Sdst))?)
            }
            _ if instruction.format() == Format::Vopc => Some(VCC),
            _ => Some(destination(level, vgpr.into())?),
        };
        return Ok((Destination::Mask { slot, exec }, None));
    }
    let carries = instruction.opcode().operands.get(1).map(|operand| operand.kind);
    let carry = match carries {
        Some(OperandKind::Vcc) if instruction.format() != Format::Vop3 => Some(VCC),
        Some(OperandKind::Sdst | OperandKind::SdstVdst) => {
            Some(destination(level, instruction.dwords()[0] >> 8 & 0x7f)?)
        }
        _ => None,
    };
    if written == Written::Scalar {
        return Ok((Destination::Scalar(destination(level, vgpr.into())?), None));
    }
    if instruction.opcode().operands.first().is_some_and(|operand| operand.kind == OperandKind::SdstVdst) {
        return Err(Refusal::NotExecuted("the vector operation is not executed"));
    }
    Ok((Destination::Vgpr(vgpr), carry))
}

/// Returns the modifiers; 16-bit destinations are adjusted for the halves that they name.
#[inline(always)]
fn modifiers(instruction: &Instruction, operation: &Operation, clamp: bool) -> Result<Modifiers, Refusal> {
    let field = |field| instruction.field(field) as u8;
    let extra = |field| instruction.extension_field(field) as u8;
    let mut modifiers = Modifiers {
        negates: field(Field::Neg) | extra(Field::Src0Neg) | extra(Field::Src1Neg) << 1,
        absolutes: field(Field::Abs) | extra(Field::Src0Abs) | extra(Field::Src1Abs) << 1,
        highs: field(Field::OpSel) & 7,
        half: half(instruction, field(Field::OpSel) & 8 != 0),
        clamp,
        scale: field(Field::Omod) | extra(Field::Omod),
        dpp: None,
        sdwa: None,
    };
    // An accumulator is the half that is written.
    if operation.sources.len() == 3 && !has_third(instruction) && modifiers.half == Half::High {
        modifiers.highs |= 4;
    }
    if names_halves(instruction) {
        let named = |number: u32| number & 128 != 0;
        let vgpr = |number: u32| (256..512).contains(&number) && named(number);
        let first = match instruction.extension() {
            Some(_) => named(instruction.extension_field(Field::Src0)),
            None => vgpr(instruction.field(Field::Src0)),
        };
        let second = u8::from(named(instruction.field(Field::Vsrc1)));
        // The literal of `fmamk` stands between the registers.
        modifiers.highs = u8::from(first)
            | if instruction.op() == Op::VFmamkF16 {
                second << 2
            } else {
                second << 1 | u8::from(named(instruction.field(Field::Vdst))) << 2
            };
        if operation.result.is_16_bits() && named(instruction.field(Field::Vdst)) {
            modifiers.half = Half::High;
        }
    }
    match instruction.extension() {
        Some(extension) if matches!(extension.format, Format::Sdwa | Format::Sdwab) => {
            modifiers.sdwa = Some(Sdwa::new(extension, instruction));
        }
        Some(extension) => {
            modifiers.dpp =
                Some(Dpp::new(extension, instruction).ok_or(Refusal::Illegal("the DPP control does not exist"))?);
        }
        None => {}
    }
    if modifiers.dpp.is_some() && operation.traits.is_wide {
        return Err(Refusal::Illegal("operations on 64 bits have no DPP"));
    }
    if let Some(parts) = small_parts(instruction) {
        modifiers.sdwa = Some(parts);
        (modifiers.highs, modifiers.half) = (0, Half::Low);
    }
    Ok(modifiers)
}

/// Returns `true` if the third operand has a field of its own, or is VCC or a literal.
fn has_third(instruction: &Instruction) -> bool {
    let kinds = [OperandKind::Src2, OperandKind::MaskSrc2, OperandKind::Vcc, OperandKind::Literal];
    kinds.into_iter().any(|kind| instruction.opcode().has(kind))
}

/// Returns the bytes of registers that conversions of 8-bit floats read and write, which op_sel chooses.
///
/// Source: LLVM's encodings of `byte_sel` and `op_sel`.
fn small_parts(instruction: &Instruction) -> Option<Sdwa> {
    let select = instruction.field(Field::OpSel) as u8;
    let whole = Part { select: 6, signed: false };
    let read = |select| Sdwa { sources: [Part { select, signed: false }, whole], destination: None };
    let write = |select| Sdwa { sources: [whole; 2], destination: Some((select, Unused::Keep)) };
    Some(match instruction.op() {
        Op::VCvtF32Fp8 | Op::VCvtF32Bf8 => read((select & 1) << 1 | select >> 1 & 1),
        Op::VCvtPkF32Fp8 | Op::VCvtPkF32Bf8 => read(4 + (select & 1)),
        Op::VCvtPkFp8F32 | Op::VCvtPkBf8F32 => write(4 + (select >> 3 & 1)),
        Op::VCvtSrFp8F32 | Op::VCvtSrBf8F32 => write(select >> 2 & 3),
        _ => return None,
    })
}

/// Returns the place of a 16-bit result.
fn half(instruction: &Instruction, high: bool) -> Half {
    let keeps = [
        Op::VMadF16,
        Op::VMadU16,
        Op::VMadI16,
        Op::VFmaF16,
        Op::VDivFixupF16,
        Op::VMacF16,
        Op::VMadakF16,
        Op::VMadmkF16,
    ];
    match instruction.level() {
        _ if high => Half::High,
        GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => Half::Only,
        GfxLevel::Gfx9 if keeps.contains(&instruction.op()) => Half::Low,
        GfxLevel::Gfx9 => Half::Only,
        _ => Half::Low,
    }
}

/// Decodes operations across lanes.
pub(super) fn lane(config: WaveConfig, instruction: &Instruction, kind: LaneKind) -> Result<DecodedOp, Refusal> {
    let vdst = instruction.field(Field::Vdst);
    let mut sources = [Source::Constant(0); 3];
    sources[0] = first(instruction, Type::Int32)?;
    for operand in instruction.opcode().operands {
        match operand.kind {
            OperandKind::Vsrc1 => sources[1] = second(instruction, Type::Int32)?,
            OperandKind::SsrcVsrc1 => sources[1] = source(instruction, instruction.field(Field::Vsrc1), Type::Int32)?,
            OperandKind::Src1 => sources[1] = source(instruction, instruction.field(Field::Src1), Type::Int32)?,
            OperandKind::Src2 => sources[2] = source(instruction, instruction.field(Field::Src2), Type::Int32)?,
            _ => {}
        }
    }
    let scalar = matches!(kind, LaneKind::ReadFirst | LaneKind::Read);
    let destination = if scalar { destination(config.level, vdst)?.into() } else { vdst as u16 };
    let dpp = match instruction.extension() {
        Some(extension) if !matches!(extension.format, Format::Sdwa | Format::Sdwab) => {
            Some(Dpp::new(extension, instruction).ok_or(Refusal::Illegal("the DPP control does not exist"))?)
        }
        Some(_) => return Err(Refusal::Illegal("the operation has no SDWA")),
        None => None,
    };
    if dpp.is_some() && !matches!(kind, LaneKind::CountLow | LaneKind::CountHigh | LaneKind::Move { .. }) {
        return Err(Refusal::Illegal("the operation has no DPP"));
    }
    let flags = instruction.field(Field::OpSel) as u8;
    Ok(DecodedOp::Lane(Box::new(LaneOp { kind, sources, destination, flags, dpp })))
}

#[cfg(test)]
mod tests {
    use amdgpu_isa::{Field, Format, WaveSize, decode};

    use super::*;

    #[test]
    fn instructions_of_one_dword_have_no_fields_of_modifiers() {
        let fields = [Field::Clamp, Field::Neg, Field::Abs, Field::OpSel, Field::Omod, Field::Src0Neg, Field::Src0Abs];
        let mut met = 0;
        for level in GfxLevel::ALL {
            for upper in 0..=0x7fff_u32 {
                // Source 256 is a vector register, for which no dword follows.
                let Ok(instruction) = decode(level, WaveSize::Wave64, &[upper << 16 | 0x100, 0]) else { continue };
                if matches!(instruction.format(), Format::Vop1 | Format::Vop2 | Format::Vopc) {
                    assert!(fields.iter().all(|field| !instruction.has_field(*field)), "{level} {instruction}");
                    met += 1;
                }
            }
        }
        assert!(met > 10_000, "{met} instructions");
    }
}
