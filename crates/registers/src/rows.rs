//! The rows of the packed tables.

/// A register: the first of its fields and places, and their numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    fields: u16,
    places: u16,
    field_count: u8,
    place_count: u8,
}

/// A place of a register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Bytes from the start of the register space.
    pub(crate) offset: u32,
    /// The sets that have the register there.
    pub(crate) sets: u16,
    /// The register.
    pub(crate) register: u16,
}

/// A field of a register.
#[derive(Debug)]
pub(crate) struct Bits {
    pub(crate) name: u16,
    pub(crate) sets: u16,
    pub(crate) high: u8,
    pub(crate) low: u8,
    /// The enum, counted from 1; 0 for a number.
    pub(crate) choices: u16,
}

/// An enum: the first of its values, and their number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choices {
    pub(crate) first: u16,
    pub(crate) count: u16,
}

/// A value of an enum.
#[derive(Debug)]
pub(crate) struct Value {
    pub(crate) raw: u32,
    pub(crate) name: u16,
    pub(crate) sets: u16,
}

pub(crate) const fn register(fields: u16, field_count: u8, places: u16, place_count: u8) -> Row {
    Row { fields, places, field_count, place_count }
}

pub(crate) const fn place(offset: u32, sets: u16, register: u16) -> Place {
    Place { offset, sets, register }
}

pub(crate) const fn bits(name: u16, high: u8, low: u8, sets: u16, choices: u16) -> Bits {
    Bits { name, sets, high, low, choices }
}

pub(crate) const fn value(raw: u32, name: u16, sets: u16) -> Value {
    Value { raw, name, sets }
}

impl Row {
    /// Returns the first field, and the number of fields.
    pub(crate) const fn fields(self) -> (usize, usize) {
        (self.fields as usize, self.field_count as usize)
    }

    /// Returns the first place, and the number of places: what a constant function can use.
    pub(crate) const fn places(self) -> (usize, usize) {
        (self.places as usize, self.place_count as usize)
    }
}

impl Bits {
    /// Returns the bits of the dword that the field takes.
    #[inline]
    pub(crate) const fn mask(&self) -> u32 {
        (u32::MAX >> (31 - self.high)) & (u32::MAX << self.low)
    }
}
