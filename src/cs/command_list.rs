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
pub struct CommandList<L: Language> {
    ib: Arc<Ib>,
    language: L,
}

/// What a queue needs of a command list, whatever its language.
#[derive(Debug)]
pub(super) struct Ib {
    memory: IbMemory,
    target: Target,
    dwords: usize,
}

impl Ib {
    pub(super) fn address(&self) -> GpuVa {
        self.memory.address()
    }

    pub(super) fn bytes(&self) -> u32 {
        // At most 0xfffff dwords.
        (self.dwords * 4) as u32
    }

    pub(super) fn target(&self) -> Target {
        self.target
    }

    pub(super) fn binding(&self) -> &Arc<Binding> {
        self.memory.binding()
    }

    pub(super) fn device(&self) -> &Arc<Device> {
        self.memory.binding().device()
    }
}

impl<L: Language> CommandList<L> {
    pub(super) fn new(memory: IbMemory, language: L, dwords: usize) -> Self {
        Self { ib: Arc::new(Ib { memory, target: language.into(), dwords }), language }
    }

    /// Length with its padding, in dwords.
    pub fn len(&self) -> usize {
        self.ib.dwords
    }

    /// Always false: an empty stream is closed with fillers.
    pub fn is_empty(&self) -> bool {
        self.ib.dwords == 0
    }

    /// Where the GPU finds it.
    pub fn address(&self) -> GpuVa {
        self.ib.address()
    }

    /// Starts recording anew in the same memory.
    ///
    /// # Errors
    ///
    /// The list itself, when a queue still runs it or another clone exists.
    pub fn record_again(self) -> Result<Stream<L>, Self> {
        let language = self.language;
        match Arc::try_unwrap(self.ib) {
            Ok(ib) => Ok(Stream::over(ib.memory, language)),
            Err(ib) => Err(Self { ib, language }),
        }
    }
}

/// A command list as a queue takes it.
pub trait Submittable: sealed::Sealed {}

impl<L: Language> Submittable for CommandList<L> {}

pub(super) mod sealed {
    use std::sync::Arc;

    /// Keeps foreign types out and the IB inside.
    pub trait Sealed {
        #[doc(hidden)]
        fn ib(&self) -> &Arc<super::Ib>;
    }

    impl<L: super::Language> Sealed for super::CommandList<L> {
        fn ib(&self) -> &Arc<super::Ib> {
            &self.ib
        }
    }
}
