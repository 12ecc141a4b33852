//! Results of lowering.

use super::Op;

/// A 32-bit value: an input, a constant, or the output of a step. Truth values are values of their own, which only steps that
/// take or give them may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A known number.
    Constant(u32),
    /// The value with this number: inputs first, then outputs of steps.
    Number(u16),
}

/// An operation of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepOp {
    /// A sum.
    Add,
    /// A difference.
    Sub,
    /// The low half of a product.
    Mul,
    /// The high half of an unsigned product.
    MulHighU,
    /// The high half of a signed product.
    MulHighI,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// A shift left, modulo 32.
    Shl,
    /// A logical shift right, modulo 32.
    Shr,
    /// An arithmetic shift right, modulo 32.
    Ashr,
    /// The smaller of two unsigned values.
    MinU,
    /// Set bits of the first, plus the second.
    BitCount,
    /// Leading zeroes; -1 for 0.
    LeadingZeros,
    /// Trailing zeroes; -1 for 0.
    TrailingZeros,
    /// Bits from an offset (second) on, of a width (third), zero-extended.
    FieldU,
    /// The same, sign-extended.
    FieldI,
    /// Equality: a truth value.
    Eq,
    /// Inequality: a truth value.
    Ne,
    /// Unsigned less: a truth value.
    LtU,
    /// Signed less: a truth value.
    LtI,
    /// Unsigned greater or equal: a truth value.
    GeU,
    /// Signed greater or equal: a truth value.
    GeI,
    /// Both of two truth values.
    Both,
    /// One of two truth values, or both.
    Either,
    /// One of two truth values, not both.
    Differ,
    /// The second if the truth value that is first is set, else the third.
    Select,
    /// A native 64-bit operation; a 64-bit operand is two values, the low one first.
    Native(Op),
}

impl StepOp {
    /// Returns the number of values it gives.
    pub const fn outputs(self) -> u16 {
        match self {
            Self::Native(op) if op.bits() == 64 => 2,
            _ => 1,
        }
    }

    /// Returns `true` if it gives a truth value.
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

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The operation.
    pub op: StepOp,
    /// Its inputs.
    pub inputs: Vec<Value>,
    /// The number of its first output.
    pub output: u16,
}

/// A list of steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    /// The number of input values: two for each 64-bit source, low half first.
    pub inputs: u16,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The result: two values for 64 bits, low half first.
    pub outputs: Vec<Value>,
}

/// A lowered operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lowering {
    /// Native instructions by ACO's names, without copies, splits and joins of registers. GFX10 and later are in wave32.
    Native(Vec<&'static str>),
    /// Steps.
    Steps(Steps),
}
