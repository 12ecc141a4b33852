//! The interface to an observer of caches.

use amdgpu_packets::pm4::Compare;
use bitflags::bitflags;

use super::{ib::Ib, stop::Place, target_caches::TargetCaches};

bitflags! {
    /// The caches between shaders and L2, and that of metadata, which is in L2.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct FrontCaches: u8 {
        /// The caches of vector loads: TCL1, or GL0 of vector loads.
        const VECTOR = 1 << 0;
        /// The caches of scalar loads.
        const SCALAR = 1 << 1;
        /// The instruction caches.
        const INSTRUCTIONS = 1 << 2;
        /// GL1 of GFX10 to GFX11.5, behind the three others.
        const ARRAY = 1 << 3;
        /// The cache of compression metadata of GFX9 to GFX11.5: GLM from GFX10 on.
        const METADATA = 1 << 4;
    }
}

/// Effect of a packet on caches.
#[expect(clippy::struct_excessive_bools, reason = "effects that have nothing to do with each other")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheOperation {
    /// `true` if dirty lines are written to memory.
    pub write_back_l2: bool,
    /// `true` if lines without dirty bytes are dropped.
    pub invalidate_l2: bool,
    /// The caches of colour and depth targets that are written back and invalidated.
    pub flush_targets: TargetCaches,
    /// The caches in front of L2 that are invalidated.
    pub fronts: FrontCaches,
    /// `true` if the prefetch parser of a graphics ring waits until the micro engine has executed the operation.
    pub holds_pfp: bool,
    /// `true` if the prefetch parser of the graphics rings of GFX6 to GFX9 executes it, which does not wait for the micro engine.
    pub by_pfp: bool,
    /// Faults of the operation itself.
    pub misuse: Option<CacheMisuse>,
}

/// The reason why a cache operation does not do what its bits say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum CacheMisuse {
    /// GFX8 and GFX9 execute only one of the two.
    #[error("TC_WB with TC_NC and TCL1 in one packet: the vector caches are not invalidated; use two packets")]
    Mixture,
    /// GFX8 and GFX9 then do nothing.
    #[error("TC_WB without TC or TC_NC writes nothing back")]
    WriteBackAlone,
    /// GFX8 and GFX9 then do nothing.
    #[error("TC without TC_WB, TC_NC or TC_MD invalidates nothing")]
    InvalidationAlone,
    /// GLM cannot be written back alone.
    #[error("GLM_WB without GLM_INV does nothing")]
    MetadataWriteBackAlone,
    /// Sources differ on what becomes of dirty lines.
    #[error("GL2_INV without GL2_WB may discard dirty lines")]
    DirtyLines,
}

/// An end-of-pipe event, as far as its surroundings matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// ZPASS_DONE with an address.
    SampleCounts,
    /// A timestamp-type event.
    EndOfPipe,
    /// PFP waits for ME.
    PfpSync,
    /// The engine waits until the dispatches before are over.
    ShadersDone,
    /// The engine waits until the draws before are over.
    DrawsDone,
    /// A wait for memory is over.
    Waited {
        /// The address.
        va: u64,
        /// `true` if the prefetch parser has waited.
        by_pfp: bool,
        /// The condition of the wait.
        condition: WaitCondition,
    },
    /// A wait for an event that is only counted is over. The prefetch parser has waited.
    Counted {
        /// The work that is over before events of the counter.
        counter: Ended,
        /// The number of later events of the counter that may be outstanding.
        outstanding: u32,
    },
    /// Before the accesses of a packet that the prefetch parser executes.
    ByPfp,
    /// Before the accesses of a packet that does not wait until its writes have landed.
    Unconfirmed,
    /// Before the accesses of a packet that waits until its writes have landed.
    Confirmed,
    /// Before the accesses of a packet whose cache policies bypass L2.
    Bypass {
        /// `true` for its reads.
        reads: bool,
        /// `true` for its writes.
        writes: bool,
    },
    /// Before the accesses of a DMA.
    Dma {
        /// `true` if it starts when earlier DMA has written.
        waits_for_writes: bool,
    },
    /// After the accesses of a DMA for which, and for all DMA before it, the engine waits.
    DmaSync,
    /// A store at the end of the pipe or of shaders.
    Stored {
        /// The address; `None` if the event is only counted.
        va: Option<u64>,
        /// The work that is over before.
        ended: Ended,
    },
    /// A draw or dispatch starts.
    Work,
}

/// The condition of a wait for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitCondition {
    /// The comparison.
    pub compare: Compare,
    /// The bits of memory that are compared.
    pub mask: u64,
    /// The value that they are compared with.
    pub reference: u64,
}

impl WaitCondition {
    /// Returns `true` if a value in memory ends the wait.
    #[must_use]
    pub const fn is_met(self, value: u64) -> bool {
        let (value, reference) = (value & self.mask, self.reference);
        match self.compare {
            Compare::Always => true,
            Compare::Less => value < reference,
            Compare::LessOrEqual => value <= reference,
            Compare::Equal => value == reference,
            Compare::NotEqual => value != reference,
            Compare::GreaterOrEqual => value >= reference,
            Compare::Greater => value > reference,
        }
    }
}

/// The work for which an event with a store waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All earlier work.
    All,
    /// Compute shaders.
    Dispatches,
    /// Pixel shaders.
    Draws,
}

/// `false` in builds that exist to measure what the presence of the strict mode costs without it: they ask nowhere whether there is an
/// observer.
pub(crate) const OBSERVERS_ARE_BUILT: bool = !cfg!(amdgpu_without_strict);

/// An observer of what packets do, besides their memory accesses.
pub trait CacheObserver {
    /// Called before each packet.
    fn packet(&self, place: Place);

    /// Called for packets whose order matters.
    fn signal(&self, signal: Signal);

    /// Called for draws and dispatches, with the names of registers on which they depend and that the job has not set.
    fn unset(&self, registers: &[&str]);

    /// Called before (`true`) and after (`false`) shaders access memory.
    fn shaders(&self, are_running: bool);

    /// Called when the commands of an IB were fetched.
    fn fetched(&self, ib: Ib);

    /// Called for packets that operate on caches, after their stores.
    fn operate(&self, operation: CacheOperation);
}
