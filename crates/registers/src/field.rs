//! Fields of registers, and the names of their values.

use crate::RegisterSet;
use crate::rows::{Bits, Value};
use crate::tables::{name, values};

/// A field of a register.
#[derive(Clone, Copy, Debug)]
pub struct Field(pub(crate) &'static Bits);

/// A named value of a field.
#[derive(Clone, Copy, Debug)]
pub struct Choice(&'static Value);

/// An enumeration: a list of named values that several fields can share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enum(u16);

/// The value of a field in a decoded register.
#[derive(Clone, Copy, Debug)]
pub struct FieldValue {
    /// The field of the register.
    pub field: Field,
    /// The value of the field, shifted down to bit 0.
    pub value: u32,
    /// The name of the value; `None` if it has none.
    pub choice: Option<&'static str>,
}

impl Field {
    /// Returns the name of the field in AMD's headers, in lower case.
    pub const fn name(self) -> &'static str {
        name(self.0.name)
    }

    /// Returns the highest and the lowest bit of the field.
    pub const fn bits(self) -> (u8, u8) {
        (self.0.high, self.0.low)
    }

    /// Returns the mask of the register's bits that belong to the field.
    pub const fn mask(self) -> u32 {
        self.0.mask()
    }

    /// Returns the largest value that the field can hold.
    pub const fn max(self) -> u32 {
        self.0.mask() >> self.0.low
    }

    /// Extracts the field from the value of a register.
    pub const fn of(self, register: u32) -> u32 {
        (register & self.0.mask()) >> self.0.low
    }

    /// Returns the value of the register with this field replaced by `value`; `None` if `value` does not fit.
    pub fn set(self, register: u32, value: u32) -> Option<u32> {
        (value <= self.max()).then_some(register & !self.mask() | value << self.0.low)
    }

    /// Returns `true` if the register has this field in the register set.
    pub fn is_on(self, set: impl Into<RegisterSet>) -> bool {
        set.into().is_in(self.0.sets)
    }

    /// Returns the named values of the field in ascending order. Empty for a plain number.
    pub fn choices(self, set: impl Into<RegisterSet>) -> impl Iterator<Item = Choice> {
        let set = set.into();
        values(self.0.choices).iter().filter(move |value| set.is_in(value.sets)).map(Choice)
    }

    /// Returns the name of a value of the field; `None` if it has none.
    pub fn choice(self, value: u32, set: impl Into<RegisterSet>) -> Option<&'static str> {
        let (set, values) = (set.into(), values(self.0.choices));
        let from = values.partition_point(|known| known.raw < value);
        let same = values.get(from..)?.iter().take_while(|known| known.raw == value);
        same.into_iter().find(|known| set.is_in(known.sets)).map(|known| name(known.name))
    }
}

impl Choice {
    /// Returns the value as a number.
    pub const fn value(self) -> u32 {
        self.0.raw
    }

    /// Returns the name of the value in AMD's headers, in lower case.
    pub const fn name(self) -> &'static str {
        name(self.0.name)
    }
}

impl Enum {
    pub(crate) const fn of(number: u16) -> Self {
        Self(number)
    }

    /// Returns the name of a value: the one in this register set, or else the one in another set; `None` if no set names it.
    pub fn name(self, value: u32, set: impl Into<RegisterSet>) -> Option<&'static str> {
        let set = set.into();
        let named = || self.all().filter(|choice| choice.value() == value);
        let own = named().find(|choice| set.is_in(choice.0.sets));
        own.or_else(|| named().next()).map(Choice::name)
    }

    /// Returns the value with a name, in any generation; `None` if there is none. The case of letters is ignored.
    pub fn value(self, name: &str) -> Option<u32> {
        self.all().find(|choice| choice.name().eq_ignore_ascii_case(name)).map(Choice::value)
    }

    /// Returns the named values of all generations, in ascending order.
    pub fn all(self) -> impl Iterator<Item = Choice> {
        values(self.0).iter().map(Choice)
    }
}
