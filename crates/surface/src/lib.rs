//! Memory layout of AMD images: the address of every texel, from Southern Islands (GFX6) to RDNA 4 (GFX12).
//!
//! The crate has three layers, from the lowest to the highest:
//!
//! 1. [`addr1`] (GFX6-8), [`addr2`] (GFX9-11) and [`addr3`] (GFX12): sizes, mip chains and addresses of an image with a given tile
//!    or swizzle mode, and the modes that a generation prefers. AMD's addrlib is the reference.
//! 2. [`surface`]: chooses the mode, and places image, FMASK, CMASK, DCC and HTILE in one buffer. Mesa's `ac_surface.c` is the
//!    reference.
//! 3. [`modifier`]: the DRM format modifiers that name layouts between processes.
//!
//! [`tiler`] copies between linear rows and tiled images on the CPU, and [`dcc`] names the states of compressed pixels.
//!
//! The crate does no I/O, does not allocate, and has no `unsafe` code. Any input, whether from a kernel, another process or a user,
//! gives either a layout or an error that names the invalid value.
#![no_std]
#![forbid(unsafe_code)]
// Coordinates are named x, y, z and s, sizes w, h and d.
#![allow(clippy::many_single_char_names)]
// Logarithms of sizes are small and often subtracted.
#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss)]

#[cfg(test)]
extern crate std;

pub mod addr1;
pub mod addr2;
pub mod addr3;
mod bits;
mod blocks;
pub mod chip;
pub mod dcc;
pub mod equation;
pub mod error;
mod limits;
pub mod modifier;
mod reported;
pub mod surface;
mod tables;
pub mod tiler;

pub use amdgpu_hw::GfxLevel;
pub use chip::{Chip, ChipRegisters};
pub use error::{AddrError, Cause};
pub use limits::MaxAlignments;
pub use reported::Reported;
