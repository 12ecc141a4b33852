//! 64-bit integer operations on 32-bit ALUs: native instructions, and lowering of all others.
//!
//! [`lower`] returns either the native instructions of a generation, by ACO's names, or [`Step`]s on virtual 32-bit values. It has
//! no side effects. The [builder](crate::builder) records both.
//!
//! Source: Mesa 25.0.7 `src/compiler/nir/nir_lower_int64.c` and `src/amd/compiler/aco_instruction_selection.cpp`, according to the
//! project's notes on 64-bit integers, sections 10 to 12.

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
