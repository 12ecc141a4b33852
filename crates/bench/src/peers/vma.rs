//! The virtual block of the Vulkan Memory Allocator, through the crate vk-mem.
#![expect(unsafe_code, reason = "the crate's methods are unsafe")]

use std::sync::{Mutex, PoisonError};

use vk_mem::{
    VirtualAllocation, VirtualAllocationCreateFlags, VirtualAllocationCreateInfo, VirtualBlock,
    VirtualBlockCreateFlags, VirtualBlockCreateInfo,
};

use crate::contest::race::Allocator;

pub(crate) struct Vma(VirtualBlock);

impl Vma {
    pub(crate) fn new(space: u64) -> Self {
        let info =
            VirtualBlockCreateInfo { size: space, flags: VirtualBlockCreateFlags::empty(), allocation_callbacks: None };
        Self(VirtualBlock::new(info).expect("host memory for a virtual block"))
    }
}

impl Allocator for Vma {
    type Lease = (VirtualAllocation, u64);

    #[inline]
    fn take(&mut self, size: u64, align: u64) -> Option<Self::Lease> {
        let info = VirtualAllocationCreateInfo {
            size,
            alignment: align,
            user_data: 0,
            flags: VirtualAllocationCreateFlags::empty(),
        };
        // SAFETY: the block lives, the size is not zero and the alignment a power of two.
        unsafe { self.0.allocate(info) }.ok()
    }

    #[inline]
    fn give(&mut self, mut lease: Self::Lease) {
        // SAFETY: `take` made the allocation in this block, and a lease is given once.
        unsafe { self.0.free(&mut lease.0) };
    }

    fn start(lease: &Self::Lease) -> u64 {
        lease.1
    }
}

/// The same block as several threads use it. The block has no lock of its own: VMA asks its users to synchronize all calls.
pub(crate) struct Locked(Mutex<Vma>);

impl Locked {
    pub(crate) fn new(space: u64) -> Self {
        Self(Mutex::new(Vma::new(space)))
    }
}

impl Allocator for Locked {
    type Lease = (VirtualAllocation, u64);

    #[inline]
    fn take(&mut self, size: u64, align: u64) -> Option<Self::Lease> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take(size, align)
    }

    #[inline]
    fn give(&mut self, lease: Self::Lease) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).give(lease);
    }

    fn start(lease: &Self::Lease) -> u64 {
        lease.1
    }
}
