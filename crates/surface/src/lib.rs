//! Memory layout of AMD images: the address of every texel, from Southern Islands (GFX6) to RDNA 4 (GFX12).
//!
//! The crate has three floors, the lowest first:
//!
//! 1. [`addr1`] (GFX6-8), [`addr2`] (GFX9-11) and [`addr3`] (GFX12): sizes, mip chains and addresses of an image whose tile or
//!    swizzle mode is given, and the modes that a generation suggests. AMD's addrlib is the reference.
//! 2. [`surface`]: chooses the mode, stacks image, FMASK, CMASK, DCC and HTILE into one buffer. Mesa's `ac_surface.c` is the
//!    reference.
//! 3. [`modifier`]: the names that layouts have between processes.
//!
//! [`tiler`] copies between rows and tiles on the CPU.
//!
//! It does no I/O, allocates nothing, and holds no `unsafe`. Every input, whether it comes from a kernel, from another process
//! or from a user, is answered with a layout or with an error that names the value.
#![no_std]
#![forbid(unsafe_code)]
// Coordinates are x, y, z and s here, sides are w, h and d.
#![allow(clippy::many_single_char_names)]
// Exponents of sizes are small and subtracted all day.
#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss)]

#[cfg(test)]
extern crate std;

pub mod addr1;
pub mod addr2;
pub mod addr3;
mod bits;
pub mod chip;
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
