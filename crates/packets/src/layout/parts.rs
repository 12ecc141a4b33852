//! The fields of packets: their bits, and their valid values.

use amdgpu_hw::GfxLevel;

use super::generated::texts::NAMES;

/// A set of generations or versions, as a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels(pub(super) u16);

impl Levels {
    pub(super) const NONE: Self = Self(0);

    #[inline]
    pub(super) const fn has(self, level: u8) -> bool {
        self.0 >> level & 1 != 0
    }
}

/// A value of a selector.
#[derive(Debug)]
pub struct Choice {
    pub(super) value: u32,
    pub(super) name: &'static str,
    pub(super) levels: Levels,
}

impl Choice {
    /// Returns the value's number in the packet.
    pub const fn value(&self) -> u32 {
        self.value
    }

    /// Returns the value's name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns `true` if the value exists on a generation.
    pub(crate) const fn is_on(&self, level: GfxLevel) -> bool {
        self.levels.has(level as u8)
    }
}

/// The name of a field, or of a number that consists of two fields. All names are constants of the module `names`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FieldName(pub(super) u16);

impl FieldName {
    /// Returns the name in AMD's headers, in lower case.
    pub const fn text(self) -> &'static str {
        NAMES[self.0 as usize].0
    }

    /// Returns `true` if fields of this name contain addresses in the job's address space.
    pub(crate) const fn is_address(self) -> bool {
        NAMES[self.0 as usize].1
    }
}

impl std::fmt::Debug for FieldName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text())
    }
}

/// The part of a number that a field contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    /// The whole number.
    Whole,
    /// The low half, in a field `x_lo`.
    Low,
    /// The high half, in a field `x_hi`.
    High,
}

/// The name of a field, and of the number that it is a part of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(super) name: FieldName,
    pub(super) whole: FieldName,
    pub(super) half: Half,
}

/// The condition under which a field is active: another field of the packet has one of these values.
#[derive(Debug)]
pub(super) struct When {
    pub(super) field: FieldName,
    pub(super) values: &'static [u32],
}

/// A field: bits of a dword.
#[derive(Debug)]
pub struct Field {
    pub(super) part: Part,
    pub(super) dword: u16,
    pub(super) high: u8,
    pub(super) low: u8,
    pub(super) levels: Levels,
    pub(super) choices: &'static [Choice],
    pub(super) when: &'static [When],
}

impl Field {
    /// Returns the field's name in AMD's headers, in lower case.
    pub const fn name(&self) -> &'static str {
        self.part.name.text()
    }

    /// Returns the field's name as a constant.
    pub const fn key(&self) -> FieldName {
        self.part.name
    }

    /// Returns the name of the number that the field is a half of; otherwise the field's own name.
    pub(crate) const fn whole(&self) -> FieldName {
        self.part.whole
    }

    /// Returns the part of that number that the field contains.
    pub(crate) const fn half(&self) -> Half {
        self.part.half
    }

    /// Returns `true` if the field has this name, or is a half of the number with this name.
    pub(crate) const fn is_called(&self, name: FieldName) -> bool {
        self.part.name.0 == name.0 || self.part.whole.0 == name.0
    }

    /// Returns the index of the field's dword; the header is dword 0.
    pub const fn dword(&self) -> usize {
        self.dword as usize
    }

    /// Returns the field's highest and lowest bit.
    pub const fn bits(&self) -> (u8, u8) {
        (self.high, self.low)
    }

    /// Returns the largest number that the field can hold.
    pub const fn max(&self) -> u32 {
        self.mask() >> self.low
    }

    /// Returns the values of a selector; empty for a number.
    pub const fn choices(&self) -> &'static [Choice] {
        self.choices
    }

    /// Returns the conditions under which the field is active: other fields, each with the values that activate it.
    pub fn conditions(&self) -> impl Iterator<Item = (FieldName, &'static [u32])> + use<> {
        self.when.iter().map(|when| (when.field, when.values))
    }

    pub(super) const fn mask(&self) -> u32 {
        (u32::MAX >> (31 - self.high)) & (u32::MAX << self.low)
    }

    pub(super) const fn of_dword(&self, dword: u32) -> u32 {
        (dword & self.mask()) >> self.low
    }

    pub(super) const fn is_on(&self, level: u8) -> bool {
        self.levels.has(level)
    }

    /// Returns the value's entry on this level, if it has one.
    pub(super) fn choice(&self, value: u32, level: u8) -> Option<&'static Choice> {
        let from = self.choices.partition_point(|choice| choice.value < value);
        let same = self.choices.get(from..)?.iter().take_while(|choice| choice.value == value);
        same.into_iter().find(|choice| choice.levels.has(level))
    }
}

/// Bits of a number that have a name.
#[derive(Debug)]
pub(crate) struct NamedBits {
    name: &'static str,
    high: u8,
    low: u8,
    choices: &'static [Choice],
}

impl NamedBits {
    /// Returns the name of the bits.
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the value of these bits in a number, and the value's name.
    pub(crate) fn of(&self, number: u32) -> (u32, Option<&'static str>) {
        let value = number << (31 - self.high) >> (31 - self.high + self.low);
        (value, self.choices.iter().find(|choice| choice.value == value).map(Choice::name))
    }
}

/// Creates named bits for the generated tables.
pub(super) const fn named(name: &'static str, high: u8, low: u8, choices: &'static [Choice]) -> NamedBits {
    NamedBits { name, high, low, choices }
}

/// Creates a selector value for the generated tables.
pub(super) const fn choice(value: u32, name: &'static str, levels: u16) -> Choice {
    Choice { value, name, levels: Levels(levels) }
}

/// Creates a field for the generated tables.
pub(super) const fn field(part: Part, dword: u16, high: u8, low: u8, levels: u16, choices: &'static [Choice]) -> Field {
    Field { part, dword, high, low, levels: Levels(levels), choices, when: &[] }
}

impl Field {
    pub(super) const fn when(self, when: &'static [When]) -> Self {
        Self { when, ..self }
    }
}

/// Creates a condition for the generated tables.
pub(super) const fn when(field: Part, values: &'static [u32]) -> When {
    When { field: field.name, values }
}
