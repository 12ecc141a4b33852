//! A wave: its registers, and the execution of steps on them.

mod access;
mod buffer;
mod execute;
mod flat;
mod hardware;
mod lanes;
mod lds;
mod operands;
mod packed;
mod permute;
pub(crate) mod registers;
mod result;
mod scalar;
mod scalar_memory;
pub(crate) mod state;
mod vector;
