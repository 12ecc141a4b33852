//! Register writes.

use amdgpu_hw::GfxLevel;
use amdgpu_registers::Register;

use crate::error::DescriptorError;

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
    /// Returns the writes of the low 32 bits, and from GFX9 on of the rest; none without an address.
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

/// Returns the write of a register, where it has a value.
pub(super) fn one(register: Register, value: Option<u32>) -> Option<RegisterWrite> {
    value.map(|value| RegisterWrite { register, value })
}

/// Returns a number as registers hold it that count from 0.
///
/// # Errors
///
/// [`DescriptorError::Zero`].
pub(super) fn less_one(value: u32, what: &'static str) -> Result<u32, DescriptorError> {
    value.checked_sub(1).ok_or(DescriptorError::Zero(what))
}
