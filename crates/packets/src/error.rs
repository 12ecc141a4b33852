//! Errors of a packet's values.

#![expect(clippy::inline_always, reason = "a check whose outcome is known costs nothing once it is inlined")]

use amdgpu_hw::{GpuVa, InTheHole};

/// The reason why a value does not fit its packet, or dwords do not make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    /// The field is too narrow for the value; values are never cut.
    #[error("{field} = {value:#x} is above {max:#x}, the most its field holds")]
    TooWide {
        /// The field's name.
        field: &'static str,
        /// The value.
        value: u64,
        /// The largest value that fits.
        max: u64,
    },
    /// A selector holds a number that means nothing here, or means something this library does not do.
    #[error("{field} = {value:#x} is not known here")]
    Unknown {
        /// The field's name.
        field: &'static str,
        /// The number found.
        value: u32,
    },
    /// Flag bits that have no meaning on this generation or ring.
    #[error("{field} has bits {bits:#x} that mean nothing here")]
    Flags {
        /// The field's name.
        field: &'static str,
        /// The bits that are too many, at their place in the value.
        bits: u32,
    },
    /// Bits set that belong to no field.
    #[error("bits {bits:#x} of dword {dword} belong to no field")]
    Reserved {
        /// Index of the dword, counted from the header, which is 0.
        dword: usize,
        /// The bits that should have been zero.
        bits: u32,
    },
    /// The address is not canonical.
    #[error("{field}: {source}")]
    Address {
        /// The field's name.
        field: &'static str,
        /// The address.
        source: InTheHole,
    },
    /// The value is not a multiple of what the hardware asks for.
    #[error("{field} = {value:#x} is not a multiple of {multiple}")]
    Misaligned {
        /// The field's name.
        field: &'static str,
        /// The address or length.
        value: u64,
        /// Required multiple, bytes.
        multiple: u64,
    },
    /// The value is zero where the hardware has no way to say zero, or gives it another meaning.
    #[error("{field} is empty")]
    Empty {
        /// The field's name.
        field: &'static str,
    },
    /// This generation or ring has no such variant of the packet.
    #[error("{form} is not possible here")]
    NoSuchForm {
        /// The form requested, in words.
        form: &'static str,
    },
    /// This generation or ring has no such field in the packet, or another field says that it means nothing.
    #[error("there is no {field} here")]
    NoSuchField {
        /// The field's name.
        field: &'static str,
    },
    /// The dwords end before the packet does.
    #[error("dword {dword} is missing")]
    Missing {
        /// Index of the last dword known to be missing, counted from the header, which is 0.
        dword: usize,
    },
    /// The packet ends before its dwords do.
    #[error("{dwords} dwords follow the last field")]
    Surplus {
        /// Number of dwords that no field claims.
        dwords: usize,
    },
}

/// Checks a condition that holds for every legal packet.
#[inline(always)]
pub(crate) const fn require(holds: bool, otherwise: FieldError) -> Result<(), FieldError> {
    if holds { Ok(()) } else { Err(otherwise) }
}

/// Refuses a variant that this generation or ring does not have.
#[inline(always)]
pub(crate) const fn require_form(holds: bool, form: &'static str) -> Result<(), FieldError> {
    require(holds, FieldError::NoSuchForm { form })
}

/// Checks that an address or length is a multiple of `multiple`, a power of two.
#[inline(always)]
pub(crate) const fn require_multiple(field: &'static str, value: u64, multiple: u64) -> Result<(), FieldError> {
    require(value & (multiple - 1) == 0, FieldError::Misaligned { field, value, multiple })
}

/// Returns the address in a field that was read.
pub(crate) fn address(field: &'static str, raw: u64) -> Result<GpuVa, FieldError> {
    GpuVa::new(raw).map_err(|source| FieldError::Address { field, source })
}
