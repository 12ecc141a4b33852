//! Recorded streams, ready to be submitted as often as one likes.

use std::sync::Arc;

use super::{Language, Stream, Target, ib::IbMemory};
use crate::{
    vamgr::GpuVa,
    winsys::{Binding, Device},
};

/// A closed stream: IBs that do not change any more.
///
/// A queue that runs it keeps it alive, so it can be dropped right after submitting; it can be recorded anew once no
/// queue uses it ([`CommandList::record_again`]).
#[derive(Clone, Debug)]
pub struct CommandList {
    recorded: Arc<Recorded>,
}

/// A full IB of a list.
#[derive(Debug)]
pub(super) struct Ib {
    pub(super) memory: IbMemory,
    /// With padding and chain packet.
    pub(super) dwords: usize,
}

#[derive(Debug)]
struct Recorded {
    ibs: Vec<Ib>,
    /// Memory that was grown out of; for recording again.
    spare: Vec<IbMemory>,
    target: Target,
    /// Each IB jumps to the next, so only the first is submitted.
    is_chained: bool,
}

impl CommandList {
    pub(super) fn new(ibs: Vec<Ib>, spare: Vec<IbMemory>, target: Target, is_chained: bool) -> Self {
        Self { recorded: Arc::new(Recorded { ibs, spare, target, is_chained }) }
    }

    /// The ring it was recorded for.
    pub fn target(&self) -> Target {
        self.recorded.target
    }

    /// Length of all IBs, in dwords, padding and chain packets included.
    pub fn len(&self) -> usize {
        self.ibs().map(|(_, dwords)| dwords).sum()
    }

    /// Always false: an empty stream is closed with fillers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the GPU finds each IB, and how many dwords it has; at most [`MAX_IB_DWORDS`](super::MAX_IB_DWORDS).
    pub fn ibs(&self) -> impl Iterator<Item = (GpuVa, usize)> {
        self.recorded.ibs.iter().map(|ib| (ib.memory.address(), ib.dwords))
    }

    /// The IBs that the kernel is given: the first where they are chained, else all of them.
    pub fn submitted_ibs(&self) -> impl Iterator<Item = (GpuVa, usize)> {
        self.ibs().take(if self.recorded.is_chained { 1 } else { usize::MAX })
    }

    /// What each IB holds, padding and tail included, for a decoder. Slow to read unless the list was recorded in
    /// cached memory.
    pub fn dwords(&self) -> impl Iterator<Item = &[u32]> {
        self.recorded.ibs.iter().map(|ib| ib.memory.as_slice().get(..ib.dwords).unwrap_or_default())
    }

    /// Starts recording anew in the same memory, for any ring.
    ///
    /// # Errors
    ///
    /// The list itself, when a queue still runs it or another clone exists.
    pub fn record_again<L: Language>(self, language: L) -> Result<Stream<L>, Self> {
        let Recorded { ibs, mut spare, target, is_chained } =
            Arc::try_unwrap(self.recorded).map_err(|recorded| Self { recorded })?;
        let mut memories = ibs.into_iter().map(|ib| ib.memory);
        // The last is the largest.
        match memories.next_back() {
            Some(memory) => {
                spare.extend(memories);
                Ok(Stream::over(memory, spare, language))
            }
            None => Err(Self::new(Vec::new(), spare, target, is_chained)),
        }
    }

    /// What must be resident for it to run.
    pub(super) fn bindings(&self) -> impl ExactSizeIterator<Item = &Arc<Binding>> {
        self.recorded.ibs.iter().map(|ib| ib.memory.binding())
    }

    pub(super) fn is_of(&self, device: &Arc<Device>) -> bool {
        self.bindings().all(|binding| Arc::ptr_eq(binding.device(), device))
    }
}
