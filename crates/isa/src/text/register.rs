//! Names of registers and inline constants.

use std::fmt::{self, Write};

use crate::{
    WaveSize,
    table::{Scalars, SourceType, Table},
};

/// Writes `v5` or `v[5:6]`.
pub(super) fn vector(number: u32, dwords: u8, out: &mut String) -> fmt::Result {
    range('v', number, dwords, out)
}

fn range(class: char, number: u32, dwords: u8, out: &mut String) -> fmt::Result {
    if dwords <= 1 {
        write!(out, "{class}{number}")
    } else {
        write!(out, "{class}[{number}:{}]", number + u32::from(dwords) - 1)
    }
}

/// Writes a scalar register, which may be a named one.
pub(super) fn scalar(scalars: &Scalars, number: u32, dwords: u8, out: &mut String) -> fmt::Result {
    if number <= u32::from(scalars.last_sgpr) {
        return range('s', number, dwords, out);
    }
    match scalars.name(number) {
        Some(name) if dwords > 1 => pair(name, dwords, out),
        Some(name) => out.write_str(name),
        None => write!(out, "<scalar {number}>"),
    }
}

/// Writes a named register of several dwords: `vcc` for `vcc_lo`, `ttmp[4:7]` for `ttmp4`.
fn pair(name: &str, dwords: u8, out: &mut String) -> fmt::Result {
    if let Some(number) = name.strip_prefix("ttmp").and_then(|number| number.parse::<u32>().ok()) {
        return write!(out, "ttmp[{number}:{}]", number + u32::from(dwords) - 1);
    }
    out.write_str(name.strip_suffix("_lo").unwrap_or(name))
}

/// Writes the lane mask register VCC.
pub(super) fn vcc(wave: WaveSize, out: &mut String) -> fmt::Result {
    out.write_str(match wave {
        WaveSize::Wave32 => "vcc_lo",
        WaveSize::Wave64 => "vcc",
    })
}

/// Returns the text of an inline constant; `None` if the number is not an inline constant.
pub(super) fn inline_constant(number: u32, dwords: u8) -> Option<String> {
    Some(match number {
        128..=192 => (number - 128).to_string(),
        193..=208 => format!("-{}", number - 192),
        240 => "0.5".to_owned(),
        241 => "-0.5".to_owned(),
        242 => "1.0".to_owned(),
        243 => "-1.0".to_owned(),
        244 => "2.0".to_owned(),
        245 => "-2.0".to_owned(),
        246 => "4.0".to_owned(),
        247 => "-4.0".to_owned(),
        248 if dwords > 1 => "0.15915494309189532".to_owned(),
        248 => "0.15915494".to_owned(),
        _ => return None,
    })
}

/// Writes a scalar source: register, inline constant or literal.
pub(super) fn source(table: &Table, number: u32, dwords: u8, literal: Option<u32>, out: &mut String) -> fmt::Result {
    if number == crate::decode::LITERAL {
        return write!(out, "{:#x}", literal.unwrap_or(0));
    }
    match inline_constant(number, dwords) {
        Some(text) => out.write_str(&text),
        None => scalar(&table.sources, number, dwords, out),
    }
}

/// Writes a scalar source of a known type: 16-bit operands have 16-bit literals, and 16-bit integers that are an inline
/// float are written as bits.
pub(super) fn typed_source(
    table: &Table,
    number: u32,
    dwords: u8,
    literal: Option<u32>,
    kind: SourceType,
    packed: bool,
    out: &mut String,
) -> fmt::Result {
    const HALVES: [u16; 9] = [0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118];
    match number {
        crate::decode::LITERAL if kind.is_16_bits() && !packed => write!(out, "{:#x}", literal.unwrap_or(0) & 0xffff),
        240..=248 if kind == SourceType::Int16 && !packed => {
            write!(out, "{:#x}", HALVES[number as usize - 240])
        }
        _ => source(table, number, dwords, literal, out),
    }
}
