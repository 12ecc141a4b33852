//! The seam between waves and what observes them.

use crate::{memory::Memory, outcome::Reason, wave::state::Wave};

/// A kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Lds,
    /// Memory behind page tables.
    Memory,
    /// Memory behind page tables that is a lane's own.
    Scratch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Load,
    Store,
    Atomic,
}

/// An access of a lane, or of a whole wave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch<'d> {
    pub(crate) place: Place,
    pub(crate) act: Act,
    pub(crate) address: u64,
    pub(crate) bytes: u32,
    /// The bytes that are stored.
    pub(crate) data: &'d [u8],
}

/// An observer of waves. Each method is called only where [`ON`](Self::ON) is `true`, so that waves without one pay nothing.
pub(crate) trait Observer {
    const ON: bool;

    /// The waves of a group go on.
    fn enter(&self, _index: u64, _id: [u32; 3]) {}

    /// A wave is about to execute the instruction at its PC.
    fn before(&self, _wave: &Wave, _memory: &dyn Memory) {}

    /// A wave has executed it and is where it goes on; a reason ends the dispatch.
    fn after(&self, _wave: &Wave) -> Result<(), Reason> {
        Ok(())
    }

    /// The accesses that follow are of a lane.
    fn lane(&self, _lane: usize) {}

    fn touch(&self, _touch: Touch<'_>) {}

    /// All waves of a group have come to a barrier.
    fn barrier(&self) {}
}

/// No observer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unobserved;

impl Observer for Unobserved {
    const ON: bool = false;
}
