//! Programs of the builder, run: texels of compressed blocks, carries of all bytes, dot products of chosen halves, 64-bit operations
//! against Rust's integers, products of matrices, 8-bit floats, DPP of packed operations, loads to LDS, loads against the bytes of
//! memory, rules that no compiled shader depends on, threads against one.

mod blocks;
mod carries;
mod dot;
mod int64;
mod loads;
mod machine;
mod operations;
mod packed;
mod rules;
mod threads;
mod watch;
