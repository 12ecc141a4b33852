//! The tables of a generation.

use super::{Format, FormatLayout, Opcode};

/// The scalar operand numbers of a generation: SGPRs starting at 0, and named registers above them.
#[derive(Debug)]
pub struct Scalars {
    /// The number of the last SGPR.
    pub last_sgpr: u16,
    /// The numbers with a name, in ascending order.
    pub named: &'static [(u16, &'static str)],
}

impl Scalars {
    /// Returns the name for a number; `None` for SGPRs, inline constants and unused numbers.
    pub fn name(&self, number: u32) -> Option<&'static str> {
        let number = u16::try_from(number).ok()?;
        let at = self.named.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        Some(self.named[at].1)
    }

    /// Returns the number for a name; `None` if there is none.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.named.iter().find(|(_, known)| *known == name).map(|(number, _)| u32::from(*number))
    }
}

/// The tables of one generation.
#[derive(Debug)]
pub struct Table {
    pub(crate) formats: &'static [FormatLayout],
    /// The scalar operands that can be sources.
    pub sources: Scalars,
    /// The scalar operands that can be destinations.
    pub destinations: Scalars,
    pub(crate) opcodes: &'static [Opcode],
}

impl Table {
    /// Returns all operations, ordered by format and number.
    pub fn opcodes(&self) -> &'static [Opcode] {
        self.opcodes
    }

    /// Returns the operation with this number in a format; `None` if there is none.
    pub fn opcode(&self, format: Format, number: u32) -> Option<&'static Opcode> {
        let number = u16::try_from(number).ok()?;
        let at = self.opcodes.binary_search_by_key(&(format, number), |opcode| (opcode.format, opcode.number)).ok()?;
        Some(&self.opcodes[at])
    }

    /// Returns the layout of a format; `None` if the generation does not have the format.
    pub(crate) fn format(&self, format: Format) -> Option<&'static FormatLayout> {
        self.formats.iter().find(|layout| layout.format == format)
    }

    /// Returns the layout with the longest match of identifying bits in the first dword.
    pub(crate) fn classify(&self, first: u32) -> Option<&'static FormatLayout> {
        self.formats.iter().filter(|layout| layout.matches(first)).max_by_key(|layout| layout.identifying_bits())
    }
}
