//! Data formats of typed buffer instructions.

use std::fmt::{self, Write};

use amdgpu_hw::GfxLevel;

use crate::{Field, Instruction};

/// Number formats, by their number.
const NUMBERS: [&str; 8] = ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT"];

/// Data formats of GFX6 to GFX9, by their number.
const DATA: [&str; 16] = [
    "INVALID",
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
    "8_8_8_8",
    "32_32",
    "16_16_16_16",
    "32_32_32",
    "32_32_32_32",
    "RESERVED_15",
];

/// A run of formats with the same channels, and the number formats it has.
type Run = (&'static str, &'static [usize]);

const INTEGERS: &[usize] = &[0, 1, 2, 3, 4, 5];
const ALL: &[usize] = &[0, 1, 2, 3, 4, 5, 7];
const WIDE: &[usize] = &[4, 5, 7];

/// The formats of GFX10 from number 1 on.
const GFX10: [Run; 14] = [
    ("8", INTEGERS),
    ("16", ALL),
    ("8_8", INTEGERS),
    ("32", WIDE),
    ("16_16", ALL),
    ("10_11_11", ALL),
    ("11_11_10", ALL),
    ("10_10_10_2", INTEGERS),
    ("2_10_10_10", INTEGERS),
    ("8_8_8_8", INTEGERS),
    ("32_32", WIDE),
    ("16_16_16_16", ALL),
    ("32_32_32", WIDE),
    ("32_32_32_32", WIDE),
];

/// The formats of GFX11 and later from number 1 on.
const GFX11: [Run; 14] = [
    ("8", INTEGERS),
    ("16", ALL),
    ("8_8", INTEGERS),
    ("32", WIDE),
    ("16_16", ALL),
    ("10_11_11", &[7]),
    ("11_11_10", &[7]),
    ("10_10_10_2", &[0, 1, 4, 5]),
    ("2_10_10_10", INTEGERS),
    ("8_8_8_8", INTEGERS),
    ("32_32", WIDE),
    ("16_16_16_16", ALL),
    ("32_32_32", WIDE),
    ("32_32_32_32", WIDE),
];

/// Returns the name of a unified format.
fn unified(level: GfxLevel, number: u32) -> Option<String> {
    if number == 0 {
        return Some("BUF_FMT_INVALID".to_owned());
    }
    let runs = if level >= GfxLevel::Gfx11 { &GFX11 } else { &GFX10 };
    runs.iter()
        .flat_map(|(channels, numbers)| numbers.iter().map(move |number| (channels, number)))
        .nth(number as usize - 1)
        .map(|(channels, number)| format!("BUF_FMT_{channels}_{}", NUMBERS[*number]))
}

/// Writes the format of a typed buffer instruction as a modifier; nothing for the default one.
pub(super) fn write(instruction: &Instruction, out: &mut String) -> fmt::Result {
    let level = instruction.level;
    if level >= GfxLevel::Gfx10 {
        let number = instruction.field(Field::Format);
        return match unified(level, number) {
            _ if number == 1 => Ok(()),
            Some(name) => write!(out, " format:[{name}]"),
            None => write!(out, " format:{number}"),
        };
    }
    let (data, number) = (instruction.field(Field::Dfmt), instruction.field(Field::Nfmt));
    if level <= GfxLevel::Gfx7 {
        return Ok(());
    }
    let number_name = match number {
        6 => "RESERVED_6",
        _ => NUMBERS[number as usize & 7],
    };
    match (data, number) {
        (1, 0) => Ok(()),
        (1, _) => write!(out, " format:[BUF_NUM_FORMAT_{number_name}]"),
        (_, 0) => write!(out, " format:[BUF_DATA_FORMAT_{}]", DATA[data as usize & 15]),
        _ => write!(out, " format:[BUF_DATA_FORMAT_{},BUF_NUM_FORMAT_{number_name}]", DATA[data as usize & 15]),
    }
}

/// Returns the format as GFX6 and GFX7 write it, between the resource and the offset.
pub(super) fn as_operands(instruction: &Instruction) -> String {
    format!("dfmt:{}, nfmt:{}, ", instruction.field(Field::Dfmt), instruction.field(Field::Nfmt))
}

/// Reads the value of a `format:` modifier: fields and their values.
pub(crate) fn parse(level: GfxLevel, text: &str) -> Option<Vec<(Field, u32)>> {
    if level >= GfxLevel::Gfx10 {
        let number = match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            Some(name) => (0..128).find(|number| unified(level, *number).as_deref() == Some(name))?,
            None => text.parse().ok()?,
        };
        return Some(vec![(Field::Format, number)]);
    }
    let mut fields = Vec::new();
    for name in text.strip_prefix('[')?.strip_suffix(']')?.split(',') {
        if let Some(data) = name.strip_prefix("BUF_DATA_FORMAT_") {
            fields.push((Field::Dfmt, DATA.iter().position(|known| *known == data)? as u32));
        } else {
            let number = name.strip_prefix("BUF_NUM_FORMAT_")?;
            fields.push((Field::Nfmt, NUMBERS.iter().position(|known| *known == number)? as u32));
        }
    }
    Some(fields)
}
