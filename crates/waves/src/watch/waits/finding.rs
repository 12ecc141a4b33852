//! Reports of missing waits.

use std::fmt;

use super::access::VECTORS;
use crate::watch::change;

/// A register of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterName {
    /// A scalar register, with its number in the instruction set up to GFX10: 106 is VCC's low half.
    Scalar(u8),
    /// A vector register.
    Vector(u16),
}

impl RegisterName {
    pub(in crate::watch) fn of(number: u16) -> Self {
        match number.checked_sub(VECTORS) {
            Some(register) => Self::Vector(register),
            None => Self::Scalar(number as u8),
        }
    }
}

/// An instruction of a missing wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitSide {
    /// The address of the instruction.
    pub pc: u64,
    /// The text of the instruction.
    pub text: String,
}

/// The access of an outstanding operation that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitedFor {
    /// The operation writes its result to the register.
    Result,
    /// The operation reads the data that it stores from the register.
    StoredData,
}

/// The largest value of a counter that a wait must leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequiredWait {
    /// The name of the counter on the dispatch's generation, such as `vmcnt` or `loadcnt`.
    pub counter: &'static str,
    /// The value.
    pub at_most: u8,
}

/// An access to a register that an outstanding operation still writes or reads. Each pair of instructions is reported once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingWait {
    /// The work-group ID in x, y and z.
    pub group: [u32; 3],
    /// The index of the wave in the work-group.
    pub wave: u32,
    /// The instruction that accesses the register too early.
    pub instruction: WaitSide,
    /// The outstanding operation.
    pub operation: WaitSide,
    /// The register, the first of several.
    pub register: RegisterName,
    /// `true` if the instruction reads the register, `false` if it overwrites it.
    pub reads: bool,
    /// The access of the operation that is not over.
    pub waited_for: WaitedFor,
    /// The waits that are enough, all of them: results of FLAT operations need two.
    pub enough: Vec<RequiredWait>,
}

impl fmt::Display for RegisterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(register) => change::name(f, *register),
            Self::Vector(register) => write!(f, "v{register}"),
        }
    }
}

impl fmt::Display for WaitSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x} `{}`", self.pc, self.text)
    }
}

impl fmt::Display for RequiredWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.counter, self.at_most)
    }
}

impl fmt::Display for MissingWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.group;
        let access = if self.reads { "reads" } else { "overwrites" };
        let other = match self.waited_for {
            WaitedFor::Result => "the result of",
            WaitedFor::StoredData => "data of",
        };
        write!(
            f,
            "missing wait in group {x},{y},{z} wave {}: {} {access} {}, ",
            self.wave, self.instruction, self.register
        )?;
        write!(f, "{other} {}; enough is", self.operation)?;
        self.enough.iter().try_for_each(|wait| write!(f, " {wait}"))
    }
}
