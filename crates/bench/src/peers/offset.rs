//! The crate offset-allocator, in granules of 256 bytes, as it counts in 32 bits.

use offset_allocator::{Allocation, Allocator as Inner};

use crate::contest::race::Allocator;

const GRANULE: u64 = 256;

pub(crate) struct Offset(Inner);

impl Offset {
    pub(crate) fn new(space: u64) -> Self {
        Self(Inner::with_max_allocs((space / GRANULE) as u32, 1 << 20))
    }
}

impl Allocator for Offset {
    type Lease = Allocation;

    #[inline]
    fn take(&mut self, size: u64, _align: u64) -> Option<Allocation> {
        self.0.allocate((size / GRANULE) as u32)
    }

    #[inline]
    fn give(&mut self, lease: Allocation) {
        self.0.free(lease);
    }

    fn start(lease: &Allocation) -> u64 {
        u64::from(lease.offset) * GRANULE
    }
}
