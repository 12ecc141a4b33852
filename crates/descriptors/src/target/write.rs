//! Register writes.

use amdgpu_hw::GfxLevel;
use amdgpu_registers::Register;

/// A value for a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterWrite {
    /// The register.
    pub register: Register,
    /// The value.
    pub value: u32,
}

/// An address in units of 256 bytes, up to 40 bits, as two registers take it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Base(pub u64);

impl Base {
    /// Returns the writes of the low 32 bits, and from GFX9 on of the rest.
    pub(super) fn writes(
        self,
        low: Register,
        high: Register,
        level: GfxLevel,
    ) -> impl Iterator<Item = Option<RegisterWrite>> {
        let rest = (level >= GfxLevel::Gfx9).then_some(RegisterWrite { register: high, value: (self.0 >> 32) as u32 });
        [Some(RegisterWrite { register: low, value: self.0 as u32 }), rest].into_iter()
    }
}
