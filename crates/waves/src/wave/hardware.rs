//! Hardware registers behind `s_getreg` and `s_setreg`.

use amdgpu_hw::GfxLevel;

use super::state::Wave;
use crate::program::decoded_inst::{HardwareRegister, RegisterAccess};

const MODE: u8 = 1;
const STATUS: u8 = 2;
const FLAT_SCRATCH_LOW: u8 = 20;
const FLAT_SCRATCH_HIGH: u8 = 21;
/// SHADER_CYCLES_LO on GFX12.
const SHADER_CYCLES: u8 = 29;
const SHADER_CYCLES_HIGH: u8 = 30;

impl Wave {
    /// Reads or writes bits of a hardware register.
    pub(crate) fn hardware_register(&mut self, op: HardwareRegister) {
        let mask = ((1_u64 << op.bits) - 1) as u32;
        match op.access {
            RegisterAccess::Read(slot) => {
                let value = self.hardware_value(op.id) >> op.offset & mask;
                self.registers.set_scalar(slot, 1, value.into());
            }
            RegisterAccess::Write(source) => {
                let value = (self.registers.scalar(source, 1) as u32 & mask) << op.offset;
                let old = self.hardware_value(op.id);
                self.set_hardware_value(op.id, old & !(mask << op.offset) | value);
            }
        }
    }

    fn hardware_value(&self, id: u8) -> u32 {
        let level = self.registers.level;
        let newer = level >= GfxLevel::Gfx10;
        match id {
            MODE => self.registers.mode.0,
            STATUS => u32::from(self.registers.scc),
            FLAT_SCRATCH_LOW if newer => self.scratch.base as u32,
            FLAT_SCRATCH_HIGH if newer => (self.scratch.base >> 32) as u32,
            // 64 bits on GFX12, 20 before.
            SHADER_CYCLES if level >= GfxLevel::Gfx12 => self.counters.instructions as u32,
            SHADER_CYCLES_HIGH if level >= GfxLevel::Gfx12 => (self.counters.instructions >> 32) as u32,
            SHADER_CYCLES => self.counters.instructions as u32 & 0xf_ffff,
            _ => 0,
        }
    }

    fn set_hardware_value(&mut self, id: u8, value: u32) {
        let newer = self.registers.level >= GfxLevel::Gfx10;
        let scratch = self.scratch.base;
        match id {
            MODE => self.registers.mode.0 = value,
            STATUS => self.registers.scc = value & 1 != 0,
            FLAT_SCRATCH_LOW if newer => self.scratch.base = scratch & !0xffff_ffff | u64::from(value),
            FLAT_SCRATCH_HIGH if newer => self.scratch.base = scratch & 0xffff_ffff | u64::from(value) << 32,
            _ => {}
        }
    }
}
