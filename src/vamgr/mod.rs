//! The GPU virtual-address manager: pure arithmetic over address windows, no I/O.
mod address;
mod error;
mod holes;
mod lease;
mod manager;
mod request;
mod window;

pub use address::{GpuVa, InTheHole};
pub use error::VaError;
pub use holes::{BadSpan, CELLS_END, Hole, Holes, NotTaken, SPAN_MAX, Step, TakeError};
pub use lease::VaLease;
pub use manager::{VaManager, WindowStats};
pub use request::{Fallback, Placement, VaRequest};
pub use window::{Half, LimitsError, VaLimits, VaRange, VaWindow, Windows};
