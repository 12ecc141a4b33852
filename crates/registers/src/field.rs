//! Fields of registers, and the names of their values.

use crate::RegisterSet;
use crate::rows::{Bits, Value};
use crate::tables::{name, values};

/// A field of a register.
#[derive(Clone, Copy, Debug)]
pub struct Field(pub(crate) &'static Bits);

/// A value of a field, with its name.
#[derive(Clone, Copy, Debug)]
pub struct Choice(&'static Value);

/// A list of names for the values of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enum(u16);

/// Value of a register's field.
#[derive(Clone, Copy, Debug)]
pub struct FieldValue {
    /// The field.
    pub field: Field,
    /// The number in it.
    pub value: u32,
    /// The number's name, if it has one.
    pub choice: Option<&'static str>,
}

impl Field {
    /// Returns its name in AMD's headers, in lower case.
    pub const fn name(self) -> &'static str {
        name(self.0.name)
    }

    /// Returns its highest and its lowest bit.
    pub const fn bits(self) -> (u8, u8) {
        (self.0.high, self.0.low)
    }

    /// Returns the bits of the register that it takes.
    pub const fn mask(self) -> u32 {
        self.0.mask()
    }

    /// Returns the largest number it holds.
    pub const fn max(self) -> u32 {
        self.0.mask() >> self.0.low
    }

    /// Returns this field's part of a register's value.
    pub const fn of(self, register: u32) -> u32 {
        (register & self.0.mask()) >> self.0.low
    }

    /// Returns the register's value with another number in this field; `None` if the number does not fit.
    pub fn set(self, register: u32, value: u32) -> Option<u32> {
        (value <= self.max()).then_some(register & !self.mask() | value << self.0.low)
    }

    /// Returns `true` if the set has this field.
    pub fn is_on(self, set: impl Into<RegisterSet>) -> bool {
        set.into().is_in(self.0.sets)
    }

    /// Returns the values that have names, smallest first; none for a number.
    pub fn choices(self, set: impl Into<RegisterSet>) -> impl Iterator<Item = Choice> {
        let set = set.into();
        values(self.0.choices).iter().filter(move |value| set.is_in(value.sets)).map(Choice)
    }

    /// Returns the name of a value.
    pub fn choice(self, value: u32, set: impl Into<RegisterSet>) -> Option<&'static str> {
        let (set, values) = (set.into(), values(self.0.choices));
        let from = values.partition_point(|known| known.raw < value);
        let same = values.get(from..)?.iter().take_while(|known| known.raw == value);
        same.into_iter().find(|known| set.is_in(known.sets)).map(|known| name(known.name))
    }
}

impl Choice {
    /// Returns the number.
    pub const fn value(self) -> u32 {
        self.0.raw
    }

    /// Returns its name in AMD's headers, in lower case.
    pub const fn name(self) -> &'static str {
        name(self.0.name)
    }
}

impl Enum {
    pub(crate) const fn of(number: u16) -> Self {
        Self(number)
    }

    /// Returns the name of a value: that of the set if it has one, else that of another.
    pub fn name(self, value: u32, set: impl Into<RegisterSet>) -> Option<&'static str> {
        let set = set.into();
        let named = || self.all().filter(|choice| choice.value() == value);
        let own = named().find(|choice| set.is_in(choice.0.sets));
        own.or_else(|| named().next()).map(Choice::name)
    }

    /// Returns the value of a name in any case, whichever generation has it.
    pub fn value(self, name: &str) -> Option<u32> {
        self.all().find(|choice| choice.name().eq_ignore_ascii_case(name)).map(Choice::value)
    }

    /// Returns the names of all generations, smallest value first.
    pub fn all(self) -> impl Iterator<Item = Choice> {
        values(self.0).iter().map(Choice)
    }
}
