//! The tables of a generation.

use super::{Format, FormatLayout, Opcode, index::Index};

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
    index: Index,
}

impl Table {
    pub(crate) const fn new(
        formats: &'static [FormatLayout],
        sources: Scalars,
        destinations: Scalars,
        opcodes: &'static [Opcode],
    ) -> Self {
        Self { formats, sources, destinations, opcodes, index: Index::new(formats, opcodes) }
    }

    /// Returns all operations, ordered by format and number.
    pub fn opcodes(&self) -> &'static [Opcode] {
        self.opcodes
    }

    /// Returns the operation with this number in a format; `None` if there is none.
    #[inline]
    pub fn opcode(&self, format: Format, number: u32) -> Option<&'static Opcode> {
        self.opcodes.get(self.index.opcode(format, number)?)
    }

    /// Returns the layout of a format; `None` if the generation does not have the format.
    #[inline]
    pub(crate) fn format(&self, format: Format) -> Option<&'static FormatLayout> {
        self.formats.get(self.index.layout(format))
    }

    /// Returns the layout with the longest match of identifying bits in the first dword.
    #[inline]
    pub(crate) fn classify(&self, first: u32) -> Option<&'static FormatLayout> {
        self.formats.get(self.index.class(first))
    }
}
