//! The virtual block of the Vulkan Memory Allocator, through the crate vk-mem.
#![expect(unsafe_code, reason = "the crate's methods are unsafe")]

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
