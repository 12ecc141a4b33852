//! The registers that packets read and write.

use std::collections::BTreeMap;

use amdgpu_hw::GfxLevel;
use amdgpu_packets::{dump, pm4::Register};

/// The registers of one engine that were written; all others are zero.
#[derive(Clone, Debug, Default)]
pub struct Registers(BTreeMap<Register, u32>);

/// The parts of the register space that user streams reach, by byte offset.
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/soc15d.h`, `PACKET3_SET_*_START` and `_END`; Mesa 25.0.7
/// `src/amd/common/sid.h`, where the last one ends at 0x40000.
pub(super) const CONFIG: std::ops::Range<u32> = 0x8000..0xb000;
pub(super) const PERSISTENT: std::ops::Range<u32> = 0xb000..0xc000;
pub(super) const CONTEXT: std::ops::Range<u32> = 0x28000..0x29000;
pub(super) const USER_CONFIG: std::ops::Range<u32> = 0x30000..0x40000;

impl Registers {
    pub(super) const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Returns the value written last; zero if there is none.
    pub fn get(&self, register: Register) -> u32 {
        self.0.get(&register).copied().unwrap_or_default()
    }

    pub(super) fn set(&mut self, register: Register, value: u32) {
        self.0.insert(register, value);
    }

    /// Forgets what was written to the context registers.
    pub(super) fn clear_context(&mut self) {
        self.0.retain(|register, _| !within(&CONTEXT, *register));
    }

    /// Takes the context registers of another file.
    pub(super) fn restore_context(&mut self, from: &Self) {
        self.clear_context();
        self.0.extend(from.0.iter().filter(|(register, _)| within(&CONTEXT, **register)));
    }

    /// Returns the registers that were written as text, a line each: name, value and the fields that are not zero.
    pub fn shown(&self, level: GfxLevel) -> String {
        let line = |(register, value): (&Register, &u32)| {
            format!("\n    {}", dump::register(4 * register.index(), Some(*value), level.into()))
        };
        self.0.iter().map(line).collect()
    }

    /// Returns `true` if a user stream may write the register: configuration registers on GFX6 only, where the user's copy
    /// of them does not exist yet.
    pub(super) fn may_write(register: Register, level: GfxLevel) -> bool {
        Self::may_read(register, level) && (level == GfxLevel::Gfx6 || !within(&CONFIG, register))
    }

    /// Returns `true` if a user stream may read the register.
    pub(super) fn may_read(register: Register, level: GfxLevel) -> bool {
        [CONFIG, PERSISTENT, CONTEXT].iter().any(|range| within(range, register))
            || (level >= GfxLevel::Gfx7 && within(&USER_CONFIG, register))
    }
}

fn within(range: &std::ops::Range<u32>, register: Register) -> bool {
    (range.start / 4..range.end / 4).contains(&register.index())
}

#[cfg(test)]
mod tests {
    use super::*;

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
