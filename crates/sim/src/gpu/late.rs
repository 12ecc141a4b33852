//! Work that an engine has issued and not executed yet, in the late schedule.

use amdgpu_hw::GpuVa;

use super::{Place, State, Work};

/// Work that was issued and is not executed yet.
#[derive(Debug, Default)]
pub(super) struct Late {
    /// Draws, dispatches and stores, in the order of their packets.
    pub(super) pipe: Vec<Issued>,
    pub(super) dma: Vec<Transfer>,
}

/// Work of the pipe with the place of its packet.
#[derive(Debug)]
pub(super) struct Issued {
    pub(super) kind: Kind,
    pub(super) place: Place,
}

/// A kind of work of the pipe.
#[derive(Debug)]
pub(super) enum Kind {
    /// A draw or dispatch, and the state in which it was issued.
    Work(Work, Box<State>),
    /// A store at the end of the pipe or of shaders.
    Store(Store),
}

/// A store at the end of the pipe or of shaders.
#[derive(Clone, Copy, Debug)]
pub(super) struct Store {
    pub(super) to: GpuVa,
    pub(super) data: Data,
}

/// The data of a store.
#[derive(Clone, Copy, Debug)]
pub(super) enum Data {
    Dword(u32),
    Qword(u64),
    /// The value of the clock when it is stored.
    Clock,
}

/// A transfer by DMA between memory, or of a pattern to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub(super) source: Source,
    pub(super) to: GpuVa,
    pub(super) bytes: u64,
    pub(super) place: Place,
}

/// The source of a transfer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    Memory(GpuVa),
    Pattern(u32),
}

impl Late {
    /// Forgets what was issued.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.pipe.is_empty() && self.dma.is_empty()
    }
}
