//! The kernel of each vector operation and form.

use amdgpu_isa::Op;

use super::{
    compare, convert,
    float::{division, double, half, single},
    integer::{dot, narrow, wide, word},
    kernel::{Form, Operation},
};

const TABLES: [&[Operation]; 18] = [
    convert::TABLE,
    division::TABLE,
    dot::TABLE,
    half::TABLE,
    single::TABLE,
    double::TABLE,
    narrow::TABLE,
    word::TABLE,
    wide::TABLE,
    compare::TABLES[0],
    compare::TABLES[1],
    compare::TABLES[2],
    compare::TABLES[3],
    compare::TABLES[4],
    compare::TABLES[5],
    compare::TABLES[6],
    compare::TABLES[7],
    compare::TABLES[8],
];

/// The kernels of an operation, by [`Form`].
type Kernels = [Option<&'static Operation>; Form::COUNT];

static BY_OP: [Kernels; Op::COUNT] = by_op();

/// Returns the kernels of each operation. Two for one form do not compile.
#[expect(clippy::large_stack_arrays, reason = "the compiler computes it")]
const fn by_op() -> [Kernels; Op::COUNT] {
    let mut all = [[None; Form::COUNT]; Op::COUNT];
    let mut table = 0;
    while table < TABLES.len() {
        let mut row = 0;
        while row < TABLES[table].len() {
            let operation: &'static Operation = &TABLES[table][row];
            let mut index = 0;
            while index < operation.ops.len() {
                let op = operation.ops[index];
                let kernel = &mut all[op as usize][operation.form as usize];
                assert!(kernel.is_none(), "{}", op.name());
                *kernel = Some(operation);
                index += 1;
            }
            row += 1;
        }
        table += 1;
    }
    all
}

/// Returns every operation.
#[cfg(test)]
pub(crate) fn operations() -> impl Iterator<Item = &'static Operation> {
    TABLES.into_iter().flatten()
}

/// Returns the kernel of a form of an operation; `None` if the operation does not have the form.
pub(crate) const fn kernel(op: Op, form: Form) -> Option<&'static Operation> {
    BY_OP[op as usize][form as usize]
}
