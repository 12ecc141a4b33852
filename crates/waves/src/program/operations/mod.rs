//! The executor of each operation.
//!
//! Every [`Op`] is in one table of this folder, or has a kernel or a function. An operation that is in none, or in two, does not compile.

mod image;
mod lds;
mod matrix;
mod memory;
mod refused;
mod scalar;
mod vector;

use amdgpu_isa::Op;

use crate::{
    alu::{
        kernel::Form,
        kernels::kernel,
        scalar::{Combine, Operation, TABLES as FUNCTIONS},
    },
    matrix::Product,
    program::{
        image::step::Operation as ImageOperation,
        step::{Condition, Half, LaneKind, LdsKind, MemoryKind, ScalarKind, Segment},
    },
};

/// The part of the interpreter that executes an operation, with what distinguishes the operation there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Executor {
    /// It has no effect on results: waits, hints, counters and caches.
    Nothing,
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
type Row = (&'static [Op], Executor);

/// Makes rows of a table from operations without commas.
macro_rules! rows {
    ($($($op:ident)+ => $executor:expr;)*) => {
        &[$((&[$(amdgpu_isa::Op::$op),+], $executor)),*]
    };
}

use rows;

const TABLES: [&[Row]; 9] = [
    refused::TABLE,
    scalar::TABLE,
    scalar::MEMORY,
    vector::TABLE,
    matrix::TABLE,
    lds::TABLE,
    memory::FLAT,
    memory::BUFFER,
    image::TABLE,
];

static EXECUTORS: [Executor; Op::COUNT] = executors();

/// Enters the executor of an operation. Two for one operation do not compile.
const fn enter(all: &mut [Option<Executor>; Op::COUNT], op: Op, executor: Executor) {
    if all[op as usize].is_some() {
        panic!("{}", op.name());
    }
    all[op as usize] = Some(executor);
}

/// Returns the executor of each operation. One without any does not compile: its name is in the message.
const fn executors() -> [Executor; Op::COUNT] {
    let mut all = [None; Op::COUNT];
    let mut table = 0;
    while table < TABLES.len() {
        let mut row = 0;
        while row < TABLES[table].len() {
            let (ops, executor) = TABLES[table][row];
            let mut index = 0;
            while index < ops.len() {
                enter(&mut all, ops[index], executor);
                index += 1;
            }
            row += 1;
        }
        table += 1;
    }
    let mut table = 0;
    while table < FUNCTIONS.len() {
        let mut row = 0;
        while row < FUNCTIONS[table].len() {
            let (ops, operation) = FUNCTIONS[table][row];
            let mut index = 0;
            while index < ops.len() {
                enter(&mut all, ops[index], Executor::Scalar(operation));
                index += 1;
            }
            row += 1;
        }
        table += 1;
    }
    let mut executors = [Executor::Nothing; Op::COUNT];
    let mut number = 0;
    while number < Op::COUNT {
        let op = Op::ALL[number];
        let has_kernel = kernel(op, Form::Plain).is_some() || kernel(op, Form::Carrying).is_some();
        executors[number] = match (all[number], has_kernel) {
            (None, true) => Executor::Vector(Written::Registers),
            (
                Some(executor @ (Executor::Vector(_) | Executor::Dual | Executor::Packed | Executor::PackedSum)),
                true,
            ) => executor,
            (Some(Executor::Vector(_) | Executor::Dual | Executor::Packed | Executor::PackedSum) | None, false) => {
                panic!("{}", op.name())
            }
            (Some(_), true) => panic!("{}", op.name()),
            (Some(executor), false) => executor,
        };
        number += 1;
    }
    executors
}

/// Returns the executor of an operation.
pub(crate) fn executor(op: Op) -> Executor {
    EXECUTORS[op as usize]
}
