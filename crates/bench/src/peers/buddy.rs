//! The crate buddy_system_allocator: frames of 256 bytes.

use buddy_system_allocator::FrameAllocator;

use crate::contest::race::Allocator;

const GRANULE: u64 = 256;

pub(crate) struct Buddy(FrameAllocator);

impl Buddy {
    pub(crate) fn new(space: u64) -> Self {
        let mut inner = FrameAllocator::new();
        inner.add_frame(0, (space / GRANULE) as usize);
        Self(inner)
    }
}

impl Allocator for Buddy {
    /// First frame and number of frames.
    type Lease = (usize, usize);

    #[inline]
    fn take(&mut self, size: u64, _align: u64) -> Option<(usize, usize)> {
        let frames = (size / GRANULE) as usize;
        self.0.alloc(frames).map(|first| (first, frames))
    }

    #[inline]
    fn give(&mut self, (first, frames): (usize, usize)) {
        self.0.dealloc(first, frames);
    }

    fn start(lease: &(usize, usize)) -> u64 {
        lease.0 as u64 * GRANULE
    }
}
