//! Errors of packet fields.

#![expect(clippy::inline_always, reason = "a check whose outcome is known costs nothing once it is inlined")]

use amdgpu_hw::{GpuVa, InTheHole};

/// The reason why a value does not fit a packet, or why dwords are not a valid packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    /// The value does not fit the field. Values are never truncated.
    #[error("{field} = {value:#x} is above {max:#x}, the most its field holds")]
    TooWide {
        /// The name of the field.
        field: &'static str,
        /// The rejected value.
        value: u64,
        /// The largest value that fits.
        max: u64,
    },
    /// The field has a value that is undefined, or that this library does not support.
    #[error("{field} = {value:#x} is not known here")]
    Unknown {
        /// The name of the field.
        field: &'static str,
        /// The value of the field.
        value: u32,
    },
    /// Flag bits are set that this generation or ring does not define.
    #[error("{field} has bits {bits:#x} that mean nothing here")]
    Flags {
        /// The name of the field.
        field: &'static str,
        /// The undefined bits, at their position in the value.
        bits: u32,
    },
    /// Bits are set that belong to no field.
    #[error("bits {bits:#x} of dword {dword} belong to no field")]
    Reserved {
        /// The index of the dword; the header is dword 0.
        dword: usize,
        /// The bits that must be zero.
        bits: u32,
    },
    /// The address is not canonical.
    #[error("{field}: {source}")]
    Address {
        /// The name of the field.
        field: &'static str,
        /// The error with the rejected address.
        source: InTheHole,
    },
    /// The value is not a multiple of the alignment that the hardware requires.
    #[error("{field} = {value:#x} is not a multiple of {multiple}")]
    Misaligned {
        /// The name of the field.
        field: &'static str,
        /// The rejected address or length.
        value: u64,
        /// The required alignment in bytes.
        multiple: u64,
    },
    /// The value is zero, which the hardware cannot express or interprets differently.
    #[error("{field} is empty")]
    Empty {
        /// The name of the field.
        field: &'static str,
    },
    /// The packet does not have this variant on this generation or ring.
    #[error("{form} is not possible here")]
    NoSuchForm {
        /// A description of the missing variant.
        form: &'static str,
    },
    /// The packet does not have this field on this generation or ring, or another field disables it.
    #[error("there is no {field} here")]
    NoSuchField {
        /// The name of the field.
        field: &'static str,
    },
    /// There are fewer dwords than the packet needs.
    #[error("dword {dword} is missing")]
    Missing {
        /// The index of the last dword known to be missing; the header is dword 0.
        dword: usize,
    },
    /// There are more dwords than the packet has.
    #[error("{dwords} {} the last field", if *dwords == 1 { "dword follows" } else { "dwords follow" })]
    Surplus {
        /// The number of dwords after the last field.
        dwords: usize,
    },
}

/// Returns `otherwise` as an error if the condition is false.
#[inline(always)]
pub(crate) const fn require(holds: bool, otherwise: FieldError) -> Result<(), FieldError> {
    if holds { Ok(()) } else { Err(otherwise) }
}

/// Returns an error if this generation or ring does not have the variant.
#[inline(always)]
pub(crate) const fn require_form(holds: bool, form: &'static str) -> Result<(), FieldError> {
    require(holds, FieldError::NoSuchForm { form })
}

/// Checks that an address or length is a multiple of `multiple`, a power of two.
#[inline(always)]
pub(crate) const fn require_multiple(field: &'static str, value: u64, multiple: u64) -> Result<(), FieldError> {
    require(value & (multiple - 1) == 0, FieldError::Misaligned { field, value, multiple })
}

/// Converts the value of a field to an address.
pub(crate) fn address(field: &'static str, raw: u64) -> Result<GpuVa, FieldError> {
    GpuVa::new(raw).map_err(|source| FieldError::Address { field, source })
}
