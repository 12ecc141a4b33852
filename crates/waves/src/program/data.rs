//! Sizes of accesses to memory, from the names of operations.

/// Data that an access moves between memory and registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataKind {
    Load(Data),
    Store(Data),
}

/// A size of data and its place in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Data {
    Dwords(u8),
    /// 1 or 2 bytes.
    Part {
        bytes: u8,
        signed: bool,
        place: Place,
    },
    /// Components that a format converts.
    Format {
        components: u8,
        half: bool,
        high: bool,
    },
}

/// The part of a register that a small load or store uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The whole register for loads, its low bits for stores.
    Whole,
    /// The low half; the other stays.
    Low,
    High,
}

impl Data {
    /// Returns the bytes of memory; 0 for formats.
    pub(crate) fn bytes(self) -> u32 {
        match self {
            Self::Dwords(dwords) => 4 * u32::from(dwords),
            Self::Part { bytes, .. } => u32::from(bytes),
            Self::Format { .. } => 0,
        }
    }

    /// Returns the registers that data takes.
    pub(crate) fn registers(self, packs_halves: bool) -> u16 {
        match self {
            Self::Dwords(dwords) => dwords.into(),
            Self::Part { .. } => 1,
            Self::Format { components, half: true, .. } if packs_halves => u16::from(components).div_ceil(2),
            Self::Format { components, .. } => components.into(),
        }
    }

    /// Reads the end of a name behind `load_` or `store_`.
    fn parse(name: &str) -> Option<Self> {
        let part = |bytes, signed, place| Some(Self::Part { bytes, signed, place });
        let format = |components: &str, half, high| {
            let components = ["x", "xy", "xyz", "xyzw"].iter().position(|known| *known == components)?;
            Some(Self::Format { components: components as u8 + 1, half, high })
        };
        match name {
            "dword" | "b32" => Some(Self::Dwords(1)),
            "dwordx2" | "b64" => Some(Self::Dwords(2)),
            "dwordx3" | "b96" => Some(Self::Dwords(3)),
            "dwordx4" | "b128" => Some(Self::Dwords(4)),
            "ubyte" | "u8" | "byte" | "b8" => part(1, false, Place::Whole),
            "sbyte" | "i8" => part(1, true, Place::Whole),
            "ushort" | "u16" | "short" | "b16" => part(2, false, Place::Whole),
            "sshort" | "i16" => part(2, true, Place::Whole),
            "ubyte_d16" | "d16_u8" | "u8_d16" => part(1, false, Place::Low),
            "sbyte_d16" | "d16_i8" | "i8_d16" => part(1, true, Place::Low),
            "short_d16" | "d16_b16" | "u16_d16" => part(2, false, Place::Low),
            "ubyte_d16_hi" | "d16_hi_u8" | "u8_d16_hi" | "byte_d16_hi" | "d16_hi_b8" | "b8_d16_hi" => {
                part(1, false, Place::High)
            }
            "sbyte_d16_hi" | "d16_hi_i8" | "i8_d16_hi" => part(1, true, Place::High),
            "short_d16_hi" | "d16_hi_b16" | "u16_d16_hi" | "b16_d16_hi" => part(2, false, Place::High),
            "format_d16_hi_x" | "d16_hi_format_x" => format("x", true, true),
            _ => {
                let half = name.strip_prefix("format_d16_").or_else(|| name.strip_prefix("d16_format_"));
                match half {
                    Some(components) => format(components, true, false),
                    None => format(name.strip_prefix("format_")?, false, false),
                }
            }
        }
    }
}

impl DataKind {
    /// Reads a name such as `load_dwordx2` or `store_b16`; `None` for anything else.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match (
            name.strip_prefix("load_").or_else(|| name.strip_prefix("read_")),
            name.strip_prefix("store_").or_else(|| name.strip_prefix("write_")),
        ) {
            (Some(rest), _) => Data::parse(rest).map(Self::Load),
            (_, Some(rest)) => Data::parse(rest).map(Self::Store),
            _ => None,
        }
    }

    /// Returns the data.
    pub(crate) fn data(self) -> Data {
        match self {
            Self::Load(data) | Self::Store(data) => data,
        }
    }
}
