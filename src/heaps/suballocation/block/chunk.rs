//! Chunks of a block.

use std::{
    num::NonZeroU64,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// A chunk of a block. The type ensures that it cannot be copied or freed twice.
///
/// If it is dropped, its bytes stay allocated until the block is [cleared](super::VirtualBlock::clear).
///
/// # Invariants
///
/// Created by the block that `owner` identifies, in which `node` is its node as long as the chunk exists.
///
/// ```
/// use amdgpu_winsys::heaps::suballocation::VirtualBlock;
///
/// let mut block = VirtualBlock::new(1 << 20, 256)?;
/// let chunk = block.allocate(1000, 4096)?;
/// assert_eq!((chunk.offset() % 4096, block.len_of(&chunk)), (0, Some(1024)));
/// let mut other = VirtualBlock::new(1 << 20, 256)?;
/// assert_eq!(other.len_of(&chunk), None);
/// block.free(chunk)?; // takes it: there is nothing left to free twice
/// assert!(block.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, PartialEq, Eq, Hash)]
#[must_use = "a chunk that is dropped is lost until the block is cleared"]
pub struct Chunk {
    pub(super) owner: Owner,
    pub(super) node: u32,
    /// Offset in granules.
    pub(super) start: u32,
}

impl Chunk {
    /// Returns the offset from the start of the block in bytes.
    pub fn offset(&self) -> u64 {
        u64::from(self.start) << self.owner.shift()
    }
}

/// The identity of a block since its creation or its last clearing. It is unique within the process. The low six bits are the
/// base-2 logarithm of the granule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Owner(NonZeroU64);

impl Owner {
    /// Returns a new identity. It comes from a counter of the process, which has no other effect.
    pub(super) fn fresh(shift: u32) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // A process cannot count to 2^58, so the fallback is never taken.
        let name = (NEXT.fetch_add(1, Relaxed) << 6) | u64::from(shift);
        Self(NonZeroU64::new(name).unwrap_or(NonZeroU64::MAX))
    }

    const fn shift(self) -> u32 {
        (self.0.get() & 0x3f) as u32
    }
}
