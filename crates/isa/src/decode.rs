//! Decoding of instructions.
//!
//! The longest match of identifying bits determines the format, and the operation number in the format determines the operation.
//! The dwords of the format are followed by the addresses of MIMG's non-sequential form, the extra dword of SDWA or DPP, and a
//! literal, in this order. Source: `spec/isa.md` section 4 of the project's notes, compared with LLVM's decoder and the shaders
//! that RADV compiles.

use amdgpu_hw::GfxLevel;

use crate::{
    DecodeError, Extension, Field, Format, Instruction, OperandKind, WaveSize,
    table::{FormatLayout, Opcode, Table, table},
};

/// The source number of a literal.
pub(crate) const LITERAL: u32 = 255;
/// The source number that selects SDWA.
const SDWA: u32 = 249;
/// The source number that selects DPP, or DPP16 on GFX10 and later.
const DPP: u32 = 250;
/// The source numbers that select DPP8, without and with fetching from inactive lanes.
pub(crate) const DPP8: [u32; 2] = [233, 234];

/// Decodes the instruction at the start of `words`. Dwords after the instruction are ignored.
///
/// # Errors
///
/// [`DecodeError`] if the generation has no format or operation with these bits, or if dwords are missing.
pub fn decode(level: GfxLevel, wave: WaveSize, words: &[u32]) -> Result<Instruction, DecodeError> {
    let &first = words.first().ok_or(DecodeError::Empty)?;
    let table = table(level);
    let layout = table.classify(first).ok_or(DecodeError::UnknownFormat { level, dword: first })?;
    let base = usize::from(layout.bytes) / 4;
    let available = |needed: usize| -> Result<(), DecodeError> {
        if words.len() < needed {
            return Err(DecodeError::Truncated { format: layout.format, needed, found: words.len() });
        }
        Ok(())
    };
    available(base)?;
    let (layout, opcode, second) = operation(level, table, layout, words)?;
    let mut len = base + nsa_dwords(layout, words);
    let extension = match extension_format(level, layout, opcode, words) {
        None => None,
        Some(format) => {
            available(len + 1)?;
            if table.format(format).is_none() {
                return Err(DecodeError::NoExtension { level, name: opcode.name(), extension: format });
            }
            len += 1;
            Some(Extension { format, dword: words[len - 1] })
        }
    };
    let mut literal = None;
    if takes_literal(level, layout, opcode, second, words) {
        available(len + 1)?;
        literal = Some(words[len]);
        len += 1;
    }
    available(len)?;
    let mut kept = [0; Instruction::MAX_DWORDS];
    for (kept, word) in kept.iter_mut().zip(&words[..len]) {
        *kept = *word;
    }
    Ok(Instruction { level, wave, layout, opcode, second, words: kept, len: len as u8, extension, literal })
}

/// The layout with the operation's fields, the operation, and the second operation of a dual-issue instruction.
type Operation = (&'static FormatLayout, &'static Opcode, Option<&'static Opcode>);

#[inline]
fn operation(
    level: GfxLevel,
    table: &'static Table,
    layout: &'static FormatLayout,
    words: &[u32],
) -> Result<Operation, DecodeError> {
    let value = |field: Field| layout.field(field).map_or(0, |layout| layout.get(words));
    let find = |format: Format, number: u32| {
        table.opcode(format, number).ok_or(DecodeError::UnknownOpcode { level, format, number })
    };
    match layout.format {
        Format::Vopd => {
            Ok((layout, find(Format::Vopd, value(Field::Opx))?, Some(find(Format::Vopd, value(Field::Opy))?)))
        }
        Format::Flat => {
            let format = match value(Field::Seg) {
                1 => Format::Scratch,
                2 => Format::Global,
                _ => Format::Flat,
            };
            Ok((layout, find(format, value(Field::Op))?, None))
        }
        // Both formats have the same identifying bits; the operation determines the fields.
        Format::Vop3 | Format::Vop3Sdst => {
            let opcode = find(Format::Vop3, value(Field::Op))?;
            let format = if opcode.has(OperandKind::Sdst) { Format::Vop3Sdst } else { Format::Vop3 };
            Ok((table.format(format).unwrap_or(layout), opcode, None))
        }
        Format::Exp | Format::Vexport => Ok((layout, find(layout.format, 0)?, None)),
        format => Ok((layout, find(format, value(Field::Op))?, None)),
    }
}

/// Returns the number of address dwords after a MIMG instruction.
fn nsa_dwords(layout: &FormatLayout, words: &[u32]) -> usize {
    match layout.format {
        Format::Mimg => layout.field(Field::Nsa).map_or(0, |field| field.get(words) as usize),
        _ => 0,
    }
}

/// Returns the format of the extra dword that the first source selects.
fn extension_format(level: GfxLevel, layout: &FormatLayout, opcode: &Opcode, words: &[u32]) -> Option<Format> {
    let long = matches!(layout.format, Format::Vop3 | Format::Vop3Sdst | Format::Vop3p);
    let short = matches!(layout.format, Format::Vop1 | Format::Vop2 | Format::Vopc);
    if !(short || long && level >= GfxLevel::Gfx11) || level < GfxLevel::Gfx8 {
        return None;
    }
    match layout.field(Field::Src0)?.get(words) {
        SDWA if short && level < GfxLevel::Gfx11 => {
            let compares = opcode.format == Format::Vopc && level >= GfxLevel::Gfx9;
            Some(if compares { Format::Sdwab } else { Format::Sdwa })
        }
        DPP => Some(if level >= GfxLevel::Gfx10 { Format::Dpp16 } else { Format::Dpp }),
        source if level >= GfxLevel::Gfx10 && DPP8.contains(&source) => Some(Format::Dpp8),
        _ => None,
    }
}

/// Returns `true` if a literal follows.
fn takes_literal(
    level: GfxLevel,
    layout: &FormatLayout,
    opcode: &Opcode,
    second: Option<&Opcode>,
    words: &[u32],
) -> bool {
    if opcode.has(OperandKind::Literal) || second.is_some_and(|second| second.has(OperandKind::Literal)) {
        return true;
    }
    let names = |field: Field| layout.field(field).is_some_and(|field| field.get(words) == LITERAL);
    let used = |kind: OperandKind| opcode.has(kind);
    match layout.format {
        Format::Sop1 => used(OperandKind::Ssrc0) && names(Field::Ssrc0),
        Format::Sop2 | Format::Sopc => {
            used(OperandKind::Ssrc0) && names(Field::Ssrc0) || used(OperandKind::Ssrc1) && names(Field::Ssrc1)
        }
        Format::Vop1 | Format::Vop2 | Format::Vopc => {
            (used(OperandKind::Src0) || used(OperandKind::Src016)) && names(Field::Src0)
        }
        Format::Vop3 | Format::Vop3Sdst | Format::Vop3p if level >= GfxLevel::Gfx10 => {
            [(OperandKind::Src0, Field::Src0), (OperandKind::Src1, Field::Src1), (OperandKind::Src2, Field::Src2)]
                .into_iter()
                .any(|(kind, field)| used(kind) && names(field))
        }
        Format::Vopd => names(Field::Srcx0) || names(Field::Srcy0),
        Format::Smrd if level == GfxLevel::Gfx7 => {
            layout.field(Field::Imm).is_some_and(|imm| imm.get(words) == 0) && names(Field::Offset)
        }
        _ => false,
    }
}
