//! The execution of one packet.

use amdgpu_hw::GpuVa;
use amdgpu_packets::layout::Reader;
use amdgpu_packets::layout::values;
use amdgpu_packets::pm4::{Compare, Register};
use amdgpu_packets::{DecodeError, DecodeFault, FieldError};

use super::port::Port;
use super::{Place, Stop};

/// A packet's dwords, its decoder, and its memory accesses.
#[derive(Clone, Copy)]
pub(super) struct Step<'s, 'e> {
    pub(super) dwords: &'s [u32],
    pub(super) reader: Reader,
    pub(super) port: &'s Port<'e>,
}

impl Step<'_, '_> {
    pub(super) const fn place(&self) -> Place {
        self.port.place()
    }

    /// Returns the stop for a packet that requests something invalid or not simulated.
    pub(super) const fn refuse(&self, what: &'static str) -> Stop {
        Stop::Refused { place: self.place(), what }
    }

    /// Returns the stop for a packet with an invalid field.
    pub(super) fn wrong(&self, source: FieldError) -> Stop {
        wrong(self.place(), self.dwords, source)
    }

    /// Returns the address in a field.
    pub(super) fn address(&self, field: &'static str, raw: u64) -> Result<GpuVa, Stop> {
        GpuVa::new(raw).map_err(|source| self.wrong(FieldError::Address { field, source }))
    }

    /// Returns the address in a field. It must be a multiple of `bytes`, a power of two.
    pub(super) fn aligned(&self, field: &'static str, raw: u64, bytes: u64) -> Result<GpuVa, Stop> {
        let va = self.address(field, raw)?;
        self.require_multiple(field, raw, bytes)?;
        Ok(va)
    }

    pub(super) fn require_multiple(&self, field: &'static str, value: u64, multiple: u64) -> Result<(), Stop> {
        match value & (multiple - 1) {
            0 => Ok(()),
            _ => Err(self.wrong(FieldError::Misaligned { field, value, multiple })),
        }
    }

    /// Returns the register with an index. GFX12 has six more bits of the index in a second field, but no register that a stream
    /// can access needs them.
    pub(super) fn register(&self, index: u64) -> Result<Register, Stop> {
        let index = u32::try_from(index).map_err(|_| self.refuse("names a register outside the apertures"))?;
        Ok(Register::new(index))
    }

    /// Returns the comparison in a field.
    pub(super) fn compare(&self, value: values::Compare) -> Result<Compare, Stop> {
        let value = value.number();
        let unknown = FieldError::Unknown { field: "function", value };
        Compare::ALL.get(value as usize).copied().ok_or_else(|| self.wrong(unknown))
    }
}

/// Returns the stop for a packet with an invalid field.
pub(super) fn wrong(place: Place, packet: &[u32], source: FieldError) -> Stop {
    let header = packet.first().copied().unwrap_or_default();
    let fault = DecodeFault::Field { packet: place.packet, source };
    Stop::Malformed { place, source: DecodeError { offset: place.offset, header, target: place.target, fault } }
}

/// Compares as [`Compare::holds`] does, but qwords.
pub(super) const fn holds(function: Compare, value: u64, reference: u64) -> bool {
    match function {
        Compare::Always => true,
        Compare::Less => value < reference,
        Compare::LessOrEqual => value <= reference,
        Compare::Equal => value == reference,
        Compare::NotEqual => value != reference,
        Compare::GreaterOrEqual => value >= reference,
        Compare::Greater => value > reference,
    }
}
