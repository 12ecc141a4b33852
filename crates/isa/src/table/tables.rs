//! Tables of a generation.

use super::{Format, FormatLayout, Opcode};

/// The scalar operand numbers of a generation: plain SGPRs from 0 on, and named ones above.
#[derive(Debug)]
pub struct Scalars {
    /// The last number that is a plain SGPR.
    pub last_sgpr: u16,
    /// Numbers with a name, ascending.
    pub named: &'static [(u16, &'static str)],
}

impl Scalars {
    /// Returns the name of a number that is no plain SGPR; `None` for plain SGPRs, inline constants and gaps.
    pub fn name(&self, number: u32) -> Option<&'static str> {
        let number = u16::try_from(number).ok()?;
        let at = self.named.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        Some(self.named[at].1)
    }

    /// Returns the number of a name.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.named.iter().find(|(_, known)| *known == name).map(|(number, _)| u32::from(*number))
    }
}

/// The tables of one generation.
#[derive(Debug)]
pub struct Table {
    pub(crate) formats: &'static [FormatLayout],
    /// Scalar sources.
    pub sources: Scalars,
    /// Scalar destinations.
    pub destinations: Scalars,
    pub(crate) opcodes: &'static [Opcode],
}

impl Table {
    /// Returns every operation, in order of format and number.
    pub fn opcodes(&self) -> &'static [Opcode] {
        self.opcodes
    }

    /// Returns the operation with a number in a format.
    pub fn opcode(&self, format: Format, number: u32) -> Option<&'static Opcode> {
        let number = u16::try_from(number).ok()?;
        let at = self.opcodes.binary_search_by_key(&(format, number), |opcode| (opcode.format, opcode.number)).ok()?;
        Some(&self.opcodes[at])
    }

    /// Returns the layout of a format; `None` where the generation lacks it.
    pub(crate) fn format(&self, format: Format) -> Option<&'static FormatLayout> {
        self.formats.iter().find(|layout| layout.format == format)
    }

    /// Returns the layout whose identifying bits a first dword has, the longest match first.
    pub(crate) fn classify(&self, first: u32) -> Option<&'static FormatLayout> {
        self.formats.iter().filter(|layout| layout.matches(first)).max_by_key(|layout| layout.identifying_bits())
    }
}
