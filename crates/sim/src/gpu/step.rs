//! One packet that the layout tables have read, on its way to being executed.

use amdgpu_hw::GpuVa;
use amdgpu_packets::pm4::{Compare, Register};
use amdgpu_packets::{DecodeError, DecodeFault, FieldError};

use super::port::Port;
use super::{Place, Stop};
use amdgpu_packets::layout::{Fields, Reader};

/// A packet, who reads it, and its way to memory.
#[derive(Clone, Copy)]
pub(super) struct Step<'s, 'e> {
    pub(super) fields: Fields<'s>,
    pub(super) reader: Reader,
    pub(super) port: &'s Port<'e>,
}

impl Step<'_, '_> {
    pub(super) fn get(&self, name: &str) -> u32 {
        self.fields.get(name)
    }

    pub(super) fn is_set(&self, name: &str) -> bool {
        self.fields.is_set(name)
    }

    pub(super) const fn place(&self) -> Place {
        self.port.place()
    }

    /// What the packet asks for must not be, or is not simulated.
    pub(super) const fn refuse(&self, what: &'static str) -> Stop {
        Stop::Refused { place: self.place(), what }
    }

    /// A field is wrong.
    pub(super) fn wrong(&self, source: FieldError) -> Stop {
        wrong(self.place(), self.fields.tail(0), source)
    }

    /// The address in two fields.
    pub(super) fn address(&self, low: &'static str, high: &str) -> Result<GpuVa, Stop> {
        self.fields.address(low, high).map_err(|source| self.wrong(source))
    }

    /// The address in two fields, which must be a multiple of `bytes`, a power of two.
    pub(super) fn aligned(&self, low: &'static str, high: &str, bytes: u64) -> Result<GpuVa, Stop> {
        let va = self.address(low, high)?;
        self.require_multiple(low, va.as_u64(), bytes)?;
        Ok(va)
    }

    pub(super) fn require_multiple(&self, field: &'static str, value: u64, multiple: u64) -> Result<(), Stop> {
        match value & (multiple - 1) {
            0 => Ok(()),
            _ => Err(self.wrong(FieldError::Misaligned { field, value, multiple })),
        }
    }

    /// A register by its index; GFX12 has six more bits in a second field, in which nothing lies that a stream may reach.
    pub(super) fn register(&self, name: &str, low: &str, high: &str) -> Result<Register, Stop> {
        if self.fields.has(name) {
            return Ok(Register::new(self.get(name)));
        }
        match self.get(high) {
            0 => Ok(Register::new(self.get(low))),
            _ => Err(self.refuse("names a register outside the apertures")),
        }
    }

    /// The comparison in `function`.
    pub(super) fn compare(&self) -> Result<Compare, Stop> {
        let value = self.get("function");
        let unknown = FieldError::Unknown { field: "function", value };
        Compare::ALL.get(value as usize).copied().ok_or_else(|| self.wrong(unknown))
    }
}

/// A packet with a wrong field, for the tables and the library alike.
pub(super) fn wrong(place: Place, packet: &[u32], source: FieldError) -> Stop {
    let header = packet.first().copied().unwrap_or_default();
    let fault = DecodeFault::Field { packet: place.packet, source };
    Stop::Malformed { place, source: DecodeError { offset: place.offset, header, target: place.target, fault } }
}

/// As [`Compare::holds`], for qwords.
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
