//! Operations and their operands.

use super::{Format, Op, OperandKind};

/// An operand of an operation, in the order of the assembler text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The kind of the operand, which determines its place in the encoding.
    pub kind: OperandKind,
    /// The size in dwords; 0 if it is not a register. Lane masks have two dwords, as in wave64.
    pub dwords: u8,
}

impl Operand {
    pub(crate) const fn new(kind: OperandKind, dwords: u8) -> Self {
        Self { kind, dwords }
    }
}

/// An operation on one generation.
#[derive(Debug)]
pub struct Opcode {
    /// The format. The VOP3 form of a VOP1, VOP2 or VOPC operation is a separate operation.
    pub format: Format,
    /// The number of the operation in the format.
    pub number: u16,
    /// The operation, which has the same variant on all generations that call it the same.
    pub op: Op,
    /// The operands of the operation.
    pub operands: &'static [Operand],
    /// The kinds of the operands, a bit each.
    kinds: u64,
}

impl Opcode {
    pub(crate) const fn new(format: Format, number: u16, op: Op, operands: &'static [Operand]) -> Self {
        let (mut kinds, mut index) = (0, 0);
        while index < operands.len() {
            kinds |= 1 << operands[index].kind as u32;
            index += 1;
        }
        Self { format, number, op, operands, kinds }
    }

    /// Returns the name of the operation, without the suffix of the format.
    pub const fn name(&self) -> &'static str {
        self.op.name()
    }

    /// Returns `true` if the operation has an operand of this kind.
    #[inline]
    pub fn has(&self, kind: OperandKind) -> bool {
        const { assert!(OperandKind::COUNT <= 64, "each kind has a bit") };
        self.kinds >> kind as u32 & 1 != 0
    }
}
