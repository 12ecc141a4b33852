//! The executor of each operation.
//!
//! Every [`Op`] is in one table of this folder, or has a kernel or a function. An operation that is in none, or in two, does not compile.

mod executor;
mod image;
mod lds;
mod matrix;
mod memory;
mod refused;
mod scalar;
mod vector;

use amdgpu_isa::Op;

use crate::alu::{kernel::Form, kernels::kernel, scalar::TABLES as FUNCTIONS};
use executor::Row;

pub(crate) use executor::{Base, Executor, Flow, Special, Written};

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
    assert!(all[op as usize].is_none(), "{}", op.name());
    all[op as usize] = Some(executor);
}

/// Returns the executor of each operation. One without any does not compile: its name is in the message.
#[expect(clippy::large_stack_arrays, reason = "the compiler computes it")]
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
pub(crate) fn executor_of(op: Op) -> Executor {
    EXECUTORS[op as usize]
}
