//! Register writes.

use amdgpu_hw::GfxLevel;
use amdgpu_registers::Register;

use crate::error::DescriptorError;

/// A write of a value to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterWrite {
    /// The register to write.
    pub register: Register,
    /// The value to write.
    pub value: u32,
}

/// An address in units of 256 bytes, up to 40 bits, which is written to two registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Base(pub u64);

impl Base {
    /// Returns the write of the low 32 bits, and on GFX9 and later also of the high bits; no writes if `base` is `None`.
    pub(super) fn writes(
        base: Option<Self>,
        low: Register,
        high: Register,
        level: GfxLevel,
    ) -> impl Iterator<Item = Option<RegisterWrite>> {
        let bits = base.map(|base| base.0);
        let rest = bits.filter(|_| level >= GfxLevel::Gfx9).map(|bits| (bits >> 32) as u32);
        [one(low, bits.map(|bits| bits as u32)), one(high, rest)].into_iter()
    }
}

/// Returns the write of a register if there is a value.
pub(super) fn one(register: Register, value: Option<u32>) -> Option<RegisterWrite> {
    value.map(|value| RegisterWrite { register, value })
}

/// Returns `value` minus one, for registers that store a size less one.
///
/// # Errors
///
/// [`DescriptorError::Zero`] if the value is 0.
pub(super) fn less_one(value: u32, what: &'static str) -> Result<u32, DescriptorError> {
    value.checked_sub(1).ok_or(DescriptorError::Zero(what))
}
