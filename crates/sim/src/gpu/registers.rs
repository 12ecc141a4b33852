//! The registers that packets read and write.

use std::collections::BTreeMap;

use amdgpu_hw::GfxLevel;
use amdgpu_packets::{dump, pm4::Register};

/// The values of an engine's registers. Registers that were never written are zero.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    written: BTreeMap<Register, Value>,
    /// The number of the job, that in which all context registers were cleared last, and that for which all were restored.
    job: u64,
    cleared: u64,
    restored: u64,
}

/// The value of a register.
#[derive(Clone, Copy, Debug)]
struct Value {
    value: u32,
    /// The number of the job that wrote it.
    job: u64,
}

/// The ranges of the register space that user streams can access, by byte offset.
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/soc15d.h`, `PACKET3_SET_*_START` and `_END`; Mesa 25.0.7
/// `src/amd/common/sid.h`, where the last one ends at 0x40000.
pub(super) const CONFIG: std::ops::Range<u32> = 0x8000..0xb000;
pub(super) const PERSISTENT: std::ops::Range<u32> = 0xb000..0xc000;
pub(super) const CONTEXT: std::ops::Range<u32> = 0x28000..0x29000;
pub(super) const USER_CONFIG: std::ops::Range<u32> = 0x30000..0x40000;

impl Registers {
    pub(super) const fn new() -> Self {
        Self { written: BTreeMap::new(), job: 0, cleared: u64::MAX, restored: u64::MAX }
    }

    /// Begins a job, which has written no registers.
    pub(super) const fn begin_job(&mut self) {
        self.job += 1;
    }

    /// Returns the value of the register; zero if it was never written.
    pub fn get(&self, register: Register) -> u32 {
        self.written(register).unwrap_or_default()
    }

    /// Returns the value of the register; `None` if it was never written.
    pub fn written(&self, register: Register) -> Option<u32> {
        self.written.get(&register).map(|written| written.value)
    }

    /// Returns `true` if the current job has written the register, has reset it with all context registers, or has found it as its
    /// queue left it. Others have the value of another job, which may be that of another process.
    pub fn is_set(&self, register: Register) -> bool {
        self.written.get(&register).is_some_and(|written| written.job == self.job)
            || self.restored == self.job
            || self.cleared == self.job && within(&CONTEXT, register)
    }

    pub(super) fn set(&mut self, register: Register, value: u32) {
        self.written.insert(register, Value { value, job: self.job });
    }

    /// Resets the context registers.
    pub(super) fn clear_context(&mut self) {
        self.written.retain(|register, _| !within(&CONTEXT, *register));
        self.cleared = self.job;
    }

    /// Replaces the context registers with those of `from`.
    pub(super) fn restore_context(&mut self, from: &Self) {
        self.clear_context();
        self.written.extend(from.written.iter().filter(|(register, _)| within(&CONTEXT, **register)));
    }

    /// Returns the contents of a shadow area: the user configuration registers, the context registers and the persistent
    /// registers. The firmware's own layout is not public; an area of this one has the firmware's size (`MQD_SHADOW_BASE_SIZE` of
    /// Linux 6.12 `gfx_v11_0.c`).
    pub(crate) fn to_shadow(&self) -> Vec<u32> {
        shadowed().map(|register| self.get(register)).collect()
    }

    /// Takes the registers of a shadow area.
    pub(super) fn load_shadow(&mut self, area: &[u32]) {
        self.restored = self.job;
        for (register, &value) in shadowed().zip(area) {
            if value != self.get(register) {
                self.set(register, value);
            }
        }
    }

    /// Returns the written registers as text, with a line for each: name, value and non-zero fields.
    pub fn shown(&self, level: GfxLevel) -> String {
        let line = |(register, written): (&Register, &Value)| {
            format!("\n    {}", dump::register(4 * register.index(), Some(written.value), level.into()))
        };
        self.written.iter().map(line).collect()
    }

    /// Returns `true` if a user stream may write the register. Configuration registers can only be written on GFX6, which has no
    /// user copy of them.
    pub(super) fn may_write(register: Register, level: GfxLevel) -> bool {
        Self::may_read(register, level) && (level == GfxLevel::Gfx6 || !within(&CONFIG, register))
    }

    /// Returns `true` if a user stream may read the register.
    pub(super) fn may_read(register: Register, level: GfxLevel) -> bool {
        [CONFIG, PERSISTENT, CONTEXT].iter().any(|range| within(range, register))
            || (level >= GfxLevel::Gfx7 && within(&USER_CONFIG, register))
    }
}

/// The user data that all stages of graphics have in common on GFX9, and that of the pixel, vertex, geometry and hull stages.
///
/// Source: Mesa 25.0.7 `si_descriptors.c`, `si_emit_global_shader_pointers`.
const COMMON: std::ops::Range<u32> = 0xb530..0xb5b0;
const STAGES: [u32; 4] = [0xb030, 0xb130, 0xb330, 0xb430];

/// Returns the registers of the stages that get what is written to a register of the common user data.
pub(super) fn broadcast(register: Register, level: GfxLevel) -> impl Iterator<Item = Register> {
    let is_common = level == GfxLevel::Gfx9 && within(&COMMON, register);
    let number = register.index().saturating_sub(COMMON.start / 4);
    STAGES.into_iter().filter(move |_| is_common).map(move |first| Register::new(first / 4 + number))
}

/// Returns the registers of a shadow area, in its order.
fn shadowed() -> impl Iterator<Item = Register> {
    let bytes = [USER_CONFIG, CONTEXT, PERSISTENT].into_iter().flat_map(|range| range.step_by(4));
    bytes.filter_map(Register::at_byte)
}

fn within(range: &std::ops::Range<u32>, register: Register) -> bool {
    (range.start / 4..range.end / 4).contains(&register.index())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shadow_area_holds_all_registers_that_a_user_stream_writes_on_gfx11() {
        let shadowed: Vec<_> = shadowed().collect();
        let writable = |register: &Register| Registers::may_write(*register, GfxLevel::Gfx11);
        let all = (0..0x40000).step_by(4).filter_map(Register::at_byte).filter(writable);
        assert_eq!((shadowed.len(), all.count()), (73_728 / 4, shadowed.len()));
        let (mut before, mut after) = (Registers::new(), Registers::new());
        for (value, register) in (1..).zip(&shadowed) {
            before.set(*register, value);
        }
        after.set(shadowed[0], 99);
        after.load_shadow(&before.to_shadow());
        assert_eq!(after.to_shadow(), before.to_shadow());
    }

    #[test]
    fn the_scratch_register_is_where_the_generation_has_it() {
        let at = |byte| Register::at_byte(byte).unwrap();
        for level in GfxLevel::ALL {
            assert_eq!(Registers::may_write(at(0x8500), level), level == GfxLevel::Gfx6, "{level}");
            assert_eq!(Registers::may_write(at(0x30100), level), level > GfxLevel::Gfx6, "{level}");
            assert!(Registers::may_write(at(0x28b2c), level) && Registers::may_write(at(0xb800), level));
            assert!(!Registers::may_read(at(0x29000), level) && !Registers::may_read(at(0), level));
        }
    }
}
