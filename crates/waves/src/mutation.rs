//! Deliberate mistakes of waves, for tests of tests.

use crate::memory::{Memory, PageFault};

/// A deliberate fault in the execution of waves, to prove that a test detects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WaveMutation {
    /// The last lane of each wave is disabled from the start.
    LostLane,
    /// Barriers do not block waves.
    OpenBarrier,
    /// All lanes share the scratch memory of the first lane.
    SharedScratch,
    /// Additions and subtractions produce no carry.
    LostCarry,
    /// Loads read from 4 bytes after the address.
    ShiftedLoad,
    /// Stores to every eighth dword are lost.
    LostStore,
    /// Atomic operations return the stored value instead of the old one.
    LateAtomic,
    /// Image stores exchange the texels of each pair in a row.
    SwappedTexel,
    /// Image loads read the other row of each pair.
    WrongRow,
    /// Samplers return the nearest texel without filtering.
    Unfiltered,
    /// Samplers return the texel below.
    WrongTexel,
}

/// Memory as waves with a mutation access it.
pub(crate) struct MutatedMemory<'m> {
    pub(crate) memory: &'m dyn Memory,
    pub(crate) mutation: WaveMutation,
}

impl Memory for MutatedMemory<'_> {
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        let shift = if self.mutation == WaveMutation::ShiftedLoad { 4 } else { 0 };
        self.memory.load(va.wrapping_add(shift), out)
    }

    fn store(&self, va: u64, data: &[u8]) -> Result<(), PageFault> {
        if self.mutation == WaveMutation::LostStore && va % 32 == 28 {
            return Ok(());
        }
        self.memory.store(va, data)
    }

    fn atomic(&self, va: u64, bytes: u8, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        let mut stored = 0;
        let old = self.memory.atomic(va, bytes, &mut |old| {
            stored = change(old);
            stored
        })?;
        Ok(if self.mutation == WaveMutation::LateAtomic { stored } else { old })
    }

    fn fetch(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        self.memory.fetch(va, out)
    }

    fn is_stopped(&self) -> bool {
        self.memory.is_stopped()
    }
}
