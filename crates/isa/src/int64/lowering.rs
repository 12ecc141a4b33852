//! The results of lowering.

use super::Op;

/// A 32-bit value: an input, a constant, or the output of a step. Truth values are distinct, and can be used only by steps for
/// truth values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A 32-bit constant.
    Constant(u32),
    /// The value with this number. Inputs are numbered before the outputs of steps.
    Number(u16),
}

/// The operation of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepOp {
    /// The sum of the operands.
    Add,
    /// The difference of the operands.
    Sub,
    /// The low half of the product.
    Mul,
    /// The high half of the unsigned product.
    MulHighU,
    /// The high half of the signed product.
    MulHighI,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The first operand shifted left by the second, modulo 32.
    Shl,
    /// The first operand logically shifted right by the second, modulo 32.
    Shr,
    /// The first operand arithmetically shifted right by the second, modulo 32.
    Ashr,
    /// The smaller of two unsigned operands.
    MinU,
    /// The number of set bits of the first operand, plus the second.
    BitCount,
    /// The number of leading zeros; -1 for 0.
    LeadingZeros,
    /// The number of trailing zeros; -1 for 0.
    TrailingZeros,
    /// A bit field of the first operand, zero-extended. The second operand is its offset, the third its width.
    FieldU,
    /// A bit field of the first operand, sign-extended. The second operand is its offset, the third its width.
    FieldI,
    /// Equality, as a truth value.
    Eq,
    /// Inequality, as a truth value.
    Ne,
    /// Unsigned less than, as a truth value.
    LtU,
    /// Signed less than, as a truth value.
    LtI,
    /// Unsigned greater than or equal, as a truth value.
    GeU,
    /// Signed greater than or equal, as a truth value.
    GeI,
    /// The conjunction of two truth values.
    Both,
    /// The disjunction of two truth values.
    Either,
    /// The exclusive disjunction of two truth values.
    Differ,
    /// The second operand if the first, a truth value, is true; otherwise the third.
    Select,
    /// A native 64-bit operation. A 64-bit operand is two values, the low half first.
    Native(Op),
}

impl StepOp {
    /// Returns the number of output values.
    pub const fn outputs(self) -> u16 {
        match self {
            Self::Native(op) if op.bits() == 64 => 2,
            _ => 1,
        }
    }

    /// Returns `true` if the output is a truth value.
    pub const fn is_truth(self) -> bool {
        match self {
            Self::Eq
            | Self::Ne
            | Self::LtU
            | Self::LtI
            | Self::GeU
            | Self::GeI
            | Self::Both
            | Self::Either
            | Self::Differ => true,
            Self::Native(op) => op.bits() == 1,
            _ => false,
        }
    }
}

/// A step of a lowered operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The operation of the step.
    pub op: StepOp,
    /// The inputs of the operation.
    pub inputs: Vec<Value>,
    /// The number of the first output.
    pub output: u16,
}

/// The steps of a lowered operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    /// The number of input values: two for each 64-bit source, the low half first.
    pub inputs: u16,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The values of the result: two for 64 bits, the low half first.
    pub outputs: Vec<Value>,
}

/// The result of lowering an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lowering {
    /// The native instructions with ACO's names, without copies, splits and joins of registers. For wave32 on GFX10 and later.
    Native(Vec<&'static str>),
    /// Steps of 32-bit operations.
    Steps(Steps),
}
