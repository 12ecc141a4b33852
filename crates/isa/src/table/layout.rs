//! The bit positions of formats and fields.

use super::{Field, Format};

/// Bits `high..=low` of an instruction, counted from bit 0 of its first dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    high: u8,
    low: u8,
}

impl Bits {
    pub(crate) const fn new(high: u8, low: u8) -> Self {
        Self { high, low }
    }

    /// Returns the number of bits.
    pub(crate) const fn width(self) -> u32 {
        (self.high - self.low + 1) as u32
    }

    /// Returns the value of the bits in `words`, which are 0 beyond their end.
    pub(crate) fn get(self, words: &[u32]) -> u32 {
        let dword = |index: usize| u64::from(words.get(index).copied().unwrap_or(0));
        let index = usize::from(self.low / 32);
        let both = dword(index) | dword(index + 1) << 32;
        let mask = (1_u64 << self.width()) - 1;
        (both >> (self.low % 32) & mask) as u32
    }

    /// Sets the bits in `words` to the low bits of `value`. Bits beyond the end of `words` are ignored.
    pub(crate) fn set(self, words: &mut [u32], value: u32) {
        for bit in 0..self.width() {
            let at = u32::from(self.low) + bit;
            if let Some(word) = words.get_mut(at as usize / 32) {
                *word = *word & !(1 << (at % 32)) | (value >> bit & 1) << (at % 32);
            }
        }
    }
}

/// Identifying bits of a format and their value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Match {
    bits: Bits,
    value: u32,
}

impl Match {
    pub(crate) const fn new(high: u8, low: u8, value: u32) -> Self {
        Self { bits: Bits::new(high, low), value }
    }
}

/// The bits of a field, the low part first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldLayout {
    pub(crate) field: Field,
    pieces: &'static [Bits],
}

impl FieldLayout {
    pub(crate) const fn new(field: Field, pieces: &'static [Bits]) -> Self {
        Self { field, pieces }
    }

    /// Returns the number of bits.
    pub(crate) fn width(&self) -> u32 {
        self.pieces.iter().map(|piece| piece.width()).sum()
    }

    /// Returns the value of the field.
    pub(crate) fn get(&self, words: &[u32]) -> u32 {
        let (mut value, mut shift) = (0, 0);
        for piece in self.pieces {
            value |= piece.get(words) << shift;
            shift += piece.width();
        }
        value
    }

    /// Sets the field. Bits of `value` beyond its width are ignored.
    pub(crate) fn set(&self, words: &mut [u32], value: u32) {
        let mut shift = 0;
        for piece in self.pieces {
            piece.set(words, value >> shift);
            shift += piece.width();
        }
    }
}

/// A format on one generation.
#[derive(Debug)]
pub(crate) struct FormatLayout {
    pub(crate) format: Format,
    pub(crate) bytes: u8,
    pub(crate) encoding: &'static [Match],
    pub(crate) fields: &'static [FieldLayout],
}

impl FormatLayout {
    /// Returns `true` if the first dword has the format's identifying bits; formats without any never match.
    pub(crate) fn matches(&self, first: u32) -> bool {
        !self.encoding.is_empty() && self.encoding.iter().all(|part| part.bits.get(&[first]) == part.value)
    }

    /// Returns the number of identifying bits.
    pub(crate) fn identifying_bits(&self) -> u32 {
        self.encoding.iter().map(|part| part.bits.width()).sum()
    }

    /// Writes the identifying bits.
    pub(crate) fn identify(&self, words: &mut [u32]) {
        self.encoding.iter().for_each(|part| part.bits.set(words, part.value));
    }

    /// Returns the layout of a field.
    pub(crate) fn field(&self, field: Field) -> Option<&'static FieldLayout> {
        self.fields.iter().find(|layout| layout.field == field)
    }
}
