//! Operations and their operands.

use super::{Format, OperandKind};

/// An operand of an operation, in the order of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The place it is encoded in.
    pub kind: OperandKind,
    /// Its size in dwords; 0 where it is no register. Lane masks count two, as in wave64.
    pub dwords: u8,
}

impl Operand {
    pub(crate) const fn new(kind: OperandKind, dwords: u8) -> Self {
        Self { kind, dwords }
    }
}

/// An operation of one generation.
#[derive(Debug)]
pub struct Opcode {
    /// Its format. A VOP3 form of a VOP1, VOP2 or VOPC operation is an operation of its own.
    pub format: Format,
    /// Its number in the format.
    pub number: u16,
    /// Its name, without the suffix of the format.
    pub name: &'static str,
    /// Its operands.
    pub operands: &'static [Operand],
}

impl Opcode {
    pub(crate) const fn new(format: Format, number: u16, name: &'static str, operands: &'static [Operand]) -> Self {
        Self { format, number, name, operands }
    }

    /// Returns `true` if an operand of this kind is among the operands.
    pub fn has(&self, kind: OperandKind) -> bool {
        self.operands.iter().any(|operand| operand.kind == kind)
    }
}
