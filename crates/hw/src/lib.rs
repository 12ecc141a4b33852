//! The words that every layer of amdgpu-winsys uses: generations, families, chips, IP blocks, GPU and PCI addresses.
//!
//! It does no I/O and uses no other crate of the workspace. `amdgpu-winsys` re-exports all of it but [`num`].

mod address;
mod chip;
mod facts;
mod generation;
mod ip;
pub mod num;
mod pci;

pub use address::{GpuVa, InTheHole};
pub use chip::{Chip, Family, VramType, gfx10_minor, identify, radv_name};
pub use facts::{MecQueue, Mecs, Peaks, Topology, Units};
pub use generation::GfxLevel;
pub use ip::Ip;
pub use pci::PciAddress;
