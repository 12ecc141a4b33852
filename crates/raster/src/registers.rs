//! The registers of a draw, by name.

use std::fmt;

use amdgpu_hw::GfxLevel;
use amdgpu_registers::{Register, RegisterSet};

/// The registers that apply to a draw.
///
/// A register that was never written has the value of the clear state that drivers rely on: zero, but for the masks of samples and of
/// clip rectangles, which let everything pass, and a few limits.
#[derive(Clone, Copy)]
pub struct Registers<'r> {
    level: GfxLevel,
    read: &'r dyn Fn(u32) -> Option<u32>,
}

impl fmt::Debug for Registers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registers").field("level", &self.level).finish_non_exhaustive()
    }
}

impl<'r> Registers<'r> {
    /// Creates the registers of a generation. `read` returns the value of the register at a byte offset; `None` if it was never
    /// written.
    pub const fn new(level: GfxLevel, read: &'r dyn Fn(u32) -> Option<u32>) -> Self {
        Self { level, read }
    }

    /// Returns the generation.
    pub const fn level(&self) -> GfxLevel {
        self.level
    }

    fn set(&self) -> RegisterSet {
        self.level.into()
    }

    /// Returns the value of a register; 0 if the generation does not have it.
    pub(crate) fn raw(&self, register: Register) -> u32 {
        self.at(register, 0)
    }

    /// Returns the value of the register some bytes behind another.
    pub(crate) fn at(&self, register: Register, bytes: u32) -> u32 {
        let Some(offset) = register.offset(self.set()) else { return 0 };
        (self.read)(offset.wrapping_add(bytes)).unwrap_or_else(|| default(register.name(), self.level))
    }

    /// Returns a field of a register; 0 if the generation does not have it.
    pub(crate) fn field(&self, register: Register, field: &str) -> u32 {
        register.field(field, self.set()).map_or(0, |field| field.of(self.raw(register)))
    }

    /// Returns `true` if a field of a register is not zero.
    pub(crate) fn is_set(&self, register: Register, field: &str) -> bool {
        self.field(register, field) != 0
    }

    /// Returns a float that a register holds.
    pub(crate) fn float(&self, register: Register, bytes: u32) -> f32 {
        f32::from_bits(self.at(register, bytes))
    }

    /// Returns an element of an array of registers, of which the first two tell the distance.
    pub(crate) fn element(&self, [first, second]: [Register; 2], index: u32) -> u32 {
        let distance = match (first.offset(self.set()), second.offset(self.set())) {
            (Some(first), Some(second)) => second.wrapping_sub(first),
            _ => 0,
        };
        self.at(first, distance.wrapping_mul(index))
    }

    /// Returns a field of an element of an array of registers.
    pub(crate) fn element_field(&self, array: [Register; 2], index: u32, field: &str) -> u32 {
        array[0].field(field, self.set()).map_or(0, |field| field.of(self.element(array, index)))
    }
}

/// Returns the value of a context register since CLEAR_STATE, which drivers rely on for what they do not write. GFX12 has zeroes,
/// and its drivers write everything; here it has the values without which nothing is drawn.
///
/// Source: Linux 7.2 `drivers/gpu/drm/amd/amdgpu/clearstate_*.h`, where the generations up to GFX11 differ in no register of draws
/// but the operand of stencil.
fn default(name: &str, level: GfxLevel) -> u32 {
    match name {
        "PA_SC_CLIPRECT_RULE" => 0xffff,
        "PA_SC_AA_MASK_X0Y0_X1Y0" | "PA_SC_AA_MASK_X0Y1_X1Y1" | "VGT_MULTI_PRIM_IB_RESET_INDX" => u32::MAX,
        "PA_SC_SCREEN_SCISSOR_BR"
        | "PA_SC_WINDOW_SCISSOR_BR"
        | "PA_SC_GENERIC_SCISSOR_BR"
        | "PA_SC_VPORT_SCISSOR_0_BR" => 0x4000_4000,
        "PA_CL_GB_VERT_CLIP_ADJ" | "PA_CL_GB_HORZ_CLIP_ADJ" | "PA_SC_VPORT_ZMAX_0" => 1.0_f32.to_bits(),
        _ if level >= GfxLevel::Gfx12 => 0,
        "CB_TARGET_MASK" | "CB_SHADER_MASK" | "VGT_MAX_VTX_INDX" => u32::MAX,
        "PA_CL_GB_VERT_DISC_ADJ" | "PA_CL_GB_HORZ_DISC_ADJ" => 1.0_f32.to_bits(),
        "PA_SC_WINDOW_SCISSOR_TL" | "PA_SC_GENERIC_SCISSOR_TL" | "PA_SC_VPORT_SCISSOR_0_TL" => 0x8000_0000,
        "PA_SC_EDGERULE" => 0xaa99_aaaa,
        "DB_STENCILREFMASK" | "DB_STENCILREFMASK_BF" if level >= GfxLevel::Gfx9 => 1 << 24,
        "SPI_PS_IN_CONTROL" => 2,
        "PA_CL_CLIP_CNTL" => 0x9_0000,
        "PA_SU_SC_MODE_CNTL" => 4,
        "PA_SC_LINE_CNTL" => 0x1000,
        "PA_SU_VTX_CNTL" => 5,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, DrawState};

    #[test]
    fn registers_that_nothing_has_written_have_the_values_of_clear_state() {
        let state = |level| DrawState::new(Call::default(), &Registers::new(level, &|_| None));
        // Two attributes; up to GFX11 a driver that wants two does not write SPI_PS_IN_CONTROL.
        assert_eq!(state(GfxLevel::Gfx10_3).inputs.attributes.len(), 2);
        assert_eq!(state(GfxLevel::Gfx12).inputs.attributes.len(), 0);
        let registers = Registers::new(GfxLevel::Gfx9, &|_| None);
        let named = |name| amdgpu_registers::named(name).unwrap();
        assert_eq!(registers.raw(named("PA_SU_VTX_CNTL")), 5);
        assert_eq!(registers.raw(named("DB_STENCILREFMASK")), 1 << 24);
        assert_eq!(registers.raw(named("DB_RENDER_CONTROL")), 0);
    }
}
