//! The packed tables, and their rows.

use crate::generated::choices::{CHOICES, VALUES};
use crate::generated::names::{ENDS, POOL};
use crate::generated::registers::{BY_OFFSET, FIELDS, PLACES, REGISTERS};

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
    choices: u16,
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

/// The size of all tables in bytes.
pub const TABLE_BYTES: usize = POOL.len()
    + size_of_val(&ENDS)
    + size_of_val(&REGISTERS)
    + size_of_val(&PLACES)
    + size_of_val(&BY_OFFSET)
    + size_of_val(&FIELDS)
    + size_of_val(&CHOICES)
    + size_of_val(&VALUES);

const _: () = assert!(TABLE_BYTES < 300 << 10);

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
    pub(crate) fn fields(self) -> &'static [Bits] {
        let first = usize::from(self.fields);
        FIELDS.get(first..first + usize::from(self.field_count)).unwrap_or_default()
    }

    /// Returns the first place, and the number of places: what a constant function can use.
    pub(crate) const fn places(self) -> (usize, usize) {
        (self.places as usize, self.place_count as usize)
    }
}

impl Bits {
    /// Returns the values that the field has names for.
    pub(crate) fn values(&self) -> &'static [Value] {
        values(self.choices)
    }

    /// Returns the bits of the dword that the field takes.
    #[inline]
    pub(crate) const fn mask(&self) -> u32 {
        (u32::MAX >> (31 - self.high)) & (u32::MAX << self.low)
    }
}

/// Returns the values of an enum, counted from 1; none for 0.
pub(crate) fn values(choices: u16) -> &'static [Value] {
    let Some(choices) = usize::from(choices).checked_sub(1).and_then(|at| CHOICES.get(at)) else { return &[] };
    let first = usize::from(choices.first);
    VALUES.get(first..first + usize::from(choices.count)).unwrap_or_default()
}

/// Returns a name by its number; empty for a number that is no name's.
pub(crate) const fn name(number: u16) -> &'static str {
    let number = number as usize;
    if number >= ENDS.len() {
        return "";
    }
    let start = if number == 0 { 0 } else { ENDS[number - 1] as usize };
    let (before, _) = POOL.split_at(ENDS[number] as usize);
    before.split_at(start).1
}
