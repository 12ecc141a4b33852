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
    fn get(self, words: &[u32]) -> u32 {
        let (first, last) = (usize::from(self.low / 32), usize::from(self.high / 32));
        let mask = (1_u64 << self.width()) - 1;
        let mut value = if first < words.len() { u64::from(words[first]) } else { 0 };
        if last != first && last < words.len() {
            value |= u64::from(words[last]) << 32;
        }
        (value >> (self.low % 32) & mask) as u32
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
    /// The dword, the position and the mask of a field that is one piece within a dword, as most are; a mask of 0 for others.
    whole: (u8, u8, u32),
    pieces: &'static [Bits],
}

impl FieldLayout {
    pub(crate) const fn new(field: Field, pieces: &'static [Bits]) -> Self {
        let whole = match pieces {
            [Bits { high, low }] if *high / 32 == *low / 32 => {
                (*low / 32, *low % 32, ((1_u64 << (*high - *low + 1)) - 1) as u32)
            }
            _ => (0, 0, 0),
        };
        Self { field, whole, pieces }
    }

    /// Returns the number of bits.
    pub(crate) fn width(&self) -> u32 {
        self.pieces.iter().map(|piece| piece.width()).sum()
    }

    /// Returns the value of the field in `words`, which are 0 beyond their end.
    #[inline]
    pub(crate) fn get(&self, words: &[u32]) -> u32 {
        let (word, shift, mask) = self.whole;
        if mask != 0 { words.get(usize::from(word)).map_or(0, |word| word >> shift & mask) } else { self.join(words) }
    }

    /// Returns the value of a field that is not one piece within a dword.
    fn join(&self, words: &[u32]) -> u32 {
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

/// The place of a field that a format does not have.
const ABSENT: u8 = u8::MAX;

/// A format on one generation.
#[derive(Debug)]
pub(crate) struct FormatLayout {
    pub(crate) format: Format,
    pub(crate) bytes: u8,
    encoding: &'static [Match],
    /// The identifying bits of the first dword, and their value.
    identity: (u32, u32),
    fields: &'static [FieldLayout],
    /// The place of each [`Field`] in `fields`.
    places: [u8; Field::COUNT],
}

impl FormatLayout {
    pub(crate) const fn new(
        format: Format,
        bytes: u8,
        encoding: &'static [Match],
        fields: &'static [FieldLayout],
    ) -> Self {
        let mut identity = (0, 0);
        let mut index = 0;
        while index < encoding.len() {
            let Match { bits, value } = encoding[index];
            assert!(bits.high < 32, "identifying bits are in the first dword");
            identity.0 |= (((1_u64 << bits.width()) - 1) << bits.low) as u32;
            identity.1 |= value << bits.low;
            index += 1;
        }
        let mut places = [ABSENT; Field::COUNT];
        let mut index = 0;
        while index < fields.len() {
            places[fields[index].field as usize] = index as u8;
            index += 1;
        }
        Self { format, bytes, encoding, identity, fields, places }
    }

    /// Returns `true` if the first dword has the format's identifying bits; formats without any never match.
    pub(crate) const fn matches(&self, first: u32) -> bool {
        let (mask, value) = self.identity;
        mask != 0 && first & mask == value
    }

    /// Returns the number of identifying bits.
    pub(crate) const fn identifying_bits(&self) -> u32 {
        self.identity.0.count_ones()
    }

    /// Returns `true` if all identifying bits are among so many of the highest ones.
    pub(crate) const fn is_identified_by(&self, bits: u32) -> bool {
        self.identity.0 << bits == 0
    }

    /// Writes the identifying bits.
    pub(crate) fn identify(&self, words: &mut [u32]) {
        self.encoding.iter().for_each(|part| part.bits.set(words, part.value));
    }

    /// Returns the layout of a field.
    #[inline]
    pub(crate) fn field(&self, field: Field) -> Option<&'static FieldLayout> {
        self.fields.get(usize::from(self.places[field as usize]))
    }
}
