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
        (self.read)(offset.wrapping_add(bytes)).unwrap_or_else(|| default(register.name()))
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

/// Returns the value of a register that was never written.
fn default(name: &str) -> u32 {
    match name {
        "PA_SC_CLIPRECT_RULE" => 0xffff,
        "PA_SC_AA_MASK_X0Y0_X1Y0" | "PA_SC_AA_MASK_X0Y1_X1Y1" | "VGT_MULTI_PRIM_IB_RESET_INDX" => u32::MAX,
        "PA_SC_SCREEN_SCISSOR_BR"
        | "PA_SC_WINDOW_SCISSOR_BR"
        | "PA_SC_GENERIC_SCISSOR_BR"
        | "PA_SC_VPORT_SCISSOR_0_BR" => 0x4000_4000,
        "PA_CL_GB_VERT_CLIP_ADJ" | "PA_CL_GB_HORZ_CLIP_ADJ" | "PA_SC_VPORT_ZMAX_0" => 1.0_f32.to_bits(),
        _ => 0,
    }
}
