//! The GPU virtual-address manager: pure arithmetic over address windows, no I/O.
mod address;

pub use address::{GpuVa, InTheHole};
mod stub;
pub use stub::*;
