//! Fields of descriptors: the bits on each generation, and the unit of the number.

use core::fmt;
use core::marker::PhantomData;

use amdgpu_hw::GfxLevel;
use amdgpu_registers::Enum;

/// A part of a field: index of the dword, lowest bit, number of bits. The least significant part comes first.
pub type Part = (u8, u8, u8);

/// The bits of a field on a range of generations, and the unit of its number.
#[derive(Debug)]
pub struct Place {
    first: GfxLevel,
    last: GfxLevel,
    parts: &'static [Part],
    shift: u8,
    less: u8,
    signed: bool,
    names: Option<Enum>,
    instead_of: Option<&'static str>,
}

/// Returns the bits of a field on the generations `first` to `last`. The number is stored unmodified.
pub(crate) const fn on(first: GfxLevel, last: GfxLevel, parts: &'static [Part]) -> Place {
    Place { first, last, parts, shift: 0, less: 0, signed: false, names: None, instead_of: None }
}

impl Place {
    /// Sets that the low `shift` bits of the number are zero and not stored.
    pub(crate) const fn shifted(mut self, shift: u8) -> Self {
        self.shift = shift;
        self
    }

    /// Sets that the number minus one is stored.
    pub(crate) const fn less_one(mut self) -> Self {
        self.less = 1;
        self
    }

    /// Sets that the number is stored in two's complement.
    pub(crate) const fn signed(mut self) -> Self {
        self.signed = true;
        self
    }

    /// Sets the names of the field's values.
    pub(crate) const fn named(mut self, names: Enum) -> Self {
        self.names = Some(names);
        self
    }

    /// Sets that the bits belong to another field in descriptors for another use.
    pub(crate) const fn instead_of(mut self, other: &'static str) -> Self {
        self.instead_of = Some(other);
        self
    }

    /// Returns the parts of the field, the least significant first.
    pub const fn parts(&self) -> &'static [Part] {
        self.parts
    }

    /// Returns the number of bits of the field.
    pub fn bits(&self) -> u32 {
        self.parts.iter().map(|&(_, _, bits)| u32::from(bits)).sum()
    }

    /// Returns the name of the field that has the same bits in descriptors for another use.
    pub const fn instead_of_field(&self) -> Option<&'static str> {
        self.instead_of
    }

    /// Returns the name of a value on a generation; `None` if it has none.
    pub fn name(&self, value: i64, level: GfxLevel) -> Option<&'static str> {
        self.names?.name(u32::try_from(value).ok()?, level)
    }

    /// Returns the smallest and the largest number that the field can hold.
    pub fn range(&self) -> (i64, i64) {
        let bits = self.bits();
        if self.signed {
            return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1);
        }
        let less = i64::from(self.less);
        (less, (((1_i64 << bits) - 1) << self.shift) + less)
    }

    /// Reads the number from the dwords of a descriptor.
    pub(crate) fn read(&self, words: &[u32]) -> i64 {
        let (mut value, mut at) = (0_u64, 0);
        for &(word, low, bits) in self.parts {
            let word = words.get(usize::from(word)).copied().unwrap_or_default();
            value |= u64::from(word >> low & mask(bits)) << at;
            at += u32::from(bits);
        }
        if self.signed {
            let unused = 64 - at;
            return (value << unused).cast_signed() >> unused;
        }
        ((value << self.shift).cast_signed()) + i64::from(self.less)
    }

    /// Stores a number, which must be in range and a multiple of the unit.
    pub(crate) fn write(&self, words: &mut [u32], value: i64) {
        let mut stored = ((value - i64::from(self.less)) >> self.shift).cast_unsigned();
        for &(word, low, bits) in self.parts {
            if let Some(word) = words.get_mut(usize::from(word)) {
                let mask = mask(bits);
                *word = *word & !(mask << low) | (stored as u32 & mask) << low;
            }
            stored >>= bits;
        }
    }

    /// Returns the alignment that the number must have.
    pub const fn alignment(&self) -> i64 {
        1 << self.shift
    }
}

const fn mask(bits: u8) -> u32 {
    if bits >= 32 { u32::MAX } else { (1 << bits) - 1 }
}

/// A field of a kind of descriptor: a name with one meaning, and its bits on each generation.
pub struct Field<K> {
    name: &'static str,
    places: &'static [Place],
    kind: PhantomData<fn() -> K>,
}

impl<K> Clone for Field<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Field<K> {}

impl<K> PartialEq for Field<K> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<K> Eq for Field<K> {}

impl<K> fmt::Debug for Field<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<K> Field<K> {
    pub(crate) const fn new(name: &'static str, places: &'static [Place]) -> Self {
        Self { name, places, kind: PhantomData }
    }

    /// Returns the field's name in AMD's headers, in lower case.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Returns the field's bits on a generation; `None` if the generation lacks the field.
    pub fn on(self, level: GfxLevel) -> Option<&'static Place> {
        self.places.iter().find(|place| place.first <= level && level <= place.last)
    }
}
