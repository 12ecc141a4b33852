//! State that packets leave for later packets: registers, bases, predication.

use amdgpu_hw::GpuVa;
use amdgpu_packets::layout::values::SetBaseIndex;
use amdgpu_packets::pm4::Register;

use super::constant::Constant;
use super::ram::Ram;
use super::{IndexBuffer, Registers};

/// The state of one context on one ring. It outlives a job, and an engine can be handed another one between two jobs.
#[derive(Clone, Debug)]
pub struct State {
    pub(super) registers: Registers,
    /// Predicate that decides if packets that ask for predication are executed.
    pub(super) predicate: Predicate,
    /// Addresses set by SET_BASE, by index.
    pub(super) bases: [GpuVa; Self::BASES],
    /// Index buffer of indexed draws.
    pub(super) index: IndexBuffer,
    /// The instances of a direct draw.
    pub(super) instances: u32,
    /// Fill level of each stream-out buffer.
    pub(super) filled: [u32; 4],
    /// Previous value found by the last returning atomic.
    pub(super) atomic_return: u64,
    pub(super) gds: Ram,
    pub(super) constant: Constant,
    /// Registers that CLEAR_STATE put aside.
    pub(super) pushed: Vec<Registers>,
    /// Lead of the copy engine's own counter over the GPU's, modulo 2^64.
    pub(super) counter_lead: u64,
    pub(super) tally: Tally,
}

/// Amount of work that a context has started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tally {
    /// Draws, mesh draws included; each one of a multi-draw counts.
    pub draws: u64,
    /// Dispatches.
    pub dispatches: u64,
}

/// Predication: what the graphics front end does with packets whose header asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Predicate {
    /// They are skipped.
    pub(super) skips: bool,
    /// The sum so far, for a predicate that goes on.
    pub(super) sum: u64,
}

impl State {
    /// The field of SET_BASE has four bits.
    pub(super) const BASES: usize = 16;

    /// Creates a state with all registers zero and nothing set.
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
        }
    }

    /// Returns the registers.
    pub const fn registers(&self) -> &Registers {
        &self.registers
    }

    /// Takes the registers of a shadow area ([`Registers::to_shadow`]).
    pub(crate) fn load_shadow(&mut self, area: &[u32]) {
        self.registers.load_shadow(area);
    }

    /// Returns a register; zero if it was never written.
    pub fn register(&self, register: Register) -> u32 {
        self.registers.get(register)
    }

    /// Returns the work started.
    pub const fn tally(&self) -> Tally {
        self.tally
    }

    /// Returns the address that SET_BASE set for an index; null for one that does not exist.
    pub(super) fn base(&self, index: SetBaseIndex) -> GpuVa {
        self.bases.get(index.number() as usize).copied().unwrap_or(GpuVa::NULL)
    }
}

impl Default for State {
    fn default() -> Self {
        Self::new()
    }
}
