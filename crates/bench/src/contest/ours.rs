//! The library's side of the comparison.

use amdgpu_winsys::{
    heaps::suballocation::{Chunk, VirtualBlock},
    vamgr::{VaLease, VaLimits, VaManager, VaRequest},
};

use super::race::Allocator;

/// The VA manager with its locks, checks and leases, over the windows of a GFX10 card.
pub(crate) struct Addresses(VaManager);

impl Addresses {
    pub(crate) fn new() -> Self {
        let limits = VaLimits {
            low_offset: 0x1_0000,
            low_max: 0x8000_0000_0000,
            high_offset: 0xffff_8000_0000_0000,
            high_max: 0xffff_ffff_ffbf_0000,
            alignment: 4096,
            pte_fragment: 2 << 20,
            half_for_sparse: false,
        };
        Self(VaManager::new(&limits).expect("the limits of a card"))
    }
}

impl Allocator for Addresses {
    type Lease = VaLease;

    #[inline]
    fn take(&mut self, size: u64, align: u64) -> Option<VaLease> {
        self.0.allocate(VaRequest::new(size).aligned(align)).ok()
    }

    #[inline]
    fn give(&mut self, lease: VaLease) {
        drop(lease);
    }

    fn start(lease: &VaLease) -> u64 {
        lease.start().as_u64()
    }
}

/// The virtual block.
pub(crate) struct Block(VirtualBlock);

impl Block {
    pub(crate) fn new(space: u64) -> Self {
        Self(VirtualBlock::new(space, 256).expect("a space of many granules"))
    }
}

impl Allocator for Block {
    type Lease = Chunk;

    #[inline]
    fn take(&mut self, size: u64, align: u64) -> Option<Chunk> {
        self.0.allocate(size, align).ok()
    }

    #[inline]
    fn give(&mut self, lease: Chunk) {
        self.0.free(lease).expect("it is of this block");
    }

    fn start(lease: &Chunk) -> u64 {
        lease.offset()
    }
}
