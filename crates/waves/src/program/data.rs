//! Sizes of accesses to memory.

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
}

impl DataKind {
    /// Returns the data.
    pub(crate) fn data(self) -> Data {
        match self {
            Self::Load(data) | Self::Store(data) => data,
        }
    }
}
