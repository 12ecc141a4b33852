//! The state that packets set for later packets: registers, base addresses, predication.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use amdgpu_hw::GpuVa;
use amdgpu_packets::layout::values::SetBaseIndex;
use amdgpu_packets::pm4::Register;

use super::constant::Constant;
use super::ram::Ram;
use super::{IndexBuffer, Registers};

/// The state of a context on a ring. It survives a job, and can be switched between jobs.
#[derive(Clone, Debug)]
pub struct State {
    pub(super) registers: Registers,
    /// The predicate that decides whether packets with predication are executed.
    pub(super) predicate: Predicate,
    /// The addresses set by SET_BASE, by index.
    pub(super) bases: [GpuVa; Self::BASES],
    /// The index buffer of indexed draws.
    pub(super) index: IndexBuffer,
    /// The number of instances of a direct draw.
    pub(super) instances: u32,
    /// The filled size of each stream-out buffer.
    pub(super) filled: [u32; 4],
    /// The old value returned by the last atomic.
    pub(super) atomic_return: u64,
    pub(super) gds: Ram,
    pub(super) constant: Constant,
    /// The registers saved by CLEAR_STATE.
    pub(super) pushed: Vec<Registers>,
    /// The offset of the copy engine's own clock counter from the GPU's, modulo 2^64.
    pub(super) counter_lead: u64,
    pub(super) tally: Tally,
    counters: Counters,
}

/// The counts of draws: the samples that passed the tests of depth and stencil, and the statistics of the pipeline.
#[derive(Debug)]
struct Counters {
    samples: AtomicU64,
    statistics: [AtomicU64; STATISTICS],
    /// `true` if an event has stopped the statistics of the pipeline.
    is_stopped: AtomicBool,
}

impl Counters {
    const fn new() -> Self {
        Self {
            samples: AtomicU64::new(0),
            statistics: [const { AtomicU64::new(0) }; STATISTICS],
            is_stopped: AtomicBool::new(false),
        }
    }
}

impl Clone for Counters {
    fn clone(&self) -> Self {
        let copy = |counter: &AtomicU64| AtomicU64::new(counter.load(Ordering::Relaxed));
        Self {
            samples: copy(&self.samples),
            statistics: std::array::from_fn(|index| copy(&self.statistics[index])),
            is_stopped: AtomicBool::new(self.is_stopped.load(Ordering::Relaxed)),
        }
    }
}

/// The number of statistics of the pipeline.
const STATISTICS: usize = 14;

/// The statistics of the pipeline in the order in which hardware stores them: invocations of the pixel shader, primitives behind and
/// before clipping, invocations of the vertex shader, those of the geometry shader and its primitives, primitives and vertices that
/// were assembled, invocations of hull, domain and compute shaders, and three of mesh shaders (GFX10.3 and later).
pub type Statistics = [u64; STATISTICS];

/// The numbers of draws and dispatches that a context has started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tally {
    /// The number of draws, including mesh draws and each draw of a multi-draw.
    pub draws: u64,
    /// The number of dispatches.
    pub dispatches: u64,
}

/// The predication of packets whose header requests it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Predicate {
    /// `true` if such packets are skipped.
    pub(super) skips: bool,
    /// The sum so far, for a predicate that is accumulated over several packets.
    pub(super) sum: u64,
}

impl State {
    /// The number of bases: the index field of SET_BASE has four bits.
    pub(super) const BASES: usize = 16;

    /// Creates a state in which all registers are zero.
    pub const fn new() -> Self {
        Self {
            registers: Registers::new(),
            predicate: Predicate { skips: false, sum: 0 },
            bases: [GpuVa::NULL; Self::BASES],
            index: IndexBuffer::NONE,
            instances: 1,
            filled: [0; 4],
            atomic_return: 0,
            gds: Ram::new(),
            constant: Constant::new(),
            pushed: Vec::new(),
            counter_lead: 0,
            tally: Tally { draws: 0, dispatches: 0 },
            counters: Counters::new(),
        }
    }

    /// Returns the registers that packets have written.
    pub const fn registers(&self) -> &Registers {
        &self.registers
    }

    /// Begins a job, which has set no registers.
    pub(crate) const fn begin_job(&mut self) {
        self.registers.begin_job();
    }

    /// Sets a register, as a packet does.
    #[cfg(test)]
    pub(crate) fn set_register(&mut self, register: Register, value: u32) {
        self.registers.set(register, value);
    }

    /// Takes the registers of a shadow area ([`Registers::to_shadow`]).
    pub(crate) fn load_shadow(&mut self, area: &[u32]) {
        self.registers.load_shadow(area);
    }

    /// Returns the value of a register; zero if it was never written.
    pub fn register(&self, register: Register) -> u32 {
        self.registers.get(register)
    }

    /// Returns the numbers of draws and dispatches.
    pub const fn tally(&self) -> Tally {
        self.tally
    }

    /// Counts samples that passed the tests of depth and stencil.
    pub fn count_samples(&self, passed: u64) {
        self.counters.samples.fetch_add(passed, Ordering::Relaxed);
    }

    /// Returns the number of samples that passed the tests of depth and stencil.
    pub fn samples(&self) -> u64 {
        self.counters.samples.load(Ordering::Relaxed)
    }

    /// Adds to the statistics of the pipeline.
    pub fn count_statistics(&self, more: &Statistics) {
        for (counter, more) in self.counters.statistics.iter().zip(more) {
            counter.fetch_add(*more, Ordering::Relaxed);
        }
    }

    /// Returns the statistics of the pipeline.
    pub fn statistics(&self) -> Statistics {
        std::array::from_fn(|index| self.counters.statistics[index].load(Ordering::Relaxed))
    }

    /// Starts or stops the statistics of the pipeline, which count from the beginning.
    pub(super) fn set_counts_statistics(&self, counts: bool) {
        self.counters.is_stopped.store(!counts, Ordering::Relaxed);
    }

    /// Returns `true` if draws count in the statistics of the pipeline.
    pub fn counts_statistics(&self) -> bool {
        !self.counters.is_stopped.load(Ordering::Relaxed)
    }

    /// Returns a copy that has counted nothing, and counts what this one does.
    pub(super) fn with_counters_of_zero(&self) -> Self {
        let copy = Self { counters: Counters::new(), ..self.clone() };
        copy.set_counts_statistics(self.counts_statistics());
        copy
    }

    /// Returns the address that SET_BASE set for an index; null if there is none.
    pub(super) fn base(&self, index: SetBaseIndex) -> GpuVa {
        self.bases.get(index.number() as usize).copied().unwrap_or(GpuVa::NULL)
    }
}

impl Default for State {
    fn default() -> Self {
        Self::new()
    }
}
