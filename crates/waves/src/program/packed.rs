//! Packed 16-bit operations, dot products and mixed multiplications (VOP3P) to steps.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Field, Instruction};

use super::{
    lanes::Dpp,
    source::{Refusal, source},
    step::{Action, Destination, Half, LaneKind, LaneStep, Mix, Modifiers, Packed, Source, Vector},
};
use crate::{
    alu::{
        kernel::{Kernel, Type},
        names,
    },
    matrix,
};

/// Decodes VOP3P.
pub(super) fn action(instruction: &Instruction) -> Result<Action, Refusal> {
    let name = instruction.name();
    let field = |field| instruction.field(field) as u8;
    let destination = instruction.field(Field::Vdst) as u16;
    let high = field(Field::OpSelHi) | field(Field::OpSelHi2) << 2;
    let clamp = field(Field::Clamp) != 0;
    if let Some(action) = matrix::decode::action(instruction)? {
        return Ok(action);
    }
    let dpp = selection(instruction)?;
    let read = |index: usize, kind: Type| {
        let number = instruction.field([Field::Src0, Field::Src1, Field::Src2][index]);
        if index == 0 && dpp.is_some() {
            return Ok(Source::Vgpr(instruction.extension_field(Field::Src0) as u16));
        }
        source(instruction, number, kind)
    };
    if let Some((fused, half)) = mix(name) {
        let operand = |index: usize| {
            let kind = if high >> index & 1 != 0 { Type::F16 } else { Type::F32 };
            // A literal keeps its 32 bits: the half is chosen from it.
            let number = instruction.field([Field::Src0, Field::Src1, Field::Src2][index]);
            read(index, if number == 255 { Type::F32 } else { kind })
        };
        return Ok(Action::Mix(Box::new(Mix {
            fused,
            half,
            sources: [operand(0)?, operand(1)?, operand(2)?],
            destination,
            halves: high,
            highs: field(Field::OpSel),
            negates: field(Field::NegLo),
            absolutes: field(Field::NegHi),
            clamp,
            dpp,
        })));
    }
    let count = instruction.opcode().operands.len() - 1;
    if let "v_dot4_i32_iu8" | "v_dot8_i32_iu4" = name {
        let bits = if name.ends_with('8') { 8 } else { 4 };
        let sources = [read(0, Type::Int32)?, read(1, Type::Int32)?, read(2, Type::Int32)?];
        let flags = field(Field::NegLo) | u8::from(clamp) << 7;
        return Ok(Action::Lane(Box::new(LaneStep {
            kind: LaneKind::Dot { bits, highs: [field(Field::OpSel), high] },
            sources,
            destination,
            flags,
            dpp: None,
        })));
    }
    let Some(rest) = name.strip_prefix("v_pk_") else {
        let unknown = "packed operations of this kind are not executed";
        let form = if clamp { format!("{name}:clamp") } else { name.to_owned() };
        let operation = names::operation(&form).or_else(|| names::operation(name)).ok_or(unknown)?;
        let mut sources = [Source::Constant(0); 3];
        for (index, slot) in sources.iter_mut().enumerate().take(count.min(3)) {
            *slot = read(index, operation.sources.get(index).copied().unwrap_or(Type::Int32))?;
        }
        // ACO makes constants of 16 bits by op_sel of the first two sources; that of the sum is ignored.
        let highs = [field(Field::OpSel), high];
        let negates = [field(Field::NegLo), field(Field::NegHi)];
        let is_float = operation.result == Type::F32;
        if name.starts_with("v_dot") && (highs.map(|mask| mask & 3) != [0, 3] || is_float && negates != [0; 2]) {
            let negates = if is_float { negates } else { [0; 2] };
            return Ok(Action::Dot(Box::new(Packed { operation, sources, destination, highs, negates, clamp, dpp })));
        }
        let vector = Vector {
            operation,
            directed: None,
            sources,
            destination: Destination::Vgpr(destination),
            carry: None,
            modifiers: Modifiers { clamp, dpp, ..Modifiers::NONE },
            plain: dpp.is_none(),
            rescales: false,
        };
        return Ok(Action::Vector(Box::new(vector)));
    };
    let plain = format!("v_{rest}");
    let operation = names::operation(&plain).ok_or("the packed operation is not executed")?;
    let saturating = if clamp { names::operation(&format!("{plain}:clamp")) } else { None };
    let operation = saturating.unwrap_or(operation);
    if !matches!(operation.kernel, Kernel::Narrow(_)) {
        return Err(Refusal::NotExecuted("the packed operation is not executed"));
    }
    let mut sources = [Source::Constant(0); 3];
    for (index, slot) in sources.iter_mut().enumerate().take(count.min(3)) {
        let number = instruction.field([Field::Src0, Field::Src1, Field::Src2][index]);
        // Literals and integers have 32 bits, of which a half is chosen; floats are in the low half alone.
        let kind = if (240..=248).contains(&number) { Type::F16 } else { Type::Int32 };
        *slot = source(instruction, number, kind)?;
    }
    Ok(Action::Packed(Box::new(Packed {
        operation,
        sources,
        destination,
        highs: [field(Field::OpSel), high],
        negates: [field(Field::NegLo), field(Field::NegHi)],
        clamp,
        dpp: None,
    })))
}

/// Decodes `v_pk_fmac_f16`, the short form of `v_pk_fma_f16`, which adds to its destination and chooses no halves.
///
/// A float constant is the low half alone up to GFX10.3, and both halves from GFX11 on; a literal has 32 bits (LLVM's
/// `getPKFMACF16InlineEncoding`).
pub(super) fn sum(instruction: &Instruction) -> Result<Action, Refusal> {
    let level = instruction.level();
    let dpp = match instruction.extension() {
        Some(extension) if level >= GfxLevel::Gfx11 => {
            Some(Dpp::new(extension, instruction).ok_or(Refusal::Illegal("the DPP control does not exist"))?)
        }
        Some(_) => return Err(Refusal::Illegal("packed operations have no DPP and no SDWA")),
        None => None,
    };
    let operation = names::operation("v_fma_f16").ok_or("the packed operation is not executed")?;
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
    Ok(Action::Packed(Box::new(Packed { operation, sources, destination, highs, negates, clamp: false, dpp })))
}

/// Returns whether a mixed multiplication is fused, and the place of a 16-bit result.
fn mix(name: &str) -> Option<(bool, Option<Half>)> {
    Some(match name {
        "v_fma_mix_f32" => (true, None),
        "v_fma_mixlo_f16" => (true, Some(Half::Low)),
        "v_fma_mixhi_f16" => (true, Some(Half::High)),
        "v_mad_mix_f32" => (false, None),
        "v_mad_mixlo_f16" => (false, Some(Half::Low)),
        "v_mad_mixhi_f16" => (false, Some(Half::High)),
        _ => return None,
    })
}

/// Returns the selection of lanes, which mixed multiplications and dot products of floats may have.
///
/// Source: AMD's guide to the RDNA3 instruction set, "Data Parallel Processing"; LLVM's encoder.
fn selection(instruction: &Instruction) -> Result<Option<Dpp>, Refusal> {
    let Some(extension) = instruction.extension() else { return Ok(None) };
    let name = instruction.name();
    if !name.contains("_mix") && !name.starts_with("v_dot2_f32") && !name.starts_with("v_dot4_f32") {
        return Err(Refusal::Illegal("packed operations have no DPP"));
    }
    Dpp::new(extension, instruction).map(Some).ok_or(Refusal::Illegal("the DPP control does not exist"))
}
