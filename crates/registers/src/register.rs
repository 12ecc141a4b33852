//! Registers.

use core::cmp::Ordering;
use core::fmt;

use crate::generated::registers::{BY_OFFSET, PLACES, REGISTERS};
use crate::tables::{fields, name};
use crate::{Field, FieldValue, RegisterSet};

/// A register, identified by its name. Registers of different generations with the same name are the same `Register`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(u16);

impl fmt::Debug for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Register {
    pub(crate) const fn of(number: u16) -> Self {
        Self(number)
    }

    /// Returns the name of the register in AMD's headers.
    pub const fn name(self) -> &'static str {
        name(self.0)
    }

    /// Returns the offset in bytes from the start of the register space; `None` if the set does not have the register.
    #[inline]
    pub fn offset(self, set: impl Into<RegisterSet>) -> Option<u32> {
        self.offset_in(set.into())
    }

    /// Returns the same as [`offset`](Self::offset), in constant expressions.
    #[inline]
    pub const fn offset_in(self, set: RegisterSet) -> Option<u32> {
        let (first, count) = REGISTERS[self.0 as usize].places();
        let mut at = first;
        while at < first + count {
            if set.is_in(PLACES[at].sets) {
                return Some(PLACES[at].offset);
            }
            at += 1;
        }
        None
    }

    /// Returns the fields, starting with the lowest bit; none if the whole register is one number. A few fields overlap.
    pub fn fields(self, set: impl Into<RegisterSet>) -> impl Iterator<Item = Field> {
        let set = set.into();
        self.rows().filter(move |field| field.is_on(set))
    }

    /// Returns the field with a name, ignoring case; `None` if there is none.
    pub fn field(self, name: &str, set: impl Into<RegisterSet>) -> Option<Field> {
        self.fields(set).find(|field| field.name().eq_ignore_ascii_case(name))
    }

    /// Decodes a value of the register into its fields.
    pub fn decode(self, value: u32, set: impl Into<RegisterSet>) -> impl Iterator<Item = FieldValue> {
        let set = set.into();
        self.fields(set).map(move |field| FieldValue {
            field,
            value: field.of(value),
            choice: field.choice(field.of(value), set),
        })
    }

    /// Returns the mask of the bits that belong to no field; 0 if the whole register is one number.
    pub fn unnamed_bits(self, set: impl Into<RegisterSet>) -> u32 {
        match self.fields(set).fold(0, |bits, field| bits | field.mask()) {
            0 => 0,
            bits => !bits,
        }
    }

    /// Returns the fields of all generations.
    pub(crate) fn rows(self) -> impl Iterator<Item = Field> + use<> {
        REGISTERS.get(usize::from(self.0)).into_iter().flat_map(|&row| fields(row)).map(Field)
    }
}

/// Returns all registers in the order of their names.
pub fn all() -> impl ExactSizeIterator<Item = Register> {
    (0..REGISTERS.len() as u16).map(Register)
}

/// Returns the register at a byte offset; `None` if there is none. On GFX9, 0xb894 has two names: the result is the register that
/// assigns compute units to a shader engine.
pub fn at(offset: u32, set: impl Into<RegisterSet>) -> Option<Register> {
    let set = set.into();
    let place = |index: &u16| PLACES.get(usize::from(*index));
    let first = BY_OFFSET.partition_point(|index| place(index).is_some_and(|place| place.offset < offset));
    let here = BY_OFFSET.get(first..)?.iter().map_while(place).take_while(|place| place.offset == offset);
    let found = here.filter(|place| set.is_in(place.sets)).last()?;
    Some(Register(found.register))
}

/// Returns the register with a name, ignoring case; `None` if there is none.
pub fn named(name: &str) -> Option<Register> {
    let order = |known: &str| {
        let upper = name.bytes().map(|byte| byte.to_ascii_uppercase());
        known.bytes().cmp(upper)
    };
    let (mut low, mut high) = (0, REGISTERS.len() as u16);
    while low < high {
        let middle = low.midpoint(high);
        match order(Register(middle).name()) {
            Ordering::Less => low = middle + 1,
            Ordering::Equal => return Some(Register(middle)),
            Ordering::Greater => high = middle,
        }
    }
    None
}
