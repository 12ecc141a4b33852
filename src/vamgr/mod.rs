//! The GPU virtual-address manager: pure arithmetic over address windows, no I/O.
mod address;
mod holes;

pub use address::{GpuVa, InTheHole};
pub use holes::{BadSpan, CELLS_END, Hole, Holes, NotTaken, SPAN_MAX, Step, TakeError};
