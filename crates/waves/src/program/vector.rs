//! Vector instructions to steps.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Extension, Field, Format, Instruction, OperandKind};

use super::{
    lanes::{Dpp, Part, Sdwa, Unused},
    shape::Shape,
    source::{Refusal, VCC, destination, literal, source},
    step::{Action, Destination, Half, LaneKind, LaneStep, Modifiers, Source, Vector},
};
use crate::alu::{
    kernel::{Operation, Type},
    names,
};

pub(super) fn action(shape: Shape, instruction: &Instruction) -> Result<Action, Refusal> {
    let name = instruction.name();
    if matches!(name, "v_nop" | "v_clrexcp" | "v_pipeflush") {
        return Ok(Action::Nothing);
    }
    if let Some(lane) = lane(shape, instruction)? {
        return Ok(Action::Lane(Box::new(lane)));
    }
    let clamps = instruction.field(Field::Clamp) != 0 || instruction.extension_field(Field::Clamp) != 0;
    let (operation, directed) = operation(instruction, clamps)?;
    let sources = sources(instruction, operation)?;
    let modifiers = modifiers(instruction, operation, clamps)?;
    let plain = modifiers.negates == 0
        && modifiers.absolutes == 0
        && modifiers.dpp.is_none()
        && modifiers.sdwa.is_none()
        && !operation.sources.iter().any(|kind| kind.is_16_bits())
        && !operation.result.is_16_bits();
    let (mut destination, carry) = destinations(shape, instruction)?;
    if let Destination::Vgpr(register) = &mut destination
        && operation.result.is_16_bits()
        && names_halves(instruction)
    {
        *register &= 127;
    }
    let rescales = name.starts_with("v_div_fmas");
    Ok(Action::Vector(Box::new(Vector {
        operation,
        directed,
        sources,
        destination,
        carry,
        modifiers,
        plain,
        rescales,
    })))
}

/// Returns the operation and its form for rounding other than to nearest.
fn operation(
    instruction: &Instruction,
    clamps: bool,
) -> Result<(&'static Operation, Option<&'static Operation>), Refusal> {
    let name = instruction.name();
    let unknown = "the vector operation is not executed";
    if let Some(carry) = carry_name(instruction) {
        let form = if clamps { format!("{carry}:clamp") } else { carry.to_owned() };
        return Ok((names::operation(&form).ok_or(unknown)?, None));
    }
    let plain = match name {
        "v_div_fmas_f32" => "v_fma_f32".to_owned(),
        "v_div_fmas_f64" => "v_fma_f64".to_owned(),
        // Comparisons that signal, and those that write EXEC, compare alike.
        _ => {
            let compare = ["v_cmpsx_", "v_cmpx_", "v_cmps_"].iter().find_map(|prefix| name.strip_prefix(prefix));
            compare.map_or_else(|| name.to_owned(), |rest| format!("v_cmp_{rest}"))
        }
    };
    let operation = names::operation(&plain).ok_or(unknown)?;
    let is_integer = matches!(operation.result, Type::Int16 | Type::Int32);
    let saturating = if clamps && is_integer { names::operation(&format!("{plain}:clamp")) } else { None };
    let directed = match plain.as_str() {
        "v_fmac_f32" | "v_fmaak_f32" | "v_fmamk_f32" => names::operation("v_fma_f32:directed"),
        _ => names::operation(&format!("{plain}:directed")),
    };
    Ok((saturating.unwrap_or(operation), directed))
}

/// Returns the name of the carry form of an addition or subtraction that writes a mask.
fn carry_name(instruction: &Instruction) -> Option<&'static str> {
    let name = instruction.name();
    let operands = instruction.opcode().operands;
    let second = operands.get(1).map(|operand| operand.kind);
    if !matches!(second, Some(OperandKind::Vcc | OperandKind::Sdst | OperandKind::SdstVdst)) {
        return None;
    }
    let prefixes = [
        ("v_subbrev", "subbrev:carry"),
        ("v_subrev_co_ci", "subbrev:carry"),
        ("v_subrev", "subrev:carry"),
        ("v_subb", "subb:carry"),
        ("v_sub_co_ci", "subb:carry"),
        ("v_sub", "sub:carry"),
        ("v_addc", "addc:carry"),
        ("v_add_co_ci", "addc:carry"),
        ("v_add", "add:carry"),
    ];
    prefixes.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, form)| *form)
}

/// Returns the sources in the order of the operation.
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
            sources[count] = read;
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

fn mask_or(instruction: &Instruction, field: Field, kind: Type) -> Result<Source, Refusal> {
    let kind = if kind == Type::Mask { Type::Unsigned64 } else { kind };
    source(instruction, instruction.field(field), kind)
}

/// Returns the first source, which an extra dword may hold.
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
fn destinations(shape: Shape, instruction: &Instruction) -> Result<(Destination, Option<u8>), Refusal> {
    let level = shape.level;
    let name = instruction.name();
    let vgpr = instruction.field(Field::Vdst) as u16;
    if name.starts_with("v_cmp") {
        let exec = name.starts_with("v_cmpx") || name.starts_with("v_cmpsx");
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
    if name.starts_with("v_s_") {
        return Ok((Destination::Scalar(destination(level, vgpr.into())?), None));
    }
    if instruction.opcode().operands.first().is_some_and(|operand| operand.kind == OperandKind::SdstVdst) {
        return Err(Refusal::NotExecuted("the vector operation is not executed"));
    }
    Ok((Destination::Vgpr(vgpr), carry))
}

/// Returns the modifiers; 16-bit destinations are adjusted for the halves that they name.
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
            | if instruction.name() == "v_fmamk_f16" {
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
    let is_wide = operation.sources.iter().chain([&operation.result]).any(|kind| kind.dwords() == 2);
    if modifiers.dpp.is_some() && is_wide {
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
    Some(match instruction.name() {
        "v_cvt_f32_fp8" | "v_cvt_f32_bf8" => read((select & 1) << 1 | select >> 1 & 1),
        "v_cvt_pk_f32_fp8" | "v_cvt_pk_f32_bf8" => read(4 + (select & 1)),
        "v_cvt_pk_fp8_f32" | "v_cvt_pk_bf8_f32" => write(4 + (select >> 3 & 1)),
        "v_cvt_sr_fp8_f32" | "v_cvt_sr_bf8_f32" => write(select >> 2 & 3),
        _ => return None,
    })
}

/// Returns the place of a 16-bit result.
fn half(instruction: &Instruction, high: bool) -> Half {
    let keeps = [
        "v_mad_f16",
        "v_mad_u16",
        "v_mad_i16",
        "v_fma_f16",
        "v_div_fixup_f16",
        "v_mac_f16",
        "v_madak_f16",
        "v_madmk_f16",
    ];
    match instruction.level() {
        _ if high => Half::High,
        GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => Half::Only,
        GfxLevel::Gfx9 if keeps.contains(&instruction.name()) => Half::Low,
        GfxLevel::Gfx9 => Half::Only,
        _ => Half::Low,
    }
}

/// Decodes operations across lanes.
fn lane(shape: Shape, instruction: &Instruction) -> Result<Option<LaneStep>, Refusal> {
    let name = instruction.name();
    let vdst = instruction.field(Field::Vdst);
    let indexed = |source, destination, split| LaneKind::Move { source, destination, split };
    let permute = |crosses, variable| LaneKind::Permute { crosses, variable };
    let kind = match name {
        "v_readfirstlane_b32" => LaneKind::ReadFirst,
        "v_readlane_b32" => LaneKind::Read,
        "v_writelane_b32" => LaneKind::Write,
        "v_mbcnt_lo_u32_b32" => LaneKind::CountLow,
        "v_mbcnt_hi_u32_b32" => LaneKind::CountHigh,
        "v_swap_b32" => LaneKind::Swap,
        "v_swaprel_b32" => LaneKind::SwapIndexed,
        "v_movrels_b32" => indexed(true, false, false),
        "v_movreld_b32" => indexed(false, true, false),
        "v_movrelsd_b32" => indexed(true, true, false),
        "v_movrelsd_2_b32" => indexed(true, true, true),
        "v_permlane16_b32" => permute(false, false),
        "v_permlanex16_b32" => permute(true, false),
        "v_permlane16_var_b32" => permute(false, true),
        "v_permlanex16_var_b32" => permute(true, true),
        "v_permlane64_b32" => LaneKind::SwapHalves,
        _ => return Ok(None),
    };
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
    let destination = if scalar { destination(shape.level, vdst)?.into() } else { vdst as u16 };
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
    Ok(Some(LaneStep { kind, sources, destination, flags: instruction.field(Field::OpSel) as u8, dpp }))
}
