//! Places of BOs, and what the pools tell a BO of its own.

use std::sync::atomic::AtomicBool;

/// Where a BO is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// VRAM.
    Vram {
        /// How many of its bytes lie where the CPU can map them.
        visible: u64,
    },
    /// System memory that the GPU can map.
    Gtt,
    /// System memory out of the GPU's reach.
    System,
    /// On the chip, or thrown away: counted nowhere.
    Nowhere,
}

impl Place {
    /// Returns `true` if page tables can point there.
    pub(super) const fn is_in_reach(self) -> bool {
        matches!(self, Self::Vram { .. } | Self::Gtt)
    }
}

/// What moved since the device came to life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moves {
    /// Bytes copied, evictions included.
    pub(crate) bytes: u64,
    /// Copies that made room for others.
    pub(crate) evictions: u64,
    /// Times that the CPU touched VRAM where it cannot see it.
    pub(crate) cpu_page_faults: u64,
}

/// What the pools tell a BO, which it looks at without their lock.
#[derive(Debug, Default)]
pub(crate) struct Signs {
    /// Page tables can point at it, by the last time it was placed on purpose.
    pub(super) reachable: AtomicBool,
    /// What was in it is gone.
    pub(super) lost: AtomicBool,
}
