//! Recorded streams, ready to be submitted as often as one likes.

use std::sync::Arc;

use super::{Language, Stream, Target, ib::IbMemory};
use crate::{
    vamgr::GpuVa,
    winsys::{Binding, Device},
};

/// A closed stream: one IB that does not change any more.
///
/// A queue that runs it keeps it alive, so it can be dropped right after submitting; it can be recorded anew once no
/// queue uses it ([`CommandList::record_again`]).
#[derive(Clone, Debug)]
pub struct CommandList {
    ib: Arc<Ib>,
}

#[derive(Debug)]
struct Ib {
    memory: IbMemory,
    target: Target,
    dwords: usize,
}

impl CommandList {
    pub(super) fn new(memory: IbMemory, target: Target, dwords: usize) -> Self {
        Self { ib: Arc::new(Ib { memory, target, dwords }) }
    }

    /// The ring it was recorded for.
    pub fn target(&self) -> Target {
        self.ib.target
    }

    /// Length with its padding, in dwords; at most [`MAX_IB_DWORDS`](super::MAX_IB_DWORDS).
    pub fn len(&self) -> usize {
        self.ib.dwords
    }

    /// Always false: an empty stream is closed with fillers.
    pub fn is_empty(&self) -> bool {
        self.ib.dwords == 0
    }

    /// Where the GPU finds it.
    pub fn address(&self) -> GpuVa {
        self.ib.memory.address()
    }

    /// Starts recording anew in the same memory, for any ring.
    ///
    /// # Errors
    ///
    /// The list itself, when a queue still runs it or another clone exists.
    pub fn record_again<L: Language>(self, language: L) -> Result<Stream<L>, Self> {
        match Arc::try_unwrap(self.ib) {
            Ok(ib) => Ok(Stream::over(ib.memory, language)),
            Err(ib) => Err(Self { ib }),
        }
    }

    pub(super) fn binding(&self) -> &Arc<Binding> {
        self.ib.memory.binding()
    }

    pub(super) fn device(&self) -> &Arc<Device> {
        self.binding().device()
    }
}
