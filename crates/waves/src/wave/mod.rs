//! A wave: its registers, and the execution of instructions on them.

mod block;
mod execute;
pub(crate) mod file;
mod graphics;
mod hardware;
mod lanes;
pub(crate) mod memory;
mod operands;
mod packed;
mod permute;
pub(crate) mod registers;
mod result;
mod scalar;
pub(crate) mod state;
mod vector;
