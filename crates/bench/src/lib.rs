//! Timing, comparison, shaders and a client of the kernel, shared by all benchmarks of the workspace.
//!
//! Those that cargo runs lie in `benches/`; the program `amdgpu-bench` compares the library with its peers.

#![expect(clippy::cast_precision_loss, reason = "figures are printed with a few digits")]

pub mod client;
pub mod measure;
pub mod shaders;
