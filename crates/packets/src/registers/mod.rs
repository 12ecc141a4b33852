//! Registers by name, and writes of them as SET_*_REG packets.
//!
//! Each register of `amdgpu-registers` has a constant, with its name from AMD's headers.
//!
//! ```
//! use amdgpu_packets::registers::{self, Aperture};
//! use amdgpu_hw::GfxLevel;
//!
//! let scratch = registers::SCRATCH_REG0;
//! assert_eq!(scratch.offset(GfxLevel::Gfx6), Some(0x8500));
//! assert_eq!(scratch.offset(GfxLevel::Gfx9), Some(0x30100));
//! assert_eq!(Aperture::of(0x30100, GfxLevel::Gfx9), Some(Aperture::Uconfig));
//! assert_eq!(registers::at(0x30100, GfxLevel::Gfx9).map(|found| found.name()), Some("SCRATCH_REG0"));
//! ```

mod write;

pub use amdgpu_registers::constants::*;
pub use amdgpu_registers::{
    Aperture, Choice, Field, FieldValue, Register, RegisterSet, RegisterValue, TypedField, TypedFieldError,
    TypedRegister, all, at, fields, named,
};
pub use write::{RegisterError, RegisterShadow, RegisterWriter, SetRegister, SetRegisters};
