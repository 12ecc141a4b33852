//! Settings of a dump.

use crate::layout::Reader;
use crate::registers::RegisterSet;
use amdgpu_hw::{GfxLevel, GpuVa};

/// Limits of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Levels of calls and chains.
    pub depth: u32,
    /// IBs, the first one included.
    pub ibs: usize,
    /// Dwords of all IBs together. Dwords beyond that are not read.
    pub dwords: usize,
}

impl Default for Limits {
    /// 64 levels, 4096 IBs, 16 Mi dwords.
    fn default() -> Self {
        Self { depth: 64, ibs: 4096, dwords: 16 << 20 }
    }
}

/// Reads a number of dwords of GPU memory at an address; `None` if they are not there.
pub type ReadMemory<'d> = dyn Fn(GpuVa, usize) -> Option<Vec<u32>> + 'd;

/// Names the object at an address; returns `None` for an unknown address.
pub type NameAddress<'d> = dyn Fn(u64) -> Option<String> + 'd;

/// Settings of a dump.
#[derive(Clone, Copy)]
pub(super) struct Settings<'d> {
    pub(super) reader: Reader,
    /// The registers, where they are not those of the generation.
    pub(super) registers: Option<RegisterSet>,
    pub(super) memory: &'d ReadMemory<'d>,
    pub(super) names: &'d NameAddress<'d>,
    pub(super) limits: Limits,
}

impl Settings<'_> {
    /// Returns the registers that the reader writes; `None` for a copy engine.
    pub(super) fn registers(&self) -> Option<RegisterSet> {
        let level = level(self.reader)?;
        let named = self.registers.filter(|set| set.level() == level);
        Some(named.unwrap_or(RegisterSet::new(level)))
    }
}

/// Returns the generation whose registers a reader writes.
const fn level(reader: Reader) -> Option<GfxLevel> {
    match reader {
        Reader::Ring(target) => Some(target.level),
        Reader::Constant(level) | Reader::Interface(level) => Some(level),
        Reader::Copy(_) => None,
    }
}
