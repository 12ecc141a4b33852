//! The interface between waves and their observer.

use crate::{memory::Memory, outcome::Reason, wave::state::Wave};

/// A kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Lds,
    /// Memory with page tables.
    Memory,
    /// Memory with page tables that is private to a lane.
    Scratch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Load,
    Store,
    Atomic,
}

/// An access by a lane or by a whole wave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch<'d> {
    pub(crate) place: Place,
    pub(crate) act: Act,
    pub(crate) address: u64,
    pub(crate) bytes: u32,
    /// The stored bytes.
    pub(crate) data: &'d [u8],
}

/// An observer of waves. Methods are called only if [`ON`](Self::ON) is `true`, so that waves without an observer have no overhead.
pub(crate) trait Observer {
    const ON: bool;

    /// `true` if [`lane`](Self::lane) and [`touch`](Self::touch) are called, for which lanes access memory one by one.
    const TOUCHED: bool = Self::ON;

    /// Called when the waves of a work-group continue.
    fn enter(&self, _index: u64, _id: [u32; 3]) {}

    /// Called before a wave executes the instruction at its PC.
    fn before(&self, _wave: &Wave, _memory: &dyn Memory) {}

    /// Called after the instruction, when the PC is updated. A returned reason ends the dispatch.
    fn after(&self, _wave: &Wave) -> Result<(), Reason> {
        Ok(())
    }

    /// Called before accesses to memory that is private to a lane.
    fn private(&self) {}

    /// Called before (`true`) and after (`false`) accesses to the compression metadata of an image.
    fn metadata(&self, _is_accessed: bool) {}

    /// Called before the accesses of a lane.
    fn lane(&self, _lane: usize) {}

    fn touch(&self, _touch: Touch<'_>) {}

    /// Called when all waves of a work-group have reached a barrier.
    fn barrier(&self) {}
}

/// The observer that observes nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unobserved;

impl Observer for Unobserved {
    const ON: bool = false;
}
