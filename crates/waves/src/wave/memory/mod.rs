//! Loads, stores and atomic operations of a wave: LDS, memory behind page tables, scratch.

mod access;
mod buffer;
mod flat;
mod lds;
mod scalar;
