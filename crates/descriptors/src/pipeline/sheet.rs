//! Register values that are composed of the fields that a generation has.

use amdgpu_hw::GfxLevel;
use amdgpu_registers::{Register, TypedFieldError, at};

use crate::error::DescriptorError;
use crate::target::RegisterWrite;

/// Hands out register writes, and leaves out what the generation lacks.
pub(super) struct Sheet<'o> {
    level: GfxLevel,
    out: &'o mut dyn FnMut(RegisterWrite),
}

impl<'o> Sheet<'o> {
    pub(super) fn new(level: GfxLevel, out: &'o mut dyn FnMut(RegisterWrite)) -> Self {
        Self { level, out }
    }

    pub(super) const fn level(&self) -> GfxLevel {
        self.level
    }

    /// Writes a register if the generation has it.
    pub(super) fn raw(&mut self, register: Register, value: u32) {
        if register.offset(self.level).is_some() {
            (self.out)(RegisterWrite { register, value });
        }
    }

    /// Writes zero to registers.
    pub(super) fn zeroes(&mut self, registers: &[Register]) {
        for register in registers {
            self.raw(*register, 0);
        }
    }

    /// Writes a register if the generation has it, with all fields zero but those that are named and that it has.
    pub(super) fn fields(&mut self, register: Register, fields: &[(&'static str, u32)]) -> Result<(), DescriptorError> {
        let mut raw = 0;
        for (name, value) in fields {
            let Some(field) = register.field(name, self.level) else { continue };
            let too_wide =
                TypedFieldError::TooWide { register: register.name(), field: name, value: *value, max: field.max() };
            raw = field.set(raw, *value).ok_or(too_wide)?;
        }
        self.raw(register, raw);
        Ok(())
    }

    /// Writes registers that follow each other.
    pub(super) fn array(&mut self, first: Register, values: &[u32]) {
        let Some(start) = first.offset(self.level) else { return };
        for (index, value) in (0..).zip(values) {
            if let Some(register) = at(start + 4 * index, self.level) {
                (self.out)(RegisterWrite { register, value: *value });
            }
        }
    }
}
