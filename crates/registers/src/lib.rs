//! The graphics, compute, context, shader and user-configuration registers of AMD GPUs from GFX6 to GFX12, by name and by address,
//! with their fields and the names of field values.
//!
//! ```
//! use amdgpu_hw::GfxLevel;
//! use amdgpu_registers::{Aperture, at, constants::SCRATCH_REG0, named};
//!
//! assert_eq!(SCRATCH_REG0.offset(GfxLevel::Gfx6), Some(0x8500));
//! assert_eq!(SCRATCH_REG0.offset(GfxLevel::Gfx9), Some(0x30100));
//! assert_eq!(Aperture::of(0x30100, GfxLevel::Gfx9), Some(Aperture::Uconfig));
//! assert_eq!(at(0x30100, GfxLevel::Gfx9), Some(SCRATCH_REG0));
//! assert_eq!(Aperture::Uconfig.at(0x40, GfxLevel::Gfx9), Some(SCRATCH_REG0));
//!
//! let limits = named("compute_resource_limits").unwrap();
//! let shown: Vec<_> = limits.decode(0x40_0010, GfxLevel::Gfx9).filter(|field| field.value != 0).collect();
//! assert_eq!((shown[0].field.name(), shown[0].value), ("waves_per_sh", 0x10));
//! assert_eq!((shown[1].field.name(), shown[1].value), ("simd_dest_cntl", 1));
//! ```
//!
//! The tables are packed: names are stored as numbers, and registers with the same fields share the field tables. A look-up by
//! address or by name is one binary search and allocates nothing. All tables together take 249 KiB of read-only data
//! ([`TABLE_BYTES`]).
//!
//! They are generated from the text tables in `spec`, which list the offsets and fields of each register on every generation.
//! `cargo run -p xtask -- registers` regenerates the packed tables, and a test checks that they are up to date.
//!
//! Source: Mesa 25.0.7 `src/amd/registers/`.

#![no_std]
#![forbid(unsafe_code)]

mod aperture;
mod field;
#[rustfmt::skip]
#[expect(clippy::unreadable_literal, reason = "offsets and numbers of packed tables")]
mod generated;
mod register;
mod rows;
mod set;
mod tables;
mod typed;

pub use aperture::Aperture;
pub use field::{Choice, Enum, Field, FieldValue};
pub use generated::{constants, enums, typed as fields};
pub use register::{Register, all, at, named};
pub use set::RegisterSet;
pub use tables::TABLE_BYTES;
pub use typed::{RegisterValue, TypedField, TypedFieldError, TypedRegister};
