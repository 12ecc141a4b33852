//! Places of BOs, and what the pools report to a BO about itself.

use std::sync::atomic::AtomicBool;

/// Place of a BO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// VRAM.
    Vram {
        /// Number of its bytes that the CPU can map.
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

/// Moves since the device was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moves {
    /// Bytes copied, evictions included.
    pub(crate) bytes: u64,
    /// Copies that made room for others.
    pub(crate) evictions: u64,
    /// Times that the CPU touched VRAM where it cannot see it.
    pub(crate) cpu_page_faults: u64,
}

/// State that the pools publish for a BO, which it reads without their lock.
#[derive(Debug, Default)]
pub(crate) struct Signs {
    /// Page tables can point at it, by the last time it was placed on purpose.
    pub(super) reachable: AtomicBool,
    /// `true` if its contents are gone.
    pub(super) lost: AtomicBool,
}
