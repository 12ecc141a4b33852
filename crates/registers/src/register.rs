//! Registers.

use core::cmp::Ordering;
use core::fmt;

use crate::generated::registers::{BY_OFFSET, PLACES, REGISTERS};
use crate::tables::{fields, name};
use crate::{Field, FieldValue, RegisterSet};

/// A register: the same on every generation that has one of its name.
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

    /// Returns its name in AMD's headers.
    pub const fn name(self) -> &'static str {
        name(self.0)
    }

    /// Returns its place in bytes from the start of the register space; `None` where there is none.
    #[inline]
    pub fn offset(self, set: impl Into<RegisterSet>) -> Option<u32> {
        self.offset_in(set.into())
    }

    /// Returns its place as [`offset`](Self::offset) does, for constants.
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

    /// Returns its fields, lowest first; none where it is one number. A few fields overlap.
    pub fn fields(self, set: impl Into<RegisterSet>) -> impl Iterator<Item = Field> {
        let set = set.into();
        self.rows().filter(move |field| field.is_on(set))
    }

    /// Returns the field of a name, in any case.
    pub fn field(self, name: &str, set: impl Into<RegisterSet>) -> Option<Field> {
        self.fields(set).find(|field| field.name().eq_ignore_ascii_case(name))
    }

    /// Returns each field's part of a value.
    pub fn decode(self, value: u32, set: impl Into<RegisterSet>) -> impl Iterator<Item = FieldValue> {
        let set = set.into();
        self.fields(set).map(move |field| FieldValue {
            field,
            value: field.of(value),
            choice: field.choice(field.of(value), set),
        })
    }

    /// Returns the bits that no field has; none where the register is one number.
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

/// Returns every register, by name.
pub fn all() -> impl ExactSizeIterator<Item = Register> {
    (0..REGISTERS.len() as u16).map(Register)
}

/// Returns the register at a byte offset. On GFX9 0xb894 has two names, of which it is the one that gives compute units
/// to a shader engine.
pub fn at(offset: u32, set: impl Into<RegisterSet>) -> Option<Register> {
    let set = set.into();
    let place = |index: &u16| PLACES.get(usize::from(*index));
    let first = BY_OFFSET.partition_point(|index| place(index).is_some_and(|place| place.offset < offset));
    let here = BY_OFFSET.get(first..)?.iter().map_while(place).take_while(|place| place.offset == offset);
    let found = here.filter(|place| set.is_in(place.sets)).last()?;
    Some(Register(found.register))
}

/// Returns the register of a name, in any case.
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
