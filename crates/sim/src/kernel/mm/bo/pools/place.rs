//! The domains of BOs, and the state that the pools publish for each BO.

use std::sync::atomic::AtomicBool;

/// The domain in which a BO is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// VRAM.
    Vram {
        /// The number of its bytes in visible VRAM.
        visible: u64,
    },
    /// System memory that the GPU can map.
    Gtt,
    /// System memory that the GPU cannot map.
    System,
    /// An on-chip resource, or discarded: not counted.
    Nowhere,
}

impl Placement {
    /// Returns `true` if page tables can map the domain.
    pub(super) const fn is_in_reach(self) -> bool {
        matches!(self, Self::Vram { .. } | Self::Gtt)
    }
}

/// The counts of moves since the device was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moves {
    /// The number of copied bytes, including evictions.
    pub(crate) bytes: u64,
    /// The number of copies that made room for others.
    pub(crate) evictions: u64,
    /// The number of CPU accesses to invisible VRAM.
    pub(crate) cpu_page_faults: u64,
}

/// The state that the pools publish for a BO, which can be read without their lock.
#[derive(Debug, Default)]
pub(crate) struct BoStatus {
    /// `true` if page tables can map the BO, according to its last deliberate placement.
    pub(super) reachable: AtomicBool,
    /// `true` if the contents were lost.
    pub(super) lost: AtomicBool,
}
