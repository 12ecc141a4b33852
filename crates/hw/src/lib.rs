//! The basic types of amdgpu-winsys: generations, families, chips, IP blocks, GPU and PCI addresses.
//!
//! The crate performs no I/O and depends on no other crate of the workspace. `amdgpu-winsys` re-exports everything except [`num`].

mod address;
mod chip;
mod facts;
mod generation;
mod ip;
mod later;
pub mod num;
mod pci;

pub use address::{GpuVa, InTheHole};
pub use chip::{Chip, Family, VramType, gfx10_minor, identify, newer_radv_name, radv_name};
pub use facts::{MecQueue, Mecs, Peaks, Topology, Units};
pub use generation::GfxLevel;
pub use ip::Ip;
pub use later::LaterChip;
pub use pci::PciAddress;
