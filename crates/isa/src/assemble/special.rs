//! Immediates of scalar instructions: text to fields.

use amdgpu_hw::GfxLevel;

use super::{
    encoder::{Encoder, Misfit},
    parse::{arguments, low_bits, number},
};
use crate::{Field, Format, OperandKind, table::SourceType};

fn misfit(text: &str) -> Misfit {
    Misfit::Operand(text.to_owned())
}

/// Sets the field of an operand that is no register.
pub(super) fn operand(encoder: &mut Encoder, kind: OperandKind, text: &str) -> Result<(), Misfit> {
    let plain = number(text).and_then(|value| u32::try_from(value).ok());
    let value = match kind {
        OperandKind::SmemOffset => return smem_offset(encoder, text),
        OperandKind::PrefetchOffset => {
            return encoder.fit(Field::Sdata, plain.ok_or_else(|| misfit(text))?);
        }
        OperandKind::SendmsgRtn => {
            return encoder.fit(Field::Ssrc0, sendmsg(encoder.level, text).ok_or_else(|| misfit(text))?);
        }
        OperandKind::GprIdxSrc1 => return encoder.fit(Field::Ssrc1, plain.ok_or_else(|| misfit(text))?),
        _ if plain.is_some() => plain,
        OperandKind::Hwreg => hwreg(encoder.level, text),
        OperandKind::Waitcnt => waitcnt(encoder.level, text),
        OperandKind::Sendmsg => sendmsg(encoder.level, text),
        OperandKind::GprIdx => gpr_idx(text),
        OperandKind::Delay => delay(text),
        OperandKind::Depctr => depctr(encoder.level, text),
        _ => None,
    };
    encoder.fit(Field::Simm16, value.ok_or_else(|| misfit(text))?)
}

fn sendmsg(level: GfxLevel, text: &str) -> Option<u32> {
    crate::text::message_number(level, &arguments(text, "sendmsg")?)
}

fn hwreg(level: GfxLevel, text: &str) -> Option<u32> {
    let arguments = arguments(text, "hwreg")?;
    let (first, rest) = arguments.split_first()?;
    let id = crate::text::register_number(level, first).or_else(|| first.parse().ok()).filter(|id| *id < 64)?;
    let rest: Vec<u32> = rest.iter().map(|item| item.parse().ok()).collect::<Option<_>>()?;
    match rest[..] {
        [] => Some(id | 31 << 11),
        [offset @ 0..32, size @ 1..=32] => Some(id | offset << 6 | (size - 1) << 11),
        _ => None,
    }
}

fn waitcnt(level: GfxLevel, text: &str) -> Option<u32> {
    let (mut vm, mut exp, mut lgkm) = match level {
        GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => (15, 7, 15),
        GfxLevel::Gfx9 => (63, 7, 15),
        _ => (63, 7, 63),
    };
    for word in text.split_whitespace() {
        let (name, value) = word.strip_suffix(')')?.split_once('(')?;
        let value: u32 = value.parse().ok()?;
        *match name {
            "vmcnt" => &mut vm,
            "expcnt" => &mut exp,
            "lgkmcnt" => &mut lgkm,
            _ => return None,
        } = value;
    }
    Some(match level {
        GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => vm | exp << 4 | lgkm << 8,
        GfxLevel::Gfx9 | GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => vm & 15 | (vm >> 4) << 14 | exp << 4 | lgkm << 8,
        _ => exp | lgkm << 4 | vm << 10,
    })
}

fn gpr_idx(text: &str) -> Option<u32> {
    let names = ["SRC0", "SRC1", "SRC2", "DST"];
    arguments(text, "gpr_idx")?
        .into_iter()
        .filter(|name| !name.is_empty())
        .map(|name| names.iter().position(|known| *known == name).map(|bit| 1 << bit))
        .sum()
}

fn delay(text: &str) -> Option<u32> {
    use crate::text::{DELAYS, SKIPS};
    let mut value = 0;
    for part in text.split('|') {
        let (word, name) = part.trim().strip_suffix(')')?.split_once('(')?;
        let among = |names: &[&str]| names.iter().position(|known| *known == name).map(|at| at as u32);
        value |= match word {
            "instid0" => among(&DELAYS)?,
            "instskip" => among(&SKIPS)? << 4,
            "instid1" => among(&DELAYS)? << 7,
            _ => return None,
        };
    }
    Some(value)
}

fn depctr(level: GfxLevel, text: &str) -> Option<u32> {
    use crate::text::COUNTERS;
    let exist = COUNTERS.iter().filter(|(name, ..)| *name != "hold_cnt" || level >= GfxLevel::Gfx10_3);
    let mut value = exist.fold(0, |all, (_, low, width)| all | ((1_u32 << width) - 1) << low);
    for word in text.split_whitespace() {
        let (name, count) = word.strip_prefix("depctr_")?.strip_suffix(')')?.split_once('(')?;
        let (_, low, width) = COUNTERS.iter().find(|(known, ..)| *known == name)?;
        let most = (1_u32 << width) - 1;
        let count: u32 = count.parse().ok().filter(|count| *count <= most)?;
        value = value & !(most << low) | count << low;
    }
    Some(value)
}

/// Sets the offset of a scalar memory instruction.
fn smem_offset(encoder: &mut Encoder, text: &str) -> Result<(), Misfit> {
    let level = encoder.level;
    let plain = number(text);
    let signed = |encoder: &mut Encoder, field: Field, bits: u32, value: i64| {
        let most = 1_i64 << (bits - 1);
        if (-most..most).contains(&value) {
            encoder.set(field, low_bits(value, bits));
            Ok(())
        } else {
            Err(misfit(text))
        }
    };
    match (encoder.layout.format, plain) {
        (Format::Smrd, Some(value @ 0..=255)) => {
            encoder.set(Field::Imm, 1);
            encoder.fit(Field::Offset, low_bits(value, 32))
        }
        (Format::Smrd, Some(value)) if level == GfxLevel::Gfx7 => {
            encoder.set(Field::Offset, 255);
            encoder.set_literal(u32::try_from(value).map_err(|_| misfit(text))?, text)
        }
        (Format::Smrd, Some(_)) => Err(misfit(text)),
        (_, Some(value)) if level == GfxLevel::Gfx8 => {
            encoder.set(Field::Imm, 1);
            encoder.fit(Field::Offset, u32::try_from(value).map_err(|_| misfit(text))?)
        }
        (_, Some(value)) if level == GfxLevel::Gfx9 => {
            encoder.set(Field::Imm, 1);
            signed(encoder, Field::Offset, 21, value)
        }
        (_, Some(value)) if level >= GfxLevel::Gfx12 => signed(encoder, Field::Ioffset, 24, value),
        (_, Some(value)) => signed(encoder, Field::Offset, 21, value),
        (_, None) => {
            let number = encoder.source(text, 1, SourceType::Other)?;
            // GFX9 has the register in the place of the offset, unless both are there.
            let beside = level >= GfxLevel::Gfx10 || encoder.get(Field::SoffsetEn) != 0;
            encoder.fit(if beside { Field::Soffset } else { Field::Offset }, number)
        }
    }
}

/// Sets the `offset:` modifier of a scalar memory instruction, which follows a register.
pub(super) fn smem_extra_offset(encoder: &mut Encoder, value: i64) -> Result<(), Misfit> {
    match encoder.level {
        GfxLevel::Gfx9 => {
            encoder.set(Field::Imm, 1);
            encoder.set(Field::SoffsetEn, 1);
            encoder.set(Field::Offset, low_bits(value, 21));
            Ok(())
        }
        level if level >= GfxLevel::Gfx12 => {
            encoder.set(Field::Ioffset, low_bits(value, 24));
            Ok(())
        }
        level if level >= GfxLevel::Gfx10 => {
            encoder.set(Field::Offset, low_bits(value, 21));
            Ok(())
        }
        _ => Err(Misfit::Modifier("offset".to_owned())),
    }
}
