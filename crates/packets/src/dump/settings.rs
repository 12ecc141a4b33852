//! The settings of a dumper.

use crate::layout::Reader;
use crate::registers::RegisterSet;
use amdgpu_hw::{GfxLevel, GpuVa};

/// The limits for the called and chained IBs that a dump includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum depth of calls and chains.
    pub depth: u32,
    /// The maximum number of IBs, including the first one.
    pub ibs: usize,
    /// The maximum number of dwords in all IBs. Further dwords are not read.
    pub dwords: usize,
}

impl Default for Limits {
    /// 64 levels, 4096 IBs, 16 Mi dwords.
    fn default() -> Self {
        Self { depth: 64, ibs: 4096, dwords: 16 << 20 }
    }
}

/// A function that reads a number of dwords of GPU memory at an address; `None` if the memory cannot be read.
pub type ReadMemory<'d> = dyn Fn(GpuVa, usize) -> Option<Vec<u32>> + 'd;

/// A function that returns the name of the object at an address; `None` if there is none.
pub type NameAddress<'d> = dyn Fn(u64) -> Option<String> + 'd;

/// The settings of a dumper.
#[derive(Clone, Copy)]
pub(super) struct Settings<'d> {
    pub(super) reader: Reader,
    /// The registers, if they differ from the generation's.
    pub(super) registers: Option<RegisterSet>,
    pub(super) memory: &'d ReadMemory<'d>,
    pub(super) names: &'d NameAddress<'d>,
    pub(super) limits: Limits,
}

impl Settings<'_> {
    /// Returns the registers that the reader can write; `None` for a copy engine.
    pub(super) fn registers(&self) -> Option<RegisterSet> {
        let level = level(self.reader)?;
        let named = self.registers.filter(|set| set.level() == level);
        Some(named.unwrap_or(RegisterSet::new(level)))
    }
}

/// Returns the generation whose registers a reader can write.
const fn level(reader: Reader) -> Option<GfxLevel> {
    match reader {
        Reader::Ring(target) => Some(target.level),
        Reader::Constant(level) | Reader::Interface(level) => Some(level),
        Reader::Copy(_) => None,
    }
}
