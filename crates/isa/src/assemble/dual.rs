//! Dual-issue instructions (VOPD).

use amdgpu_hw::GfxLevel;

use super::{
    encoder::{Encoder, Form, Misfit},
    error::AssembleError,
    parse::{number, register},
};
use crate::{
    Field, Format, Instruction, OperandKind, WaveSize, decode,
    table::{Opcode, SourceType, table},
};

/// Encodes two operations joined by `::`.
pub(super) fn assemble(level: GfxLevel, wave: WaveSize, text: &str) -> Result<Instruction, AssembleError> {
    let unknown = |name: &str| AssembleError::UnknownName { level, name: name.to_owned() };
    let table = table(level);
    let (first, second) = text.split_once(" :: ").ok_or_else(|| unknown(text))?;
    let find = |half: &str| {
        let name = half.split_whitespace().next().unwrap_or("");
        let found = table.opcodes().iter().find(|opcode| opcode.format == Format::Vopd && opcode.name() == name);
        found.ok_or_else(|| unknown(name))
    };
    let (x, y) = (find(first)?, find(second)?);
    let whole = || -> Result<Instruction, Misfit> {
        let mut encoder = Encoder::new(level, wave, table, x, Form::Plain, "")?;
        encoder.set(Field::Opx, u32::from(x.number));
        encoder.set(Field::Opy, u32::from(y.number));
        half(&mut encoder, x, first, [Field::Vdstx, Field::Srcx0, Field::Vsrcx1])?;
        half(&mut encoder, y, second, [Field::Vdsty, Field::Srcy0, Field::Vsrcy1])?;
        let mut words = encoder.words[..2].to_vec();
        words.extend(encoder.literal);
        decode(level, wave, &words).map_err(|error| Misfit::Operand(error.to_string()))
    };
    whole().map_err(|misfit| match misfit {
        Misfit::Operand(operand) | Misfit::Modifier(operand) => {
            AssembleError::Operand { text: text.to_owned(), operand }
        }
    })
}

fn half(encoder: &mut Encoder, opcode: &Opcode, text: &str, [vdst, src0, vsrc1]: [Field; 3]) -> Result<(), Misfit> {
    let (_, operands) = text.split_once(' ').ok_or_else(|| Misfit::Operand("a missing operand".to_owned()))?;
    let texts: Vec<&str> = operands.split(',').map(str::trim).collect();
    if texts.len() != opcode.operands.len() {
        return Err(Misfit::Operand(operands.to_owned()));
    }
    for (operand, text) in opcode.operands.iter().zip(texts) {
        let misfit = || Misfit::Operand(text.to_owned());
        let vector = || register(text, "v").map(|(first, _)| first);
        match operand.kind {
            OperandKind::Vdst => {
                let number = vector().ok_or_else(misfit)?;
                if vdst == Field::Vdsty {
                    if number & 1 == encoder.get(Field::Vdstx) & 1 {
                        return Err(misfit());
                    }
                    encoder.fit(vdst, number >> 1)?;
                } else {
                    encoder.fit(vdst, number)?;
                }
            }
            OperandKind::Src0 => {
                let value = match vector() {
                    Some(number) => number + 256,
                    None => encoder.source(text, 1, SourceType::Other)?,
                };
                encoder.fit(src0, value)?;
            }
            OperandKind::Vsrc1 => encoder.fit(vsrc1, vector().ok_or_else(misfit)?)?,
            _ => {
                let value = number(text).and_then(|value| u32::try_from(value).ok()).ok_or_else(misfit)?;
                encoder.set_literal(value, text)?;
            }
        }
    }
    Ok(())
}
