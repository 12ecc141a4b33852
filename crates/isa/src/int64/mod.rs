//! 64-bit integers on ALUs of 32 bits: which operations are native, and what the others become.
//!
//! [`lower`] is pure: it returns either the native instructions of a generation, by ACO's names, or [`Step`]s over virtual
//! 32-bit values. The [builder](crate::builder) records both.
//!
//! Source: Mesa 25.0.7 `src/compiler/nir/nir_lower_int64.c` and `src/amd/compiler/aco_instruction_selection.cpp`, by the
//! rules of the project's notes on 64-bit integers, sections 10 to 12.

mod arithmetic;
mod bits;
mod convert;
mod divide;
mod lower;
mod lowering;
mod make;
mod native;
mod op;
mod options;

pub use lower::lower;
pub use lowering::{Lowering, Step, StepOp, Steps, Value};
pub(crate) use native::{Native, native};
pub use op::{Bank, Op};
pub use options::Options;
