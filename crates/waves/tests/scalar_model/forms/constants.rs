//! Sources that are no vector registers: scalar registers, inline constants and literals.

use crate::{machine::State, table::width};

/// A source that all lanes share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Constant {
    /// `s8`, or `s[8:9]`.
    Register,
    Integer(i8),
    /// A number of [`FLOATS`].
    Float(usize),
    Literal(u32),
}

/// Inline floats: their text, and their bits with 16, 32 and 64 bits.
pub(crate) const FLOATS: [(&str, u16, u32, u64); 9] = [
    ("0.5", 0x3800, 0x3f00_0000, 0x3fe0_0000_0000_0000),
    ("-0.5", 0xb800, 0xbf00_0000, 0xbfe0_0000_0000_0000),
    ("1.0", 0x3c00, 0x3f80_0000, 0x3ff0_0000_0000_0000),
    ("-1.0", 0xbc00, 0xbf80_0000, 0xbff0_0000_0000_0000),
    ("2.0", 0x4000, 0x4000_0000, 0x4000_0000_0000_0000),
    ("-2.0", 0xc000, 0xc000_0000, 0xc000_0000_0000_0000),
    ("4.0", 0x4400, 0x4080_0000, 0x4010_0000_0000_0000),
    ("-4.0", 0xc400, 0xc080_0000, 0xc010_0000_0000_0000),
    // 1 / (2 pi), from GFX8 on.
    ("0.15915494", 0x3118, 0x3e22_f983, 0x3fc4_5f30_6dc9_c882),
];

impl Constant {
    /// Returns the text of an operand with some dwords.
    pub(crate) fn text(self, dwords: u8) -> String {
        match self {
            Self::Register if dwords == 2 => "s[8:9]".to_owned(),
            Self::Register => "s8".to_owned(),
            Self::Integer(value) => value.to_string(),
            Self::Float(index) => FLOATS[index].0.to_owned(),
            Self::Literal(value) => format!("{value:#x}"),
        }
    }

    /// Returns the bits of an operand of a type: floats have the type's size, integers are extended by their sign, and literals
    /// are the upper half of a float of 64 bits.
    pub(crate) fn bits(self, kind: char, state: &State) -> u64 {
        match self {
            Self::Register => state.pair(0),
            Self::Integer(value) => i64::from(value).cast_unsigned(),
            Self::Float(index) => match width(kind) {
                16 => FLOATS[index].1.into(),
                64 => FLOATS[index].3,
                _ => FLOATS[index].2.into(),
            },
            Self::Literal(value) => match kind {
                'd' => u64::from(value) << 32,
                'S' => i64::from(value.cast_signed()).cast_unsigned(),
                _ => value.into(),
            },
        }
    }
}
