//! Programs of the builder, run: 64-bit operations against Rust's integers, loads against the bytes of memory,
//! threads against one.

mod int64;
mod loads;
mod machine;
mod threads;
mod watch;
