//! Executors of operations, and rows of the tables that name them.

use amdgpu_isa::Op;

use crate::{
    alu::scalar::{Combine, Operation},
    matrix::Product,
    program::{
        decoded_inst::{Condition, Half, LaneKind, LdsKind, MemoryKind, ScalarKind, Segment},
        image::op::Operation as ImageOperation,
    },
};

/// The part of the interpreter that executes an operation, with what distinguishes the operation there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Executor {
    /// It has no effect on results: waits, hints, counters and caches.
    Nothing,
    /// It invalidates the cache of instructions.
    ForgetCode,
    /// It is not executed, for a reason.
    Refused(&'static str),
    Flow(Flow),
    Special(Special),
    Scalar(Operation),
    SaveExec {
        combine: Combine,
        writes_both: bool,
    },
    /// A load or store, with its dwords.
    ScalarMemory(Base, ScalarKind, u8),
    /// An atomic operation of scalar memory, with its size in bytes.
    ScalarAtomic(Base, crate::atomic::Atomic, u8),
    /// It has a kernel.
    Vector(Written),
    /// A half of a dual-issue instruction; it has a kernel.
    Dual,
    /// Two 16-bit operations with the same kernel.
    Packed,
    /// The short form of a packed multiplication and addition.
    PackedSum,
    /// A dot product of integers whose signs are modifiers, with parts of so many bits.
    MixedSigns {
        bits: u8,
    },
    /// A multiplication and addition of floats of either size; `half` is the place of a 16-bit result.
    Mix {
        fused: bool,
        half: Option<Half>,
    },
    Matrix(Product),
    Lane(LaneKind),
    /// `is_far` is `true` if the two offsets count 64 elements.
    Lds {
        kind: LdsKind,
        is_far: bool,
    },
    /// `adds_lane` is `true` if the number of the lane is added to the address.
    Flat {
        segment: Segment,
        kind: MemoryKind,
        adds_lane: bool,
    },
    /// `is_to_lds` is `true` if the operation moves data between memory and LDS without a bit that says so.
    Buffer {
        kind: MemoryKind,
        is_typed: bool,
        is_to_lds: bool,
    },
    /// `has_half_gradients` is `true` if gradients have 16 bits without a bit that says so.
    Image {
        operation: ImageOperation,
        has_half_gradients: bool,
    },
}

/// Branches, ends and barriers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flow {
    End,
    Halt,
    /// Halts if a bit of the immediate is set.
    SetHalt,
    Branch(Condition),
    Barrier,
    BarrierSignal,
    BarrierWait,
    Message,
    /// A message with an answer.
    Question,
}

/// Jumps, hardware registers, mode changes and indexed moves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Special {
    GetPc,
    SetPc,
    SwapPc,
    Call,
    ReadRegister,
    WriteRegister,
    WriteRegisterLiteral,
    RoundMode,
    DenormMode,
    Move { indexes_source: bool, indexes_destination: bool, split: bool },
    IndexOn,
    IndexOff,
    IndexMode,
    Index,
    Time,
    WaveNumber,
}

/// The address that a scalar access starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Address,
    Buffer,
    Scratch,
}

/// The place of a vector result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// A vector register, or the lane mask that the instruction names.
    Registers,
    /// EXEC, and up to GFX9 the lane mask as well.
    Exec,
    /// One scalar register.
    Scalar,
}

/// Operations with the same executor.
pub(super) type Row = (&'static [Op], Executor);

/// Makes rows of a table from operations without commas.
macro_rules! rows {
    ($($($op:ident)+ => $executor:expr;)*) => {
        &[$((&[$(amdgpu_isa::Op::$op),+], $executor)),*]
    };
}

pub(super) use rows;
